import { nodeModule } from '../../util/node-module.ts'
import { type EncodingOption, encodingOf } from './encoding.ts'
import { asNode, asReadError, fsError, rangeError } from './errors.ts'
import { FileHandle } from './file-handle.ts'
import type { OpenFiles } from './open-files.ts'
import { type FsPath, locate } from './paths.ts'
import type { FsTarget } from './target.ts'

/** The classes of `node:stream`, or those of a package such as `readable-stream`. */
export interface StreamModule {
  readonly Readable: new (options: never) => object
  readonly Writable: new (options: never) => object
}

/** The part of the streams of Node that all programs use. With the option `stream`, the streams have the types of its classes. */
export interface FsStream extends AsyncIterable<Uint8Array | string> {
  on(event: string, listener: (...args: never[]) => void): this
  once(event: string, listener: (...args: never[]) => void): this
  pipe<T extends object>(destination: T): T
  write(chunk: Uint8Array | string): boolean
  end(chunk?: Uint8Array | string): this
  destroy(error?: Error): this
}

/** The classes of streams that `wardspace/fs` returns the types of, if a program does not name its own. */
export interface FsStreamModule {
  readonly Readable: new (options: never) => FsStream
  readonly Writable: new (options: never) => FsStream
}

interface StreamOptions {
  /** An open file. The path is not used then. */
  readonly fd?: number | FileHandle | null
  readonly flags?: string | number
  readonly mode?: number
  readonly encoding?: string | null
  readonly start?: number
  readonly highWaterMark?: number
  readonly signal?: AbortSignal
  /** Closes the file at the end or after an error. Default: true. */
  readonly autoClose?: boolean
  /** Emits `close` at the end. Default: true. */
  readonly emitClose?: boolean
}

/** Options of `createReadStream`. */
export interface ReadStreamOptions extends StreamOptions {
  /** The last byte. Default: the end of the file. */
  readonly end?: number
}

/** Options of `createWriteStream`. */
export interface WriteStreamOptions extends StreamOptions {
  /** Writes the changes when all is written, if the file is not closed then. Default: false. */
  readonly flush?: boolean
}

type Done = (error?: unknown) => void

/** What the classes of Node need of a stream. */
interface OwnStream {
  emit(event: string, ...args: unknown[]): void
  push(chunk: Uint8Array | null): void
  destroy(error: unknown): void
  bytesRead: number
  bytesWritten: number
  pending: boolean
  fd: number | null
}

type StreamClass = new (options: object) => OwnStream

/** Creates the functions that return streams of Node. */
export function createStreams<S extends StreamModule>(target: FsTarget, open: OpenFiles, given: S | undefined) {
  /** Returns a class of streams. @throws FsError `ENOSYS` on a platform without `node:stream` */
  function classOf(name: keyof StreamModule, syscall: string): StreamClass {
    const module = given ?? (nodeModule('stream') as StreamModule | undefined)
    if (module === undefined) throw fsError('ENOSYS', syscall)
    return module[name] as unknown as StreamClass
  }
  const handleOf = (fd: number | FileHandle): FileHandle => (typeof fd === 'number' ? open.get(fd, 'read') : fd)

  return {
    /** Returns the bytes of a file as a stream, of which one part of 8 MiB is in memory. */
    createReadStream(path: FsPath, options?: EncodingOption | ReadStreamOptions): InstanceType<S['Readable']> {
      const settings = settingsOf<ReadStreamOptions>(options)
      const { start, end = Number.POSITIVE_INFINITY, highWaterMark = 65_536, fd, autoClose = true } = settings
      const first = start ?? 0
      for (const [name, value] of Object.entries({ start: first, end })) {
        if (typeof value !== 'number' || !(value >= 0)) throw rangeError(name, '>= 0', value)
      }
      if (first > end) throw rangeError('start', `<= "end" (here: ${end})`, first)
      const handle = fd === undefined || fd === null ? undefined : handleOf(fd)
      const shown = handle === undefined ? locate(path).shown : ''
      let next: () => Promise<Uint8Array | undefined>
      let cancel: () => Promise<void> = async () => {}
      let rest = new Uint8Array()
      const opened = async (): Promise<void> => {
        if (handle !== undefined) {
          let position = start
          next = async () => {
            const length = Math.min(highWaterMark, end - (position ?? 0) + 1)
            const { bytesRead, buffer } = await handle.read<Uint8Array>(new Uint8Array(length), {
              position: position ?? null,
            })
            if (position !== undefined) position += bytesRead
            return bytesRead === 0 ? undefined : buffer.subarray(0, bytesRead)
          }
          return
        }
        const range = Number.isFinite(end) ? { start: first, end: end + 1 } : { start: first }
        const content = await target.files.readable(locate(path).path, range)
        const reader = content.getReader()
        next = async () => (await reader.read()).value
        cancel = () => reader.cancel()
      }
      const Readable = classOf('Readable', 'open')
      const stream = new Readable({
        ...streamOptions(settings, highWaterMark),
        construct: (done: Done) => {
          const begin = async () => {
            await asNode('open', shown, opened)
            emitOpen(stream, handle)
          }
          begin().then(
            () => done(),
            (error) => done(asReadError(error)),
          )
        },
        read: () => {
          const push = (part: Uint8Array) => {
            rest = part.subarray(highWaterMark) as Uint8Array<ArrayBuffer>
            const chunk = part.subarray(0, highWaterMark)
            stream.bytesRead += chunk.length
            stream.push(chunk)
          }
          if (rest.length > 0) push(rest)
          else {
            asNode('read', shown, () => next()).then(
              (part) => (part === undefined ? stream.push(null) : push(part)),
              (error) => stream.destroy(error),
            )
          }
        },
        destroy: (error: unknown, done: Done) => {
          const end = async () => {
            await cancel()
            if (autoClose) await handle?.[Symbol.asyncDispose]()
          }
          end().then(
            () => done(error),
            (failure) => done(error ?? failure),
          )
        },
      })
      Object.assign(stream, { path, flags: 'r', start, end, bytesRead: 0, pending: true, fd: handle?.fd ?? null })
      return stream as unknown as InstanceType<S['Readable']>
    },
    /**
     * Returns a stream whose content is written to a file at its end, as one change. If it is destroyed before, nothing is
     * written. The content is in memory.
     */
    createWriteStream(path: FsPath, options?: EncodingOption | WriteStreamOptions): InstanceType<S['Writable']> {
      const settings = settingsOf<WriteStreamOptions>(options)
      const { flags = 'w', mode, start, fd, autoClose = true, flush = false, encoding } = settings
      if (start !== undefined && !(start >= 0)) throw rangeError('start', '>= 0', start)
      let handle = fd === undefined || fd === null ? undefined : handleOf(fd)
      let position = start
      let isComplete = false
      const located = handle === undefined ? locate(path) : undefined
      const Writable = classOf('Writable', 'open')
      const write = async (parts: readonly Uint8Array[]) => {
        for (const part of parts) {
          await (handle as FileHandle).write(part, { position: position ?? null })
          if (position !== undefined) position += part.length
          stream.bytesWritten += part.length
        }
      }
      const stream = new Writable({
        ...streamOptions(settings, settings.highWaterMark ?? 16_384),
        ...(encoding === undefined || encoding === null ? {} : { defaultEncoding: encoding }),
        construct: (done: Done) => {
          const begin = async () => {
            if (located !== undefined) handle = await FileHandle.open(target, open, located, flags, mode)
            emitOpen(stream, handle)
          }
          begin().then(() => done(), done)
        },
        write: (chunk: Uint8Array, _: unknown, done: Done) => {
          write([chunk]).then(() => done(), done)
        },
        writev: (chunks: readonly { readonly chunk: Uint8Array }[], done: Done) => {
          write(chunks.map(({ chunk }) => chunk)).then(() => done(), done)
        },
        final: (done: Done) => {
          const complete = async () => {
            if (autoClose || flush) await handle?.sync()
            isComplete = true
          }
          complete().then(() => done(), done)
        },
        destroy: (error: unknown, done: Done) => {
          const end = async () => {
            if (!autoClose) return
            if (!isComplete) handle?.discard()
            await handle?.[Symbol.asyncDispose]()
          }
          end().then(
            () => done(error),
            (failure) => done(error ?? failure),
          )
        },
      })
      Object.assign(stream, { path, flags, mode, start, bytesWritten: 0, pending: true, fd: handle?.fd ?? null })
      return stream as unknown as InstanceType<S['Writable']>
    },
  }
}

function settingsOf<T extends StreamOptions>(options: EncodingOption | T): T {
  const settings = (typeof options === 'object' && options !== null ? options : { encoding: options }) as T
  encodingOf(settings)
  return settings
}

function streamOptions({ encoding, signal, emitClose = true, autoClose = true }: StreamOptions, highWaterMark: number) {
  return { highWaterMark, encoding: encoding ?? null, emitClose, autoDestroy: autoClose, ...(signal && { signal }) }
}

function emitOpen(stream: OwnStream, handle: FileHandle | undefined): void {
  stream.fd = handle?.fd ?? null
  stream.pending = false
  stream.emit('open', stream.fd)
  stream.emit('ready')
}
