import { ToolError } from '../../errors.ts'
import { concatBytes } from '../../util/bytes.ts'
import { crc32 } from '../../util/crc32.ts'
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

/**
 * The journal of a packed workspace: a snapshot and the records of the commits since, in one of two slots. Compaction
 * writes the snapshot into the other slot, flushes it, and only then its header, so that a kill at any moment leaves
 * one slot whole.
 */

/** Where a journal stands. A new one for each step. */
export interface JournalPosition {
  readonly slot: Slot
  readonly generation: number
  readonly salt: number
  /** Where the next record goes. */
  readonly end: number
  readonly seq: number
  /** The last commit that is known to be flushed. */
  readonly flushed: number
  /** The checksum of the last header. */
  readonly chain: number
}

/** Where the journal stands after a step, or why the step failed. */
export type Appended = { readonly place: JournalPosition } | { readonly error: unknown; readonly isWhole: boolean }

/** Told of each record, in their order: `payload` is valid only during the call. */
export type Replay = (payload: Uint8Array, seq: number) => void

/** Opens the journal, or begins one, and replays it. What a kill left half written at its end is cut off. */
export async function openJournal(slots: Slots, replay: Replay, random: () => number): Promise<JournalPosition> {
  const headers = [await headerOf(slots, 0), await headerOf(slots, 1)] as const
  const slot: Slot = (headers[1]?.generation ?? 0) > (headers[0]?.generation ?? 0) ? 1 : 0
  const header = headers[slot]
  if (header === undefined) {
    // A kill while the very first header was written leaves no more than that.
    if ((await slots.size(0)) > SLOT_HEADER || (await slots.size(1)) > SLOT_HEADER)
      throw damaged('its header is broken')
    return startSlot(slots, 0, { generation: 1, salt: random(), seq: 0, end: SLOT_HEADER })
  }
  const { generation, salt, seq } = header
  const start = { slot, generation, salt, seq, flushed: seq, chain: salt, end: SLOT_HEADER }
  const snapshot = await replayFrom(slots, start, header.end, replay)
  if (snapshot.end !== header.end) throw damaged('its snapshot is broken')
  const place = await replayTail(slots, snapshot, replay)
  // The other slot holds an older state, or a snapshot that was never finished.
  const other = otherSlot(slot)
  if ((await slots.size(other)) > 0) await slots.truncate(other, 0)
  return place
}

/** Replays what others have added since; undefined where they have begun another slot, so that it must be opened anew. */
export async function catchUp(
  slots: Slots,
  place: JournalPosition,
  replay: Replay,
): Promise<JournalPosition | undefined> {
  const header = await headerOf(slots, place.slot)
  const other = await headerOf(slots, otherSlot(place.slot))
  if (header?.generation !== place.generation || header.salt !== place.salt) return undefined
  if (other !== undefined && other.generation > place.generation) return undefined
  if ((await slots.size(place.slot)) < place.end) return undefined
  return replayTail(slots, place, replay)
}

/**
 * Adds records, each with room for its header at the beginning. Where that fails, what was written is cut off again:
 * `isWhole` tells whether that succeeded, so that the journal still ends at the place before.
 */
export async function append(
  slots: Slots,
  place: JournalPosition,
  records: readonly Uint8Array[],
  flush: boolean,
): Promise<Appended> {
  let { seq, chain } = place
  for (const record of records) {
    seq += 1
    chain = sealRecord(record, { seq, flushed: place.flushed, previous: chain }, place.salt)
  }
  const [first] = records
  const bytes = first !== undefined && records.length === 1 ? first : concatBytes(records)
  const { length } = bytes
  try {
    await slots.write(place.slot, place.end, bytes, flush)
  } catch (error) {
    return { error, isWhole: await isCut(slots, place.slot, place.end) }
  }
  return { place: { ...place, end: place.end + length, seq, chain, flushed: flush ? seq : place.flushed } }
}

/**
 * Writes a snapshot into the other slot and goes over to it. Where that fails, `isWhole` tells that the journal still
 * stands where it stood; otherwise it must be opened anew.
 */
export async function compact(
  slots: Slots,
  place: JournalPosition,
  records: Iterable<Uint8Array>,
  random: () => number,
): Promise<Appended> {
  const slot = otherSlot(place.slot)
  const salt = random()
  let end = SLOT_HEADER
  let chain = salt
  let started: JournalPosition
  try {
    await slots.truncate(slot, 0)
    for (const record of records) {
      chain = sealRecord(record, { seq: place.seq, flushed: place.seq, previous: chain }, salt)
      const { length } = record
      await slots.write(slot, end, record, false)
      end += length
    }
    await slots.flush(slot)
    started = await startSlot(slots, slot, { generation: place.generation + 1, salt, seq: place.seq, end })
  } catch (error) {
    return { error, isWhole: await isCut(slots, slot, 0) }
  }
  // From here on the new slot is the journal, whatever becomes of the old one.
  if (await isCut(slots, place.slot, 0)) await slots.flush(place.slot).catch(() => {})
  return { place: { ...started, chain } }
}

async function isCut(slots: Slots, slot: Slot, size: number): Promise<boolean> {
  try {
    await slots.truncate(slot, size)
    return true
  } catch {
    return false
  }
}

async function startSlot(slots: Slots, slot: Slot, header: SlotHeader): Promise<JournalPosition> {
  await slots.write(slot, 0, formatSlot(header), true)
  const { generation, salt, seq, end } = header
  return { slot, generation, salt, seq, end, flushed: seq, chain: salt }
}

async function headerOf(slots: Slots, slot: Slot): Promise<SlotHeader | undefined> {
  const header = parseSlot(await slots.read(slot, 0, SLOT_HEADER))
  if (header !== 'newer') return header
  throw new ToolError('BACKEND_ERROR', 'Cannot open the workspace: a later version wrote it', {
    hint: 'Update the program, or open the workspace where it was written.',
  })
}

/** Replays to the end, and cuts off what a kill left there. */
async function replayTail(slots: Slots, from: JournalPosition, replay: Replay): Promise<JournalPosition> {
  const size = await slots.size(from.slot)
  const place = await replayFrom(slots, from, size, replay)
  if (place.end === size) return place
  await requireTorn(slots, place, size)
  await slots.truncate(place.slot, place.end)
  return place
}

/** Replays as far as records are whole and follow each other. */
async function replayFrom(
  slots: Slots,
  from: JournalPosition,
  limit: number,
  replay: Replay,
): Promise<JournalPosition> {
  const window = openWindow(slots, from.slot, limit)
  const isSnapshot = from.end === SLOT_HEADER && limit > SLOT_HEADER
  let place = from
  for (;;) {
    const header = parseRecord(await window(place.end, RECORD_HEADER), place.salt)
    if (header === undefined || !follows(header, place, isSnapshot)) return place
    const payload = await window(place.end + RECORD_HEADER, header.length)
    if (payload.length < header.length || crc32(payload) !== header.payloadCrc) return place
    replay(payload, header.seq)
    place = {
      ...place,
      end: place.end + RECORD_HEADER + header.length,
      seq: header.seq,
      flushed: Math.max(place.flushed, header.flushed),
      chain: header.crc,
    }
  }
}

function follows(header: RecordHeader, place: JournalPosition, isSnapshot: boolean): boolean {
  if (header.previous !== place.chain) return false
  return header.seq === place.seq + 1 || (isSnapshot && header.seq === place.seq)
}

/**
 * A kill or a power cut tears only what was never flushed. Where a later record tells that what is broken here had been
 * flushed, the storage lost it: that is never passed over in silence.
 */
async function requireTorn(slots: Slots, place: JournalPosition, size: number): Promise<void> {
  const tail = await slots.read(place.slot, place.end, size - place.end)
  for (let at = tail.indexOf(RECORD_FIRST, 1); at !== -1; at = tail.indexOf(RECORD_FIRST, at + 1)) {
    const header = parseRecord(tail.subarray(at, at + RECORD_HEADER), place.salt)
    if (header !== undefined && header.flushed > place.seq) throw damaged(`its record ${place.seq + 1} is broken`)
  }
}

function damaged(why: string): ToolError {
  return new ToolError('BACKEND_ERROR', `Cannot open the workspace: the storage is damaged, ${why}`, {
    hint: 'Nothing was changed. Tell the person in charge: the files are to be restored from a copy.',
  })
}

/** Reads ahead: a journal of many small records in few reads. */
function openWindow(slots: Slots, slot: Slot, limit: number): (at: number, length: number) => Promise<Uint8Array> {
  let bytes: Uint8Array = new Uint8Array()
  let start = 0
  return async (at, length) => {
    const wanted = Math.min(length, limit - at)
    if (at < start || at + wanted > start + bytes.length) {
      bytes = await slots.read(slot, at, Math.min(Math.max(wanted, READ_AHEAD), limit - at))
      start = at
    }
    return bytes.subarray(at - start, at - start + wanted)
  }
}

const READ_AHEAD = 8 * 1024 * 1024

function otherSlot(slot: Slot): Slot {
  return slot === 0 ? 1 : 0
}
