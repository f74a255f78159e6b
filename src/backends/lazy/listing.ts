import { ToolError } from '../../errors.ts'
import { type Path, parsePath, ROOT } from '../../paths/logical-path.ts'
import type { DirectoryEntry, Stat } from '../../storage/backend.ts'
import { FILE_MODE } from '../../storage/plan-commit.ts'
import { throwIfAborted } from '../../util/abort.ts'
import { createPacer } from '../../util/pacer.ts'
import type { LazyContent, LazyEntry, LazyOther } from './source.ts'

/** The largest number of entries of a source, with the directories above them. */
export const MAX_ENTRIES = 1_000_000

/** The largest number of characters of all paths of a source. */
const MAX_PATHS_LENGTH = 128 * 1024 * 1024

/** Bytes of the longest target of a link. */
export const MAX_TARGET_BYTES = 4095

/** A path of a source that is not shown, or that cannot be read, and the reason. */
export interface Omitted {
  /** As the source lists it. */
  readonly path: string
  readonly reason: string
}

/** A node of a listing. */
export type LazyNode<E extends LazyEntry> =
  | { readonly type: 'directory'; readonly stat: Stat; readonly entries: readonly DirectoryEntry[] }
  | { readonly type: 'file' | 'link'; readonly stat: Stat; readonly entry: LazyContent<E> }
  | { readonly type: 'other'; readonly stat: Stat }

/** An entry that has a node. */
type Shown<E extends LazyEntry> = Exclude<E, { readonly type: 'omitted' }>

/** All entries of a source. It does not change. */
export interface Listing<E extends LazyEntry> {
  /** Returns what is at a path. */
  node(path: Path): LazyNode<E> | undefined
  readonly omitted: readonly Omitted[]
}

/** Sources without versions need tags that no other listing has. */
let listings = 0

/**
 * Returns the tree of the entries. Omits paths that the guard refuses, paths that are listed twice, and what is listed
 * below something that is not a directory. Its time is linear in the characters of the paths, in turns of the event loop.
 *
 * @throws ToolError `LIMIT_EXCEEDED` for too many entries or characters, `BACKEND_ERROR` for an entry of an unknown form,
 * `ABORTED`
 */
export async function createListing<E extends LazyEntry>(
  entries: Iterable<E>,
  signal: AbortSignal,
): Promise<Listing<E>> {
  const omitted: Omitted[] = []
  const root = new Place<E>()
  const step = createSteps(signal)
  await addPlaces(root, entries, omitted, step)
  await addNodes(root, omitted, step)
  return { node: (path) => placeAt(root, path)?.node, omitted }
}

/** A name in the tree of all listed paths. Directories above an entry have one each. */
class Place<E extends LazyEntry> {
  /** What is listed here; `twice` for different things, or several. */
  listed: Shown<E> | 'twice' | undefined
  below: Map<string, Place<E>> | undefined
  node: LazyNode<E> | undefined
  readonly above: Place<E> | undefined

  constructor(above?: Place<E>) {
    this.above = above
  }
}

function placeAt<E extends LazyEntry>(root: Place<E>, path: Path): Place<E> | undefined {
  let place: Place<E> | undefined = root
  if (path === ROOT) return place
  for (const name of path.split('/')) {
    place = place.below?.get(name)
    if (place === undefined) return undefined
  }
  return place
}

/** Number of names between two looks at the time and the signal. */
const NAMES_PER_STEP = 4096

/** Returns a function to call with the number of names that were looked at. */
function createSteps(signal: AbortSignal): (names: number) => Promise<void> | undefined {
  const pace = createPacer()
  let names = 0
  const turn = async () => {
    await pace()
    throwIfAborted(signal, 'Cannot list the files: the call was cancelled')
  }
  return (more) => {
    names += more
    if (names < NAMES_PER_STEP) return undefined
    names = 0
    return turn()
  }
}

/** Adds the entries with a valid path to the tree of names. */
async function addPlaces<E extends LazyEntry>(
  root: Place<E>,
  entries: Iterable<E>,
  omitted: Omitted[],
  step: (names: number) => Promise<void> | undefined,
): Promise<void> {
  let [count, places, length] = [0, 0, 0]
  for (const entry of entries) {
    count += 1
    if (count > MAX_ENTRIES) throw tooMany()
    requireForm(entry)
    length += entry.path.length
    if (length > MAX_PATHS_LENGTH) throw tooLong()
    if (entry.type === 'omitted') {
      omitted.push({ path: entry.path, reason: entry.reason })
      await step(1)
      continue
    }
    const path = validPath(entry.path)
    if (path === undefined) {
      omitted.push({ path: entry.path, reason: 'the name is not allowed' })
      // The guard looks at each character, and makes an error.
      await step(64)
      continue
    }
    const names = path.split('/')
    let place = root
    for (const name of names) {
      place.below ??= new Map()
      let next = place.below.get(name)
      if (next === undefined) {
        places += 1
        if (places >= MAX_ENTRIES) throw tooMany()
        next = new Place(place)
        place.below.set(name, next)
      }
      place = next
    }
    const { listed } = place
    if (listed === undefined) place.listed = entry as Shown<E>
    else if (listed === 'twice' || listed.type !== 'directory' || entry.type !== 'directory') {
      if (listed !== 'twice') omitted.push({ path: listed.path, reason: LISTED_TWICE })
      omitted.push({ path: entry.path, reason: LISTED_TWICE })
      place.listed = 'twice'
    }
    await step(names.length)
  }
}

const LISTED_TWICE = 'the path is listed more than once'

function validPath(text: string): Path | undefined {
  try {
    return parsePath(text) === text && text !== '' ? (text as Path) : undefined
  } catch {
    return undefined
  }
}

/** Gives each place its node, and omits what is below something else than a directory. */
async function addNodes<E extends LazyEntry>(
  root: Place<E>,
  omitted: Omitted[],
  step: (names: number) => Promise<void> | undefined,
): Promise<void> {
  listings += 1
  const own = `lazy${listings}:`
  let count = 0
  root.node = new DirectoryNode(root)
  const rest = [{ place: root, isShown: true }]
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const { place, isShown } = next
    const { listed, below } = place
    if (listed !== undefined && listed !== 'twice') {
      const { path } = listed
      if (!isShown) omitted.push({ path, reason: 'a part of its path is not a directory' })
      else {
        if (listed.type === 'other') omitted.push({ path, reason: listed.reason })
        count += 1
        place.node = nodeOf(place, listed, `${own}${count}`)
        // Directories that are not listed are shown for what is shown in them.
        for (let at = place.above; at !== undefined && at.node === undefined; at = at.above) {
          at.node = new DirectoryNode(at)
        }
      }
    }
    const isOpen = isShown && (listed === undefined || (listed !== 'twice' && listed.type === 'directory'))
    for (const one of Array.from(below?.values() ?? []).reverse()) rest.push({ place: one, isShown: isOpen })
    await step(1)
  }
}

/** A directory. Its entries are collected when they are first read. */
class DirectoryNode<E extends LazyEntry> {
  readonly type = 'directory'
  readonly stat = DIRECTORY_STAT
  readonly #place: Place<E>
  #entries: readonly DirectoryEntry[] | undefined

  constructor(place: Place<E>) {
    this.#place = place
  }

  /** Sorted by name. */
  get entries(): readonly DirectoryEntry[] {
    this.#entries ??= Array.from(this.#place.below ?? [])
      .flatMap(([name, { node }]) => (node === undefined ? [] : [{ name, type: node.type }]))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
    return this.#entries
  }
}

const DIRECTORY_STAT: Stat = Object.freeze({ type: 'directory', size: 0, mode: 0o755, tag: 'lazy' })
const LINK_MODE = 0o777

function nodeOf<E extends LazyEntry>(place: Place<E>, entry: Shown<E>, tag: string): LazyNode<E> {
  const { type } = entry
  if (type === 'directory') return new DirectoryNode(place)
  if (type === 'other') return { type, stat: { type, size: 0, mode: FILE_MODE, tag } }
  const content = entry as unknown as LazyContent<E>
  if (type === 'link') return { type, stat: { type, size: 0, mode: LINK_MODE, tag }, entry: content }
  const { size, mode = FILE_MODE, sha256, version = sha256 } = entry
  const stat: Stat = { type, size, mode, tag: version === undefined ? tag : `lazy:${mode.toString(8)}:${version}` }
  return { type, stat, entry: content }
}

/** @throws ToolError for an entry that no source may list */
function requireForm(entry: LazyEntry): void {
  const { path, type, reason = '' } = Object(entry) as Partial<LazyOther>
  const isEntry = typeof path === 'string' && ['file', 'link', 'directory', 'other', 'omitted'].includes(type ?? '')
  if (!isEntry) throw unknownForm('an entry without a path or a type')
  if (typeof reason !== 'string') throw unknownForm('an entry whose reason is not a string')
  if (entry.type === 'link' && entry.target !== undefined && typeof entry.target !== 'string') {
    throw unknownForm('a link whose target is not a string')
  }
  if (entry.type !== 'file') return
  const { size, mode = 0, sha256 = NO_HASH, version = '' } = entry
  if (!Number.isSafeInteger(size) || size < 0) throw unknownForm('a file without a size in bytes')
  if (!Number.isInteger(mode) || mode < 0 || mode > 0o7777) throw unknownForm('a file with unknown permission bits')
  if (!/^[0-9a-f]{64}$/.test(sha256)) throw unknownForm('a file whose sha256 is not 64 lower-case hex digits')
  if (typeof version !== 'string') throw unknownForm('a file whose version is not a string')
}

const NO_HASH = '0'.repeat(64)

function unknownForm(what: string): ToolError {
  return new ToolError('BACKEND_ERROR', `Cannot list the files: the source listed ${what}`)
}

/** The error for a source that lists too much. */
export function tooMany(): ToolError {
  return new ToolError('LIMIT_EXCEEDED', `Cannot list the files: there are more than ${MAX_ENTRIES} entries`, {
    limit: 'entries of a source that is loaded on demand',
    value: MAX_ENTRIES,
  })
}

function tooLong(): ToolError {
  return new ToolError('LIMIT_EXCEEDED', 'Cannot list the files: their paths are too long together', {
    limit: 'characters of all paths of a source that is loaded on demand',
    value: MAX_PATHS_LENGTH,
  })
}
