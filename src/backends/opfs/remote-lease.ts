import { type ErrorCode, ToolError } from '../../errors.ts'
import type { Lease } from './lease.ts'
import type { PageMessage, Request, WorkerMessage } from './messages.ts'
import type { Slots } from './slots.ts'

export interface RemoteLeaseOptions {
  readonly name: string
  readonly timeoutMs: number
  readonly directory: FileSystemDirectoryHandle
}

/** The page's side of a lease whose storage a worker keeps open. Returns `undefined` if the worker does not start. */
export async function remoteLease(
  start: () => Worker,
  { name, timeoutMs, directory }: RemoteLeaseOptions,
): Promise<Lease | undefined> {
  const worker = await startWorker(start)
  if (worker === undefined) return undefined
  const pending = new Map<number, { resolve(value: unknown): void; reject(error: unknown): void }>()
  let count = 0
  let giveUp: (() => Promise<void>) | undefined

  const ask = (request: Request, transfer: Transferable[] = []): Promise<unknown> =>
    new Promise((resolve, reject) => {
      count += 1
      pending.set(count, { resolve, reject })
      worker.postMessage({ ...request, id: count } satisfies PageMessage, transfer)
    })

  worker.onmessage = ({ data }: { readonly data: WorkerMessage }) => {
    if ('event' in data) {
      if (data.event === 'wanted') void giveUp?.().finally(() => ask({ do: 'gaveUp' }))
      return
    }
    const request = pending.get(data.id)
    pending.delete(data.id)
    if ('error' in data) request?.reject(asError(data.error))
    else request?.resolve(data.value)
  }
  worker.onerror = () => {
    for (const { reject } of pending.values()) reject(new Error('The worker failed'))
    pending.clear()
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
      // Transferred without a copy: a record is used for one write only.
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
    async acquire(onWanted) {
      giveUp = onWanted
      return slotsUnder((await ask({ do: 'acquire' })) as number)
    },
    async close() {
      await ask({ do: 'close' })
      worker.terminate()
    },
  }
}

/** Waits for the first message of the worker. */
function startWorker(start: () => Worker): Promise<Worker | undefined> {
  return new Promise((resolve) => {
    let worker: Worker
    try {
      worker = start()
    } catch {
      resolve(undefined)
      return
    }
    const fail = () => {
      worker.terminate()
      clearTimeout(timer)
      resolve(undefined)
    }
    const timer = setTimeout(fail, START_TIMEOUT_MS)
    worker.onerror = fail
    worker.onmessage = () => {
      clearTimeout(timer)
      resolve(worker)
    }
  })
}

/** The bundled worker starts much faster; a slower one is not the right module. */
const START_TIMEOUT_MS = 10_000

function asError({ name, message, code }: { readonly name: string; readonly message: string; readonly code?: string }) {
  if (name === 'ToolError' && code !== undefined) return new ToolError(code as ErrorCode, message)
  return Object.assign(new Error(message), { name })
}
