import { type AuditRecord, createWorkspace, type Workspace, type WorkspaceOptions } from 'wardspace'
import { memorySink } from 'wardspace/audit'
import { memory } from 'wardspace/backends/memory'
import { bash } from 'wardspace/shells/bash'
import { createAgent } from '../../../playground/agent/create-agent.ts'
import { scenarioById } from '../../../playground/agent/scenarios/index.ts'
import type { Agent, AgentEvent, AgentOptions, Scenario } from '../../../playground/agent/types.ts'
import { samples } from '../../../playground/projects/samples/index.ts'

export type Files = Readonly<Record<string, string>>

export async function filesOf(sample: string): Promise<Files> {
  const match = samples.find(({ id }) => id === sample)
  if (match === undefined) throw new Error(`Unknown sample ${sample}`)
  return match.files()
}

export interface Played {
  readonly scenario: Scenario
  readonly workspace: Workspace
  readonly agent: Agent
  readonly events: AgentEvent[]
  readonly records: () => readonly AuditRecord[]
  /** All texts of the model. */
  readonly said: () => string
  /** Every result in the form that the model received. */
  readonly results: () => readonly Extract<AgentEvent, { type: 'result' }>[]
  text(path: string): Promise<string>
}

let shell: ReturnType<typeof bash> | undefined

/** One shell for all tests, so that its process is started once. A workspace that is closed does not end it. */
function sharedShell(): ReturnType<typeof bash> {
  shell ??= bash()
  return { ...shell, async close() {} }
}

/** Ends the process of the shell. */
export async function closeShell(): Promise<void> {
  await shell?.close()
  shell = undefined
}

/** Prepares a scenario on its sample, optionally with changed files. */
export async function setUp(
  id: string,
  change: (files: Files) => Files = (files) => files,
  more: Partial<WorkspaceOptions> & Partial<AgentOptions> = {},
): Promise<Played> {
  const scenario = scenarioById(id)
  const sink = memorySink()
  const { choice, conversation, onEvent, limits, pace, tools: _, ...options } = more
  const workspace = await createWorkspace({
    backend: memory(change(await filesOf(scenario.sample))),
    shell: sharedShell(),
    audit: sink,
    ...scenario.workspace,
    ...options,
  })
  const events: AgentEvent[] = []
  const agent = createAgent({
    tools: () => workspace,
    choice: choice ?? { kind: 'scripted', scenario: id },
    ...(conversation && { conversation }),
    ...(limits && { limits }),
    ...(pace && { pace }),
    onEvent: (event) => {
      events.push(event)
      onEvent?.(event)
    },
  })
  return {
    ...{ scenario, workspace, agent, events },
    records: () => sink.records(),
    said: () => events.flatMap((event) => (event.type === 'text' ? [event.delta] : [])).join(''),
    results: () => events.filter((event) => event.type === 'result'),
    async text(path) {
      const { content } = await workspace.files.read(path)
      return content
    },
  }
}

/** Returns a function that replaces a required text in one file. */
export function changed(path: string, from: string, to: string): (files: Files) => Files {
  return (files) => {
    const text = files[path]
    if (text === undefined || !text.includes(from)) throw new Error(`${path} does not contain ${JSON.stringify(from)}`)
    return { ...files, [path]: text.replaceAll(from, to) }
  }
}
