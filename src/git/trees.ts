import { corrupt } from './corrupt-error.ts'
import type { Objects } from './objects.ts'
import { hexOf } from './pack.ts'

/** A file, link or submodule in a tree. */
export interface TreeFile {
  /** `100644 100755 120000 160000`, as a number in octal. */
  readonly mode: number
  readonly id: string
}

/** A directory as git has it. The same object for the same id, so that it can be compared as it is. */
export interface TreeDirectory {
  readonly id: string
  readonly files: ReadonlyMap<string, TreeFile>
  readonly directories: ReadonlyMap<string, TreeDirectory>
  /** How many files and directories are below it. */
  readonly count: number
}

export const EMPTY_TREE: TreeDirectory = {
  id: '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
  files: new Map(),
  directories: new Map(),
  count: 0,
}

const MAX_DEPTH = 1000
const MAX_ENTRIES = 2_000_000
const MAX_KNOWN = 100_000

/** Loads whole trees by id. What two trees share is loaded once. */
export function treeLoader(objects: Objects): (id: string) => Promise<TreeDirectory> {
  const known = new Map<string, TreeDirectory>()

  async function load(id: string, depth: number): Promise<TreeDirectory> {
    const same = known.get(id)
    if (same !== undefined) return same
    if (depth > MAX_DEPTH) throw corrupt('its directories are nested too deeply')
    const files = new Map<string, TreeFile>()
    const directories = new Map<string, TreeDirectory>()
    let count = 0
    for (const { name, mode, id: child } of id === EMPTY_TREE.id ? [] : parseTree(await objects.need(id, 'tree'))) {
      if (mode === 0o40000) {
        const directory = await load(child, depth + 1)
        directories.set(name, directory)
        count += directory.count + 1
      } else {
        files.set(name, { mode: normalMode(mode), id: child })
        count += 1
      }
    }
    // Few trees that name one another several times can stand for more files than there is room for.
    if (count > MAX_ENTRIES) throw corrupt('it holds too many files')
    const directory = { id, files, directories, count }
    /* v8 ignore if -- @preserve: a bound of memory that takes some 100,000 directories to reach */
    if (known.size >= MAX_KNOWN) known.clear()
    known.set(id, directory)
    return directory
  }

  return (id) => load(id, 0)
}

/** Old git wrote other permission bits. */
function normalMode(mode: number): number {
  if ((mode & 0o170000) !== 0o100000) return mode
  return (mode & 0o100) === 0 ? 0o100644 : 0o100755
}

/** Names are compared as git's bytes decoded: what is no UTF-8 cannot be a path of a workspace and never matches one. */
export function parseTree(bytes: Uint8Array): { name: string; mode: number; id: string }[] {
  const entries: { name: string; mode: number; id: string }[] = []
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(32, at)
    const end = bytes.indexOf(0, space)
    if (space === -1 || end === -1 || end + 21 > bytes.length) throw corrupt('a tree is damaged')
    let mode = 0
    for (let i = at; i < space; i++) mode = mode * 8 + (bytes[i] as number) - 48
    entries.push({ name: decoder.decode(bytes.subarray(space + 1, end)), mode, id: hexOf(bytes, end + 1) })
    at = end + 21
  }
  return entries
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
