import { type OverlayBackend, overlay } from '../../backends/overlay/index.ts'
import { ToolError } from '../../errors.ts'
import { classifyPath } from '../../files/classify/index.ts'
import { createVisibility } from '../../guard/visibility.ts'
import { GIT_DIRECTORY, isWithin, type Path, ROOT } from '../../paths/logical-path.ts'
import type { GuardedAccess } from '../../policy/access.ts'
import type { ApprovalQuestion } from '../../policy/approval.ts'
import { ContentFlow } from '../../policy/content-flow.ts'
import { requireAllowed } from '../../policy/evaluation.ts'
import type { Label } from '../../policy/labels.ts'
import { isSpelled, namedPath } from '../../policy/name-labels.ts'
import { type ContentLabel, higher } from '../../policy/taint.ts'
import { createCommandFiles, type TrackedCommandFiles } from '../../shells/shared/command-files.ts'
import type { CommandFilesOptions, LargeContents } from '../../shells/shared/command-gate.ts'
import { hasCommandLabels, hasCommandRules } from '../../shells/shared/command-rules.ts'
import type { CommandGit, CommandTransaction, StartedBy } from '../../shells/types.ts'
import { anySignal } from '../../util/abort.ts'
import { textsIn } from '../require-hidden-secrets.ts'
import type { WorkspaceState } from '../state/workspace-state.ts'
import type { PushingLine } from './git-push.ts'
import { commandGit } from './git-read.ts'
import { openCommandRepository } from './git-write.ts'
import { requireHost } from './reach-host.ts'
import { accessKey, evaluateAccess, type SessionState } from './session-state.ts'
import { noteReceivedByShell, receivedByShell } from './unseen-reads.ts'

/** The files of one command line and what it has done to them. */
interface TransactionState extends PushingLine {
  /** Takes the changes of the line. */
  readonly drafts: OverlayBackend
  readonly files: TrackedCommandFiles
  /** Aborts with the caller's signal, and when an access needs an approval. */
  readonly signal: AbortSignal
  readonly onRead: (path: Path, bytes: number) => void
  /** Records a file that git stores under its own name, and does not show. */
  readonly onStore: (path: Path) => void
  /** Records the label of content that the line receives. */
  readonly receive: (path: Path, label?: Label) => void
  /** See {@link CommandTransaction.leftOut}. */
  readonly leftOut: Set<string>
  /** Whether git's own files may be among the changes. Nothing else can write them. */
  isGitOpen: boolean
}

/** The files of a program, which several transactions change one after another. */
export interface SharedFiles {
  readonly drafts: OverlayBackend
  readonly flow: ContentFlow | undefined
  /** Takes the contents that are too large for memory, if the backend stores contents part by part. */
  readonly large?: LargeContents | undefined
}

/** A transaction whose files report what they did. */
export interface FilesTransaction extends CommandTransaction {
  readonly files: TrackedCommandFiles
  /** Records that bytes of a file were read by another way. */
  readonly noteRead: (path: Path, bytes: number) => void
}

/** Opens the files of a program. */
export function openSharedFiles(session: SessionState, large?: LargeContents): SharedFiles {
  const drafts = overlay(session.workspace.backend, undefined, { closesLower: false })
  return { drafts, large, flow: openFlow(session, textsIn(session.call.input), session.options.received) }
}

/**
 * Opens a transaction for one command line: an overlay over the workspace's files, with every access evaluated.
 *
 * @param received returns what the line has received by other ways than its own reads
 * @param shared the files of a program. It can wait for an approval and repeat the access, and has no bounds of its own
 */
export function openTransaction(
  session: SessionState,
  callerSignal: AbortSignal | undefined,
  received: () => ContentLabel | undefined = session.options.received,
  shared?: SharedFiles,
): FilesTransaction {
  const { workspace, run, call, facts, options } = session
  const drafts = shared?.drafts ?? overlay(workspace.backend, undefined, { closesLower: false })
  const stop = new AbortController()
  const signal = anySignal(callerSignal, stop.signal)
  const texts = textsIn(call.input)
  const flow = shared === undefined ? openFlow(session, texts, received) : shared.flow
  const reads = new Set<Path>()
  const leftOut = new Set<string>()
  const receive = (path: Path, label: Label = 'public') => {
    flow?.read(path)
    flow?.receive({ label, path })
    noteReceivedByShell(workspace.shell, flow?.received)
    options.noteReceived(path, label)
  }
  const onStore = (path: Path) => {
    reads.add(path)
    options.audit.addRead(path)
  }
  const onRead = (path: Path, bytes: number) => {
    run.rates.countRead(bytes)
    onStore(path)
    receive(path)
  }
  const onCopy = (path: Path, bytes: number) => {
    run.rates.countRead(bytes)
    onStore(path)
  }
  const question = openQuestion(session, shared === undefined ? () => stop.abort() : () => {})
  const files = createCommandFiles({
    ...{ backend: drafts, signal, onRead, onCopy, flow, knownTexts: texts },
    secretRefusals: workspace.secretRefusals,
    readsUnseen: workspace.shell?.capabilities.guarded === false,
    visibility: (kind) => createVisibility(workspace.policy, facts, kind, call.verdict),
    large: shared?.large,
    limits: shared === undefined ? commandLimits(workspace) : NO_LIMITS,
    requireAllowed: (access) => requireAllowed(workspace.policy, facts, access),
    judge(access) {
      const asked = question.pending() ?? evaluateAccess(session, access)
      if (asked !== undefined) question.askFor(asked, asked.accesses.map(accessKey))
    },
  })
  const state: TransactionState = {
    ...{ session, drafts, files, flow, signal, onRead, onStore, receive, leftOut },
    ...{ askFor: question.askFor, pushes: 0, isGitOpen: false },
  }
  let git: CommandGit | undefined
  return {
    ...{ files, signal, reads, leftOut, flow, noteRead: onRead },
    ...{ onCommit: session.onCommit, tree: workspace.backend },
    noteReadable: flow && receive,
    startedBy: startedByOf(session, flow),
    git: () => {
      git ??= openGit(state)
      return git
    },
    get visibility() {
      return createVisibility(workspace.policy, facts, 'search', call.verdict)
    },
    refusals: files.refusals,
    readContents: files.readContents,
    findSecrets: files.findSecrets,
    hideSecrets: files.hideSecrets,
    async resolvePendingApproval() {
      for (const refusal of await files.refusals()) options.audit.addRefusal(refusal)
      return question.resolve()
    },
    changes: () => changesOf(state),
  }
}

/** The question of a line that waits for an approval. */
interface LineQuestion {
  pending(): ApprovalQuestion | undefined
  readonly askFor: PushingLine['askFor']
  /** Asks. Returns false if there is no question. */
  resolve(): Promise<boolean>
}

function openQuestion({ options, approved }: SessionState, dropLine: () => void): LineQuestion {
  let waiting: { readonly question: ApprovalQuestion; readonly keys: readonly string[] } | undefined
  return {
    pending: () => waiting?.question,
    askFor(question, keys) {
      waiting ??= { question, keys }
      // The line cannot wait, because its time limit keeps running. It is dropped, and runs again after the approval.
      dropLine()
      throw new ToolError('ABORTED', 'The command waits for an approval')
    },
    async resolve() {
      if (waiting === undefined) return false
      const { question, keys } = waiting
      waiting = undefined
      await options.ask(question)
      for (const key of keys) approved.add(key)
      return true
    },
  }
}

function commandLimits({ limits }: WorkspaceState): CommandFilesOptions['limits'] {
  return { treeEntries: limits.treeEntries, fileBytes: limits.commandFileBytes }
}

const unlimited = Number.POSITIVE_INFINITY
const NO_LIMITS: CommandFilesOptions['limits'] = {
  treeEntries: unlimited,
  fileBytes: unlimited,
  writtenBytes: unlimited,
}

function startedByOf(
  { workspace, call, facts, options }: SessionState,
  flow: ContentFlow | undefined,
): StartedBy | undefined {
  const { policy } = workspace
  const labelled = hasCommandLabels(policy.data) ? flow : undefined
  if (!hasCommandRules(policy.data) && labelled === undefined) return undefined
  return {
    ...{ policy, call: { ...facts, accesses: call.accesses }, lineCommands: call.line?.commands ?? [] },
    lineScripts: call.lineScripts,
    labelStart:
      labelled && ((texts, isOfLine, hasStarted) => options.labelStart(texts, isOfLine, labelled, hasStarted)),
  }
}

/** Tracks the labels of what a line receives and writes, if the policy has labels. */
function openFlow(
  { workspace, options }: SessionState,
  texts: readonly string[],
  received: () => ContentLabel | undefined,
): ContentFlow | undefined {
  if (!workspace.labels.active) return undefined
  const flow = new ContentFlow(workspace, {
    received: () => higher(receivedByShell(workspace.shell), received()),
    spells: (name) => isSpelled(name, texts),
  })
  options.noteFlow(flow)
  return flow
}

/** The repository as the command sees it. */
function openGit(state: TransactionState): CommandGit {
  const { session, drafts, files, flow, signal, onRead, onStore, receive, leftOut } = state
  const { workspace, call, facts, options } = session
  const onName = (path: Path) => flow?.readName(path)
  const visibility = createVisibility(workspace.policy, facts, 'diff', call.verdict)
  const receiveStored = (path: Path) => {
    flow?.readStored(path)
    receive(path)
  }
  const onReadStored = (path: Path, bytes: number) => {
    flow?.readStored(path)
    onRead(path, bytes)
  }
  const sees = (path: Path) => visibility.see(path, 'file')
  const shared = { backend: drafts, files, sees, onRead: onReadStored, onName, signal }
  return commandGit({
    ...shared,
    onCommit: async (history, commit) => {
      if (flow !== undefined) await options.noteCommit(history, commit, flow)
    },
    onStored: receiveStored,
    onLeftOut: (path) => leftOut.add(path),
    chosen: () => (flow === undefined ? [] : [...workspace.fileLabels, ...flow.written].map(([path]) => path)),
    async change(view) {
      const repository = await openCommandRepository(
        {
          ...shared,
          onStore,
          provider: workspace.git,
          requireHost: (url) => requireHost(session, files, url, 'command:run'),
          push: async (request) => (await import('./git-push.ts')).pushOfLine(state, request),
          // A resumed call must create the same commits that were approved.
          now: () => options.began,
        },
        view,
      )
      state.isGitOpen = true
      return repository
    },
  })
}

/** The changes of the line as one set, each with the access that covers it. */
async function changesOf(state: TransactionState): ReturnType<CommandTransaction['changes']> {
  const { session, drafts, files, isGitOpen, flow } = state
  const changes = await drafts.pending()
  // Git writes its own files without the gate of the command.
  const refs = isGitOpen ? changes.filter((change) => isWithin(namedPath(change) ?? ROOT, GIT_DIRECTORY)) : []
  await flow?.name(refs, async (path) => (await session.workspace.backend.stat(path)) !== undefined)
  const changed = new Set(changes.map(({ path }) => path))
  const accesses = files.accesses.filter(({ path }) => changed.has(path))
  const covered = new Set(accesses.map(({ path }) => path))
  for (const { path, to } of changes) {
    if (!covered.has(path)) accesses.push(accessOf(path, to === null, isGitOpen))
  }
  return { changes, accesses }
}

/** The access for a change without a matching access of the command. */
function accessOf(path: Path, isDeleted: boolean, isGitOpen: boolean): GuardedAccess {
  const isGitFile = isGitOpen && isWithin(path, GIT_DIRECTORY)
  /* v8 ignore next -- @preserve: a defence in depth: every other change comes with the access that made it */
  const permission = isGitFile ? 'git:write' : isDeleted ? 'file:delete' : 'file:write:replace'
  return { permission, asked: path, path, classification: classifyPath(path), recursive: false }
}
