import { type Backend, type Path, parsePath, ToolError } from 'wardspace'
import type { Change } from 'wardspace/backend'
import type { ProjectFile, Task } from './types.ts'
import { createYield } from './yield-to-page.ts'

/** The files that an importer produces. */
export interface FileSource {
  readonly files: AsyncIterable<ProjectFile> | Iterable<ProjectFile>
  readonly total?: number
  /** The files that were left out, complete once `files` has ended. */
  readonly warnings?: readonly string[]
}

/** Bounds on the files and bytes of one commit, so that no commit blocks the page for long. */
const MAX_FILES = 50
const MAX_BYTES = 500_000

/**
 * Writes files into an empty backend. Skips names that the library's guard refuses, such as names that leave the root,
 * names that are already taken, and links that lead outside. The returned warnings list what was skipped.
 */
export async function fill(
  backend: Backend,
  { files, warnings: sourceWarnings = [], total }: FileSource,
  { onProgress, signal }: Task,
): Promise<readonly string[]> {
  const warnings: string[] = []
  const types = new Map<string, 'file' | 'directory'>()
  const links: Change[] = []
  let changes: Change[] = []
  let bytes = 0
  let done = 0
  const yieldToPage = createYield()

  async function flush(): Promise<void> {
    signal?.throwIfAborted()
    if (changes.length > 0) {
      await backend.commit(changes, { durability: 'relaxed', ...(signal && { signal }) })
      changes = []
      bytes = 0
    }
    onProgress?.({ phase: 'Storing', done, ...(total !== undefined && { total }) })
  }

  function skip(error: unknown): void {
    if (!(error instanceof ToolError)) throw error
    warnings.push(`Left out: ${error.message}`)
  }

  for await (const file of files) {
    done++
    try {
      const { parents, change } = changesFor(file, types)
      changes.push(...parents)
      if (change !== undefined) (file.target === undefined ? changes : links).push(change)
    } catch (error) {
      skip(error)
      continue
    }
    bytes += file.bytes.length
    await yieldToPage()
    if (changes.length >= MAX_FILES || bytes >= MAX_BYTES) await flush()
  }
  await flush()
  // Links are committed last and separately: a link that leads outside fails alone, and no file is written through one.
  for (const link of links) await backend.commit([link], { durability: 'relaxed' }).catch(skip)
  return [...sourceWarnings, ...warnings]
}

/** Returns the change that creates a file or link, and the changes that create its missing directories. */
function changesFor(
  file: ProjectFile,
  types: Map<string, 'file' | 'directory'>,
): { parents: Change[]; change?: Change } {
  const path = parsePath(file.path) as Path
  const names = path.split('/')
  const above = names.slice(1).map((_, i) => names.slice(0, i + 1).join('/') as Path)
  const isTaken = file.isDirectory === true ? types.get(path) === 'file' : types.has(path)
  if (path === '' || isTaken || above.some((parent) => types.get(parent) === 'file')) {
    throw new ToolError('ALREADY_EXISTS', `Cannot create "${file.path}": the name is taken`)
  }
  const missing = [...above, ...(file.isDirectory === true ? [path] : [])].filter((parent) => !types.has(parent))
  for (const parent of missing) types.set(parent, 'directory')
  const parents = missing.map((parent): Change => ({ path: parent, expect: 'any', to: { type: 'directory' } }))
  if (file.isDirectory === true) return { parents }
  types.set(path, 'file')
  return { parents, change: { path, expect: 'absent', to: stateOf(file) } }
}

function stateOf({ target, bytes, mode }: ProjectFile): Change['to'] {
  if (target !== undefined) return { type: 'link', target }
  return { type: 'file', bytes, ...(mode !== undefined && { mode }) }
}
