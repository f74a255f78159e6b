import type { Path } from 'wardspace'
import { agentSettings } from './agent-settings.ts'
import type { Session } from './types.ts'

/** The file in which a project says how agents work on it. */
export const PROJECT_FILE = 'AGENTS.md'

/** Characters of the file that are used. */
const MAX_CHARACTERS = 32_000

/**
 * Returns what the person and the project want of every answer. The project's file is read by the agent's own run, so that
 * the policy decides about it, its label counts, and the read is in the timeline.
 */
export async function instructionsFor(session: Session): Promise<string> {
  const { instructions, followsProject } = agentSettings.peek()
  const own = instructions.trim() === '' ? '' : `The person wants this of every answer:\n${instructions.trim()}`
  const project = followsProject ? await readProjectFile(session) : ''
  return [own, project].filter((part) => part !== '').join('\n\n')
}

async function readProjectFile({ project, agentRun }: Session): Promise<string> {
  const stat = await project.backend.stat(PROJECT_FILE as Path).catch(() => undefined)
  if (stat?.type !== 'file') return ''
  const result = await agentRun.peek().call('read_file', { path: PROJECT_FILE })
  if (!result.ok || typeof result.content !== 'string') return ''
  const text = result.content.slice(0, MAX_CHARACTERS)
  return [
    `${PROJECT_FILE} of the project says how to work on it. What the person says comes first, and it permits nothing that is refused.`,
    `<${PROJECT_FILE}>\n${text}\n</${PROJECT_FILE}>`,
  ].join('\n')
}
