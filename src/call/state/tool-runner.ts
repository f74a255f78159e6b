import type { Access } from '../../policy/access.ts'
import type { Receipt } from '../../storage/backend.ts'
import type { BuiltinContext, BuiltinDraft, PlanState, ResultFields } from '../../tools/builtin-tool.ts'
import type { ShownVersion, Tool } from '../../tools/define-tool.ts'
import { ignoreRejection } from '../../util/ignore-rejection.ts'
import type { AuthorizedCall } from './call.ts'

type Input = AuthorizedCall['input']
type AnyDraft = BuiltinDraft<unknown>

/** Calls the functions of a tool. */
export interface ToolRunner {
  inputSchema(tool: Tool): Tool['input']
  plan(tool: Tool, input: Input, state: PlanState): readonly Access[] | Promise<readonly Access[]>
  /** Returns the command line of a call, if its tool runs one. */
  commandLine(tool: Tool, input: Input): string | undefined
  draft(call: Pick<AuthorizedCall, 'tool' | 'input'>, context: BuiltinContext): Promise<AnyDraft>
  /** Returns the result fields of a committed draft. */
  result(tool: Tool, draft: AnyDraft, receipt: Receipt): object | Promise<object>
  /** Returns the versions that a committed draft shows. */
  shown(tool: Tool, draft: AnyDraft, receipt: Receipt): readonly ShownVersion[]
  /** Returns the complete text of a committed draft. */
  fullOutput(tool: Tool, output: NonNullable<AnyDraft['fullOutput']>, receipt: Receipt): string
  /** Passes the final answer of a call to its draft. */
  passAnswer(tool: Tool, draft: AnyDraft, answer: ResultFields, receipt: Receipt): void
}

/** Calls the functions of built-in tools and operations, which need no checks. */
export const builtinToolRunner: ToolRunner = {
  inputSchema: ({ input }) => input,
  // A built-in tool may load its code first.
  plan: (tool, input, state) => tool.plan(input, state),
  commandLine: (tool, input) => tool.commandLine?.(input),
  draft: ({ tool, input }, context) => tool.draft(input, context),
  result: (_, draft, receipt) => draft.result(receipt) as object,
  shown: (_, { shown }, receipt) => shown?.(receipt) ?? [],
  fullOutput: (_, { text }) => text(),
  passAnswer: (_, { onResult }, answer) => void ignoreRejection(onResult?.(answer)),
}
