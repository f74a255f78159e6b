import type * as z from 'zod'
import type { Success } from '../../call/state/call.ts'
import type { ErrorCode, Failure } from '../../errors.ts'
import type { ToolName } from '../../tools/index.ts'
import type { PathMapping } from './path-mapping.ts'

/**
 * The names and shapes of another system's tools, over the same tools and the same pipeline: data and pure functions. It has
 * nothing but calls, so that guard, policy, approval and audit are those of any call.
 */
export interface Dialect {
  /** As the command line names it, such as `mcp-filesystem`. */
  readonly name: string
  /** Whose names these are, in one line. */
  readonly description: string
  /** Where its paths lie; see `createPathMapping`. */
  readonly pathMapping: PathMapping
  readonly tools: readonly DialectTool[]
  /** What to do next after a refusal, in words of this dialect: the names of its own tools and fields. */
  readonly hints?: Hints
  /** What it calls the input fields of the workspace's tools, where they have other names: for messages. */
  readonly fields?: Readonly<Record<string, string>>
  /** Whether its callers can name the version that they expect. Without that, the read ledger protects what is replaced. */
  readonly versions?: boolean
  /** A refusal in the dialect's own form. Must take any input. */
  refusal(refusal: DialectError): Answer
}

/** One tool of a dialect. Make it with {@link defineDialectTool}. */
export interface DialectTool<I extends z.ZodObject = z.ZodObject> {
  readonly name: string
  readonly title?: string
  /** For the model. */
  readonly description: string
  /** As the original publishes it: what does not fit is `INVALID_INPUT`, in these names. */
  readonly input: I
  /** Of the structured result, where the original publishes one. */
  readonly output?: z.ZodObject
  readonly annotations?: ToolAnnotations
  /** The tools that it calls: where one of them is not registered, this one is not, either. */
  readonly uses: readonly ToolName[]
  /** Tools that only some of its commands call: those are refused where they are not registered. */
  readonly mayUse?: readonly ToolName[]
  /** How APIs that know the tool by a type of their own take it, its name left out. */
  readonly native?: NativeDefinitions
  /** Names that the original once gave it: taken, and told to nobody. */
  readonly formerNames?: readonly string[]
  /** Brings other spellings of the input, such as earlier names of fields, into the schema's form. What is none stays. */
  readonly normalizeInput?: (input: unknown) => unknown
  /**
   * The calls that it is made of, one after the other: look first, and change last and once, since a sequence is no
   * transaction. Yield {@link call}; the first refusal ends it. What it throws as a ToolError is a refusal, too, and so is
   * a failure that it returns, as {@link tryCall} gave it.
   */
  steps(input: z.output<I>, place: PathMapping): Steps<Answer | Failure>
}

/** A sequence of calls that ends in a value. */
export type Steps<R> = Generator<Step, R, Success | Failure | string>

/**
 * One call of a tool of the workspace; a look at what the run was shown (`shown`); or a part whose results are not given to
 * whoever called, so that nobody has seen what it read (`unseen`).
 */
export type Step =
  | {
      readonly tool: ToolName
      readonly input: unknown
      /** A refusal does not end the sequence. */
      readonly continueOnError: boolean
      /** The parts of the sequence that it belongs to. */
      readonly parts?: readonly object[]
    }
  | { readonly shown: string }
  | { readonly unseen: object }

/** What a tool of a dialect answers. */
export interface Answer {
  /** In the dialect's own form: a text, or plain data. */
  readonly output: unknown
  /** The same for the Model Context Protocol. Default: the output as one text. */
  readonly content?: readonly ContentBlock[]
  readonly structured?: Readonly<Record<string, unknown>>
  /** No refusal, and yet a failure to whoever called: such as a command that failed. */
  readonly isError?: boolean
}

/** A block of content as the Model Context Protocol has it. */
export type ContentBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType: string }
  | {
      readonly type: 'resource'
      readonly resource: { readonly uri: string; readonly mimeType?: string; readonly blob: string }
    }

/** A refusal in the words of a dialect: its tools, its paths. */
export interface DialectError {
  readonly code: ErrorCode
  readonly message: string
  readonly hint: string
  /** As the dialect spells it. */
  readonly path?: string
  /** The dialect's tool. */
  readonly tool: string
  /** What it was asked, as it was given. */
  readonly input: unknown
  /** As the workspace told it: logical paths, its own names, all details. */
  readonly failure: Failure
}

/** Hints by code, instead of the workspace's own. */
export type Hints = Readonly<Partial<Record<ErrorCode, string>>>

/** Definitions of a tool that name it by a type which an API knows, by the API. */
export interface NativeDefinitions {
  readonly anthropic?: { readonly type: string; readonly [field: string]: unknown }
  readonly openai?: { readonly type: string; readonly [field: string]: unknown }
}

/** Hints of the Model Context Protocol on what a tool does. */
export interface ToolAnnotations {
  readonly readOnlyHint?: boolean
  readonly destructiveHint?: boolean
  readonly idempotentHint?: boolean
  readonly openWorldHint?: boolean
}

/** What a call in a dialect gives. */
export interface DialectResult {
  readonly isError: boolean
  /** In the dialect's own form. */
  readonly output: unknown
  readonly content: readonly ContentBlock[]
  readonly structuredContent?: Readonly<Record<string, unknown>>
  /** The refusal as the workspace told it: logical paths, its own names. */
  readonly failure?: Failure
  /** The workspace's own calls that it was made of and that succeeded, in their order: for `undo` and the audit. */
  readonly callIds: readonly string[]
  /** What they warned about. */
  readonly warnings: readonly string[]
}

/** A tool of a dialect as a model or a protocol may be told of it. */
export interface DialectToolInfo {
  readonly dialect: string
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: z.ZodObject
  readonly outputSchema?: z.ZodObject
  readonly annotations: ToolAnnotations
  readonly mutates: boolean
  /** How APIs that know the tool by a type of their own take it, its name left out. */
  readonly native?: NativeDefinitions
}

/** Whether the result of a call is in a dialect. */
export function isDialectResult(result: object): result is DialectResult {
  return 'isError' in result && 'content' in result
}
