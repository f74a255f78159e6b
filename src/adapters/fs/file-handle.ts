import type { FileStat, WorkspaceFiles } from '../../workspace/files.ts'
import { decoded, type EncodingOption, encoded, encodingOf } from './encoding.ts'
import { argumentError, asNode, fsError } from './errors.ts'
import type { Located } from './paths.ts'
import { Stats } from './stats.ts'

const FLAGS = /^(r|r\+|wx?|wx?\+|ax?|ax?\+)$/

/**
 * An open file, as `FileHandle` of `node:fs`. What is written is one change of the file, made by `sync()` or `close()`: others
 * see it only then.
 */
export class FileHandle implements AsyncDisposable {
  readonly #files: WorkspaceFiles
  readonly #path: Located
  readonly #flags: string
  readonly #mode: number | undefined
  #content: Uint8Array
  #position = 0
  #isChanged: boolean
  #isClosed = false

  private constructor(
    files: WorkspaceFiles,
    path: Located,
    flags: string,
    mode: number | undefined,
    content: Uint8Array | undefined,
  ) {
    this.#files = files
    this.#path = path
    this.#flags = flags
    this.#mode = content === undefined ? mode : undefined
    this.#content = flags.startsWith('w') ? new Uint8Array() : (content ?? new Uint8Array())
    this.#isChanged = flags.startsWith('w') || content === undefined
  }

  /** Opens a file. */
  static async open(files: WorkspaceFiles, path: Located, flags: string, mode?: number): Promise<FileHandle> {
    if (!FLAGS.test(flags)) throw argumentError('flags', 'known flags', flags)
    const { shown, path: at } = path
    const content = await asNode('open', shown, async () => {
      const stat = await files.stat(at)
      if (stat === undefined && flags.startsWith('r')) throw fsError('ENOENT', 'open', shown)
      if (stat !== undefined && flags.includes('x')) throw fsError('EEXIST', 'open', shown)
      if (stat?.type === 'directory') throw fsError('EISDIR', 'open', shown)
      if (stat !== undefined) return flags.startsWith('w') ? new Uint8Array() : files.readBytes(at)
      const parent = at.slice(0, Math.max(0, at.lastIndexOf('/'))) || '.'
      if (!(await files.exists(parent))) throw fsError('ENOENT', 'open', shown)
      return undefined
    })
    return new FileHandle(files, path, flags, mode, content)
  }

  /** Reads into a buffer, at a position or at the current one. */
  async read<T extends Uint8Array>(
    buffer: T,
    offset = 0,
    length: number = buffer.byteLength - offset,
    position: number | null = null,
  ): Promise<{ bytesRead: number; buffer: T }> {
    this.#requireOpen('read', !/^(w|a)x?$/.test(this.#flags))
    const start = position ?? this.#position
    const part = this.#content.subarray(start, start + length)
    buffer.set(part, offset)
    if (position === null) this.#position += part.length
    return { bytesRead: part.length, buffer }
  }

  /** Reads from the current position to the end. */
  async readFile(options?: EncodingOption): Promise<Uint8Array | string> {
    this.#requireOpen('read', !/^(w|a)x?$/.test(this.#flags))
    const bytes = this.#content.slice(this.#position)
    this.#position = this.#content.length
    return decoded(bytes, encodingOf(options))
  }

  /** Writes a buffer or a text, at a position or at the current one. */
  async write(
    data: Uint8Array | string,
    offsetOrPosition: number | null = null,
    lengthOrEncoding?: number | string | null,
    position: number | null = null,
  ): Promise<{ bytesWritten: number; buffer: Uint8Array | string }> {
    if (typeof data === 'string') {
      const encoding = typeof lengthOrEncoding === 'string' ? lengthOrEncoding : undefined
      return { bytesWritten: this.#put(encoded(data, encodingOf(encoding)), offsetOrPosition), buffer: data }
    }
    const offset = offsetOrPosition ?? 0
    const length = typeof lengthOrEncoding === 'number' ? lengthOrEncoding : data.byteLength - offset
    const bytes = encoded(data, undefined).subarray(offset, offset + length)
    return { bytesWritten: this.#put(bytes, position), buffer: data }
  }

  /** Writes from the current position on. */
  async writeFile(data: unknown, options?: EncodingOption): Promise<void> {
    this.#put(encoded(data, encodingOf(options)), null)
  }

  /** Writes at the end. */
  async appendFile(data: unknown, options?: EncodingOption): Promise<void> {
    this.#put(encoded(data, encodingOf(options)), this.#content.length)
  }

  /** Cuts the content, or fills it with zeros, to a length. */
  async truncate(length = 0): Promise<void> {
    this.#requireOpen('ftruncate', this.#flags !== 'r')
    const content = new Uint8Array(length)
    content.set(this.#content.subarray(0, length))
    this.#content = content
    this.#isChanged = true
  }

  /** Returns the metadata of the file, with the size that it has here. */
  async stat(): Promise<Stats> {
    this.#requireOpen('fstat', true)
    const { shown, path } = this.#path
    const stat = await asNode('fstat', shown, () => this.#files.stat(path))
    const opened: FileStat = stat ?? { path, type: 'file', size: 0, tag: '' }
    return new Stats(this.#isChanged ? { ...opened, size: this.#content.length } : opened)
  }

  /** Writes the changes, and sets the permission bits. */
  async chmod(mode: number): Promise<void> {
    await this.sync()
    await asNode('fchmod', this.#path.shown, () => this.#files.setMode(this.#path.path, mode & 0o7777))
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

  /** Writes the changes to the file, and closes the handle. */
  async close(): Promise<void> {
    if (this.#isClosed) throw fsError('EBADF', 'close')
    this.#isClosed = true
    await this.#flush()
  }

  /** Closes the handle, if it is open. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isClosed) await this.close()
  }

  async #flush(): Promise<void> {
    if (!this.#isChanged) return
    const { shown, path } = this.#path
    const mode = this.#mode === undefined ? {} : { mode: this.#mode & 0o777 }
    await asNode('write', shown, () => this.#files.write(path, this.#content, { ...mode, createParents: false }))
    this.#isChanged = false
  }

  #put(bytes: Uint8Array, position: number | null): number {
    this.#requireOpen('write', this.#flags !== 'r')
    const start = this.#flags.startsWith('a') ? this.#content.length : (position ?? this.#position)
    const end = start + bytes.length
    if (end > this.#content.length) {
      const content = new Uint8Array(end)
      content.set(this.#content)
      this.#content = content
    }
    this.#content.set(bytes, start)
    if (position === null) this.#position = end
    this.#isChanged = true
    return bytes.length
  }

  #requireOpen(syscall: string, isAllowed: boolean): void {
    if (this.#isClosed || !isAllowed) throw fsError('EBADF', syscall)
  }
}
