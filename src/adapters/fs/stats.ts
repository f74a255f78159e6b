import type { FileStat } from '../../workspace/files.ts'
import { fsError } from './errors.ts'
import type { EntryTimes } from './times.ts'

const TYPE_BITS = { file: 0o100000, directory: 0o040000, link: 0o120000, other: 0o140000 } as const

/** The type of an entry, as `Stats` and `Dirent` tell it. */
class EntryKind {
  readonly #type: FileStat['type']

  constructor(type: FileStat['type']) {
    this.#type = type
  }
  /** Whether it is a file. */
  isFile(): boolean {
    return this.#type === 'file'
  }
  /** Whether it is a directory. */
  isDirectory(): boolean {
    return this.#type === 'directory'
  }
  /** Whether it is a symbolic link. */
  isSymbolicLink(): boolean {
    return this.#type === 'link'
  }
  /** Whether it is neither a file, a directory nor a link. */
  isSocket(): boolean {
    return this.#type === 'other'
  }
  /** Always false. */
  isFIFO(): boolean {
    return false
  }
  /** Always false. */
  isBlockDevice(): boolean {
    return false
  }
  /** Always false. */
  isCharacterDevice(): boolean {
    return false
  }
}

/** Metadata of an entry, as `Stats` of `node:fs`. Without a stored time, all times are 0. */
export class Stats extends EntryKind {
  /** Always 0. */
  readonly dev: number = 0
  /** Changes with the content. */
  readonly ino: number
  /** Type and permission bits. */
  readonly mode: number
  /** Always 1. */
  readonly nlink: number = 1
  /** Always 0. */
  readonly uid: number = 0
  /** Always 0. */
  readonly gid: number = 0
  /** Always 0. */
  readonly rdev: number = 0
  /** Bytes of a file. */
  readonly size: number
  /** Always 4096. */
  readonly blksize: number = 4096
  /** Blocks of 512 bytes. */
  readonly blocks: number
  /** The time that `utimes` set, or else that of the last change, in milliseconds since 1970. */
  readonly atimeMs: number
  /** The time that `utimes` set, or else that of the last change, in milliseconds since 1970. */
  readonly mtimeMs: number
  /** The time of the last change, in milliseconds since 1970. */
  readonly ctimeMs: number
  /** The time of the last change, in milliseconds since 1970. */
  readonly birthtimeMs: number

  constructor({ type, size, mode, modifiedAt = 0, tag }: FileStat, times?: EntryTimes) {
    super(type)
    this.ino = hashOf(tag)
    this.mode = TYPE_BITS[type] | (mode ?? (type === 'directory' ? 0o755 : type === 'link' ? 0o777 : 0o644))
    this.size = size
    this.blocks = Math.ceil(size / 512)
    this.atimeMs = times?.atimeMs ?? modifiedAt
    this.mtimeMs = times?.mtimeMs ?? modifiedAt
    this.ctimeMs = modifiedAt
    this.birthtimeMs = modifiedAt
  }
  /** The time that `utimes` set, or else that of the last change. */
  get atime(): Date {
    return new Date(this.atimeMs)
  }
  /** The time that `utimes` set, or else that of the last change. */
  get mtime(): Date {
    return new Date(this.mtimeMs)
  }
  /** The time of the last change. */
  get ctime(): Date {
    return new Date(this.ctimeMs)
  }
  /** The time of the last change. */
  get birthtime(): Date {
    return new Date(this.birthtimeMs)
  }
}

function hashOf(tag: string): number {
  let hash = 0
  for (let i = 0; i < tag.length; i++) hash = (Math.imul(hash, 31) + tag.charCodeAt(i)) >>> 0
  return hash
}

/** Returns metadata, with numbers as `bigint` as in `BigIntStats` of Node if options ask for them. */
export function statsAs(options: { readonly bigint?: boolean } | undefined, stats: Stats): Stats {
  if (!options?.bigint) return stats
  for (const [name, value] of Object.entries(stats)) {
    const number = BigInt(Math.round(value as number))
    Object.assign(stats, { [name]: number })
    if (!name.endsWith('timeMs')) continue
    Object.assign(stats, { [name.replace(/Ms$/, 'Ns')]: number * 1_000_000n })
    Object.defineProperty(stats, name.slice(0, -2), { value: new Date(Number(number)) })
  }
  return stats
}

/** Only 0, and -1 for "as it is", change nothing. */
export function requireOwner(syscall: string, path: string | undefined, user: number, group: number): void {
  const isOwn = (id: number) => id === 0 || id === -1 || id === 0xffff_ffff
  if (!isOwn(user) || !isOwn(group)) throw fsError('EPERM', syscall, path)
}

/** An entry of a directory, as `Dirent` of `node:fs`. */
export class Dirent extends EntryKind {
  /** The name in the directory. */
  readonly name: string
  /** The directory of the entry, as the program named it. */
  readonly parentPath: string

  constructor(name: string, parentPath: string, type: FileStat['type']) {
    super(type)
    this.name = name
    this.parentPath = parentPath
  }
  /** The same as `parentPath`. */
  get path(): string {
    return this.parentPath
  }
}
