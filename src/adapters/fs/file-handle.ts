import { ToolError } from '../../errors.ts'
import { sameBytes } from '../../util/bytes.ts'
import type { FileStat, FileWriteOptions } from '../../workspace/files.ts'
import { holdContent, ratesOf } from '../../workspace/held-bytes.ts'
import { decoded, type EncodingOption, emptyBuffer, encoded, encodingOf } from './encoding.ts'
import {
  abortError,
  argumentError,
  asNode,
  asOpenError,
  fsError,
  MOST_ATTEMPTS,
  rangeError,
  toFsError,
  valueError,
} from './errors.ts'
import { type OpenMode, openMode } from './flags.ts'
import type { FsStream } from './fs-stream.ts'
import type { OpenFiles } from './open-files.ts'
import type { Located } from './paths.ts'
import { findCreated, findEntry, findPath } from './places.ts'
import { requireOwner, Stats, statsAs } from './stats.ts'
import type { FsTarget } from './target.ts'
import { FileTimes, type FsTime, timesOf } from './times.ts'

/** A tag that no version has. */
const NO_TAG = ''

/** Where and how much to read or write. A position of `null` or -1 is the current one, which moves on. */
export interface BufferRange {
  /** The first byte of the buffer. Default: 0. */
  readonly offset?: number | null
  /** Default: up to the end of the buffer. */
  readonly length?: number | null
  /** Default: `null`. */
  readonly position?: number | bigint | null
}

/** What was read into a buffer. */
export interface ReadResult<T> {
  readonly bytesRead: number
  readonly buffer: T
}

/** What was written from a buffer or a text. */
export interface WriteResult<T> {
  readonly bytesWritten: number
  readonly buffer: T
}

/**
 * An open file, as `FileHandle` of `node:fs`. What is written is one change of the file, made by `sync()` or `close()`: others
 * see it only then. The content is in memory.
 */
export class FileHandle implements AsyncDisposable {
  readonly #fd: number
  readonly #closeListeners: (() => void)[] = []
  readonly #target: FsTarget
  readonly #open: OpenFiles<FileHandle>
  readonly #path: Located
  readonly #mode: OpenMode
  /** A directory can be opened, and not be read. */
  readonly #isDirectory: boolean
  /** The permission bits of a file that the handle creates. */
  readonly #bits: number | undefined
  /** The content, and room for more behind it. */
  #bytes: Uint8Array
  #size: number
  #position = 0
  #isChanged: boolean
  /** The version of the file that the content comes from. */
  #version: Pick<FileWriteOptions, 'expectedSha256' | 'expectedTag'>
  /** Where the bytes begin that a flush appends. Nothing if it writes the whole content. */
  #appendFrom: number | undefined
  /** Bytes that are reserved in the budget of the run. */
  #held = 0
  #flushed: Promise<void> = Promise.resolve()
  #isClosed = false

  private constructor(
    target: FsTarget,
    open: OpenFiles<FileHandle>,
    path: Located,
    mode: OpenMode,
    bits: number | undefined,
    content: Uint8Array | undefined,
    tag: string | undefined,
    isDirectory: boolean,
  ) {
    this.#isDirectory = isDirectory
    this.#target = target
    this.#open = open
    this.#path = path
    this.#mode = mode
    this.#bits = content === undefined ? bits : undefined
    this.#bytes = mode.truncates || content === undefined ? new Uint8Array() : content
    this.#size = this.#bytes.length
    this.#isChanged = mode.truncates || content === undefined
    this.#version = tag === undefined ? { expectedSha256: null } : { expectedTag: tag }
    this.#appendFrom = mode.appends && !mode.truncates ? this.#size : undefined
    this.#fd = open.add(this)
  }

  /** Opens a file. */
  static async open(
    target: FsTarget,
    open: OpenFiles<FileHandle>,
    path: Located,
    flags: unknown,
    bits: number | undefined,
  ): Promise<FileHandle> {
    const mode = openMode(flags)
    const { files } = target
    const { shown } = path
    const opened = await asNode('open', shown, async () => {
      const at = mode.creates ? await findCreated(target, path) : await findPath(target, path)
      if (mode.exclusive && (await findEntry(target, at)) !== undefined) throw fsError('EEXIST', 'open', shown)
      const stat = await files.stat(at)
      if (stat === undefined && !mode.creates) throw fsError('ENOENT', 'open', shown)
      if (stat?.type === 'directory') {
        if (mode.writes || mode.creates || mode.truncates) throw fsError('EISDIR', 'open', shown)
        return { at, content: new Uint8Array(), tag: '', isDirectory: true }
      }
      if (stat !== undefined) {
        // The tag is older than the content, so that a change between them is found.
        const tag = mode.writes ? stat.tag : ''
        return { at, tag, content: mode.truncates ? new Uint8Array() : await files.readBytes(at) }
      }
      const parent = at.slice(0, Math.max(0, at.lastIndexOf('/'))) || '.'
      if (!(await files.exists(parent))) throw fsError('ENOENT', 'open', shown)
      return { at, content: undefined, tag: undefined }
    }).catch((error: unknown) => {
      throw mode.creates ? error : asOpenError(error)
    })
    const { at, content, tag, isDirectory = false } = opened
    return new FileHandle(target, open, { shown, path: at }, mode, bits, content, tag, isDirectory)
  }

  /** The number of the open file, or -1 if it is closed. */
  get fd(): number {
    return this.#isClosed ? -1 : this.#fd
  }

  /** Adds a listener for `close`, the only event. */
  on(event: string, listener: () => void): this {
    if (event === 'close') this.#closeListeners.push(listener)
    return this
  }

  /** The same as `on`: a handle closes once. */
  once(event: string, listener: () => void): this {
    return this.on(event, listener)
  }

  /** Returns the content from the current position on as a stream, which closes the handle. */
  createReadStream(options: object = {}): FsStream {
    return this.#open.streams?.createReadStream('', { ...options, fd: this }) as FsStream
  }

  /** Returns a stream that writes from the current position on, and closes the handle. */
  createWriteStream(options: object = {}): FsStream {
    return this.#open.streams?.createWriteStream('', { ...options, fd: this }) as FsStream
  }

  /** Reads into a buffer, by default one of 16 KiB, from a position or from the current one on. */
  async read<T extends ArrayBufferView = Uint8Array>(
    buffer?: T | (BufferRange & { readonly buffer?: T }) | null,
    offset?: number | BufferRange | null,
    length?: number | null,
    position?: number | bigint | null,
  ): Promise<ReadResult<T>> {
    const { target, part, start } = readArguments([buffer, offset, length, position])
    this.#requireOpen('read', this.#mode.reads)
    const found = this.#bytes.subarray(
      start ?? this.#position,
      Math.min(this.#size, (start ?? this.#position) + part.length),
    )
    part.set(found)
    if (start === undefined) this.#position += found.length
    return { bytesRead: found.length, buffer: target as T }
  }

  /** Reads into several buffers, one after another. */
  async readv<T extends readonly ArrayBufferView[]>(
    buffers: T,
    position?: number | null,
  ): Promise<{ readonly bytesRead: number; readonly buffers: T }> {
    checkBuffers([buffers])
    let bytesRead = 0
    for (const buffer of buffers) {
      const read = await this.read(buffer, { position: moved(position, bytesRead) })
      bytesRead += read.bytesRead
      if (read.bytesRead < buffer.byteLength) break
    }
    return { bytesRead, buffers }
  }

  /** Reads from the current position to the end. */
  async readFile(options?: EncodingOption): Promise<Uint8Array | string> {
    this.#requireOpen('read', this.#mode.reads)
    const bytes = this.#bytes.slice(this.#position, this.#size)
    this.#position = Math.max(this.#position, this.#size)
    return decoded(bytes, encodingOf(options))
  }

  /** Yields the lines from the current position to the end, and closes the handle. */
  async *readLines(options?: EncodingOption): AsyncGenerator<string> {
    const encoding = encodingOf(options) ?? 'utf8'
    const text = (await this.readFile(encoding)) as string
    await this.close()
    const lines = text.split(/\r\n|\n|\r/)
    if (lines.at(-1) === '') lines.pop()
    yield* lines
  }

  /** Returns what follows the current position as a stream. */
  readableWebStream(): ReadableStream<Uint8Array> {
    const read = () => this.read<Uint8Array>(new Uint8Array(65_536))
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const { bytesRead, buffer } = await read()
          if (bytesRead === 0) controller.close()
          else controller.enqueue(buffer.subarray(0, bytesRead))
        },
      },
      { highWaterMark: 0 },
    )
  }

  /** Writes a buffer or a text, at a position or at the current one. */
  async write<T extends ArrayBufferView | string>(
    data: T,
    offsetOrPosition?: number | bigint | BufferRange | null,
    lengthOrEncoding?: number | string | null,
    position?: number | bigint | null,
  ): Promise<WriteResult<T>> {
    const { bytes, start } = writeArguments([data, offsetOrPosition, lengthOrEncoding, position])
    return { bytesWritten: this.#put(bytes, start), buffer: data }
  }

  /** Writes several buffers, one after another. */
  async writev<T extends readonly ArrayBufferView[]>(
    buffers: T,
    position?: number | null,
  ): Promise<{ readonly bytesWritten: number; readonly buffers: T }> {
    checkBuffers([buffers])
    let bytesWritten = 0
    for (const buffer of buffers) {
      bytesWritten += (await this.write(buffer, { position: moved(position, bytesWritten) })).bytesWritten
    }
    return { bytesWritten, buffers }
  }

  /** Writes from the current position on: a text, bytes, or what iterates over them. */
  async writeFile(data: unknown, options?: EncodingOption | { readonly signal?: AbortSignal }): Promise<void> {
    const encoding = encodingOf(options as EncodingOption)
    const signal = (options as { readonly signal?: AbortSignal } | null | undefined)?.signal
    if (!isIterated(data)) return void this.#put(encoded(data, encoding), undefined)
    for await (const chunk of data) {
      if (signal?.aborted) break
      this.#put(encoded(chunk, encoding), undefined)
    }
    if (signal?.aborted) throw abortError(signal.reason)
  }

  /** The same as `writeFile`: a handle writes at the end if it was opened for that. */
  async appendFile(data: unknown, options?: EncodingOption): Promise<void> {
    await this.writeFile(data, options)
  }

  /** Cuts the content, or fills it with zeros, to a length. */
  async truncate(length = 0): Promise<void> {
    if (!Number.isSafeInteger(length)) throw rangeError('len', 'an integer', length)
    this.#requireOpen('ftruncate', this.#mode.writes, 'EINVAL')
    const size = Math.max(0, length)
    await this.#flushed
    this.#appendFrom = undefined
    this.#reserve('ftruncate', size)
    this.#bytes.fill(0, Math.min(size, this.#size), Math.max(size, this.#size))
    this.#size = size
    this.#isChanged = true
  }

  /** Returns the metadata of the file, with the size that it has here. */
  async stat(options?: { readonly bigint?: boolean }): Promise<Stats> {
    this.#requireOpen('fstat', true)
    const { shown, path } = this.#path
    const stat = await asNode('fstat', shown, () => this.#target.files.stat(path))
    const opened: FileStat = stat ?? { path, type: 'file', size: 0, tag: '' }
    const stats = this.#isChanged
      ? new Stats({ ...opened, size: this.#size })
      : new Stats(opened, FileTimes.of(this.#target).get(opened))
    return statsAs(options, stats)
  }

  /** Files belong to user and group 0. @throws FsError `EPERM` for others */
  async chown(user: number, group: number): Promise<void> {
    this.#requireOpen('fchown', true)
    requireOwner('fchown', undefined, user, group)
  }

  /** Writes the changes, and sets the times as `fs.promises.utimes` does. */
  async utimes(accessed: FsTime, modified: FsTime): Promise<void> {
    this.#requireOpen('futime', true)
    await this.#flush()
    const stat = await asNode('futime', this.#path.shown, () => this.#target.files.stat(this.#path.path))
    if (stat !== undefined) FileTimes.of(this.#target).set(stat, timesOf(accessed, modified), 'futime')
  }

  /** Writes the changes, and sets the permission bits. */
  async chmod(given: number | string): Promise<void> {
    const mode = typeof given === 'string' ? Number.parseInt(given, 8) : given
    this.#requireOpen('fchmod', true)
    await this.#flush()
    const { path, shown } = this.#path
    const { files } = this.#target
    await asNode('fchmod', shown, async () => {
      const { expectedTag } = this.#version
      const before = expectedTag === undefined ? undefined : await files.stat(path)
      await FileTimes.of(this.#target).keep(
        () => files.stat(path),
        () => files.setMode(path, mode & 0o7777),
      )
      if (before?.type !== 'file' || before.tag !== expectedTag) return
      // The permission bits are part of the version.
      const after = await files.stat(path)
      const content = await files.readBytes(path)
      const isSame = !this.#isChanged && sameBytes(content, this.#bytes.subarray(0, this.#size))
      if (isSame && after !== undefined) this.#version = { expectedTag: after.tag }
    })
  }

  /** Writes the changes to the file. */
  async sync(): Promise<void> {
    this.#requireOpen('fsync', true)
    await this.#flush()
  }

  /** The same as `sync`. */
  async datasync(): Promise<void> {
    await this.sync()
  }

  /** Writes the changes to the file, and closes the handle. A closed handle stays closed. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    try {
      await this.#flush()
    } finally {
      this.discard()
    }
  }

  /**
   * Returns a stream that replaces the whole content when it is closed, so that it need not be in memory. `undefined` if the
   * handle has content or appends.
   */
  async openStream(): Promise<WritableStream<Uint8Array> | undefined> {
    const { writes, appends } = this.#mode
    if (!writes || !this.#isChanged || this.#size > 0 || appends) return undefined
    const mode = this.#bits === undefined ? {} : { mode: this.#bits & 0o777 }
    this.#isChanged = false
    return this.#target.files.writable(this.#path.path, { ...mode, createParents: false, ...this.#version })
  }

  /** Closes the handle without writing the changes that `sync()` has not written. */
  discard(): void {
    this.#isClosed = true
    this.#open.delete(this.#fd)
    this.#release()
    for (const listener of this.#closeListeners.splice(0)) queueMicrotask(listener)
  }

  /** Closes the handle, if it is open. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /** Writes the changes, after those that are being written. */
  #flush(): Promise<void> {
    const flushed = this.#flushed.then(() => asNode('write', this.#path.shown, () => this.#writeChanges()))
    this.#flushed = flushed.catch(() => {})
    return flushed
  }

  async #writeChanges(): Promise<void> {
    if (!this.#isChanged) return
    const mode = this.#bits === undefined ? {} : { mode: this.#bits & 0o777 }
    const size = this.#size
    const content = this.#bytes.subarray(this.#appendFrom ?? 0, size)
    const options = { ...mode, createParents: false }
    this.#isChanged = false
    this.#release()
    try {
      if (this.#appendFrom === undefined) {
        const { sha256 } = await this.#target.files.write(this.#path.path, content, { ...options, ...this.#version })
        this.#version = { expectedSha256: sha256 }
      } else {
        this.#version = await this.#append(content, options)
        this.#appendFrom = size
      }
    } catch (error) {
      this.#isChanged = true
      throw error
    }
  }

  /** Appends to the present content of a file that still exists. Returns the version that the content here then is. */
  async #append(given: Uint8Array, options: FileWriteOptions): Promise<FileWriteOptions> {
    const { files } = this.#target
    const { path } = this.#path
    // Others may write into the content meanwhile.
    const content = given.slice()
    let expected: FileWriteOptions = this.#version
    for (let attempt = 0; ; attempt++) {
      try {
        const { sha256 } = await files.append(path, content, { ...options, ...expected })
        return attempt === 0 ? { expectedSha256: sha256 } : { expectedTag: NO_TAG }
      } catch (error) {
        if (!(error instanceof ToolError && error.code === 'WRITE_CONFLICT')) throw error
        const stat = this.#mode.exclusive || attempt === MOST_ATTEMPTS ? undefined : await files.stat(path)
        if (stat?.type !== 'file') throw error
        expected = { expectedTag: stat.tag }
      }
    }
  }

  /** Reserves the bytes that a flush will write, if the content has a size. */
  #hold(syscall: string, size: number): void {
    const growth = Math.max(0, size - (this.#appendFrom ?? 0) - this.#held)
    try {
      holdContent(ratesOf.get(this.#target.files), size, growth)
    } catch (error) {
      throw toFsError(error, syscall, this.#path.shown)
    }
    this.#held += growth
  }

  #release(): void {
    ratesOf.get(this.#target.files)?.holdWrite(-this.#held)
    this.#held = 0
  }

  #put(bytes: Uint8Array, given: number | undefined): number {
    this.#requireOpen('write', this.#mode.writes)
    if (bytes.length === 0) return 0
    const start = this.#mode.appends ? this.#size : (given ?? this.#position)
    const end = start + bytes.length
    this.#reserve('write', end)
    this.#bytes.set(bytes, start)
    this.#size = Math.max(this.#size, end)
    if (given === undefined) this.#position = end
    this.#isChanged = true
    return bytes.length
  }

  /** Makes room for a size. Twice as much as is needed, so that many small writes copy each byte a few times only. */
  #reserve(syscall: string, size: number): void {
    this.#hold(syscall, size)
    if (size <= this.#bytes.length) return
    const bytes = new Uint8Array(Math.max(size, this.#bytes.length * 2))
    bytes.set(this.#bytes.subarray(0, this.#size))
    this.#bytes = bytes
  }

  #requireOpen(syscall: string, isAllowed: boolean, code = 'EBADF'): void {
    if (this.#isClosed) throw Object.assign(new Error('file closed'), { code: 'EBADF', syscall })
    if (!isAllowed) throw fsError(code, syscall)
    if (this.#isDirectory && syscall === 'read') throw fsError('EISDIR', syscall)
  }
}

/** Returns what `read` reads into and from where. @throws TypeError or RangeError with the codes of Node */
export function readArguments([buffer, offset, length, position]: readonly unknown[]) {
  const isView = ArrayBuffer.isView(buffer)
  const isOptions = buffer === undefined || buffer === null || typeof buffer === 'object'
  if (!isView && !isOptions) throw bufferError('buffer', buffer)
  const options = isView ? offset : buffer
  const given = isView ? buffer : ((buffer as { readonly buffer?: unknown } | null)?.buffer ?? emptyBuffer(16_384))
  if (!ArrayBuffer.isView(given)) throw bufferError('buffer', given)
  const isRange = typeof options === 'object' && options !== null && length === undefined
  const range = (isRange ? options : { offset, length, position }) as BufferRange
  if (given.byteLength === 0 && (range.length ?? 0) !== 0) {
    throw valueError('buffer', undefined, 'is empty and cannot be written')
  }
  const part = partOf(given, range)
  return { target: given, part, start: positionOf(checkPosition(range.position, part.length)) }
}

/** Returns the bytes that `write` writes and where. @throws TypeError or RangeError with the codes of Node */
export function writeArguments([data, offset, length, position]: readonly unknown[]) {
  if (typeof data === 'string') {
    const encoding = typeof length === 'string' ? length : undefined
    return { bytes: encoded(data, encodingOf(encoding)), start: positionOf(offset) }
  }
  if (!ArrayBuffer.isView(data)) throw bufferError('buffer', data)
  const isRange = typeof offset === 'object' && offset !== null
  const range = (isRange ? offset : { offset, length, position }) as BufferRange
  return { bytes: partOf(data, range), start: positionOf(range.position) }
}

/** @throws TypeError for anything but an array of buffers */
export function checkBuffers([buffers]: readonly unknown[]): void {
  if (!Array.isArray(buffers) || !buffers.every((buffer) => ArrayBuffer.isView(buffer))) {
    throw argumentError('buffers', 'an instance of ArrayBufferView[]', buffers)
  }
}

function bufferError(name: string, value: unknown): TypeError {
  return argumentError(name, 'an instance of Buffer, TypedArray, or DataView', value)
}

/** Whether a program passes chunks one after another. */
export function isIterated(data: unknown): data is AsyncIterable<unknown> {
  if (typeof data !== 'object' || data === null || ArrayBuffer.isView(data)) return false
  return Symbol.asyncIterator in data || Symbol.iterator in data
}

/** Returns a position to read at. @throws TypeError or RangeError for what can be none */
function checkPosition(position: unknown, length: number): unknown {
  if (position === undefined || position === null) return undefined
  if (typeof position !== 'number' && typeof position !== 'bigint') {
    throw argumentError('position', 'of type number or bigint', position)
  }
  if (typeof position === 'number' && !Number.isInteger(position)) throw rangeError('position', 'an integer', position)
  const most = typeof position === 'bigint' ? 2n ** 63n - 1n - BigInt(length) : Number.MAX_SAFE_INTEGER
  if (position < -1 || position > most) throw rangeError('position', `>= -1 && <= ${most}`, position)
  return position
}

/** Returns a position in the file, or nothing for the current one. */
function positionOf(position: unknown): number | undefined {
  const isPosition = typeof position === 'bigint' || Number.isSafeInteger(position)
  return isPosition && Number(position) >= 0 ? Number(position) : undefined
}

/** Returns the position behind what was read or written, or `null` for the current one. */
function moved(position: number | null | undefined, count: number): number | null {
  const start = positionOf(position)
  return start === undefined ? null : start + count
}

/** Returns the bytes of a part of a buffer. */
function partOf(buffer: ArrayBufferView, { offset, length }: BufferRange): Uint8Array {
  const size = buffer.byteLength
  const start = requireRange('offset', offset ?? 0, size)
  const count = requireRange('length', length ?? size - start, size - start)
  return new Uint8Array(buffer.buffer, buffer.byteOffset + start, count)
}

function requireRange(name: string, value: unknown, most: number): number {
  if (typeof value !== 'number') throw argumentError(name, 'of type number', value)
  if (!Number.isInteger(value)) throw rangeError(name, 'an integer', value)
  if (value < 0 || value > most) throw rangeError(name, `>= 0 && <= ${most}`, value)
  return value
}
