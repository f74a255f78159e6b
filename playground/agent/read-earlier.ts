import type { ModelMessage } from 'ai'
import { createWorkspace, type Failure, type Success } from 'wardspace'
import { memory } from 'wardspace/backends/memory'
import { CONVERSATION, textAt } from './compaction.ts'

/** The name of the only file. */
const FILE = 'earlier.json'

/**
 * Answers a call of `read_file` that names an address of the conversation, from the conversation. Returns undefined for any
 * other call. The model has had the text before, so no policy is asked; the lines are chosen as in any other file.
 */
export function readEarlier(
  messages: () => readonly ModelMessage[],
  tool: string,
  input: unknown,
): Promise<Success | Failure> | undefined {
  const path = typeof input === 'object' && input !== null && 'path' in input ? input.path : undefined
  if (tool !== 'read_file' || typeof path !== 'string' || !path.startsWith(CONVERSATION)) return undefined
  return read(textAt(messages(), path), path, { ...(input as object), path: FILE })
}

async function read(text: string | undefined, address: string, input: object): Promise<Success | Failure> {
  if (text === undefined) {
    return {
      ok: false,
      code: 'NOT_FOUND',
      message: `This conversation has no ${JSON.stringify(address)}`,
      hint: 'Use an artifactUri of this conversation, or make the call again.',
    }
  }
  const workspace = await createWorkspace({ backend: memory({ [FILE]: text }), policy: 'readOnly' })
  const result = await workspace.callTool('read_file', input)
  await workspace.close()
  return { ...result, ...('path' in result && { path: address }) }
}
