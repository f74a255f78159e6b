import { nodeModule } from '../../util/node-module.ts'
import { type CheckedFunction, checkArguments } from './check-arguments.ts'
import type { FsPromises } from './create-promises.ts'
import { argumentError, fsError } from './errors.ts'
import { checkBuffers, type FileHandle, readArguments, writeArguments } from './file-handle.ts'
import { openMode } from './flags.ts'
import { checkNumber, type OpenFiles } from './open-files.ts'
import type { FsPath } from './paths.ts'
import type { FsTime } from './times.ts'
import { checkWatch, type WatchOptions } from './trees.ts'
import { type CallbackFunction, withCallback } from './with-callback.ts'

/** Creates the functions with callbacks for files that are open by number. */
function createHandleCallbacks(open: OpenFiles<FileHandle>) {
  /** A function of a handle, for the number of one. */
  const ofHandle = <A extends readonly unknown[], R>(
    syscall: string,
    act: (handle: FileHandle, ...args: A) => Promise<R>,
    check: (args: readonly unknown[]) => unknown,
    toResults?: (value: R) => readonly unknown[],
  ) =>
    withCallback<readonly [unknown, ...A], R>(async (fd, ...args) => act(open.get(fd, syscall), ...args), {
      check: ([fd, ...args]) => {
        checkNumber(fd)
        check(args)
        return [fd, ...(args as unknown as A)]
      },
      ...(toResults && { toResults }),
    })
  const withoutResult = (name: string) => (args: readonly unknown[]) => checkArguments(name, args)
  const noArguments = () => []
  return {
    close: (fd: unknown, callback: unknown = rethrow) =>
      ofHandle('close', (handle) => handle.close(), noArguments)(fd, callback),
    read: withResultObject(
      ofHandle(
        'read',
        (handle, ...args: Parameters<FileHandle['read']>) => handle.read(...args),
        readArguments,
        ({ bytesRead, buffer }) => [bytesRead, buffer],
      ),
      ['bytesRead', 'buffer'],
    ),
    readv: withResultObject(
      ofHandle(
        'read',
        (handle, ...args: Parameters<FileHandle['readv']>) => handle.readv(...args),
        checkBuffers,
        ({ bytesRead, buffers }) => [bytesRead, buffers],
      ),
      ['bytesRead', 'buffers'],
    ),
    write: withResultObject(
      ofHandle(
        'write',
        (handle, ...args: Parameters<FileHandle['write']>) => handle.write(...args),
        writeArguments,
        ({ bytesWritten, buffer }) => [bytesWritten, buffer],
      ),
      ['bytesWritten', 'buffer'],
    ),
    writev: withResultObject(
      ofHandle(
        'write',
        (handle, ...args: Parameters<FileHandle['writev']>) => handle.writev(...args),
        checkBuffers,
        ({ bytesWritten, buffers }) => [bytesWritten, buffers],
      ),
      ['bytesWritten', 'buffers'],
    ),
    fstat: ofHandle('fstat', (handle, options?: { readonly bigint?: boolean }) => handle.stat(options), noArguments),
    fsync: ofHandle('fsync', (handle) => handle.sync(), noArguments),
    fdatasync: ofHandle('fdatasync', (handle) => handle.datasync(), noArguments),
    ftruncate: ofHandle('ftruncate', (handle, length?: number) => handle.truncate(length), withoutResult('ftruncate')),
    fchmod: ofHandle('fchmod', (handle, mode: number | string) => handle.chmod(mode), withoutResult('fchmod')),
    fchown: ofHandle(
      'fchown',
      (handle, user: number, group: number) => handle.chown(user, group),
      withoutResult('fchown'),
    ),
    futimes: ofHandle(
      'futime',
      (handle, accessed: FsTime, modified: FsTime) => handle.utimes(accessed, modified),
      withoutResult('futimes'),
    ),
  }
}

/** Creates the functions with callbacks for files that are open by number, and those that `fs.promises` does not have. */
export function createCallbacks(
  promises: FsPromises,
  checked: Readonly<Record<string, CheckedFunction>>,
  open: OpenFiles<FileHandle>,
) {
  /** A function of `fs.promises` that takes the number of a file as well as a path. */
  const ofFile = (name: 'readFile' | 'writeFile' | 'appendFile', syscall: string) => {
    const { check, run } = checked[name] as CheckedFunction
    const act = async (...args: readonly unknown[]) =>
      run(isNumber(args[0]) ? [open.get(args[0], syscall), ...args.slice(1)] : args)
    return withCallback(act, {
      check: (args) => {
        requireContent(name, args)
        return isNumber(args[0]) ? [args[0], ...check(['', ...args.slice(1)]).slice(1)] : check(args)
      },
    })
  }
  return {
    ...createHandleCallbacks(open),
    open: withCallback(async (...args: readonly unknown[]) => (await openFile(checked, args)).fd, {
      check: (args) => checkOpen(checked, args),
    }),
    readFile: ofFile('readFile', 'read'),
    writeFile: ofFile('writeFile', 'write'),
    appendFile: ofFile('appendFile', 'write'),
    exists: createExists(promises),
    async openAsBlob(path: FsPath, { type = '' }: { readonly type?: string } = {}): Promise<Blob> {
      return new Blob([(await promises.readFile(path)) as Uint8Array<ArrayBuffer>], { type })
    },
    watch(path: FsPath, ...args: unknown[]): FsWatcher {
      const listener = args.at(-1)
      const [options] = args
      if (!['undefined', 'string', 'function', 'object'].includes(typeof options))
        throw argumentError('options', 'of type string or an instance of Object', options)
      const given = typeof options === 'string' ? { encoding: options } : options
      return watchWithEvents(
        promises,
        path,
        isOptions(given) ? given : {},
        typeof listener === 'function' ? listener : undefined,
      )
    },
  }
}

const isNumber = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0

const isOptions = (value: unknown): value is WatchOptions => typeof value === 'object' && value !== null

/** Only the functions that return promises take what is iterated. */
function requireContent(name: string, args: readonly unknown[]): void {
  if (name === 'readFile' || typeof args[1] === 'string' || ArrayBuffer.isView(args[1])) return
  throw argumentError('data', 'of type string or an instance of Buffer, TypedArray, or DataView', args[1])
}

const openFile = (checked: Readonly<Record<string, CheckedFunction>>, args: readonly unknown[]) =>
  (checked.open as CheckedFunction).run(args) as Promise<FileHandle>

function checkOpen(checked: Readonly<Record<string, CheckedFunction>>, args: readonly unknown[]): readonly unknown[] {
  const given = (checked.open as CheckedFunction).check(args)
  openMode(given[1] ?? 'r')
  return given
}

/** `util.promisify` of Node makes a function that resolves to an object with these names. */
function withResultObject(act: CallbackFunction, names: readonly string[]): CallbackFunction {
  const promised = (...args: readonly unknown[]) =>
    new Promise((resolve, reject) => {
      act(...args, (error: unknown, ...values: readonly unknown[]) => {
        if (error === null) resolve(Object.fromEntries(names.map((name, at) => [name, values[at]])))
        else reject(error)
      })
    })
  return Object.assign(act, { [PROMISIFY]: promised })
}

const PROMISIFY = Symbol.for('nodejs.util.promisify.custom')

/** Creates `exists`, whose callback receives no error. */
function createExists(promises: FsPromises): CallbackFunction {
  const exists = async (path: FsPath) =>
    promises.access(path).then(
      () => true,
      () => false,
    )
  const act = (path: FsPath, callback: unknown): void => {
    if (typeof callback !== 'function') throw argumentError('cb', 'of type function', callback)
    exists(path).then((found) => queueMicrotask(() => callback(found)))
  }
  return Object.assign(act as CallbackFunction, { [PROMISIFY]: exists })
}

/** What `watch` returns: an `EventEmitter` of Node that emits `change`, `error` and `close`. */
export interface FsWatcher {
  /** Adds a listener. */
  on(event: string, listener: (...args: never[]) => void): this
  /** Adds a listener for one event. */
  once(event: string, listener: (...args: never[]) => void): this
  /** Ends the watching. */
  close(): void
}

interface Emitter {
  on(event: string, listener: unknown): void
  emit(event: string, ...args: unknown[]): void
}

function watchWithEvents(promises: FsPromises, path: FsPath, options: WatchOptions, listener: unknown): FsWatcher {
  checkWatch(path, options)
  const { signal } = options
  const events = nodeModule('events') as { readonly EventEmitter: new () => Emitter } | undefined
  if (events === undefined) throw fsError('ENOSYS', 'watch')
  const stop = new AbortController()
  const emitter = new events.EventEmitter()
  const watcher = Object.assign(emitter, { close: () => stop.abort(), ref: () => watcher, unref: () => watcher })
  if (listener !== undefined) emitter.on('change', listener)
  const signals = signal === undefined ? [stop.signal] : [stop.signal, signal]
  const watch = async () => {
    const changes = promises.watch(path, { ...options, signal: AbortSignal.any(signals) })
    for await (const { eventType, filename } of changes) emitter.emit('change', eventType, filename)
  }
  watch()
    .catch((error) => {
      if (!signals.some(({ aborted }) => aborted)) emitter.emit('error', error)
    })
    .finally(() => emitter.emit('close'))
  return watcher as unknown as FsWatcher
}

function rethrow(error: unknown): void {
  if (error !== null) throw error
}
