import { decodeName, encodeName } from '../paths/name-bytes.ts'
import { compareBytes } from '../util/bytes.ts'
import { corrupt } from './corrupt-error.ts'
import type { Objects } from './objects.ts'
import { hexOf, writeId } from './pack-index.ts'

/** A file, link or submodule in a tree. */
export interface TreeFile {
  /** `0o100644`, `0o100755`, `0o120000` or `0o160000`. */
  readonly mode: number
  readonly id: string
}

/** A name in a tree object. */
export interface TreeEntry extends TreeFile {
  readonly name: string
}

/** The mode of a directory in a tree object. */
export const DIRECTORY_MODE = 0o40000

/** A directory in git. The same id gives the same object, so directories can be compared by identity. */
export interface TreeDirectory {
  readonly id: string
  readonly files: ReadonlyMap<string, TreeFile>
  readonly directories: ReadonlyMap<string, TreeDirectory>
  /** Number of files and directories below it. */
  readonly count: number
}

export const EMPTY_TREE: TreeDirectory = {
  id: '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
  files: new Map(),
  directories: new Map(),
  count: 0,
}

/** Yields all files of a tree. */
export function* filesOf(tree: TreeDirectory): Generator<readonly [path: string, file: TreeFile]> {
  const waiting = [{ directory: tree, path: '' }]
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const [name, file] of at.directory.files) yield [at.path + name, file]
    for (const [name, directory] of at.directory.directories) waiting.push({ directory, path: `${at.path}${name}/` })
  }
}

/** No deeper path fits into the 4,095 bytes that a path may have. */
const MAX_DEPTH = 2048
export const MAX_ENTRIES = 2_000_000
const MAX_CACHED = 100_000

/** Returns a function that loads whole trees by id. Shared subtrees are loaded once. */
export function treeLoader(objects: Objects): (id: string) => Promise<TreeDirectory> {
  const cache = new Map<string, TreeDirectory>()

  async function load(id: string, depth: number): Promise<TreeDirectory> {
    const cached = cache.get(id)
    if (cached !== undefined) return cached
    if (depth > MAX_DEPTH) throw corrupt('its directories are nested too deeply')
    const files = new Map<string, TreeFile>()
    const directories = new Map<string, TreeDirectory>()
    let count = 0
    for (const { name, mode, id: child } of id === EMPTY_TREE.id ? [] : parseTree(await objects.need(id, 'tree'))) {
      if (mode === DIRECTORY_MODE) {
        const directory = await load(child, depth + 1)
        directories.set(name, directory)
        count += directory.count + 1
      } else {
        files.set(name, { mode: normalMode(mode), id: child })
        count += 1
      }
    }
    // A few trees that refer to one another several times can represent more files than fit into memory.
    if (count > MAX_ENTRIES) throw corrupt('it contains too many files')
    const directory = { id, files, directories, count }
    /* v8 ignore if -- @preserve: a bound of memory that takes some 100,000 directories to reach */
    if (cache.size >= MAX_CACHED) cache.clear()
    cache.set(id, directory)
    return directory
  }

  return (id) => load(id, 0)
}

/** Returns the mode with the permission bits that git uses now. Old versions wrote others. */
function normalMode(mode: number): number {
  if ((mode & 0o170000) !== 0o100000) return mode
  return (mode & 0o100) === 0 ? 0o100644 : 0o100755
}

/** Parses a tree object. */
export function parseTree(bytes: Uint8Array): TreeEntry[] {
  const entries: TreeEntry[] = []
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(32, at)
    const end = bytes.indexOf(0, space)
    if (space === -1 || end === -1 || end + 21 > bytes.length) throw corrupt('a tree is damaged')
    let mode = 0
    for (let i = at; i < space; i++) mode = mode * 8 + (bytes[i] as number) - 48
    entries.push({ name: decodeName(bytes.subarray(space + 1, end)), mode, id: hexOf(bytes, end + 1) })
    at = end + 21
  }
  return entries
}

/** Returns the bytes of a tree object. */
export function treeBytes(entries: readonly TreeEntry[]): Uint8Array {
  // Git sorts by bytes, and a directory as if its name ended with a slash.
  const encoded = entries.map(({ name, mode, id }) => ({
    key: encodeName(mode === DIRECTORY_MODE ? `${name}/` : name),
    head: encodeName(`${mode.toString(8)} ${name}\0`),
    id,
  }))
  encoded.sort((a, b) => compareBytes(a.key, b.key))
  const bytes = new Uint8Array(encoded.reduce((size, { head }) => size + head.length + 20, 0))
  let at = 0
  for (const { head, id } of encoded) {
    bytes.set(head, at)
    writeId(bytes, at + head.length, id)
    at += head.length + 20
  }
  return bytes
}
