import { ToolError } from '../../errors.ts'
import { concatBytes } from '../../util/bytes.ts'
import { checksumOf, PayloadReader, type ReadSlot } from './payload-reader.ts'
import {
  formatSlot,
  parseRecord,
  parseSlot,
  RECORD_FIRST,
  RECORD_HEADER,
  type RecordHeader,
  SLOT_HEADER,
  type SlotHeader,
  sealRecord,
} from './record-frame.ts'
import type { Slot, Slots } from './slots.ts'

// The journal of a packed workspace: a snapshot and the records of later commits, in one of two slots. Compaction writes
// a snapshot and the records since into the other slot, flushes them, and only then writes its header, so a kill at any moment
// leaves one slot intact.

/** The end of a journal. Immutable: each step returns a new one. */
export interface JournalPosition {
  readonly slot: Slot
  readonly generation: number
  readonly salt: number
  /** The offset of the next record. */
  readonly end: number
  readonly seq: number
  /** The last commit that is certainly flushed. */
  readonly flushed: number
  /** The checksum of the last header. */
  readonly chain: number
}

/** The position after a step, or the reason why the step failed. */
export type StepResult = { readonly position: JournalPosition } | { readonly error: unknown; readonly isWhole: boolean }

/** Called with each record in order, and with the number of its journal. */
export type Replay = (payload: PayloadReader, seq: number, generation: number) => Promise<void>

/** Opens or creates the journal and replays it. Truncates a record at its end that a kill left incomplete. */
export async function openJournal(slots: Slots, replay: Replay, random: () => number): Promise<JournalPosition> {
  const headers = [await headerOf(slots, 0), await headerOf(slots, 1)] as const
  const slot: Slot = (headers[1]?.generation ?? 0) > (headers[0]?.generation ?? 0) ? 1 : 0
  const header = headers[slot]
  if (header === undefined) {
    // A kill during the write of the first header leaves at most that header.
    if ((await slots.size(0)) > SLOT_HEADER || (await slots.size(1)) > SLOT_HEADER)
      throw damagedError('its header is broken')
    return startSlot(slots, 0, { generation: 1, salt: random(), seq: 0, end: SLOT_HEADER })
  }
  const { generation, salt, seq } = header
  const start = { slot, generation, salt, seq, flushed: seq, chain: salt, end: SLOT_HEADER }
  const snapshot = await replayFrom(slots, start, header.end, replay)
  if (snapshot.end !== header.end) throw damagedError('its snapshot is broken')
  const position = await replayTail(slots, snapshot, replay)
  // The other slot contains an older state, or an incomplete snapshot.
  const other = otherSlot(slot)
  if ((await slots.size(other)) > 0) await slots.truncate(other, 0)
  return position
}

/** Replays the records that other tabs have added. Returns `undefined` if they switched slots: open the journal again. */
export async function catchUp(
  slots: Slots,
  position: JournalPosition,
  replay: Replay,
): Promise<JournalPosition | undefined> {
  const header = await headerOf(slots, position.slot)
  const other = await headerOf(slots, otherSlot(position.slot))
  if (header?.generation !== position.generation || header.salt !== position.salt) return undefined
  if (other !== undefined && other.generation > position.generation) return undefined
  if ((await slots.size(position.slot)) < position.end) return undefined
  return replayTail(slots, position, replay)
}

/**
 * Appends records, each with room for its header at the beginning. After a failure, truncates what was written; `isWhole`
 * is true if that succeeded and the journal still ends at the given position.
 */
export async function append(
  slots: Slots,
  position: JournalPosition,
  records: readonly Uint8Array[],
  flush: boolean,
): Promise<StepResult> {
  let { seq, chain } = position
  for (const record of records) {
    seq += 1
    chain = sealRecord(record, { seq, flushed: position.flushed, previous: chain }, position.salt)
  }
  const [first] = records
  const bytes = first !== undefined && records.length === 1 ? first : concatBytes(records)
  const { length } = bytes
  try {
    await slots.write(position.slot, position.end, bytes, flush)
  } catch (error) {
    return { error, isWhole: await tryTruncate(slots, position.slot, position.end) }
  }
  return { position: { ...position, end: position.end + length, seq, chain, flushed: flush ? seq : position.flushed } }
}

/** Returns whether it succeeded. */
export async function tryTruncate(slots: Slots, slot: Slot, size: number): Promise<boolean> {
  try {
    await slots.truncate(slot, size)
    return true
  } catch {
    return false
  }
}

/** Makes a slot the journal by its header. */
export async function startSlot(slots: Slots, slot: Slot, header: SlotHeader): Promise<JournalPosition> {
  await slots.write(slot, 0, formatSlot(header), true)
  const { generation, salt, seq, end } = header
  return { slot, generation, salt, seq, end, flushed: seq, chain: salt }
}

async function headerOf(slots: Slots, slot: Slot): Promise<SlotHeader | undefined> {
  const header = parseSlot(await slots.read(slot, 0, SLOT_HEADER))
  if (header !== 'newer') return header
  throw new ToolError('BACKEND_ERROR', 'Cannot open the workspace: it was written by a newer version', {
    hint: 'Update the program, or open the workspace with the version that wrote it.',
  })
}

/** Replays to the end, and truncates what a kill left there. */
async function replayTail(slots: Slots, from: JournalPosition, replay: Replay): Promise<JournalPosition> {
  const size = await slots.size(from.slot)
  const position = await replayFrom(slots, from, size, replay)
  if (position.end === size) return position
  await requireTorn(slots, position, size)
  await slots.truncate(position.slot, position.end)
  return position
}

/** Replays as long as records are intact and follow each other. */
async function replayFrom(
  slots: Slots,
  from: JournalPosition,
  limit: number,
  replay: Replay,
): Promise<JournalPosition> {
  const window = openWindow(slots, from.slot, limit)
  const isSnapshot = from.end === SLOT_HEADER && limit > SLOT_HEADER
  let position = from
  for (;;) {
    const header = parseRecord(await window(position.end, RECORD_HEADER), position.salt)
    if (header === undefined || !follows(header, position, isSnapshot)) return position
    const at = position.end + RECORD_HEADER
    if ((await checksumOf(window, at, header.length)) !== header.payloadCrc) return position
    await replay(new PayloadReader(window, at, header.length), header.seq, position.generation)
    position = {
      ...position,
      end: position.end + RECORD_HEADER + header.length,
      seq: header.seq,
      flushed: Math.max(position.flushed, header.flushed),
      chain: header.crc,
    }
  }
}

function follows(header: RecordHeader, position: JournalPosition, isSnapshot: boolean): boolean {
  if (header.previous !== position.chain) return false
  return header.seq === position.seq + 1 || (isSnapshot && header.seq === position.seq)
}

/**
 * Throws if the storage lost a flushed record: a later record says that the broken one had been flushed. A kill or a power
 * cut damages only what was never flushed.
 */
async function requireTorn(slots: Slots, position: JournalPosition, size: number): Promise<void> {
  const tail = await slots.read(position.slot, position.end, size - position.end)
  for (let at = tail.indexOf(RECORD_FIRST, 1); at !== -1; at = tail.indexOf(RECORD_FIRST, at + 1)) {
    const header = parseRecord(tail.subarray(at, at + RECORD_HEADER), position.salt)
    if (header !== undefined && header.flushed > position.seq)
      throw damagedError(`its record ${position.seq + 1} is broken`)
  }
}

function damagedError(reason: string): ToolError {
  return new ToolError('BACKEND_ERROR', `Cannot open the workspace: the storage is damaged, ${reason}`, {
    hint: 'Nothing was changed. Report this to the user: the files must be restored from a backup.',
  })
}

/** Returns a reader that reads ahead, so that many small records need few reads. */
function openWindow(slots: Slots, slot: Slot, limit: number): ReadSlot {
  let bytes: Uint8Array = new Uint8Array()
  let start = 0
  return async (at, length) => {
    const available = Math.min(length, limit - at)
    if (at < start || at + available > start + bytes.length) {
      bytes = await slots.read(slot, at, Math.min(Math.max(available, READ_AHEAD), limit - at))
      start = at
    }
    return bytes.subarray(at - start, at - start + available)
  }
}

const READ_AHEAD = 1024 * 1024

export function otherSlot(slot: Slot): Slot {
  return slot === 0 ? 1 : 0
}
