import type { ToolError } from '../../errors.ts'
import { isUint8Array } from '../../util/bytes.ts'
import { openSyncSlots } from './handle-slots.ts'
import { LEASE_LOST, type Lease } from './lease.ts'
import { localLease } from './local-lease.ts'
import type { PageMessage, WorkerMessage } from './messages.ts'
import type { Slots } from './slots.ts'

/** The part of a worker's global scope that is used. */
export interface WorkerScope {
  postMessage(message: WorkerMessage, transfer: Transferable[]): void
  onmessage: ((event: { readonly data: PageMessage }) => void) | null
}

/**
 * The worker's side: keeps the storage of one workspace open for the page that started it. If another tab wants the lease
 * and the page does not answer in time, the lease is released anyway, and later requests under it are refused.
 */
export function serveSlots(scope: WorkerScope): void {
  let lease: Lease | undefined
  let count = 0
  let current: { readonly number: number; readonly slots: Slots } | undefined
  let onGaveUp: (() => void) | undefined

  async function giveUp(): Promise<void> {
    await new Promise<void>((resolve) => {
      onGaveUp = resolve
      setTimeout(resolve, GIVE_UP_TIMEOUT_MS)
      scope.postMessage({ event: 'wanted' }, [])
    })
    current = undefined
  }

  async function perform(request: PageMessage): Promise<unknown> {
    switch (request.do) {
      case 'start':
        lease = localLease<Slots>({
          name: request.name,
          timeoutMs: request.timeoutMs,
          async open() {
            const { slots, close } = await openSyncSlots(request.directory)
            return { value: slots, close }
          },
        })
        return undefined
      case 'acquire': {
        const slots = await (lease as Lease).acquire(giveUp)
        count += 1
        current = { number: count, slots }
        return count
      }
      case 'gaveUp':
        return onGaveUp?.()
      case 'close':
        return lease?.close()
    }
    if (current?.number !== request.lease) throw Object.assign(new Error('The lease was lost'), { name: LEASE_LOST })
    const { slots } = current
    switch (request.do) {
      case 'size':
        return slots.size(request.slot)
      case 'read':
        return slots.read(request.slot, request.at, request.length)
      case 'write':
        return slots.write(request.slot, request.at, request.bytes, request.flush)
      case 'truncate':
        return slots.truncate(request.slot, request.size)
      case 'flush':
        return slots.flush(request.slot)
    }
  }

  scope.onmessage = ({ data }) => {
    perform(data).then(
      (value) => {
        const transfer = isUint8Array(value) ? [value.buffer as ArrayBuffer] : []
        scope.postMessage({ id: data.id, value }, transfer)
      },
      (error: ToolError) => {
        const { name, message, code } = error
        scope.postMessage({ id: data.id, error: { name, message, ...(typeof code === 'string' && { code }) } }, [])
      },
    )
  }
  scope.postMessage({ event: 'ready' }, [])
}

/** How long the page may take to give up the lease. */
const GIVE_UP_TIMEOUT_MS = 3_000
