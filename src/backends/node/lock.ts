import { linkSync, readFileSync, renameSync, unlinkSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { ToolError } from '../../errors.ts'
import { errnoOf } from '../../storage/storage-error.ts'
import { throwIfAborted } from '../../util/abort.ts'
import { runAfter } from '../../util/timers.ts'
import type { StateDirectory } from './state-directory.ts'

/**
 * A lock between processes, and between backends of one process. The lock file is a hard link to the claim of its holder,
 * so it is complete from the start. The holder is alive while its socket accepts connections: the kernel closes the
 * socket with the process, however it dies, and process ids cannot be mixed up.
 */
export interface Lock {
  /**
   * Runs `action` while holding the lock. `isOrphaned` tells whether the last holder died with it. Calls must not overlap.
   */
  hold<T>(action: (isOrphaned: boolean) => Promise<T>, signal?: AbortSignal): Promise<T>
  /** Whether the opening with this id is alive. */
  isAlive(id: string): Promise<boolean>
  /** With `leaving traces`, the next process finds this opening as if it had been killed. */
  close(mode: 'whole' | 'leaving traces'): Promise<void>
}

/** How long an idle lock is kept for further commits, in milliseconds. Waiting processes get it immediately. */
const KEPT_MS = 5

/** How long a waiter listens to one holder before it checks again, in milliseconds. */
const LISTEN_MS = 1000

export async function openLock(state: StateDirectory, timeoutMs: number): Promise<Lock> {
  const waiters = new Set<Socket>()
  let isHeld = false
  let isBusy = false
  let idle: NodeJS.Timeout | undefined
  let isYielding = false

  const server = createServer((socket) => {
    socket.on('error', survive)
    if (!isHeld) return socket.destroy()
    socket.on('close', () => waiters.delete(socket))
    socket.unref()
    waiters.add(socket)
    if (!isBusy) release()
    return undefined
  })
  server.on('error', survive)
  await listen(server, socketPath(state, state.id))
  try {
    state.claim()
  } catch (error) {
    server.close()
    throw error
  }

  function release(): void {
    clearTimeout(idle)
    if (isHeld) {
      isHeld = false
      unlinkIfThere(state.at('lock'))
    }
    // Closing their connections tells waiting processes that the lock is free.
    isYielding = waiters.size > 0
    for (const socket of waiters) socket.destroy()
    waiters.clear()
  }

  return {
    async hold(action, signal) {
      clearTimeout(idle)
      isBusy = true
      try {
        let isOrphaned = false
        if (!isHeld) {
          // Processes that waited longer get it first.
          if (isYielding) await sleep(1 + Math.random() * 2)
          isOrphaned = await acquire(state, Date.now() + timeoutMs, signal)
          isHeld = true
        }
        return await action(isOrphaned)
      } finally {
        isBusy = false
        if (waiters.size > 0) release()
        else if (isHeld) idle = setTimeout(release, KEPT_MS)
      }
    },

    isAlive: (id) => isAlive(state, id),

    async close(mode) {
      release()
      await new Promise<void>((done) => server.close(() => done()))
      if (mode === 'leaving traces') return
      for (const name of [`claim-${state.id}`, `log-${state.id}`]) unlinkIfThere(state.at(name))
    },
  }
}

/** Takes the lock. Returns whether its last holder was dead. */
async function acquire(state: StateDirectory, deadline: number, signal: AbortSignal | undefined): Promise<boolean> {
  for (;;) {
    throwIfAborted(signal)
    if (claim(state, 'lock')) return false
    const holder = holderOf(state, 'lock')
    if (holder !== undefined && holder !== state.id) {
      const presence = await meet(state, holder)
      if (presence === 'dead') {
        if (await takeOver(state, 'lock', holder)) return true
        await sleep(1 + Math.random() * 4)
      } else if (presence === 'busy') await sleep(5 + Math.random() * 20)
      else await closed(presence, Math.min(LISTEN_MS, deadline - Date.now()), signal)
    }
    if (Date.now() > deadline) {
      throw new ToolError(
        'BACKEND_ERROR',
        'Cannot commit: another process holds the lock of this workspace for too long',
      )
    }
  }
}

/** Links the claim of this opening to a name. Returns false if the name is taken. */
function claim(state: StateDirectory, name: string): boolean {
  try {
    linkSync(state.at(`claim-${state.id}`), state.at(name))
    return true
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false
    throw new ToolError('BACKEND_ERROR', `Cannot commit: the state directory cannot hold a lock (${errnoOf(error)})`, {
      hint: 'Ask the user to set stateDir to a local disk that supports hard links.',
    })
  }
}

/**
 * Takes a name from its dead holder. Only the holder of `break-<dead id>` may replace it, so that no process replaces a
 * newer claim. A guard whose holder died is taken over in the same way.
 */
async function takeOver(state: StateDirectory, name: string, dead: string): Promise<boolean> {
  const guard = `break-${dead}`
  if (!claim(state, guard)) {
    const other = holderOf(state, guard)
    if (other === undefined || other === state.id || (await isAlive(state, other))) return false
    if (!(await takeOver(state, guard, other))) return false
  }
  try {
    if (holderOf(state, name) !== dead) return false
    const takeFile = state.at(`take-${state.id}`)
    unlinkIfThere(takeFile)
    linkSync(state.at(`claim-${state.id}`), takeFile)
    renameSync(takeFile, state.at(name))
    return true
  } finally {
    unlinkIfThere(state.at(guard))
  }
}

function holderOf(state: StateDirectory, name: string): string | undefined {
  try {
    return readFileSync(state.at(name), 'latin1').slice(0, 32)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Returns whether the opening with this id, which has a claim in the state directory, is alive. */
export async function isAlive(state: Pick<StateDirectory, 'id' | 'at'>, id: string): Promise<boolean> {
  if (id === state.id) return true
  const presence = await meet(state, id)
  if (typeof presence !== 'string') presence.destroy()
  return presence !== 'dead'
}

/** Connects to a live opening. `busy` means that it is alive but cannot accept a connection now. */
function meet(state: Pick<StateDirectory, 'at'>, id: string): Promise<Socket | 'dead' | 'busy'> {
  return new Promise((done) => {
    const socket = connect(socketPath(state, id))
    socket.once('connect', () => done(socket))
    socket.on('error', (error) => {
      socket.destroy()
      const code = errnoOf(error)
      done(code === 'ECONNREFUSED' || code === 'ENOENT' ? 'dead' : 'busy')
    })
  })
}

/** Waits until the other end closes the connection, at most `ms` milliseconds. */
function closed(socket: Socket, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((done) => {
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      socket.destroy()
      done()
    }
    const timer = runAfter(Math.max(1, ms), end)
    signal?.addEventListener('abort', end)
    socket.once('close', end)
    // Without a reader, the end of the stream is never emitted.
    socket.resume()
  })
}

function listen(server: ReturnType<typeof createServer>, path: string): Promise<void> {
  return new Promise((done, fail) => {
    server.once('error', fail)
    // Otherwise the primary of a cluster keeps the socket open for a dead worker.
    server.listen({ path, exclusive: true }, () => {
      server.off('error', fail)
      server.unref()
      done()
    })
  })
}

/* v8 ignore next 2 -- @preserve: that a socket for nobody's data fails cannot be arranged; unheard, it would end the process */
/** Ignores errors: only the end of the connection matters. */
function survive(): void {}

/** Path of the socket of an opening. Socket paths are limited to about 100 bytes. The id cannot be guessed. */
function socketPath(state: Pick<StateDirectory, 'at'>, id: string): string {
  /* v8 ignore if -- @preserve: the namespace of pipes is only on Windows */
  if (process.platform === 'win32') return `\\\\.\\pipe\\wardspace-${id}`
  const path = state.at(`sock-${id}`)
  return Buffer.byteLength(path) <= 100 ? path : `/tmp/wardspace-${process.geteuid?.()}-${id}.sock`
}

/** Removes a file of the state directory if it exists. */
export function unlinkIfThere(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
  }
}
