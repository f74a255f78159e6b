import type { Failure, ToolError } from '../../errors.ts'
import type { CommitHistory } from '../../git/commit-history.ts'
import type { Path } from '../../paths/logical-path.ts'
import type { ContentFlow } from '../../policy/content-flow.ts'
import type { Label } from '../../policy/labels.ts'
import type { ContentLabel, FileLabels } from '../../policy/taint.ts'
import type { Receipt } from '../../storage/backend.ts'
import type { BuiltinDraft } from '../../tools/builtin-tool.ts'
import type { AuthorizedCall, AuthorizedChanges } from './call.ts'

/**
 * Tracks the labels of one call: adds the labels of what it reads to the taint of its run, and compares them with the
 * ceilings of what it writes to. Everything that a call read or replaced counts as shown, because its result, error or
 * diff may show it. A name has a label of its own, which is that of the content that it may be made of.
 */
export interface TaintTracker {
  /**
   * Returns the call, with the questions of sinks that ask about its command.
   *
   * @throws ToolError `TAINT_DENIED` if the taint of the run is too high for a command or a path that the call names
   */
  beginCall(call: AuthorizedCall): AuthorizedCall
  addRead(path: Path): void
  /** Records that the result depends on the content or size of a file that it need not show, such as one without a hit. */
  addSearched(path: Path): void
  /** Records a name that the call shows. */
  addName(path: Path): void
  /** Records content whose label does not follow from its path. */
  addLabel(label: Label, path?: string): void
  /**
   * Records that the call receives the id of a commit.
   *
   * @param flow the command that receives it
   */
  addCommit(history: CommitHistory, commit: string, flow?: ContentFlow): Promise<void>
  /** Returns the label of the id of a commit. */
  labelOfCommit(history: CommitHistory, commit: string): Promise<Label>
  /**
   * Records that a line starts a command, with the label of its output. Returns the refusal of a sink, if the line or its run
   * has received content above its ceiling.
   *
   * @param isOfLine whether the line may contain the command, so that {@link beginCall} has asked about it
   * @param hasStarted the command is running, and has received content
   */
  startCommand(
    texts: readonly string[],
    isOfLine: boolean,
    flow: ContentFlow,
    hasStarted: boolean,
  ): ToolError | undefined
  /** Adds what a command line of the call receives and writes. */
  addFlow(flow: ContentFlow): void
  /** Records that a program receives all that the call reads, as soon as it is read and however the call ends. */
  showToProgram(): void
  /** Ends the call: its run keeps what a program has received. */
  endCall(): void
  /** The highest label that the call itself has received. */
  received(): ContentLabel | undefined
  /** The highest label that may flow out of the call. */
  highestLabel(): Label
  /** Returns the label of the content of a path. */
  labelOf(path: Path): Label
  /** Adds what the call has received until now to the taint of its run, also after the call has ended. */
  addReceived(): void
  /** @throws ToolError `TAINT_DENIED` */
  requireHostAllowed(host: string): void
  /**
   * Returns the changes, with the questions of sinks that ask about them.
   *
   * @throws ToolError `TAINT_DENIED`
   */
  authorizeChanges(changes: AuthorizedChanges, draft: LabelledDraft): AuthorizedChanges | Promise<AuthorizedChanges>
  /** Labels the written files with the highest label that may have flowed into them. */
  labelChanges(changes: AuthorizedChanges, draft: LabelledDraft, receipt: Receipt, into: LabelledFiles): void
  /**
   * Raises the taint of the run to the label of the result, and returns that label.
   *
   * @param result may contain labelled content in file names
   */
  labelResult(result?: unknown): Label
  /** Like `labelResult`, for a failure. A message without content of files raises nothing. */
  labelFailure(failure: Failure): Label
  /** Raises the label to the one that a hook gave the result, if it is valid and higher. */
  applyHookLabel(label: unknown): Label
}

/** The fields of a draft that determine the labels of its changes. */
export type LabelledDraft = Pick<
  BuiltinDraft<unknown>,
  'flow' | 'contentLabel' | 'givenPaths' | 'accesses' | 'copiedFrom'
>

/** The labels of files and names that a commit raises. */
export interface LabelledFiles {
  readonly fileLabels: FileLabels
  readonly nameLabels: FileLabels
}

const unlabelled = (): Label => 'public'

/** The tracker of every call in a workspace whose policy has no labels. */
export const inactiveTaintTracker: TaintTracker = {
  beginCall: (call) => call,
  addRead() {},
  addSearched() {},
  addName() {},
  addLabel() {},
  async addCommit() {},
  labelOfCommit: async () => 'public',
  startCommand: () => undefined,
  addFlow() {},
  showToProgram() {},
  endCall() {},
  received: () => undefined,
  highestLabel: unlabelled,
  labelOf: unlabelled,
  addReceived() {},
  requireHostAllowed() {},
  authorizeChanges: (changes) => changes,
  labelChanges() {},
  labelResult: unlabelled,
  labelFailure: unlabelled,
  applyHookLabel: unlabelled,
}
