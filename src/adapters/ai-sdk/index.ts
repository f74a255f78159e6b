import type { ToolSet } from 'ai'
import { refuseSurplus } from '../../util/check-options.ts'
import { type AgentToolOptions, agentTools } from '../model/agent-tools.ts'
import type { CallableDialectTools, CallableTools } from '../model/select-tools.ts'

export type { PendingCall } from '../model/framework-approvals.ts'
export type { CallableDialectTools, CallableTools } from '../model/select-tools.ts'
export type { SandboxCaller, SandboxOptions, SandboxTarget } from '../sandbox/target.ts'
export {
  type AiSdkSandbox,
  type AiSdkSandboxProcess,
  aiSdkSandbox,
  type SandboxLine,
  type SandboxPath,
} from './sandbox.ts'

/** Run, tools, approval handler and form of the results. */
export interface AiSdkOptions extends AgentToolOptions {}

/**
 * Returns the tools of a workspace for the AI SDK (version 6 or 7): `generateText`, `streamText`, `ToolLoopAgent`. Their schemas are
 * those of `modelTools`. Only the workspace validates input, so invalid input is a refusal like any other. A refusal is not thrown:
 * the model receives its code and hint as the error of the call. The SDK's id of a call is the `stepId` of its audit records, and its
 * `abortSignal` cancels the call.
 *
 * @example
 * const { text } = await generateText({ model, tools: aiSdkTools(workspace), stopWhen: stepCountIs(20), prompt: 'Fix it.' })
 */
export function aiSdkTools(workspace: CallableTools | CallableDialectTools, options?: AiSdkOptions): ToolSet {
  refuseSurplus('aiSdkTools()', 2, arguments)
  return agentTools('aiSdkTools()', workspace, options) as unknown as ToolSet
}
