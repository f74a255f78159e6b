import type { ToolError } from '../../errors.ts'
import { openSyncSlots } from './handle-slots.ts'
import { LEASE_LOST, type Lease } from './lease.ts'
import { localLease } from './local-lease.ts'
import type { PageMessage, WorkerMessage } from './messages.ts'
import type { Slots } from './slots.ts'

/** What is used of a worker's global scope. */
export interface WorkerScope {
  postMessage(message: WorkerMessage, transfer: Transferable[]): void
  onmessage: ((event: { readonly data: PageMessage }) => void) | null
}

/**
 * The worker's side: keeps the storage of one workspace open, for the page that started it. Where another tab wants the
 * lease and the page does not answer in time, the lease goes all the same: what the page sends under it is refused then.
 */
export function serveSlots(scope: WorkerScope): void {
  let lease: Lease | undefined
  let count = 0
  let present: { readonly number: number; readonly slots: Slots } | undefined
  let hasGivenUp: (() => void) | undefined

  async function giveUp(): Promise<void> {
    await new Promise<void>((resolve) => {
      hasGivenUp = resolve
      setTimeout(resolve, PATIENCE_MS)
      scope.postMessage({ event: 'wanted' }, [])
    })
    present = undefined
  }

  async function perform(asked: PageMessage): Promise<unknown> {
    switch (asked.do) {
      case 'start':
        lease = localLease<Slots>({
          name: asked.name,
          timeoutMs: asked.timeoutMs,
          async open() {
            const { slots, close } = await openSyncSlots(asked.directory)
            return { value: slots, close }
          },
        })
        return undefined
      case 'acquire': {
        const slots = await (lease as Lease).acquire(giveUp)
        count += 1
        present = { number: count, slots }
        return count
      }
      case 'gaveUp':
        return hasGivenUp?.()
      case 'close':
        return lease?.close()
    }
    if (present?.number !== asked.lease) throw Object.assign(new Error('The lease was lost'), { name: LEASE_LOST })
    const { slots } = present
    switch (asked.do) {
      case 'size':
        return slots.size(asked.slot)
      case 'read':
        return slots.read(asked.slot, asked.at, asked.length)
      case 'write':
        return slots.write(asked.slot, asked.at, asked.bytes, asked.flush)
      case 'truncate':
        return slots.truncate(asked.slot, asked.size)
      case 'flush':
        return slots.flush(asked.slot)
    }
  }

  scope.onmessage = ({ data }) => {
    perform(data).then(
      (value) => {
        const transfer = value instanceof Uint8Array ? [value.buffer as ArrayBuffer] : []
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

const PATIENCE_MS = 3_000
