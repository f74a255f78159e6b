import type * as z from 'zod/mini'
import type { GuardedFiles } from '../guard/guarded-files.ts'
import type { ShownVersion } from '../history/read-history.ts'
import type { Limits } from '../limits.ts'
import type { Path } from '../paths/logical-path.ts'
import type { Access, GuardedAccess } from '../policy/access.ts'
import type { Label } from '../policy/labels.ts'
import type { Permission } from '../policy/permissions.ts'
import type { CommandSession, RefusedAccess } from '../shells/types.ts'
import type { Change, Receipt } from '../storage/backend.ts'
import { refuseSurplus } from '../util/check-options.ts'
import type { ObjectSchema } from '../util/object-schema.ts'

export type { ShownVersion } from '../history/read-history.ts'

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
  /** Evaluates policy for the changes, but does not commit them. */
  readonly dryRun?: boolean
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
  /** Returns the result. Called after the commit, so it must not throw. */
  readonly result: (receipt: Receipt) => Result | Promise<Result>
}

/** The services that the draft of a tool can use. */
export interface ToolContext {
  /**
   * The planned accesses in their order, with links resolved. Accesses that the target of a link adds come last.
   */
  readonly accesses: readonly GuardedAccess[]
  /** The files of the planned accesses. Any other path throws `POLICY_DENIED`. */
  readonly files: GuardedFiles
  /** The limits of the workspace, with defaults filled in. */
  readonly limits: Limits
  /** Aborts when the caller cancels the call. */
  readonly signal: AbortSignal | undefined
  /** The warnings of the result. Push a sentence to add one. */
  readonly warnings: string[]
  /**
   * Reports progress to the caller, for example `progress(200, 'files searched', 1000)`. Report counts only: the content
   * of the call has not been evaluated yet.
   */
  progress(done: number, unit: string, total?: number): void
  /** Returns milliseconds since 1970, from the clock of the workspace. */
  now(): number
  /** Returns whether the run was shown all of this version of a file. */
  hasReadWhole(path: Path, sha256: string): boolean
  /** Runs command lines, or `undefined` when the workspace has no shell. */
  readonly commands: CommandSession | undefined
  /**
   * Stores a text as an artifact, which the run can read with `read_file`. Returns its address, or `undefined` if the
   * artifacts of the run have reached their size limit.
   */
  keepArtifact(name: string, text: string): string | undefined
  /** Adds a label to the shown content, for content whose label does not follow from the paths that were read. */
  addLabel(label: Label, path?: string): void
  /** Returns the highest label that the run has seen, this call included. */
  taint(): Label
  /**
   * Checks a host. Call it before anything is sent there.
   *
   * @throws ToolError `TAINT_DENIED` if content that the run has seen must not be sent there
   */
  requireHostAllowed(host: string): void
}

/** A tool: its contract, a pure plan of its accesses, and a draft of its changes. */
export interface Tool<I extends ObjectSchema = ObjectSchema, O extends ObjectSchema = ObjectSchema> {
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
   * Returns the accesses of the call. Pure; the draft gets no other access. `state.cwd` is the directory in which the next
   * command of the run starts.
   *
   * @throws ToolError for an input without a valid meaning
   */
  plan(input: z.output<I>, state: { readonly cwd: Path }): readonly Access[]
  /** Reads through `context.files` and returns the changes and the result. Writes nothing. */
  draft(input: z.output<I>, context: ToolContext): Promise<Draft<z.input<O>>>
}

/** Defines a tool. Infers its name, and its input and result types from its schemas. */
export function defineTool<const N extends string, I extends ObjectSchema, O extends ObjectSchema>(
  tool: Tool<I, O> & { readonly name: N },
): Tool<I, O> & { readonly name: N } {
  refuseSurplus('defineTool()', 1, arguments)
  return tool
}
