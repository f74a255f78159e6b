import type { ToOutside } from '../outside/messages.ts'
import { askOutside } from '../outside/start.ts'
import type { FileSource } from './fill.ts'
import type { ProjectFile, ProjectSource, Task } from './types.ts'

/**
 * Clones a repository over HTTP in a worker, and yields its files including `.git`. Most servers let a page clone only
 * through a CORS proxy.
 */
export function cloneFrom(
  { url, corsProxy, ref, depth }: Extract<ProjectSource, { kind: 'git' }>,
  task: Task,
): FileSource {
  if (!/^https?:\/\//.test(url)) throw new TypeError(`Cannot clone "${url}": the address must begin with https://`)
  return receive({ kind: 'clone', url, corsProxy, ref, depth }, task)
}

/** Yields the files of a repository on GitHub, without its history. No proxy is needed. */
export function filesOfGithub(source: Extract<ProjectSource, { kind: 'github' }>, task: Task): FileSource {
  return receive({ ...source, token: source.token }, task)
}

function receive(request: Exclude<ToOutside, { kind: 'fetch' }>, { onProgress, signal }: Task): FileSource {
  const warnings: string[] = []
  return { files: files(), warnings }

  async function* files(): AsyncIterable<ProjectFile> {
    for await (const message of askOutside(request, signal)) {
      if (message.kind === 'progress') {
        const { phase, done, total } = message
        onProgress?.({ phase, done, ...(total !== undefined && { total }) })
      } else if (message.kind === 'files') yield* message.files
      else if (message.kind === 'end') warnings.push(...message.warnings)
    }
  }
}
