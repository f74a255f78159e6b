import { nodeModule } from '../../util/node-module.ts'
import type { FsPromises } from './create-promises.ts'
import { fsError } from './errors.ts'
import type { FileHandle } from './file-handle.ts'
import type { OpenFiles } from './open-files.ts'
import type { FsPath } from './paths.ts'
import type { WatchOptions } from './trees.ts'
import { withCallback } from './with-callback.ts'

/** Creates the functions with callbacks for files that are open by number, and those that `fs.promises` does not have. */
export function createCallbacks(promises: FsPromises, open: OpenFiles<FileHandle>) {
  /** A function of a handle, for the number of one. */
  const ofHandle = <A extends unknown[], R>(
    syscall: string,
    act: (handle: FileHandle, ...args: A) => Promise<R>,
    toResults?: (value: R) => readonly unknown[],
  ) => withCallback(async (fd: unknown, ...args: A) => act(open.get(fd, syscall), ...args), toResults)
  /** A function of `fs.promises` that takes the number of a file as well as a path. */
  const ofFile = (syscall: string, act: (path: FsPath | FileHandle, ...args: unknown[]) => Promise<unknown>) =>
    withCallback(async (path: FsPath | number, ...args: unknown[]) =>
      act(typeof path === 'number' ? open.get(path, syscall) : path, ...args),
    )
  return {
    open: withCallback(async (...args: Parameters<FsPromises['open']>) => (await promises.open(...args)).fd),
    close: (fd: unknown, callback: unknown = rethrow) => ofHandle('close', (handle) => handle.close())(fd, callback),
    read: ofHandle(
      'read',
      (handle, ...args: Parameters<FileHandle['read']>) => handle.read(...args),
      ({ bytesRead, buffer }) => [bytesRead, buffer],
    ),
    readv: ofHandle(
      'read',
      (handle, ...args: Parameters<FileHandle['readv']>) => handle.readv(...args),
      ({ bytesRead, buffers }) => [bytesRead, buffers],
    ),
    write: ofHandle(
      'write',
      (handle, ...args: Parameters<FileHandle['write']>) => handle.write(...args),
      ({ bytesWritten, buffer }) => [bytesWritten, buffer],
    ),
    writev: ofHandle(
      'write',
      (handle, ...args: Parameters<FileHandle['writev']>) => handle.writev(...args),
      ({ bytesWritten, buffers }) => [bytesWritten, buffers],
    ),
    fstat: ofHandle('fstat', (handle) => handle.stat()),
    fsync: ofHandle('fsync', (handle) => handle.sync()),
    fdatasync: ofHandle('fdatasync', (handle) => handle.datasync()),
    ftruncate: ofHandle('ftruncate', (handle, length?: number) => handle.truncate(length)),
    fchmod: ofHandle('fchmod', (handle, mode: number) => handle.chmod(mode)),
    readFile: ofFile('read', promises.readFile as never),
    writeFile: ofFile('write', promises.writeFile as never),
    appendFile: ofFile('write', promises.appendFile as never),
    exists(path: FsPath, callback: (exists: boolean) => void): void {
      withCallback(promises.access)(path, (error: unknown) => callback(error === null))
    },
    async openAsBlob(path: FsPath, { type = '' }: { readonly type?: string } = {}): Promise<Blob> {
      return new Blob([(await promises.readFile(path)) as Uint8Array<ArrayBuffer>], { type })
    },
    watch(path: FsPath, ...args: unknown[]): FsWatcher {
      const listener = args.at(-1)
      const options = typeof args[0] === 'object' && args[0] !== null ? (args[0] as WatchOptions) : {}
      return watchWithEvents(promises, path, options, typeof listener === 'function' ? listener : undefined)
    },
  }
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

function watchWithEvents(
  promises: FsPromises,
  path: FsPath,
  { signal, recursive = false }: WatchOptions,
  listener: unknown,
): FsWatcher {
  const events = nodeModule('events') as { readonly EventEmitter: new () => Emitter } | undefined
  if (events === undefined) throw fsError('ENOSYS', 'watch')
  const stop = new AbortController()
  const emitter = new events.EventEmitter()
  const watcher = Object.assign(emitter, { close: () => stop.abort(), ref: () => watcher, unref: () => watcher })
  if (listener !== undefined) emitter.on('change', listener)
  const signals = signal === undefined ? [stop.signal] : [stop.signal, signal]
  const watch = async () => {
    const changes = promises.watch(path, { signal: AbortSignal.any(signals), recursive })
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
