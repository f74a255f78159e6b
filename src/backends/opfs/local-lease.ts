import { ToolError } from '../../errors.ts'
import type { Lease } from './lease.ts'

/** What a lease is about, while it is held. */
export interface LeaseResource<S> {
  readonly value: S
  close(): void
}

export interface LocalLeaseOptions<S> {
  /** All who share a storage give the same. */
  readonly name: string
  /** How long to wait for another tab, in milliseconds. */
  readonly timeoutMs: number
  open(): Promise<LeaseResource<S>>
}

/**
 * A lease between the tabs and workers of an origin: a Web Lock, which the browser frees when its holder ends in whatever
 * way, and a channel on which those who wait ask its holder to give it up. Where there are no Web Locks, the exclusive
 * handles of the storage have to do: the first to open it keeps it.
 */
export function localLease<S>({ name, timeoutMs, open }: LocalLeaseOptions<S>): Lease<S> {
  const locks = globalThis.navigator?.locks as LockManager | undefined
  const channel = typeof BroadcastChannel === 'undefined' ? undefined : new BroadcastChannel(`wardspace lease ${name}`)
  let held: (LeaseResource<S> & { release(): void }) | undefined
  let giveUp: (() => Promise<void>) | undefined
  let releasing: Promise<void> | undefined
  let isClosed = false

  const letGo = () => {
    held?.close()
    held?.release()
    held = undefined
  }

  if (channel !== undefined) {
    channel.onmessage = () => {
      if (held === undefined || releasing !== undefined) return
      releasing = (async () => {
        try {
          await giveUp?.()
        } finally {
          letGo()
          releasing = undefined
        }
      })()
    }
  }

  async function take(): Promise<S> {
    if (locks === undefined) {
      const opened = await open()
      held = { ...opened, release() {} }
      return opened.value
    }
    const patience = new AbortController()
    const timeout = setTimeout(() => patience.abort(), timeoutMs)
    const ask = () => channel?.postMessage('want')
    ask()
    // Whoever is only now given it has not heard.
    const asking = setInterval(ask, ASK_AGAIN_MS)
    const stop = () => {
      clearTimeout(timeout)
      clearInterval(asking)
    }
    return new Promise<S>((resolve, reject) => {
      const whileHeld = async () => {
        stop()
        const opened = await open()
        await new Promise<void>((release) => {
          held = { ...opened, release }
          resolve(opened.value)
        })
      }
      locks.request(`wardspace ${name}`, { signal: patience.signal }, whileHeld).catch((error) => {
        stop()
        reject(patience.signal.aborted ? inUse() : error)
      })
    })
  }

  return {
    async acquire(whenWanted) {
      await releasing
      if (isClosed) throw new ToolError('BACKEND_ERROR', 'Cannot open the workspace: the backend is closed')
      giveUp = whenWanted
      return held === undefined ? take() : held.value
    },

    async close() {
      isClosed = true
      await releasing
      letGo()
      channel?.close()
    },
  }
}

const ASK_AGAIN_MS = 25

function inUse(): ToolError {
  return new ToolError('BACKEND_ERROR', 'Cannot open the workspace: another tab holds it and does not answer', {
    hint: 'Nothing was changed. Close the other tab, or try again.',
  })
}
