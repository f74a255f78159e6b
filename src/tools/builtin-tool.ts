import type * as z from 'zod/mini'
import type { TakenMedia } from '../files/media/types.ts'
import type { CommitHistory } from '../git/commit-history.ts'
import type { PushResult } from '../git/provider.ts'
import type { DiffRequest, WorkspaceDiff } from '../git/workspace-diff.ts'
import type { ReadHistory } from '../history/read-history.ts'
import type { LogicalPath, Path } from '../paths/logical-path.ts'
import type { Access } from '../policy/access.ts'
import type { ContentFlow } from '../policy/content-flow.ts'
import type { Verdict } from '../policy/evaluation.ts'
import type { Label } from '../policy/labels.ts'
import type { WorkPlan } from '../policy/plan.ts'
import type { Processes } from '../shells/shared/background-processes.ts'
import type { Backend, EntryType } from '../storage/backend.ts'
import type { ObjectSchema } from '../util/object-schema.ts'
import type { Draft, Tool, ToolContext } from './define-tool.ts'
import type { FileScans } from './shared/file-scan.ts'

/** The fields of a success, as the caller receives it. */
export interface ResultFields {
  readonly callId: string
  readonly [field: string]: unknown
}

/** A draft with the fields that only built-in tools and operations of the workspace use. */
export interface BuiltinDraft<Result> extends Draft<Result> {
  /** The labels of the content that a command has put at each path. Without it, any change may contain all that was read. */
  readonly flow?: ContentFlow
  /** The label that the caller gives to the content of the changes. */
  readonly contentLabel?: Label
  /** The changed paths whose content the caller of an operation gives, so that it may contain what its run has read. */
  readonly givenPaths?: ReadonlySet<Path>
  /** Receives the changes instead of the workspace's files, to accept an overlay. The origin of a fork can undo them. */
  readonly target?: Pick<Backend, 'stat' | 'read' | 'readLink' | 'commit' | 'checkPlaces'>
  /** The verdict on the steps of a program, if it is stricter than that on the call. */
  readonly verdict?: Verdict
  /** What the steps of a program have seen of paths. The changes are refused if it is no longer so. */
  readonly observed?: ReadonlyMap<Path, Observation>
  /** A plan that needs an approval. Once approved, it applies to the run. */
  readonly plan?: WorkPlan
  /** The result has `media`. The limit of results leaves it whole, because the tool bounds it. */
  readonly hasMedia?: true
  /** A push to a server, in place of changes. */
  readonly push?: { readonly update: Pick<PushResult, 'url' | 'ref' | 'from' | 'to'>; send(): Promise<void> }
  /** The lines that its only change adds and removes, if it has compared both texts as they are stored. */
  readonly lines?: { readonly insertions: number; readonly deletions: number } | undefined
  /** Called with the final answer, after hooks and limits. Must not throw. */
  readonly onResult?: (answer: ResultFields) => void
}

/** What a program has seen of a path: what is there, and its version if the program has read it. */
export interface Observation {
  readonly type: EntryType | undefined
  readonly tag?: string
}

/** A context with the services that only built-in tools use. */
export interface BuiltinContext extends ToolContext {
  /** The media that the caller takes beside text. */
  readonly media: TakenMedia | undefined
  readonly previousReads: PreviousReads
  /** The searches of large files for secrets. */
  readonly secretScans: FileScans
  /** `hash`: replacing a file needs its hash, or a reading of the whole file. `shown`: it needs both. */
  readonly staleGuard: 'hash' | 'shown'
  /** Returns the differences between the workspace and its base that policy shows to this call. */
  workspaceDiff(request: Pick<DiffRequest, 'base' | 'wants'>): Promise<WorkspaceDiff>
  /**
   * Returns the `diffSha256` that `diff_workspace` would return to this run now. `undefined` if the run may not call that
   * tool without an approval, or if the call would fail.
   *
   * @param patched the files that the call has patched, by path
   */
  workspaceDiffSha256(patched: DiffRequest['patched']): Promise<string | undefined>
  /** Returns the commit of HEAD. `undefined` without a repository or without a commit. */
  headCommit(): Promise<string | undefined>
  /** The background commands of this run. */
  readonly processes: Processes
  /** The notes of the workspace, if it has them. */
  readonly memory: MemoryContext | undefined
  /** Labels the result with a commit and everything before it, and with the name of the branch. */
  addCommit(history: CommitHistory, commit: string, branch: Path | undefined): Promise<void>
  /** Returns the label of the content of a path. */
  labelOf(path: Path): Label
  /** Labels the result with a file whose content or size decides about it, whether or not the result shows the file. */
  addSearched(path: Path): void
  /** Reads an artifact of this run. */
  readArtifact(uri: string): Promise<string>
}

/** Records and finds the calls of the run that showed lines of a version. */
export type PreviousReads = Pick<ReadHistory, 'noteLines' | 'findCall' | 'firstUnread'>

/** The directory of the notes, and the scopes that decide which notes the caller may see. */
export interface MemoryContext {
  readonly path: LogicalPath
  readonly acl: boolean
  /** The scopes of the run. */
  readonly scopes: readonly string[]
}

/** The state that the plan of a built-in tool may use beside its input. */
export interface PlanState {
  /** The directory in which the next command of the run starts. */
  readonly cwd: Path
  /** The directory of the notes, if the workspace has one. */
  readonly memory?: LogicalPath | undefined
}

/** A {@link Tool} whose plan and draft receive what the pipeline passes to every tool, but only built-in tools see. */
export interface BuiltinToolDefinition<I extends ObjectSchema, O extends ObjectSchema>
  extends Omit<Tool<I, O>, 'plan' | 'draft'> {
  plan(input: z.output<I>, state: PlanState): readonly Access[] | Promise<readonly Access[]>
  draft(input: z.output<I>, context: BuiltinContext): Promise<BuiltinDraft<z.input<O>>>
}

/** The built-in tools and operations. Anything else is a tool of the embedding program, whose results are checked. */
const builtins = new WeakSet<object>()

/** Returns whether a value is a built-in tool. */
export function isBuiltinTool(value: unknown): value is Tool {
  return typeof value === 'object' && value !== null && builtins.has(value)
}

/** Defines a built-in tool or an operation of the workspace. Infers its name, and its input and result types. */
/* @__NO_SIDE_EFFECTS__ */
export function defineBuiltinTool<const N extends string, I extends ObjectSchema, O extends ObjectSchema>(
  tool: BuiltinToolDefinition<I, O> & { readonly name: N },
): Tool<I, O> & { readonly name: N } {
  builtins.add(tool)
  return tool as unknown as Tool<I, O> & { readonly name: N }
}
