import { ToolError } from '../../errors.ts'
import { runAfter } from '../../util/timers.ts'
import type { Lease } from './lease.ts'

/** The resource of a lease while it is held. */
export interface LeaseResource<S> {
  readonly value: S
  close(): void
}

export interface LocalLeaseOptions<S> {
  /** The same for everyone who shares the storage. */
  readonly name: string
  /** How long to wait for another tab, in milliseconds. */
  readonly timeoutMs: number
  open(): Promise<LeaseResource<S>>
}

/**
 * A lease between the tabs and workers of an origin: a Web Lock, which the browser releases however its holder ends, and a
 * channel on which waiting tabs ask the holder to give it up. Without Web Locks, the exclusive handles of the storage take
 * their place: the first tab that opens the storage keeps it.
 */
export function localLease<S>({ name, timeoutMs, open }: LocalLeaseOptions<S>): Lease<S> {
  const locks = globalThis.navigator?.locks as LockManager | undefined
  const channel = typeof BroadcastChannel === 'undefined' ? undefined : new BroadcastChannel(`wardspace lease ${name}`)
  let resource: (LeaseResource<S> & { release(): void }) | undefined
  let giveUp: (() => Promise<void>) | undefined
  let releasing: Promise<void> | undefined
  let isClosed = false

  const release = () => {
    resource?.close()
    resource?.release()
    resource = undefined
  }

  if (channel !== undefined) {
    channel.onmessage = () => {
      if (resource === undefined || releasing !== undefined) return
      releasing = (async () => {
        try {
          await giveUp?.()
        } finally {
          release()
          releasing = undefined
        }
      })()
    }
  }

  async function take(): Promise<S> {
    if (locks === undefined) {
      const opened = await open()
      resource = { ...opened, release() {} }
      return opened.value
    }
    const waiting = new AbortController()
    const timeout = runAfter(timeoutMs, () => waiting.abort())
    const ask = () => channel?.postMessage('want')
    ask()
    // A tab that has only now got the lease missed the first message.
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
          resource = { ...opened, release }
          resolve(opened.value)
        })
      }
      locks.request(`wardspace ${name}`, { signal: waiting.signal }, whileHeld).catch((error) => {
        stop()
        reject(waiting.signal.aborted ? inUseError() : error)
      })
    })
  }

  return {
    async acquire(onWanted) {
      await releasing
      if (isClosed) throw new ToolError('BACKEND_ERROR', 'Cannot open the workspace: the backend is closed')
      giveUp = onWanted
      return resource === undefined ? take() : resource.value
    },

    async close() {
      isClosed = true
      await releasing
      release()
      channel?.close()
    },
  }
}

const ASK_AGAIN_MS = 25

function inUseError(): ToolError {
  return new ToolError('BACKEND_ERROR', 'Cannot open the workspace: another tab holds it and does not answer', {
    hint: 'Nothing was changed. Close the other tab, or try again.',
  })
}
