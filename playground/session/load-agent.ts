import type { Scenario } from '../agent/types.ts'
import type { LoadedAgent } from './conversation.ts'

/** Loads the agent's code and the AI SDK on first use. */
export async function loadAgent(): Promise<LoadedAgent> {
  const [{ createAgent }, { instructionsFor }, { contentOf }] = await Promise.all([
    import('../agent/create-agent.ts'),
    import('./instructions.ts'),
    import('./message-content.ts'),
  ])
  return {
    createAgent,
    instructions: instructionsFor,
    contentOf,
    tools: ({ workspace, agentRun }) => ({
      tools: workspace.value.tools,
      callTool: (name, input, options) => agentRun.value.callTool(name, input, options),
    }),
  }
}

export async function loadScenarios(): Promise<readonly Scenario[]> {
  return (await import('../agent/scenarios/index.ts')).scenarios
}
