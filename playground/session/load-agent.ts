import type { Scenario } from '../agent/types.ts'
import type { LoadedAgent } from './conversation.ts'

/** The agent's code, with the AI SDK in it, is loaded when it is first needed. */
export async function loadAgent(): Promise<LoadedAgent> {
  const { createAgent } = await import('../agent/create-agent.ts')
  return {
    createAgent,
    tools: ({ workspace, agentRun }) => ({
      tools: workspace.value.tools,
      callTool: (name, input, options) => agentRun.value.callTool(name, input, options),
    }),
  }
}

export async function loadScenarios(): Promise<readonly Scenario[]> {
  return (await import('../agent/scenarios/index.ts')).scenarios
}
