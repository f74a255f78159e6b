import { ignoreRejection } from '../../util/ignore-rejection.ts'
import { nodeModule } from '../../util/node-module.ts'
import { type EncodingOption, encodingOf } from './encoding.ts'
import { argumentError, asNode, asReadError, fsError, rangeError, valueError } from './errors.ts'
import { FileHandle } from './file-handle.ts'
import { readFlag } from './flags.ts'
import type { FsStream } from './fs-stream.ts'
import type { OpenFiles } from './open-files.ts'
import { type FsPath, locate } from './paths.ts'
import { findPath } from './places.ts'
import type { FsTarget } from './target.ts'

/** The classes of `node:stream`, or those of a package such as `readable-stream`. */
export interface StreamModule {
  readonly Readable: new (options: never) => object
  readonly Writable: new (options: never) => object
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
  on(event: string, listener: () => void): void
  push(chunk: Uint8Array | null): void
  end(): void
  destroy(error?: unknown): void
  readonly closed?: boolean
  bytesRead: number
  bytesWritten: number
  pending: boolean
  fd: number | null
}

type StreamClass = new (options: object) => OwnStream

/** What both kinds of streams need: the files, those that are open, and the classes. */
interface StreamContext {
  readonly target: FsTarget
  readonly open: OpenFiles<FileHandle>
  readonly stream: StreamModule | undefined
}

/** Creates the classes of streams, and the functions that return streams of Node. */
export function createStreams(target: FsTarget, open: OpenFiles<FileHandle>, stream: StreamModule | undefined) {
  const context: StreamContext = { target, open, stream: stream ?? (nodeModule('stream') as StreamModule | undefined) }
  const ReadStream = streamClass<ReadStreamOptions>(context, 'Readable', readStream)
  const WriteStream = streamClass<WriteStreamOptions>(context, 'Writable', writeStream)
  return {
    ...{ ReadStream, WriteStream },
    createReadStream: (path: FsPath, options?: EncodingOption | ReadStreamOptions) => new ReadStream(path, options),
    createWriteStream: (path: FsPath, options?: EncodingOption | WriteStreamOptions) => new WriteStream(path, options),
  }
}

/** Makes a stream with the options of the classes of Node. */
type Make = (options: object) => OwnStream

/**
 * Returns a class of streams of files. As those of Node, it can be called without `new`, and on an object that inherits from it:
 * graceful-fs and older programs do so.
 */
function streamClass<O extends StreamOptions>(
  context: StreamContext,
  name: keyof StreamModule,
  create: (context: StreamContext, make: Make, path: FsPath, settings: O) => OwnStream,
): new (
  path: FsPath,
  options?: EncodingOption | O,
) => OwnStream {
  function FileStream(this: unknown, path: FsPath, options?: EncodingOption | O): OwnStream {
    const target = new.target as unknown as StreamClass | undefined
    if (target === undefined && !(this instanceof FileStream)) return Reflect.construct(FileStream, [path, options])
    const make: Make = (given) => {
      const Base = classOf(context, name)
      if (target !== undefined) return Reflect.construct(Base, [given], target)
      Reflect.apply(Base, this, [given])
      return this as OwnStream
    }
    return create(context, make, path, settingsOf(options))
  }
  const Base = context.stream?.[name]
  if (Base !== undefined) Object.setPrototypeOf(FileStream.prototype, Base.prototype)
  return FileStream as unknown as new (
    path: FsPath,
    options?: EncodingOption | O,
  ) => OwnStream
}

/** Returns a class of streams. @throws FsError `ENOSYS` on a platform without `node:stream` */
function classOf({ stream }: StreamContext, name: keyof StreamModule): StreamClass {
  if (stream === undefined) throw fsError('ENOSYS', 'open')
  return stream[name] as unknown as StreamClass
}

/** Returns the handle that options name, or nothing if they name none. */
function handleOf({ open }: StreamContext, { fd }: StreamOptions): FileHandle | undefined {
  if (fd === undefined || fd === null || fd instanceof FileHandle) return fd ?? undefined
  return open.get(fd, 'open')
}

/** Where the chunks of a stream come from. `next` returns nothing at the end. */
interface Source {
  next(): Promise<Uint8Array | undefined>
  close(): Promise<unknown>
}

function readStream(context: StreamContext, make: Make, path: FsPath, settings: ReadStreamOptions): OwnStream {
  const { start, end = Number.POSITIVE_INFINITY, highWaterMark = 65_536, autoClose = true } = settings
  requireRange(start ?? 0, end)
  const handle = handleOf(context, settings)
  const shown = handle === undefined ? locate(path).shown : ''
  let source: Source | undefined
  let rest = new Uint8Array()
  const push = (part: Uint8Array) => {
    rest = part.subarray(highWaterMark) as Uint8Array<ArrayBuffer>
    const chunk = part.subarray(0, highWaterMark)
    stream.bytesRead += chunk.length
    stream.push(chunk)
  }
  const opened = async () => {
    source = handle === undefined ? await fileSource(context, path, settings) : handleSource(handle, settings)
    emitOpen(stream, handle)
  }
  const stream = make({
    ...streamOptions(settings, highWaterMark),
    construct: (done: Done) => {
      asNode('open', shown, opened).then(
        () => done(),
        (error) => done(asReadError(error)),
      )
    },
    read: () => {
      if (rest.length > 0) push(rest)
      else {
        asNode('read', shown, async () => source?.next()).then(
          (part) => (part === undefined ? stream.push(null) : push(part)),
          (error) => stream.destroy(error),
        )
      }
    },
    destroy: (error: unknown, done: Done) => {
      const closed = autoClose || handle === undefined ? Promise.resolve(source?.close()) : Promise.resolve()
      closed.then(
        () => done(error),
        (failure) => done(error ?? failure),
      )
    },
  })
  const fields = { path, flags: 'r', start, end, bytesRead: 0, autoClose }
  return withClose(Object.assign(stream, fields), handle, (callback) => {
    whenClosed(stream, callback)
    stream.destroy()
  })
}

function requireRange(start: unknown, end: unknown): void {
  for (const [name, value] of Object.entries({ start, end })) requirePosition(name, value)
  if ((start as number) > (end as number)) throw rangeError('start', `<= "end" (here: ${String(end)})`, start)
}

function requirePosition(name: string, value: unknown): void {
  if (typeof value !== 'number') throw argumentError(name, 'of type number', value)
  if (name === 'end' && value === Number.POSITIVE_INFINITY) return
  if (!Number.isInteger(value)) throw rangeError(name, 'an integer', value)
  if (value < 0 || !Number.isSafeInteger(value)) throw rangeError(name, `>= 0 && <= ${Number.MAX_SAFE_INTEGER}`, value)
}

async function fileSource(context: StreamContext, path: FsPath, settings: ReadStreamOptions): Promise<Source> {
  const { target, open } = context
  const { flags, mode } = settings
  if (readFlag(flags) !== undefined) {
    return handleSource(await FileHandle.open(target, open, locate(path), flags, mode), settings)
  }
  const { start = 0, end = Number.POSITIVE_INFINITY } = settings
  const range = Number.isFinite(end) ? { start, end: end + 1 } : { start }
  const at = await findPath(target, locate(path))
  const reader = (await target.files.readable(at, range)).getReader()
  return { next: async () => (await reader.read()).value, close: () => reader.cancel() }
}

function handleSource(handle: FileHandle, settings: ReadStreamOptions): Source {
  const { start, end = Number.POSITIVE_INFINITY, highWaterMark = 65_536 } = settings
  let position = start
  let left = end - (start ?? 0) + 1
  return {
    async next() {
      const bytes = new Uint8Array(Math.min(highWaterMark, left))
      const { bytesRead } = await handle.read<Uint8Array>(bytes, { position: position ?? null })
      if (position !== undefined) position += bytesRead
      left -= bytesRead
      return bytesRead === 0 ? undefined : bytes.subarray(0, bytesRead)
    },
    close: () => handle[Symbol.asyncDispose](),
  }
}

function writeStream(context: StreamContext, make: Make, path: FsPath, settings: WriteStreamOptions): OwnStream {
  const { flags = 'w', mode, start, autoClose = true, flush = false, encoding } = settings
  if (start !== undefined) requirePosition('start', start)
  let handle = handleOf(context, settings)
  const located = handle === undefined ? locate(path) : undefined
  let position = start
  let isComplete = false
  let writer: WritableStreamDefaultWriter<Uint8Array> | undefined
  const shown = located?.shown ?? ''
  const write = async (parts: readonly Uint8Array[]) => {
    for (const part of parts) {
      if (writer === undefined) await handle?.write(part, { position: position ?? null })
      else await asNode('write', shown, async () => writer?.write(part))
      if (position !== undefined) position += part.length
      stream.bytesWritten += part.length
    }
  }
  const begin = async () => {
    if (located !== undefined) {
      handle = await FileHandle.open(context.target, context.open, located, flags, mode)
      if (start === undefined && autoClose) writer = (await handle.openStream())?.getWriter()
      ignoreRejection(writer?.closed)
    }
    emitOpen(stream, handle)
  }
  const complete = async () => {
    if (writer !== undefined) await asNode('write', shown, async () => writer?.close())
    else if (autoClose || flush) await handle?.sync()
    isComplete = true
  }
  const end = async () => {
    if (!autoClose) return
    if (!isComplete) {
      handle?.discard()
      await writer?.abort().catch(() => {})
    }
    await handle?.[Symbol.asyncDispose]()
  }
  const stream = make({
    ...streamOptions(settings, settings.highWaterMark ?? 16_384),
    ...(encoding === undefined || encoding === null ? {} : { defaultEncoding: encoding }),
    construct: (done: Done) => void begin().then(() => done(), done),
    write: (chunk: Uint8Array, _: unknown, done: Done) => void write([chunk]).then(() => done(), done),
    writev: (chunks: readonly { readonly chunk: Uint8Array }[], done: Done) =>
      void write(chunks.map(({ chunk }) => chunk)).then(() => done(), done),
    final: (done: Done) => void complete().then(() => done(), done),
    destroy: (error: unknown, done: Done) => {
      end().then(
        () => done(error),
        (failure) => done(error ?? failure),
      )
    },
  })
  const fields = { path, flags, mode, start, bytesWritten: 0, autoClose }
  return withClose(Object.assign(stream, fields), handle, (callback) => {
    whenClosed(stream, callback)
    if (!autoClose) stream.on('finish', () => stream.destroy())
    stream.end()
  })
}

/** Completes a stream with what both kinds have. */
function withClose(stream: OwnStream, handle: FileHandle | undefined, close: (callback: unknown) => void): OwnStream {
  stream.on('close', () => {
    stream.fd = null
  })
  return Object.assign(stream, { close, pending: true, fd: handle?.fd ?? null })
}

function whenClosed(stream: OwnStream, callback: unknown): void {
  if (callback === undefined) return
  if (typeof callback !== 'function') throw argumentError('cb', 'of type function', callback)
  if (stream.closed) queueMicrotask(callback as () => void)
  else stream.on('close', callback as () => void)
}

function settingsOf<T extends StreamOptions>(options: EncodingOption | T): T {
  const isName = options === undefined || options === null || typeof options === 'string'
  if (!isName && typeof options !== 'object') {
    throw argumentError('options', 'of type string or an instance of Object', options)
  }
  const settings = (isName ? { encoding: options } : options) as T
  encodingOf(settings)
  const { signal, fs } = settings as StreamOptions & { readonly fs?: unknown }
  if (signal !== undefined && !('aborted' in Object(signal))) {
    throw argumentError('options.signal', 'an instance of AbortSignal', signal)
  }
  // The functions of another file system would go round the workspace.
  if (fs !== undefined && fs !== null) throw valueError('options.fs', fs)
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
