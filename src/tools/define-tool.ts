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

/** The fields of a success, as the caller receives it. */
export interface ResultFields {
  readonly callId: string
  readonly [field: string]: unknown
}

/** Records and finds the calls of the run that showed lines of a version. */
export type PreviousReads = Pick<ReadHistory, 'noteLines' | 'findCall'>

/** The changes and the result of a tool. A draft has no effect; the pipeline evaluates policy, commits and answers. */
export interface Draft<Result> {
  /** One line about what the call did. */
  readonly summary: string
  /** The states to commit, all or none. */
  readonly changes?: readonly Change[]
  /**
   * Accesses of a command beyond the plan, each evaluated when it happened. Their changes are evaluated once more,
   * together.
   */
  readonly accesses?: readonly GuardedAccess[]
  /** Files read for the draft by other means than `context.files`. */
  readonly reads?: Iterable<Path>
  /** Accesses of a command that were refused while it continued, for the audit record. */
  readonly refusals?: readonly RefusedAccess[]
  /** Paths whose content the draft puts elsewhere, such as the source of a copy. Each is evaluated like a change. */
  readonly copiedFrom?: readonly Path[]
  /** Receives the changes instead of the workspace's files, to accept an overlay. They are not journalled. */
  readonly target?: Pick<Backend, 'stat' | 'read' | 'readLink' | 'commit'>
  /** Evaluates policy for the changes, but does not commit them. */
  readonly dryRun?: boolean
  /** A plan that needs an approval. Once approved, it applies to the run. */
  readonly plan?: WorkPlan
  /** The change as a unified diff, if the tool has computed it. */
  readonly diff?: string
  /** The complete text of a cut result. Stored as an artifact, whose address the result contains. */
  readonly fullOutput?: {
    readonly extension: string
    /** Called when the artifact is stored. */
    text(): string
  }
  /** The versions that the result shows, for the read history. */
  readonly shown?: (receipt: Receipt) => readonly ShownVersion[]
  /** Called with the final answer, after hooks and limits. Must not throw. */
  readonly onResult?: (answer: ResultFields) => void
  /** Returns the result. Called after the commit, so it must not throw. */
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

/** The directory of the notes, and the scopes that decide which notes the caller may see. */
export interface MemoryContext {
  readonly path: LogicalPath
  readonly acl: boolean
  /** The scopes of the run. */
  readonly scopes: readonly string[]
}

/** The state that a plan may use beside its input. */
export interface PlanState {
  /** Directory in which the next command of the run starts. */
  readonly cwd: Path
  /** The directory of the notes, if the workspace has one. */
  readonly memory?: LogicalPath | undefined
}

/** A tool: its contract, a pure plan of its accesses, and a draft of its changes. */
export interface Tool<I extends z.ZodObject = z.ZodObject, O extends z.ZodObject = z.ZodObject> {
  readonly name: string
  readonly title: string
  /** For the model: what the tool does and its most important rule, in few words. */
  readonly description: string
  readonly input: I
  /** The fields of a success, without `ok`, `summary`, `warnings` and `artifactUri`. */
  readonly output: O
  readonly permission: Permission
  readonly mutates: boolean
  /** Whether a second call with the same input leaves the files unchanged. */
  readonly idempotent: boolean
  /**
   * Returns the command line that the call runs. Its structure is evaluated first, and an approval of the call is requested
   * before the draft.
   */
  commandLine?(input: z.output<I>): string
  /**
   * Returns the accesses of the call. Pure; the draft gets no other access.
   *
   * @throws ToolError for an input without a valid meaning
   */
  plan(input: z.output<I>, state: PlanState): readonly Access[]
  /** Reads through `context.files` and returns the changes and the result. Writes nothing. */
  draft(input: z.output<I>, context: ToolContext): Promise<Draft<z.input<O>>>
}

/** Defines a tool. Infers its name, and its input and result types from its schemas. */
export function defineTool<const N extends string, I extends z.ZodObject, O extends z.ZodObject>(
  tool: Tool<I, O> & { readonly name: N },
): Tool<I, O> & { readonly name: N } {
  return tool
}
