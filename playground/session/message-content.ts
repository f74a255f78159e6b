import type { UserContent } from 'ai'
import type { Path } from 'wardspace'
import type { Attachment } from 'wardspace/ui'
import type { Session } from './types.ts'

/** Files that a message may name. More are left for the agent to read by itself. */
const MAX_MENTIONS = 10

/** Returns the paths that a message names with `@`, as in `@src/a.ts` or `@"a file.txt"`. */
export function mentionsIn(text: string): readonly string[] {
  const matches = text.matchAll(/(?:^|[\s(])@(?:"([^"\n]+)"|([^\s"@]+))/g)
  const paths = [...matches].map(
    ([, quoted, plain = '']) => quoted ?? plain.replace(/(?<![.,;:!?)\]])[.,;:!?)\]]+$/, ''),
  )
  return [...new Set(paths)].filter((path) => path !== '').slice(0, MAX_MENTIONS)
}

/**
 * Returns what the model gets of a message. The agent's own run reads the files that it names with `@`, so that the policy
 * decides about them and the reads are in the timeline.
 */
export async function contentOf(
  session: Session,
  text: string,
  attachments: readonly Attachment[],
): Promise<UserContent> {
  const mentioned: string[] = []
  for (const path of mentionsIn(text)) {
    const part = await readMention(session, path)
    if (part !== undefined) mentioned.push(part)
  }
  if (mentioned.length === 0 && attachments.length === 0) return text
  return [
    { type: 'text', text },
    ...mentioned.map((part) => ({ type: 'text' as const, text: part })),
    ...attachments.map(partOf),
  ]
}

function partOf(attachment: Attachment): Exclude<UserContent, string>[number] {
  switch (attachment.kind) {
    case 'text':
      return { type: 'text', text: `Attached file ${attachment.name}:\n${attachment.text}` }
    case 'image':
      return { type: 'image', image: attachment.data, mediaType: attachment.mediaType }
    case 'document':
      return { type: 'file', data: attachment.data, mediaType: attachment.mediaType, filename: attachment.name }
  }
}

/** Reads a file of the project. Returns undefined for a text that names none. */
async function readMention({ project, agentRun }: Session, path: string): Promise<string | undefined> {
  const stat = await project.backend.stat(path as Path).catch(() => undefined)
  if (stat?.type !== 'file') return undefined
  const result = await agentRun.peek().callTool('read_file', { path })
  return `@${path}:\n${JSON.stringify(result)}`
}
