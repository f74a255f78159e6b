import { ToolError } from '../errors.ts'
import { childOf, type Path } from '../paths/logical-path.ts'
import { type Backend, type DirectoryStats, FACTS, TYPE_CODES } from '../storage/backend.ts'

/** Returns the stats of directories from the backend's `statDirectories`, or from its `list` and `stat`. */
export async function readDirectoryStats(
  backend: Backend,
  directories: readonly Path[],
  previous: (directory: Path) => DirectoryStats | undefined,
): Promise<readonly (DirectoryStats | undefined)[]> {
  if (backend.statDirectories !== undefined) return backend.statDirectories(directories, previous)
  const all: (DirectoryStats | undefined)[] = []
  for (const directory of directories) all.push(await statDirectory(backend, directory))
  return all
}

async function statDirectory(backend: Backend, directory: Path): Promise<DirectoryStats | undefined> {
  try {
    const entries = await backend.list(directory)
    const facts = new Float64Array(FACTS * entries.length)
    const modifiedTime =
      backend.capabilities.authority === 'sole' ? () => 0 : (at: number | undefined) => at ?? Number.NaN
    const stats = await Promise.all(
      entries.map(({ name, type }) => (type === 'directory' ? undefined : backend.stat(childOf(directory, name)))),
    )
    for (const [i, stat] of stats.entries()) {
      if (stat === undefined) continue
      const at = FACTS * i
      facts[at] = stat.size
      facts[at + 1] = backend.capabilities.modes ? (stat.mode ?? -1) : -1
      facts[at + 2] = modifiedTime(stat.modifiedAt)
      facts[at + 3] = modifiedTime(stat.modifiedAt)
      facts[at + 4] = numberOf(stat.tag)
    }
    return {
      stamp: Number.NaN,
      names: entries.map(({ name }) => name),
      types: Uint8Array.from(entries, ({ type }) => TYPE_CODES[type]),
      facts,
    }
  } catch (error) {
    if (error instanceof ToolError && (error.code === 'NOT_FOUND' || error.code === 'NOT_A_DIRECTORY')) return undefined
    throw error
  }
}

const numbers = new Map<string, number>()
let next = 1

/** Returns a unique number for a tag. */
function numberOf(tag: string): number {
  let number = numbers.get(tag)
  if (number === undefined) {
    number = next++
    // Clearing the cache costs only one more read of each content.
    /* v8 ignore if -- @preserve: a bound of memory that takes some 200,000 files to reach */
    if (numbers.size >= 200_000) numbers.clear()
    numbers.set(tag, number)
  }
  return number
}
