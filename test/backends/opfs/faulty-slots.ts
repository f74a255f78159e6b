import type { Lease } from '../../../src/backends/opfs/lease.ts'
import type { Slot, Slots } from '../../../src/backends/opfs/slots.ts'

type Operation =
  | { readonly type: 'write'; readonly at: number; readonly bytes: Uint8Array }
  | { readonly type: 'truncate'; readonly size: number }

/** Two slots on a disk that can be killed in any operation, and then loses arbitrary unflushed writes. */
export interface FaultyDisk {
  readonly slots: Slots
  /** Operations so far, and bytes written. */
  readonly operations: number
  readonly written: number
  /** The operation with that number, or the write that reaches that byte, is torn; later ones do nothing. */
  killAt(limit: { readonly operation?: number; readonly byte?: number }): void
  /** Maximum total size of both slots. Beyond it, a write throws like that of a browser, after a part. */
  quota: number
  /** The next flushes fail. */
  failingFlushes: number
  /** The next truncations fail. */
  failingTruncations: number
  /** The disk after a kill of the tab: it has everything that was written. */
  afterKill(): FaultyDisk
  /** The disk after a power cut: each unflushed operation is complete, torn or lost. */
  afterPowerCut(random: () => number): FaultyDisk
  /** The bytes of a slot, for tests that damage them. */
  bytes(slot: Slot): Uint8Array
}

export function faultyDisk(
  initial: readonly [Uint8Array, Uint8Array] = [new Uint8Array(), new Uint8Array()],
): FaultyDisk {
  const flushed: Uint8Array[] = [initial[0].slice(), initial[1].slice()]
  const present: Uint8Array[] = [initial[0].slice(), initial[1].slice()]
  const pending: Operation[][] = [[], []]
  let killOperation = Number.POSITIVE_INFINITY
  let killByte = Number.POSITIVE_INFINITY
  let isDead = false

  const alive = () => {
    if (isDead) throw new Error('killed')
    disk.operations += 1
    if (disk.operations > killOperation) {
      isDead = true
      throw new Error('killed')
    }
  }

  function perform(slot: Slot, operation: Operation): void {
    present[slot] = applied(present[slot] as Uint8Array, operation)
    pending[slot]?.push(operation)
  }

  const flush = (slot: Slot) => {
    alive()
    if (disk.failingFlushes > 0) {
      disk.failingFlushes -= 1
      throw Object.assign(new Error('flush'), { name: 'UnknownError' })
    }
    flushed[slot] = (present[slot] as Uint8Array).slice()
    pending[slot] = []
  }

  const slots: Slots = {
    async size(slot) {
      if (isDead) throw new Error('killed')
      return (present[slot] as Uint8Array).length
    },
    async read(slot, at, length) {
      if (isDead) throw new Error('killed')
      return (present[slot] as Uint8Array).slice(at, at + length)
    },
    async write(slot, at, bytes, thenFlush) {
      alive()
      const copy = bytes.slice()
      const room = disk.quota - total(present, slot) - at
      let fits = Math.min(copy.length, Math.max(0, room))
      if (disk.written + fits > killByte) {
        fits = Math.max(0, killByte - disk.written)
        isDead = true
      }
      if (fits > 0) perform(slot, { type: 'write', at, bytes: copy.subarray(0, fits) })
      disk.written += fits
      if (isDead) throw new Error('killed')
      if (fits < copy.length) throw Object.assign(new Error('full'), { name: 'QuotaExceededError' })
      if (thenFlush) flush(slot)
    },
    async truncate(slot, size) {
      alive()
      if (disk.failingTruncations > 0) {
        disk.failingTruncations -= 1
        throw Object.assign(new Error('truncate'), { name: 'UnknownError' })
      }
      perform(slot, { type: 'truncate', size })
    },
    async flush(slot) {
      flush(slot)
    },
  }

  const disk = {
    slots,
    operations: 0,
    written: 0,
    quota: Number.POSITIVE_INFINITY,
    failingFlushes: 0,
    failingTruncations: 0,
    killAt(limit: { readonly operation?: number; readonly byte?: number }) {
      killOperation = limit.operation ?? Number.POSITIVE_INFINITY
      killByte = limit.byte ?? Number.POSITIVE_INFINITY
    },
    afterKill: () => faultyDisk([present[0] as Uint8Array, present[1] as Uint8Array]),
    afterPowerCut(random: () => number) {
      const survived = ([0, 1] as const).map((slot) => {
        let bytes = flushed[slot] as Uint8Array
        for (const operation of pending[slot] ?? []) {
          const luck = random()
          if (luck < 0.3) continue
          if (luck < 0.6 && operation.type === 'write') {
            // Torn: only some sectors were written.
            const cut = Math.floor(random() * operation.bytes.length)
            const start = random() < 0.5 ? 0 : cut
            const end = start === 0 ? cut : operation.bytes.length
            bytes = applied(bytes, {
              type: 'write',
              at: operation.at + start,
              bytes: operation.bytes.slice(start, end),
            })
          } else bytes = applied(bytes, operation)
        }
        return bytes
      })
      return faultyDisk([survived[0] as Uint8Array, survived[1] as Uint8Array])
    },
    bytes: (slot: Slot) => present[slot] as Uint8Array,
  }
  return disk
}

/** A lease with a single holder. */
export function onlyOne(disk: FaultyDisk): Lease {
  return { acquire: async () => disk.slots, close: async () => {} }
}

function applied(bytes: Uint8Array, operation: Operation): Uint8Array {
  if (operation.type === 'truncate') {
    const cut = new Uint8Array(operation.size)
    cut.set(bytes.subarray(0, operation.size))
    return cut
  }
  const end = operation.at + operation.bytes.length
  const grown = new Uint8Array(Math.max(bytes.length, end))
  grown.set(bytes)
  grown.set(operation.bytes, operation.at)
  return grown
}

function total(present: readonly Uint8Array[], except: Slot): number {
  return (present[except === 0 ? 1 : 0] as Uint8Array).length
}
