import { type Backend, type Path, parsePath, ToolError } from 'wardspace'
import type { Change } from 'wardspace/backend'
import type { ProjectFile, Task } from './types.ts'
import { createYield } from './yield-to-page.ts'

/** Files as an importer gives them. */
export interface FileSource {
  readonly files: AsyncIterable<ProjectFile> | Iterable<ProjectFile>
  readonly total?: number
  /** What was left out, known at the end. */
  readonly warnings?: readonly string[]
}

/** A commit holds at most so many files and bytes, so that none keeps the page busy for long. */
const MAX_FILES = 50
const MAX_BYTES = 500_000

/**
 * Writes files into an empty backend. A name that the library's guard refuses, such as one that climbs out of the root, is
 * left out and told; so is one that stands in the way of another, and a link that leads outside.
 */
export async function fill(
  backend: Backend,
  { files, warnings: given = [], total }: FileSource,
  { onProgress, signal }: Task,
): Promise<readonly string[]> {
  const warnings: string[] = []
  const seen = new Map<string, 'file' | 'directory'>()
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

  function leftOut(error: unknown): void {
    if (!(error instanceof ToolError)) throw error
    warnings.push(`Left out: ${error.message}`)
  }

  for await (const file of files) {
    done++
    try {
      const { parents, own } = changesFor(file, seen)
      changes.push(...parents)
      if (own !== undefined) (file.target === undefined ? changes : links).push(own)
    } catch (error) {
      leftOut(error)
      continue
    }
    bytes += file.bytes.length
    await yieldToPage()
    if (changes.length >= MAX_FILES || bytes >= MAX_BYTES) await flush()
  }
  await flush()
  // Links come last and alone: one that leads outside is refused by itself, and no file is ever written through one.
  for (const link of links) await backend.commit([link], { durability: 'relaxed' }).catch(leftOut)
  return [...given, ...warnings]
}

/** A file, link or directory, and the directories above it that are not there yet. */
function changesFor(file: ProjectFile, seen: Map<string, 'file' | 'directory'>): { parents: Change[]; own?: Change } {
  const path = parsePath(file.path) as Path
  const names = path.split('/')
  const above = names.slice(1).map((_, i) => names.slice(0, i + 1).join('/') as Path)
  const isTaken = file.isDirectory === true ? seen.get(path) === 'file' : seen.has(path)
  if (path === '' || isTaken || above.some((parent) => seen.get(parent) === 'file')) {
    throw new ToolError('ALREADY_EXISTS', `Cannot create "${file.path}": the name is taken`)
  }
  const missing = [...above, ...(file.isDirectory === true ? [path] : [])].filter((parent) => !seen.has(parent))
  for (const parent of missing) seen.set(parent, 'directory')
  const parents = missing.map((parent): Change => ({ path: parent, expect: 'any', to: { type: 'directory' } }))
  if (file.isDirectory === true) return { parents }
  seen.set(path, 'file')
  return { parents, own: { path, expect: 'absent', to: stateOf(file) } }
}

function stateOf({ target, bytes, mode }: ProjectFile): Change['to'] {
  if (target !== undefined) return { type: 'link', target }
  return { type: 'file', bytes, ...(mode !== undefined && { mode }) }
}
