import { resolvePath } from '../../paths/absolute-path.ts'
import { isAtOrBelow } from '../../paths/physical.ts'
import { parentText } from '../../util/slashes.ts'
import type { FileStat } from '../../workspace/files.ts'
import { asNode, fsError } from './errors.ts'
import { locate } from './paths.ts'
import { findCreated } from './places.ts'
import { type FsMetadata, type FsReads, type FsWrites, lookAt } from './promises.ts'
import type { FsTarget } from './target.ts'

/** Options of `fs.promises.cp`. */
export interface CopyOptions {
  /** Copies what links lead to. Default: false. */
  readonly dereference?: boolean
  /** Copies directories. Default: false. */
  readonly recursive?: boolean
  /** Replaces existing files. Default: true. */
  readonly force?: boolean
  /** With `force: false`, fails if the target exists. */
  readonly errorOnExist?: boolean
  /** Gives a copied file the times of its source, as `utimes` does. Default: false. */
  readonly preserveTimestamps?: boolean
  /** Keeps the text of links. By default, a copied link leads to the same entry as before. */
  readonly verbatimSymlinks?: boolean
  /** Returns whether to copy an entry, by its paths as the program wrote them. */
  readonly filter?: (source: string, destination: string) => boolean | Promise<boolean>
}

/** An entry that is copied, and what is at its new path. The paths are as the program wrote them. */
interface Pair {
  readonly from: string
  readonly to: string
  readonly entry: Pick<FileStat, 'path' | 'type'>
  readonly existing: Pick<FileStat, 'path' | 'type'> | undefined
}

/** The functions that a copy is made of. */
export type CopyFunctions = FsReads &
  FsWrites &
  Pick<FsMetadata, 'utimes'> & { mkdir(path: string, options?: { readonly recursive?: boolean }): Promise<unknown> }

/**
 * Copies an entry with everything below it. Plans the whole copy before the first change: a failure while planning changes nothing, and
 * a copy into its own source ends.
 */
export class TreeCopy {
  readonly #target: FsTarget
  readonly #fs: CopyFunctions
  readonly #options: CopyOptions
  readonly #steps: (() => Promise<unknown>)[] = []

  constructor(target: FsTarget, functions: CopyFunctions, options: CopyOptions) {
    this.#target = target
    this.#fs = functions
    this.#options = options
  }

  async run(from: string, to: string): Promise<void> {
    const pair = await this.#pairOf(from, to)
    if (pair === undefined) return
    await this.#checkParents(pair)
    const parent = directoryOf(to)
    if ((await this.#look(parent, true)) === undefined) {
      this.#steps.push(() => this.#fs.mkdir(parent, { recursive: true }))
    }
    await this.#plan(pair, [])
    for (const step of this.#steps) await step()
  }

  async #look(path: string, follow = this.#options.dereference === true): Promise<FileStat | undefined> {
    try {
      return await lookAt(this.#target, path, follow ? 'stat' : 'lstat', !follow)
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'ENOENT') throw error
      return undefined
    }
  }

  /** Looks at both paths. Returns undefined for what the filter leaves out. `isNew`: the directory of the new path does not exist yet. */
  async #pairOf(
    from: string,
    to: string,
    known: { readonly entry?: Pair['entry']; readonly isNew?: boolean } = {},
  ): Promise<Pair | undefined> {
    const { dereference = false, filter } = this.#options
    if (filter !== undefined && !(await filter(from, to))) return undefined
    const { entry = await this.#look(from), isNew = false } = known
    if (entry === undefined) throw fsError('ENOENT', dereference ? 'stat' : 'lstat', from)
    const existing = isNew ? undefined : await this.#look(to)
    const isDirectory = entry.type === 'directory'
    if (existing !== undefined) {
      if (existing.path === entry.path) throw copyError('EINVAL', 'src and dest cannot be the same', to)
      if (isDirectory && existing.type !== 'directory') {
        throw copyError('DIR_TO_NON_DIR', `cannot overwrite non-directory ${to} with directory ${from}`, to)
      }
      if (!isDirectory && existing.type === 'directory') {
        throw copyError('NON_DIR_TO_DIR', `cannot overwrite directory ${to} with non-directory ${from}`, to)
      }
    }
    if (isDirectory && isWithin(to, from)) throw intoItself(from, to)
    return { from, to, entry, existing }
  }

  /** @throws Error if a directory above the new path is the one that is copied, or below it */
  async #checkParents({ from, to, entry, existing }: Pair): Promise<void> {
    if (entry.type !== 'directory') return
    if (existing !== undefined && isWithin(existing.path, entry.path)) throw intoItself(from, to)
    const top = normalized(`/${directoryOf(from)}`)
    for (let parent = normalized(`/${directoryOf(to)}`); parent !== top; parent = directoryOf(parent)) {
      const stat = await this.#look(parent, true)
      if (stat === undefined && this.#options.recursive !== true) return
      if (stat !== undefined && isWithin(stat.path, entry.path)) throw intoItself(from, to)
      if (parent === '/') return
    }
  }

  /** Adds the changes that copy an entry, directories before their entries. */
  async #plan(pair: Pair, parents: readonly string[]): Promise<void> {
    const { from, to, entry, existing } = pair
    const { recursive = false, force = true, errorOnExist = false } = this.#options
    if (entry.type === 'directory') {
      if (!recursive) throw copyError('', `${from} is a directory (not copied)`, from)
      return this.#planDirectory(pair, parents)
    }
    if (entry.type === 'link') return this.#planLink(pair)
    if (existing === undefined || force) this.#steps.push(() => this.#copyFile(pair))
    else if (errorOnExist) throw copyError('EEXIST', `${to} already exists`, to)
  }

  async #copyFile({ from, to, entry, existing }: Pair): Promise<void> {
    // Otherwise, what the link leads to would be in the way.
    if (existing?.type === 'link') await this.#fs.unlink(to)
    const copy = async () => {
      const place = await findCreated(this.#target, locate(to))
      await this.#target.files.copy(entry.path, place, { overwrite: true, createParents: false })
    }
    await asNode('copyfile', from, copy, to)
    if (this.#options.preserveTimestamps !== true) return
    const { atime, mtime } = await this.#fs.stat(from)
    await this.#fs.utimes(to, atime, mtime)
  }

  async #planDirectory({ from, to, entry, existing }: Pair, parents: readonly string[]): Promise<void> {
    const { path } = entry
    if (parents.includes(path)) throw fsError('ELOOP', 'cp', from, to)
    if (existing === undefined) this.#steps.push(() => this.#fs.mkdir(to))
    const entries = await asNode('opendir', from, () => this.#target.files.entries(path || '.'))
    for (const { name, type } of entries) {
      const isFollowed = type === 'link' && this.#options.dereference === true
      const known = isFollowed ? {} : { entry: { path: path === '' || path === '.' ? name : `${path}/${name}`, type } }
      const [source, dest] = [from, to].map((directory) => normalized(`${directory}/${name}`)) as [string, string]
      const pair = await this.#pairOf(source, dest, { ...known, isNew: existing === undefined })
      if (pair !== undefined) await this.#plan(pair, [...parents, path])
    }
  }

  async #planLink({ from, to, existing }: Pair): Promise<void> {
    const text = await this.#fs.readlink(from)
    const leadsTo = normalized(`/${directoryOf(from)}/${text}`)
    const isVerbatim = this.#options.verbatimSymlinks === true
    const target = isVerbatim ? text : leadsTo
    if (existing?.type === 'link') {
      const present = normalized(`/${directoryOf(to)}/${await this.#fs.readlink(to)}`)
      if (!isVerbatim && isWithin(present, leadsTo)) throw intoItself(leadsTo, present, to)
      const stat = await this.#fs.stat(from)
      if (!isVerbatim && stat.isDirectory() && isWithin(leadsTo, present)) {
        throw copyError('SYMLINK_TO_SUBDIRECTORY', `cannot overwrite ${present} with ${leadsTo}`, to)
      }
      this.#steps.push(() => this.#fs.unlink(to))
    } else if (existing !== undefined) throw fsError('EEXIST', 'symlink', target, to)
    this.#steps.push(() => this.#fs.symlink(target, to))
  }
}

/** Returns a path without empty names, `.` and `..`, which are taken by their text. */
const normalized = (path: string): string => resolvePath('/', path).slice(path.startsWith('/') ? 0 : 1)

/** Returns the path of the directory that contains an entry, by its text. */
const directoryOf = (path: string): string => parentText(path) || '/'

/** Whether a path is that of a directory or of something below it, by their texts. */
const isWithin = (path: string, directory: string): boolean =>
  isAtOrBelow(normalized(`/${path}`), normalized(`/${directory}`), '/')

const copyCodes = {
  '': [21, 'Path is a directory: cp returned EISDIR'],
  EEXIST: [17, 'Target already exists: cp returned EEXIST'],
  EINVAL: [22, 'Invalid src or dest: cp returned EINVAL'],
  DIR_TO_NON_DIR: [21, 'Cannot overwrite non-directory with directory: cp returned EISDIR'],
  NON_DIR_TO_DIR: [20, 'Cannot overwrite directory with non-directory: cp returned ENOTDIR'],
  SYMLINK_TO_SUBDIRECTORY: [22, 'Cannot overwrite symlink in subdirectory of self: cp returned EINVAL'],
} as const

/** The error of Node for a refused copy. Without a code of its own, it is that of a directory. */
function copyError(code: keyof typeof copyCodes, reason: string, path: string): Error {
  const [errno, text] = copyCodes[code]
  const error = new Error(`${text} (${reason}) ${path}`)
  const name = code === '' ? 'EISDIR' : `CP_${code}`
  return Object.assign(error, { name: 'SystemError', code: `ERR_FS_${name}`, errno, syscall: 'cp', path })
}

const intoItself = (from: string, to: string, path = to): Error =>
  copyError('EINVAL', `cannot copy ${from} to a subdirectory of self ${to}`, path)
