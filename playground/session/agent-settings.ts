import { effect, signal } from '@preact/signals'
import type { AgentLimits } from '../agent/types.ts'
import { factsOf, type ModelPick } from './model.ts'

/** What a person wants of the agent in every project. */
export interface AgentSettings {
  /** Part of every request, such as the language of the answers. */
  readonly instructions: string
  /** Whether the agent follows the file `AGENTS.md` of a project. */
  readonly followsProject: boolean
  /** Whether the browser notifies the person when an approval waits in a hidden tab. */
  readonly notifies: boolean
  readonly maxSteps: number
  readonly maxTokens?: number
  readonly maxCost?: number
}

const NAME = 'wardspace-playground-agent'
/** Steps per turn: enough for a long task, and an end for a model that finds none. */
const defaults: AgentSettings = { instructions: '', followsProject: true, notifies: false, maxSteps: 200 }

/** The settings of the person, also after a reload. */
export const agentSettings = signal<AgentSettings>(readStored())

effect(() => {
  const { value } = agentSettings
  try {
    localStorage.setItem(NAME, JSON.stringify(value))
  } catch {
    // Without local storage, the settings last as long as the page.
  }
})

/** The limits of the agent with a model. A scripted model has only the default ones. */
export function limitsFor(pick: ModelPick): AgentLimits {
  if (pick.kind === 'scripted') return {}
  const { maxSteps, maxTokens, maxCost } = agentSettings.peek()
  const { contextTokens, prices } = pick.kind === 'endpoint' ? factsOf(pick) : {}
  return {
    maxSteps,
    ...(maxTokens !== undefined && { maxTokens }),
    ...(maxCost !== undefined && { maxCost }),
    ...(contextTokens !== undefined && { contextTokens }),
    ...(prices !== undefined && { prices }),
  }
}

function readStored(): AgentSettings {
  try {
    return { ...defaults, ...(JSON.parse(localStorage.getItem(NAME) ?? '{}') as Partial<AgentSettings>) }
  } catch {
    return defaults
  }
}
