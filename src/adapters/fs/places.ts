import { ToolError } from '../../errors.ts'
import type { FileStat } from '../../workspace/files.ts'
import { isCircle } from './errors.ts'
import type { Located } from './paths.ts'
import type { FsTarget } from './target.ts'

/** Where a path leads, with `..` followed as a system does it: to the directory above the one that links lead to. */
export interface Place {
  readonly path: string
  /** What follows the last name. With `.` or `..`, the path is that of a directory that exists. */
  readonly end: '' | '/' | '.' | '..'
}

/** An entry to look at, and whether to look at a link itself. */
interface Look {
  readonly at: string
  readonly noFollow: boolean
}

type Looks<T> = Generator<Look, T, FileStat | undefined>

/** Finds the place of a path. A path of names alone needs no look. */
function* placeOf({ shown, path }: Located): Looks<Place> {
  if (shown === '') throw new ToolError('NOT_FOUND', 'The path is empty')
  if (path === '.' || !/\/$|(^|\/)\.\.?(\/|$)/.test(shown)) return { path, end: path === '.' ? '.' : '' }
  let at = ''
  let end: Place['end'] = '.'
  for (const name of shown.split('/')) {
    if (name === '') end ||= '/'
    else if (name !== '.' && name !== '..') [at, end] = [at === '' ? name : `${at}/${name}`, '']
    else {
      if (at !== '') at = yield* directoryOf(at)
      // The guard refuses what is above the root.
      if (name === '..' && at === '') return { path: '..', end: '' }
      if (name === '..') at = at.slice(0, Math.max(0, at.lastIndexOf('/')))
      end = name
    }
  }
  return { path: at || '.', end }
}

/** Finds the path of an entry that exists. With a slash at its end, it is that of a directory, and links are followed. */
function* pathOf(located: Located): Looks<string> {
  const { path, end } = yield* placeOf(located)
  return end === '/' ? (yield* directoryOf(path)) || '.' : path
}

/** Finds the path of a file that may be created, which no slash follows. */
function* createdPathOf(located: Located): Looks<string> {
  const { path, end } = yield* placeOf(located)
  if (end !== '/') return path
  yield* parentOf(path)
  throw new ToolError('IS_DIRECTORY', 'A path that ends with a slash is that of a directory', { path })
}

/** Requires the directory of a path. */
function* parentOf(at: string): Looks<void> {
  const end = at.lastIndexOf('/')
  if (end > 0) yield* directoryOf(at.slice(0, end))
}

/** Returns the canonical path of a directory. */
function* directoryOf(at: string): Looks<string> {
  const stat = yield { at, noFollow: false }
  if (stat === undefined) throw new ToolError('NOT_FOUND', 'A directory of the path does not exist', { path: at })
  if (stat.type !== 'directory') {
    throw new ToolError('NOT_A_DIRECTORY', 'A part of the path is not a directory', { path: at })
  }
  return stat.path === '.' ? '' : stat.path
}

/** Looks at an entry itself. A link that leads in a circle or through a file is one, though no operation follows it. */
function* entryOf(at: string): Looks<FileStat | undefined> {
  try {
    return yield { at, noFollow: true }
  } catch (error) {
    if (!isCircle(error) && (error as ToolError).code !== 'NOT_A_DIRECTORY') throw error
    yield* parentOf(at)
    return { path: at, type: 'link', size: 0, tag: at }
  }
}

/** Runs a computation that looks at entries. */
async function later<T>({ files }: FsTarget, looks: Looks<T>): Promise<T> {
  let step = looks.next()
  while (step.done !== true) {
    const { at, noFollow } = step.value
    try {
      step = looks.next(await files.stat(at, { noFollow }))
    } catch (error) {
      step = looks.throw(error)
    }
  }
  return step.value
}

/** The reads of a storage in memory. */
interface StatsNow {
  stat(path: string, noFollow?: boolean): FileStat | undefined
}

function now<T>(reads: StatsNow, looks: Looks<T>): T {
  let step = looks.next()
  while (step.done !== true) {
    const { at, noFollow } = step.value
    try {
      step = looks.next(reads.stat(at, noFollow))
    } catch (error) {
      step = looks.throw(error)
    }
  }
  return step.value
}

/** Returns where a path leads, for functions that create or delete its last name. */
export const findPlace = (target: FsTarget, path: Located): Promise<Place> => later(target, placeOf(path))
/** Returns the path of an entry, which is a directory if a slash follows it. */
export const findPath = (target: FsTarget, path: Located): Promise<string> => later(target, pathOf(path))
/** Returns the path of a file that may be created. */
export const findCreated = (target: FsTarget, path: Located): Promise<string> => later(target, createdPathOf(path))
/** Requires the directory of a path. */
export const requireParent = (target: FsTarget, at: string): Promise<void> => later(target, parentOf(at))
/** Returns the metadata of an entry itself, also of a link that no operation can follow. */
export const findEntry = (target: FsTarget, at: string): Promise<FileStat | undefined> => later(target, entryOf(at))
/** As {@link findPath}. */
export const findPathNow = (reads: StatsNow, path: Located): string => now(reads, pathOf(path))
/** As {@link findEntry}. */
export const findEntryNow = (reads: StatsNow, at: string): FileStat | undefined => now(reads, entryOf(at))
