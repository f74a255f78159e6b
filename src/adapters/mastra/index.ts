import { refuseSurplus } from '../../util/check-options.ts'
import { type AgentTool, type AgentToolOptions, agentTools } from '../model/agent-tools.ts'
import type { CallableDialectTools, CallableTools } from '../model/select-tools.ts'

export type {
  AgentTool,
  AgentToolContext,
  AgentToolOptions,
  AgentToolOutput,
  AskContext,
} from '../model/agent-tools.ts'
export type { PendingAnswer, PendingCall } from '../model/framework-approvals.ts'
export type { CallableDialectTools, CallableTools, CallResult, OfferOptions } from '../model/select-tools.ts'

export type { SandboxCaller, SandboxOptions, SandboxTarget } from '../sandbox/target.ts'
export {
  type MastraFileEntry,
  type MastraFilesystem,
  type MastraFilesystemOptions,
  type MastraGrep,
  mastraFilesystem,
} from './filesystem.ts'

export { type MastraCommandOptions, type MastraCommandResult, type MastraSandbox, mastraSandbox } from './sandbox.ts'

/** A tool of a workspace for Mastra. */
export interface MastraTool extends AgentTool {
  /** The name of the tool. */
  readonly id: string
}

/**
 * Returns the tools of a workspace for the agents of Mastra (`@mastra/core` 1 or later). A refusal is not thrown: the model receives its code and
 * hint. Mastra's id of a call is the `stepId` of its audit records, and its `abortSignal` cancels the call. With
 * `approvals: 'framework'`, a call that needs an approval suspends the agent with a `PendingCall`, and the agent is resumed with a
 * `PendingAnswer`.
 *
 * @throws TypeError for a name in `tools` that the workspace does not have. A call of an older `@mastra/core` also throws one
 * @example
 * const tools = mastraTools(workspace) // for new Agent({ tools })
 */
export function mastraTools(
  workspace: CallableTools | CallableDialectTools,
  options?: AgentToolOptions,
): Record<string, MastraTool> {
  refuseSurplus('mastraTools()', 2, arguments)
  const tools = Object.entries(agentTools('mastraTools()', workspace, options, 'suspends'))
  // Mastra lets only tools with its mark suspend. They get the id of the call in another place.
  const mark = options?.approvals === 'framework' ? { [Symbol.for('mastra.core.tool.Tool')]: true } : {}
  return Object.fromEntries(tools.map(([id, tool]) => [id, { ...mark, ...tool, id, execute: refusingOldCalls(tool) }]))
}

/** Older versions pass the input as `context`, and show the model no fields of the tools. */
function refusingOldCalls({ execute }: AgentTool): AgentTool['execute'] {
  return async (input, context) => {
    if (typeof input === 'object' && input !== null && 'context' in input && 'runtimeContext' in input)
      throw new TypeError(
        'mastraTools() needs @mastra/core 1 or later, which needs Node 22.13; the installed one is older',
      )
    return execute(input, { ...context, toolCallId: context.toolCallId ?? context.agent?.toolCallId })
  }
}
