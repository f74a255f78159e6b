import type { FileStat } from '../../workspace/files.ts'

const TYPE_BITS = { file: 0o100000, directory: 0o040000, link: 0o120000, other: 0o140000 } as const

/** The type of an entry, as `Stats` and `Dirent` tell it. */
class EntryKind {
  readonly #type: FileStat['type']

  constructor(type: FileStat['type']) {
    this.#type = type
  }
  isFile(): boolean {
    return this.#type === 'file'
  }
  isDirectory(): boolean {
    return this.#type === 'directory'
  }
  isSymbolicLink(): boolean {
    return this.#type === 'link'
  }
  isSocket(): boolean {
    return this.#type === 'other'
  }
  isFIFO(): boolean {
    return false
  }
  isBlockDevice(): boolean {
    return false
  }
  isCharacterDevice(): boolean {
    return false
  }
}

/** Metadata of an entry, as `Stats` of `node:fs`. Without a stored time, all times are 0. */
export class Stats extends EntryKind {
  readonly dev: number = 0
  /** Changes with the content. */
  readonly ino: number
  readonly mode: number
  readonly nlink: number = 1
  readonly uid: number = 0
  readonly gid: number = 0
  readonly rdev: number = 0
  readonly size: number
  readonly blksize: number = 4096
  readonly blocks: number
  readonly atimeMs: number
  readonly mtimeMs: number
  readonly ctimeMs: number
  readonly birthtimeMs: number

  constructor({ type, size, mode, modifiedAt = 0, tag }: FileStat) {
    super(type)
    this.ino = hashOf(tag)
    this.mode = TYPE_BITS[type] | (mode ?? (type === 'directory' ? 0o755 : type === 'link' ? 0o777 : 0o644))
    this.size = size
    this.blocks = Math.ceil(size / 512)
    this.atimeMs = modifiedAt
    this.mtimeMs = modifiedAt
    this.ctimeMs = modifiedAt
    this.birthtimeMs = modifiedAt
  }
  get atime(): Date {
    return new Date(this.atimeMs)
  }
  get mtime(): Date {
    return new Date(this.mtimeMs)
  }
  get ctime(): Date {
    return new Date(this.ctimeMs)
  }
  get birthtime(): Date {
    return new Date(this.birthtimeMs)
  }
}

function hashOf(tag: string): number {
  let hash = 0
  for (let i = 0; i < tag.length; i++) hash = (Math.imul(hash, 31) + tag.charCodeAt(i)) >>> 0
  return hash
}

/** An entry of a directory, as `Dirent` of `node:fs`. */
export class Dirent extends EntryKind {
  readonly name: string
  /** The directory of the entry, as the program named it. */
  readonly parentPath: string

  constructor(name: string, parentPath: string, type: FileStat['type']) {
    super(type)
    this.name = name
    this.parentPath = parentPath
  }
  get path(): string {
    return this.parentPath
  }
}
