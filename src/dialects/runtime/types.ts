import type * as z from 'zod/mini'
import type { Success } from '../../call/state/call.ts'
import type { ErrorCode, Failure } from '../../errors.ts'
import type { Limits } from '../../limits.ts'
import type { ToolName } from '../../tools/index.ts'
import type { ObjectSchema } from '../../util/object-schema.ts'
import type { PathMapping } from './path-mapping.ts'

/**
 * Tool names, input fields and results of another system, on top of the tools of a workspace. A dialect can only make calls
 * of the workspace, so guard, policy, approval, audit and undo apply as to any other call.
 *
 * `S` is the type of the state that the tools share within a run; see {@link Dialect.createState}.
 */
export interface Dialect<S = unknown> {
  /** Name on the command line and in audit records, such as `mcp-filesystem`. */
  readonly name: string
  /** One line that names the system whose tools these are. */
  readonly description: string
  /** Translates paths of the dialect into paths of the workspace and back; see `createPathMapping`. */
  readonly pathMapping: PathMapping
  readonly tools: readonly DialectTool<ObjectSchema, S>[]
  /**
   * Creates the state of one run, when the run opens. It is passed to the steps of every tool. Another run, also that of a
   * fork, gets a state of its own. Default: the state is `undefined`.
   */
  createState?(): S
  /** Hints by error code, with the names of this dialect's tools and fields. They replace the hints of the workspace. */
  readonly hints?: Hints
  /** Maps input fields of the workspace's tools to the dialect's names for them, such as `{ oldText: 'old_str' }`, for error messages. */
  readonly fields?: Readonly<Record<string, string>>
  /**
   * Whether callers can pass the file version that they expect. If not, a file is replaced only if the run was shown the
   * whole of its current version.
   */
  readonly versions?: boolean
  /**
   * Formats an error as this dialect returns it. `error.input` is unchecked and can be any value. If it throws, the result is
   * the code, message and hint of the workspace, with the exception in the `cause` of the failure.
   */
  formatError(error: DialectError): Answer
}

/** One tool of a dialect. Create it with {@link defineDialectTool}. */
export interface DialectTool<I extends ObjectSchema = ObjectSchema, S = unknown> {
  readonly name: string
  /** Name for people. Default: `name`. */
  readonly title?: string
  /** Description for the model. */
  readonly description: string
  /**
   * Schema of the input. Unknown fields fail, at any depth, with `INVALID_INPUT`. A field is accepted in camelCase and in
   * snake_case.
   */
  readonly input: I
  /** Schema of {@link Answer.structured}, if the tool returns structured data. */
  readonly output?: ObjectSchema
  readonly annotations?: ToolAnnotations
  /** Tools of the workspace that it needs, built-in or own. If one of them is not registered, this tool is not either. */
  readonly uses: readonly AnyToolName[]
  /** Tools of the workspace that only some inputs need. If one of them is not registered, its call fails. */
  readonly mayUse?: readonly AnyToolName[]
  /**
   * Tools of the workspace whose safety fields this tool takes, such as `dryRun` and `expectedSha256`, in camelCase and
   * snake_case. The frame adds them to the calls of the steps. Default: `uses` and `mayUse`.
   */
  readonly narrows?: readonly AnyToolName[]
  /**
   * Input fields whose default is a limit of the workspace, if it sets that limit, such as `{ max_results: 'searchMatches' }`.
   * A field in another unit names the factor too: `{ timeout_seconds: ['commandTimeoutMs', 1000] }`.
   */
  readonly limits?: Readonly<Record<string, keyof Limits | readonly [limit: keyof Limits, factor: number]>>
  /** Definitions for APIs that know this tool by a type of their own, without its name; see `nativeTools`. */
  readonly native?: NativeDefinitions
  /** Former names of the tool in the original system: accepted, but not listed. */
  readonly formerNames?: readonly string[]
  /**
   * Converts other forms of the input, such as former field names, to the form of the schema. Runs before the schema, so
   * the input can be any value; return unknown input unchanged.
   */
  readonly normalizeInput?: (input: unknown) => unknown
  /**
   * Makes the calls of the workspace, one after the other, and returns the answer. Yield {@link call} or
   * {@link callTool}: the first call that fails ends the steps, and its error is the result. Several calls are
   * not a transaction, so read first and make the one change last.
   *
   * A thrown ToolError and a returned {@link Failure} are errors of this tool. Any other exception fails with
   * `BACKEND_ERROR`, without its text.
   */
  steps(input: z.output<I>, pathMapping: PathMapping, state: S): Steps<Answer | Failure>
}

/** Name of a built-in tool, or of an own tool of the workspace (`extraTools`). */
export type AnyToolName = ToolName | (string & Record<never, never>)

/** A sequence of calls that returns a value. */
export type Steps<R> = Generator<Step, R, Success | Failure | string | number | object>

/** One request of a sequence. The functions of `steps.ts` create them. */
export type Step =
  | {
      /** Calls a tool of the workspace. */
      readonly tool: AnyToolName
      readonly input: unknown
      /** Whether the sequence goes on if the call fails. */
      readonly continueOnError: boolean
      /** Whether the input has the caller's safety fields already, or must not get them. */
      readonly isNarrowed?: boolean
      /** Whether the answer can show an image or a document, if the caller takes it. */
      readonly takesMedia?: boolean
      /** Parts of the sequence that the call belongs to. */
      readonly parts?: readonly object[]
    }
  /** Asks for an input of a tool with the caller's safety fields. */
  | { readonly narrow: AnyToolName; readonly input: unknown }
  /** Asks for a limit that the workspace sets. */
  | { readonly limit: keyof Limits }
  /** Asks for the sha256 of the version of a file that the run was shown last. */
  | { readonly shown: string }
  /** Records an access to the null device. */
  | { readonly nullDevice: 'read' | 'write' }
  /** Adds a note to the answer. */
  | { readonly note: string }
  /** Discards what the calls of a part read: the answer does not show it, so the run has not seen it. */
  | { readonly unseen: object }

/** Result of a tool of a dialect. */
export interface Answer {
  /** The result in the dialect's form: text, or plain data. */
  readonly output: unknown
  /** The same for the Model Context Protocol. Default: `output` as one block of text. */
  readonly content?: readonly ContentBlock[]
  readonly structured?: Readonly<Record<string, unknown>>
  /** Set if the calls succeeded and the result is still an error for the caller, such as a command with exit code 1. */
  readonly isError?: boolean
}

/** A content block of the Model Context Protocol. */
export type ContentBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType: string }
  | {
      readonly type: 'resource'
      readonly resource: { readonly uri: string; readonly mimeType?: string; readonly blob: string }
    }

/** An error with the tool names, fields and paths of a dialect. */
export interface DialectError {
  readonly code: ErrorCode
  readonly message: string
  readonly hint: string
  /** Path in the dialect's spelling. */
  readonly path?: string
  /** Name of the dialect's tool. */
  readonly tool: string
  /** Input of the call, unchecked. */
  readonly input: unknown
  /** The error of the workspace: logical paths, tool names of the workspace, all details. */
  readonly failure: Failure
}

/** Hints by error code. */
export type Hints = Readonly<Partial<Record<ErrorCode, string>>>

/** Tool definitions for APIs that know the tool by a type of their own. */
export interface NativeDefinitions {
  readonly anthropic?: { readonly type: string; readonly [field: string]: unknown }
  readonly openai?: { readonly type: string; readonly [field: string]: unknown }
}

/** Tool annotations of the Model Context Protocol. */
export interface ToolAnnotations {
  readonly readOnlyHint?: boolean
  readonly destructiveHint?: boolean
  readonly idempotentHint?: boolean
  readonly openWorldHint?: boolean
}

/** Result of a call in a dialect. */
export interface DialectResult {
  readonly isError: boolean
  /** The result in the dialect's form. */
  readonly output: unknown
  readonly content: readonly ContentBlock[]
  readonly structuredContent?: Readonly<Record<string, unknown>>
  /** The error of the workspace: logical paths, tool names of the workspace. */
  readonly failure?: Failure
  /** Ids of the workspace's calls that succeeded, in order: for `undo` and the audit. */
  readonly callIds: readonly string[]
  /** Warnings of those calls. */
  readonly warnings: readonly string[]
}

/** Description of a dialect's tool for models and protocols. */
export interface DialectToolInfo {
  readonly dialect: string
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: ObjectSchema
  readonly outputSchema?: ObjectSchema
  readonly annotations: ToolAnnotations
  readonly mutates: boolean
  /** Definitions for APIs that know this tool by a type of their own, without its name. */
  readonly native?: NativeDefinitions
}

/** Whether a result of `call` is the result of a call in a dialect. */
export function isDialectResult(result: unknown): result is DialectResult {
  return typeof result === 'object' && result !== null && 'isError' in result && 'content' in result
}
