import { type LogicalPath, nameOf, type Path, parentOf, parsePath, quote, ROOT } from '../../paths/logical-path.ts'
import type { Backend, Capabilities, DirectoryNode, FileNode, LinkNode, Stat, TreeNode } from '../../storage/backend.ts'
import { linkTarget } from '../../storage/link-target.ts'
import { directoryNode } from '../../storage/tree.ts'
import { directoryStat, FILE_MODE, fileNode, linkNode, textFileNode, treeReads } from '../../storage/tree-nodes.ts'
import { throwIfAborted } from '../../util/abort.ts'
import { isUint8Array } from '../../util/bytes.ts'
import {
  checkOptions,
  isClock,
  isOneOf,
  isPlain,
  isText,
  must,
  refuseSurplus,
  shape,
} from '../../util/check-options.ts'
import { memoizeAsync } from '../../util/memoize-async.ts'
import { ACCESSES_PER_LOOK, createPacer } from '../../util/pacer.ts'

/** An initial entry of {@link memory}. Bytes are not copied: callers must not write into them afterwards. */
export type MemoryEntry =
  | string
  | Uint8Array
  | { readonly text: string; readonly mode?: number }
  | { readonly bytes: Uint8Array; readonly mode?: number }
  | { readonly link: string }
  | { readonly directory: true }

/** Options of {@link memory}. */
export interface MemoryOptions {
  /** Time of the initial files and of commits without `at`, in milliseconds since 1970. Default: 0. */
  readonly clock?: () => number
}

/** A {@link memory} backend, which always has `tree`, `fork` and `scan`. */
export interface MemoryBackend extends Backend {
  tree(): DirectoryNode
  fork(): MemoryBackend
  scan(paths: readonly Path[], visit: (path: Path, bytes: Uint8Array, stat: Stat) => boolean): Promise<void>
}

/**
 * Creates a backend in memory on a persistent tree: `fork()` and `tree()` take constant time, a commit swaps the root.
 * Keys are paths, values are text, bytes, links or directories. Parents are created.
 *
 * Nothing is copied: bytes passed in belong to the backend, bytes read are the stored ones and must not be written to.
 * The same calls give the same tags and times. Without a `clock`, the time of a commit without `at` is 0. The tag and
 * time of a directory change with the names in it, not with the content of its files.
 *
 * @throws TypeError for a path that `parsePath` refuses, a file below a file, a duplicate path, a link that leads outside
 * @example
 * const backend = memory({ 'src/app.ts': 'export const answer = 41\n', 'bin/run': { text: '#!/bin/sh\n', mode: 0o755 } })
 */
export function memory(files: Readonly<Record<string, MemoryEntry>> = {}, options?: MemoryOptions): MemoryBackend {
  refuseSurplus('memory()', 2, arguments)
  const { clock = () => 0 } = checkOptions<MemoryOptions>('memory()', options, { clock: isClock })
  const tags = tagCounter('')
  return backendOver(loadTree(files, clock(), tags), clock, tags)
}

/** What applies changes is loaded with the first commit. */
const loadCommit = memoizeAsync(() => import('../../storage/tree-commit.ts'))

const capabilities: Capabilities = Object.freeze({
  links: true,
  modes: true,
  times: 'set',
  caseSensitive: true,
  authority: 'sole',
  persistent: false,
  atomic: 'set',
})

function backendOver(initial: DirectoryNode, clock: () => number, tags: TagCounter): MemoryBackend {
  let root = initial
  const pace = createPacer(ACCESSES_PER_LOOK)
  return {
    capabilities,
    ...treeReads(() => root),

    async commit(changes, options) {
      throwIfAborted(options.signal)
      const { draftOf } = await loadCommit()
      const draft = draftOf(root, changes, options.at ?? clock(), tags)
      root = draft.root
      await pace()
      return draft.receipt
    },

    tree: () => root,
    fork: () => backendOver(root, clock, tags.fork()),
    async close() {},
  }
}

/** Generates a tag for each new node. */
interface TagCounter {
  next(): string
  /** Returns a counter for a fork. The two never generate the same tag. */
  fork(): TagCounter
}

function tagCounter(prefix: string): TagCounter {
  let count = 0
  let forks = 0
  return {
    next: () => `${prefix}${++count}`,
    fork: () => tagCounter(`${prefix}${count}+${++forks}.`),
  }
}

function loadTree(files: Readonly<Record<string, MemoryEntry>>, at: number, tags: TagCounter): DirectoryNode {
  const root: Draft = new Map()
  const directories = new Map([[ROOT as LogicalPath, root]])
  must('an object such as { "src/app.ts": "text" }', isPlain)(files, 'files', 'memory()')
  for (const key of Object.keys(files)) {
    const entry = checkEntry(key, files[key])
    const path = pathOfKey(key)
    if (isDirectoryEntry(entry)) {
      openDirectory(directories, path, path)
      continue
    }
    const name = nameOf(path)
    const directory = path === ROOT ? undefined : openDirectory(directories, parentOf(path), path)
    if (directory === undefined || directory.has(name)) throw givenTwice(path)
    directory.set(name, loadNode(path, entry, at, tags))
  }
  return freeze(directories, at, tags)
}

/** A directory whose subdirectories become nodes last. */
type Draft = Map<string, Draft | TreeNode>

/**
 * Returns a directory. Creates it, and those above it.
 *
 * @param entry the path that needs it, for messages
 */
function openDirectory(directories: Map<LogicalPath, Draft>, path: LogicalPath, entry: LogicalPath): Draft {
  const missing: LogicalPath[] = []
  let above = path
  for (; !directories.has(above); above = parentOf(above)) missing.push(above)
  let directory = directories.get(above) as Draft
  for (let next = missing.pop(); next !== undefined; next = missing.pop()) {
    const name = nameOf(next)
    if (directory.has(name)) {
      throw next === entry ? givenTwice(next) : new TypeError(`memory(): ${quote(entry)} lies below a file or a link`)
    }
    const child: Draft = new Map()
    directory.set(name, child)
    directories.set(next, child)
    directory = child
  }
  return directory
}

function givenTwice(path: LogicalPath): TypeError {
  return new TypeError(`memory(): ${quote(path)} is given twice, or is a directory of another file`)
}

function freeze(directories: ReadonlyMap<LogicalPath, Draft>, at: number, tags: TagCounter): DirectoryNode {
  // A directory stands after the one that contains it.
  for (const [path, draft] of [...directories].reverse()) {
    const entries = [...(draft as Map<string, TreeNode>)].sort(([a], [b]) => (a < b ? -1 : 1))
    const node = directoryNode(directoryStat(at, tags), entries)
    if (path === ROOT) return node
    directories.get(parentOf(path))?.set(nameOf(path), node)
  }
  throw new Error('The root is missing')
}

function loadNode(
  path: LogicalPath,
  entry: string | Uint8Array | EntryFields,
  at: number,
  tags: TagCounter,
): FileNode | LinkNode {
  if (typeof entry === 'string') return textFileNode(requireUnicode(path, entry), FILE_MODE, at, tags)
  if (isUint8Array(entry)) return fileNode(entry, FILE_MODE, at, tags)
  const { link, text, bytes, mode = FILE_MODE } = entry
  if (link !== undefined) {
    try {
      linkTarget(path, link)
    } catch (error) {
      throw new TypeError(`memory(): ${(error as Error).message}`, { cause: error })
    }
    return linkNode(link, at, tags)
  }
  if (bytes !== undefined) return fileNode(bytes, mode, at, tags)
  return textFileNode(requireUnicode(path, text ?? ''), mode, at, tags)
}

/** The fields of an entry that is not text or bytes itself. */
interface EntryFields {
  readonly text?: string
  readonly bytes?: Uint8Array
  readonly link?: string
  readonly directory?: true
  readonly mode?: number
}

const isEntry = shape<EntryFields>({
  text: isText,
  bytes: must('a Uint8Array', (value) => isUint8Array(value)),
  link: isText,
  directory: isOneOf(true),
  mode: must('permission bits from 0 to 0o7777', (mode) => Number.isInteger(mode) && Number(mode) >>> 12 === 0),
})

/** @throws TypeError for an entry that has not exactly one of the kinds */
function checkEntry(key: string, entry: unknown): string | Uint8Array | EntryFields {
  if (typeof entry === 'string' || isUint8Array(entry)) return entry
  must('a text, bytes or an object', isPlain)(entry, key, 'memory()')
  const fields = isEntry(entry, key, 'memory(), whose keys are whole paths,') as EntryFields
  const { text, bytes, link, directory, mode } = fields
  const kinds = [text, bytes, link, directory].filter((kind) => kind !== undefined).length
  if (kinds !== 1) throw new TypeError(`memory(): ${quote(key)} is neither text, bytes, a link nor a directory`)
  if (mode !== undefined && (link ?? directory) !== undefined) {
    throw new TypeError(`memory(): ${quote(key)} is not a file, so it takes no mode`)
  }
  return fields
}

function isDirectoryEntry(entry: string | Uint8Array | EntryFields): boolean {
  return typeof entry === 'object' && 'directory' in entry
}

function pathOfKey(key: string): LogicalPath {
  try {
    return parsePath(key)
  } catch (error) {
    const relative = key.replace(/^(?:[A-Za-z]:)?[\\/]+/, '')
    const help = relative === key ? '' : `. Keys are relative to the root of the workspace: write ${quote(relative)}`
    throw new TypeError(`memory(): ${(error as Error).message}${help}`, { cause: error })
  }
}

function requireUnicode(path: LogicalPath, text: string): string {
  // An encoder would silently replace lone surrogates.
  if (/\p{Cs}/u.test(text)) throw new TypeError(`memory(): the text of ${quote(path)} is not well-formed Unicode`)
  return text
}
