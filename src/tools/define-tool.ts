import type * as z from 'zod'
import type { DiffRequest, WorkspaceDiff } from '../git/workspace-diff.ts'
import type { GuardedFiles } from '../guard/guarded-files.ts'
import type { ReadHistory, ShownVersion } from '../history/read-history.ts'
import type { Limits } from '../limits.ts'
import type { LogicalPath, Path } from '../paths/logical-path.ts'
import type { Access, GuardedAccess } from '../policy/access.ts'
import type { Label } from '../policy/labels.ts'
import type { Permission } from '../policy/permissions.ts'
import type { WorkPlan } from '../policy/plan.ts'
import type { Processes } from '../shells/shared/background-processes.ts'
import type { CommandSession, RefusedAccess } from '../shells/types.ts'
import type { Backend, Change, Receipt } from '../storage/backend.ts'

export type { ShownVersion } from '../history/read-history.ts'

/** The fields of a success, as the caller gets it. */
export interface ResultFields {
  readonly callId: string
  readonly [field: string]: unknown
}

/** Records and finds the calls of the run that showed lines of a version. */
export type PreviousReads = Pick<ReadHistory, 'noteLines' | 'findCall'>

/** What a tool wants to do and to answer. It has done nothing yet: the pipeline judges, commits and projects. */
export interface Draft<Result> {
  /** One line that says what the call did. */
  readonly summary: string
  /** The states that shall be committed, all or none. */
  readonly changes?: readonly Change[]
  /**
   * What the draft reached beside its plan, each judged when it was reached: what a command did. Their changes are judged
   * once more, together.
   */
  readonly accesses?: readonly GuardedAccess[]
  /** Files that were read for it, where that was not through the call's own view. */
  readonly reads?: Iterable<Path>
  /** Accesses that a command tried and that were refused while it went on, for the record. */
  readonly refusals?: readonly RefusedAccess[]
  /** Paths whose content the draft gives to others, as a copy does: each is judged like a change. */
  readonly copiedFrom?: readonly Path[]
  /** Where the changes go instead of the workspace's files: for accepting an overlay. They are not journalled. */
  readonly target?: Pick<Backend, 'stat' | 'read' | 'readLink' | 'commit'>
  /** Everything is judged as if it were to be done, and nothing is. */
  readonly dryRun?: boolean
  /** A plan that needs an approval; once it has one, the run works by it. */
  readonly plan?: WorkPlan
  /** The change as text, where the tool has made it already. */
  readonly diff?: string
  /** The whole of what the result shows cut: kept as an artifact, which the result names. */
  readonly fullOutput?: {
    readonly extension: string
    /** Made when it is kept. */
    text(): string
  }
  /** The versions that the result shows, for the read ledger. */
  readonly shown?: (receipt: Receipt) => readonly ShownVersion[]
  /** Told what was answered in the end, hooks and bounds included. Must not fail. */
  readonly onResult?: (answer: ResultFields) => void
  /** Asked after the commit. Must not fail: the effect stands. */
  readonly result: (receipt: Receipt) => Result | Promise<Result>
}

/** What a tool may know and use while it drafts. */
export interface ToolContext {
  /** The planned accesses in their order, guarded; those that a link's target adds come last. */
  readonly accesses: readonly GuardedAccess[]
  /** Files, as far as the planned accesses reach. */
  readonly files: GuardedFiles
  readonly limits: Limits
  readonly signal: AbortSignal | undefined
  /** Collects what the result shall warn about. */
  readonly warnings: string[]
  /** Tells whoever waits how far it is: counts only, for nothing else of the call has been judged yet. */
  progress(done: number, unit: string, total?: number): void
  /** Milliseconds since 1970, from the workspace's clock. */
  now(): number
  /** Whether this run was shown the whole of that version. */
  hasReadWhole(path: Path, sha256: string): boolean
  readonly previousReads: PreviousReads
  /** `hash`: a replaced file needs its hash or a whole reading; `shown`: both. */
  readonly staleGuard: 'hash' | 'shown'
  /** How the workspace differs from its base, as far as the policy shows it to this call. */
  workspaceDiff(wanted: Pick<DiffRequest, 'base' | 'wants'>): Promise<WorkspaceDiff>
  /**
   * What a `diff_workspace` of this run would give as `diffSha256` now; `undefined` where it may not call that without
   * asking, or where it fails.
   */
  workspaceDiffSha256(): Promise<string | undefined>
  /** The commit that HEAD names; `undefined` where the workspace has no repository, or that no commit yet. */
  headCommit(): Promise<string | undefined>
  /** The shell, where the workspace has one. */
  readonly commands: CommandSession | undefined
  /** The background commands of this run. */
  readonly processes: Processes
  /** Stores a text for the run to read later, and gives its address; `undefined` where there is no room for it. */
  keepArtifact(name: string, text: string): string | undefined
  /**
   * Says that what the tool shows holds content of a label that no read path tells.
   */
  addLabel(label: Label, path: string): void
  /** Asks before anything goes to a host: `TAINT_DENIED` where what the run has seen may not go there. */
  requireHostAllowed(host: string): void
  /** The highest label that the run has seen, this call included. */
  taint(): Label
  /** The notes of the workspace, where it has such. */
  readonly memory: MemoryContext | undefined
  /** The stored full result of an earlier call of this run. */
  readArtifact(uri: string): Promise<string>
}

/** Where notes lie, and which of them the caller may see. */
export interface MemoryContext {
  readonly path: LogicalPath
  readonly acl: boolean
  /** The scopes of the run. */
  readonly scopes: readonly string[]
}

/** What a plan may know beside its input. */
export interface PlanState {
  /** Where the next command of the run starts. */
  readonly cwd: Path
  /** The directory of the notes, where the workspace has such. */
  readonly memory?: LogicalPath | undefined
}

/** One tool: its contract, the pure plan of what it reaches, and the draft of what it does. */
export interface Tool<I extends z.ZodObject = z.ZodObject, O extends z.ZodObject = z.ZodObject> {
  readonly name: string
  readonly title: string
  /** For the model: what it does and the one thing to know, in few words. */
  readonly description: string
  readonly input: I
  /** The fields of a success beside `ok`, `summary`, `warnings` and `artifactUri`. */
  readonly output: O
  readonly permission: Permission
  readonly mutates: boolean
  /** Whether a second call with the same input leaves the same files. */
  readonly idempotent: boolean
  /**
   * A command line that the call runs: it is judged by its structure before anything is, and an approval of the call is
   * got before the draft.
   */
  commandLine?(input: z.output<I>): string
  /** The pure list of what the call wants to reach; nothing outside of it is granted. Throws a `ToolError` for input that makes no sense. */
  plan(input: z.output<I>, state: PlanState): readonly Access[]
  /** Reads through `context.files`, and gives the changes and the way to the result. Writes nothing. */
  draft(input: z.output<I>, context: ToolContext): Promise<Draft<z.input<O>>>
}

/** A tool, with its name, and its input and result types taken from its schemas. */
export function defineTool<const N extends string, I extends z.ZodObject, O extends z.ZodObject>(
  tool: Tool<I, O> & { readonly name: N },
): Tool<I, O> & { readonly name: N } {
  return tool
}
