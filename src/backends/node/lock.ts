import { linkSync, readFileSync, renameSync, unlinkSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { ToolError } from '../../errors.ts'
import { errnoOf } from '../../storage/storage-error.ts'
import { throwIfAborted } from '../../util/abort.ts'
import type { StateDirectory } from './state-directory.ts'

/**
 * A lock between processes (and between backends in one). The lock file is a hard link to the holder's claim, so that it
 * is complete from its first moment. The holder is alive while its socket takes connections: the kernel ends that with
 * the process, however it dies, and no process number can be mistaken for another.
 */
export interface Lock {
  /**
   * Runs `action` while holding the lock, and tells it whether the last holder died with it; calls must not overlap.
   */
  hold<T>(action: (orphaned: boolean) => Promise<T>, signal?: AbortSignal): Promise<T>
  /** Whether the opening with this id is alive. */
  isAlive(id: string): Promise<boolean>
  /** With `leaving traces`, this opening is found as one that was killed. */
  close(how: 'whole' | 'leaving traces'): Promise<void>
}

/** How long an idle lock is kept, so that many commits in a row do not take it anew. Who waits gets it at once. */
const KEPT_MS = 5

/** How long a waiter listens to one holder before it looks again. */
const LISTEN_MS = 1000

export async function openLock(state: StateDirectory, timeoutMs: number): Promise<Lock> {
  const waiters = new Set<Socket>()
  let held = false
  let busy = false
  let idle: NodeJS.Timeout | undefined
  let polite = false

  const server = createServer((socket) => {
    socket.on('error', survive)
    if (!held) return socket.destroy()
    socket.on('close', () => waiters.delete(socket))
    socket.unref()
    waiters.add(socket)
    if (!busy) release()
    return undefined
  })
  server.on('error', survive)
  await listen(server, socketPlace(state, state.id))
  try {
    state.claim()
  } catch (error) {
    server.close()
    throw error
  }

  function release(): void {
    clearTimeout(idle)
    if (held) {
      held = false
      unlinkIfThere(state.at('lock'))
    }
    // A closed connection tells who waits that the lock is free.
    polite = waiters.size > 0
    for (const socket of waiters) socket.destroy()
    waiters.clear()
  }

  return {
    async hold(action, signal) {
      clearTimeout(idle)
      busy = true
      try {
        let orphaned = false
        if (!held) {
          // Others who waited longer shall have it first.
          if (polite) await sleep(1 + Math.random() * 2)
          orphaned = await acquire(state, Date.now() + timeoutMs, signal)
          held = true
        }
        return await action(orphaned)
      } finally {
        busy = false
        if (waiters.size > 0) release()
        else if (held) idle = setTimeout(release, KEPT_MS)
      }
    },

    isAlive: (id) => isAlive(state, id),

    async close(how) {
      release()
      await new Promise<void>((done) => server.close(() => done()))
      if (how === 'leaving traces') return
      for (const name of [`claim-${state.id}`, `log-${state.id}`]) unlinkIfThere(state.at(name))
    },
  }
}

/** Takes the lock, from a dead holder if need be; returns whether it was taken from a dead one. */
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

/** Links our claim to a name; false if the name is taken. */
function claim(state: StateDirectory, name: string): boolean {
  try {
    linkSync(state.at(`claim-${state.id}`), state.at(name))
    return true
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false
    throw new ToolError('BACKEND_ERROR', `Cannot commit: the state directory cannot hold a lock (${errnoOf(error)})`, {
      hint: 'Tell the person in charge to give a stateDir on a local disk that takes hard links.',
    })
  }
}

/**
 * Takes a name from its dead holder. Only who holds `break-<dead id>` may replace what the dead one holds, so nobody can
 * replace a claim that came after it; a guard whose holder died is itself taken in the same way.
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
    const own = state.at(`take-${state.id}`)
    unlinkIfThere(own)
    linkSync(state.at(`claim-${state.id}`), own)
    renameSync(own, state.at(name))
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

/** Whether the opening with this id, which has a claim in the state directory, is alive. */
export async function isAlive(state: Pick<StateDirectory, 'id' | 'at'>, id: string): Promise<boolean> {
  if (id === state.id) return true
  const presence = await meet(state, id)
  if (typeof presence !== 'string') presence.destroy()
  return presence !== 'dead'
}

/** A connection to a live opening; `busy` if it is alive but cannot take one now. */
function meet(state: Pick<StateDirectory, 'at'>, id: string): Promise<Socket | 'dead' | 'busy'> {
  return new Promise((done) => {
    const socket = connect(socketPlace(state, id))
    socket.once('connect', () => done(socket))
    socket.on('error', (error) => {
      socket.destroy()
      const code = errnoOf(error)
      done(code === 'ECONNREFUSED' || code === 'ENOENT' ? 'dead' : 'busy')
    })
  })
}

/** Waits until the connection is closed, by its other end or after a time. */
function closed(socket: Socket, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((done) => {
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      socket.destroy()
      done()
    }
    const timer = setTimeout(end, Math.max(1, ms))
    signal?.addEventListener('abort', end)
    socket.once('close', end)
    // Without a reader the end of the stream is never seen.
    socket.resume()
  })
}

function listen(server: ReturnType<typeof createServer>, path: string): Promise<void> {
  return new Promise((done, fail) => {
    server.once('error', fail)
    // A cluster's primary would keep the socket alive for a dead worker.
    server.listen({ path, exclusive: true }, () => {
      server.off('error', fail)
      server.unref()
      done()
    })
  })
}

/* v8 ignore next 2 -- @preserve: that a socket for nobody's data fails cannot be arranged; unheard, it would end the process */
/** What is waited for is the end of a connection, however it ends. */
function survive(): void {}

/** Where an opening listens. A socket's path may have about 100 bytes only; the id cannot be guessed. */
function socketPlace(state: Pick<StateDirectory, 'at'>, id: string): string {
  /* v8 ignore if -- @preserve: the namespace of pipes is only on Windows */
  if (process.platform === 'win32') return `\\\\.\\pipe\\wardspace-${id}`
  const place = state.at(`sock-${id}`)
  return Buffer.byteLength(place) <= 100 ? place : `/tmp/wardspace-${process.geteuid?.()}-${id}.sock`
}

/** Removes a file of the state directory that may be gone already. */
export function unlinkIfThere(place: string): void {
  try {
    unlinkSync(place)
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
  }
}
