import { askOutside } from '../outside/start.ts'
import type { FileSource } from './fill.ts'
import type { ProjectFile, ProjectSource, Task } from './types.ts'

/**
 * A repository's files and its `.git`, cloned over HTTP by a worker. Most servers let a page clone only through a CORS
 * proxy: the address of one stands before theirs.
 */
export function cloneFrom(
  { url, corsProxy, ref, depth }: Extract<ProjectSource, { kind: 'git' }>,
  { onProgress, signal }: Task,
): FileSource {
  if (!/^https?:\/\//.test(url)) throw new TypeError(`Cannot clone "${url}": the address must begin with https://`)
  const warnings: string[] = []
  return { files: arriving(), warnings }

  async function* arriving(): AsyncIterable<ProjectFile> {
    for await (const message of askOutside({ kind: 'clone', url, corsProxy, ref, depth }, signal)) {
      if (message.kind === 'progress') {
        const { phase, done, total } = message
        onProgress?.({ phase, done, ...(total !== undefined && { total }) })
      } else if (message.kind === 'files') yield* message.files
      else if (message.kind === 'end') warnings.push(...message.warnings)
    }
  }
}
