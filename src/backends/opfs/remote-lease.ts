import { type ErrorCode, ToolError } from '../../errors.ts'
import type { Lease } from './lease.ts'
import type { PageMessage, Request, WorkerMessage } from './messages.ts'
import type { Slots } from './slots.ts'

export interface RemoteLeaseOptions {
  readonly name: string
  readonly timeoutMs: number
  readonly directory: FileSystemDirectoryHandle
}

/** The page's side of a lease whose storage a worker keeps open. Gives undefined where the worker does not start. */
export async function remoteLease(
  start: () => Worker,
  { name, timeoutMs, directory }: RemoteLeaseOptions,
): Promise<Lease | undefined> {
  const worker = await started(start)
  if (worker === undefined) return undefined
  const open = new Map<number, { resolve(value: unknown): void; reject(error: unknown): void }>()
  let count = 0
  let giveUp: (() => Promise<void>) | undefined

  const ask = (request: Request, transfer: Transferable[] = []): Promise<unknown> =>
    new Promise((resolve, reject) => {
      count += 1
      open.set(count, { resolve, reject })
      worker.postMessage({ ...request, id: count } satisfies PageMessage, transfer)
    })

  worker.onmessage = ({ data }: { readonly data: WorkerMessage }) => {
    if ('event' in data) {
      if (data.event === 'wanted') void giveUp?.().finally(() => ask({ do: 'gaveUp' }))
      return
    }
    const waiting = open.get(data.id)
    open.delete(data.id)
    if ('error' in data) waiting?.reject(asError(data.error))
    else waiting?.resolve(data.value)
  }
  worker.onerror = () => {
    for (const { reject } of open.values()) reject(new Error('The worker failed'))
    open.clear()
  }
  try {
    await ask({ do: 'start', name, directory, timeoutMs })
  } catch (error) {
    worker.terminate()
    throw error
  }

  const slotsUnder = (lease: number): Slots => ({
    size: async (slot) => (await ask({ do: 'size', lease, slot })) as number,
    read: async (slot, at, length) => (await ask({ do: 'read', lease, slot, at, length })) as Uint8Array,
    async write(slot, at, bytes, flush) {
      // Records are made for one write: they go over as they are.
      await ask({ do: 'write', lease, slot, at, bytes, flush }, [bytes.buffer as ArrayBuffer])
    },
    async truncate(slot, size) {
      await ask({ do: 'truncate', lease, slot, size })
    },
    async flush(slot) {
      await ask({ do: 'flush', lease, slot })
    },
  })

  return {
    async acquire(whenWanted) {
      giveUp = whenWanted
      return slotsUnder((await ask({ do: 'acquire' })) as number)
    },
    async close() {
      await ask({ do: 'close' })
      worker.terminate()
    },
  }
}

/** A worker that said that it is there. */
function started(start: () => Worker): Promise<Worker | undefined> {
  return new Promise((resolve) => {
    let worker: Worker
    try {
      worker = start()
    } catch {
      resolve(undefined)
      return
    }
    const failed = () => {
      worker.terminate()
      clearTimeout(timer)
      resolve(undefined)
    }
    const timer = setTimeout(failed, START_MS)
    worker.onerror = failed
    worker.onmessage = () => {
      clearTimeout(timer)
      resolve(worker)
    }
  })
}

/** A bundle's worker starts in far less; what takes longer is no worker of ours. */
const START_MS = 10_000

function asError({ name, message, code }: { readonly name: string; readonly message: string; readonly code?: string }) {
  if (name === 'ToolError' && code !== undefined) return new ToolError(code as ErrorCode, message)
  return Object.assign(new Error(message), { name })
}
