import { askOutside } from '../outside/start.ts'
import type { FileSource } from './fill.ts'
import type { ProjectFile, ProjectSource, Task } from './types.ts'

/**
 * Clones a repository over HTTP in a worker, and yields its files including `.git`. Most servers let a page clone only
 * through a CORS proxy.
 */
export function cloneFrom(
  { url, corsProxy, ref, depth }: Extract<ProjectSource, { kind: 'git' }>,
  { onProgress, signal }: Task,
): FileSource {
  if (!/^https?:\/\//.test(url)) throw new TypeError(`Cannot clone "${url}": the address must begin with https://`)
  const warnings: string[] = []
  return { files: receive(), warnings }

  async function* receive(): AsyncIterable<ProjectFile> {
    for await (const message of askOutside({ kind: 'clone', url, corsProxy, ref, depth }, signal)) {
      if (message.kind === 'progress') {
        const { phase, done, total } = message
        onProgress?.({ phase, done, ...(total !== undefined && { total }) })
      } else if (message.kind === 'files') yield* message.files
      else if (message.kind === 'end') warnings.push(...message.warnings)
    }
  }
}
