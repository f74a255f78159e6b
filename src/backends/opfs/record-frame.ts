import { crc32 } from '../../util/crc32.ts'

// The frames of records and slots. All numbers are little-endian. The checksum of a record header starts from the salt of
// the slot, a random number that is never exposed, so file content that looks like a record is not accepted as one.

/** The header before the payload of a record. */
export interface RecordHeader {
  /** Bytes of the payload. */
  readonly length: number
  /** Counts the commits of a workspace, from 1. */
  readonly seq: number
  /** The last commit that was known to be flushed when this record was written. */
  readonly flushed: number
  /** The checksum of the previous header, so that a record left over from before a crash does not fit. */
  readonly previous: number
  readonly payloadCrc: number
  /** The checksum of this header. */
  readonly crc: number
}

/** The header at the beginning of a slot. Written last. */
export interface SlotHeader {
  /** The slot with the higher generation is the current one. */
  readonly generation: number
  readonly salt: number
  /** The commit whose state the snapshot contains. */
  readonly seq: number
  /** The offset where the snapshot ends and the records of commits begin. */
  readonly end: number
}

export const RECORD_HEADER = 36
export const SLOT_HEADER = 48

const RECORD_MAGIC = 0x31525357
/** The first byte of every record. */
export const RECORD_FIRST = RECORD_MAGIC & 255
const SLOT_MAGIC = 0x53445257
const VERSION = 1

/**
 * Writes the header of a record whose payload begins at `RECORD_HEADER`. Returns the checksum of the header. Parts of the
 * payload that follow elsewhere are given by their length, and the checksum of the whole payload.
 */
export function sealRecord(
  record: Uint8Array,
  header: Pick<RecordHeader, 'seq' | 'flushed' | 'previous'>,
  salt: number,
  following = 0,
  payloadCrc = crc32(record.subarray(RECORD_HEADER)),
): number {
  const view = viewOf(record)
  view.setUint32(0, RECORD_MAGIC, true)
  view.setUint32(4, record.length - RECORD_HEADER + following, true)
  view.setFloat64(8, header.seq, true)
  view.setFloat64(16, header.flushed, true)
  view.setUint32(24, header.previous, true)
  view.setUint32(28, payloadCrc, true)
  const crc = crc32(record.subarray(0, 32), salt)
  view.setUint32(32, crc, true)
  return crc
}

/** The header of a record, or `undefined` if the bytes are not a valid one. */
export function parseRecord(bytes: Uint8Array, salt: number): RecordHeader | undefined {
  if (bytes.length < RECORD_HEADER) return undefined
  const view = viewOf(bytes)
  if (view.getUint32(0, true) !== RECORD_MAGIC) return undefined
  const crc = view.getUint32(32, true)
  if (crc32(bytes.subarray(0, 32), salt) !== crc) return undefined
  return {
    length: view.getUint32(4, true),
    seq: view.getFloat64(8, true),
    flushed: view.getFloat64(16, true),
    previous: view.getUint32(24, true),
    payloadCrc: view.getUint32(28, true),
    crc,
  }
}

export function formatSlot(header: SlotHeader): Uint8Array {
  const bytes = new Uint8Array(SLOT_HEADER)
  const view = viewOf(bytes)
  view.setUint32(0, SLOT_MAGIC, true)
  view.setUint32(4, VERSION, true)
  view.setUint32(8, header.salt, true)
  view.setFloat64(16, header.generation, true)
  view.setFloat64(24, header.seq, true)
  view.setFloat64(32, header.end, true)
  view.setUint32(44, crc32(bytes.subarray(0, 44)), true)
  return bytes
}

/** Returns the header of a slot, or `undefined` when it is invalid, `newer` if a newer version of this code wrote it. */
export function parseSlot(bytes: Uint8Array): SlotHeader | 'newer' | undefined {
  if (bytes.length < SLOT_HEADER) return undefined
  const view = viewOf(bytes)
  if (view.getUint32(0, true) !== SLOT_MAGIC) return undefined
  if (crc32(bytes.subarray(0, 44)) !== view.getUint32(44, true)) return undefined
  if (view.getUint32(4, true) !== VERSION) return 'newer'
  return {
    salt: view.getUint32(8, true),
    generation: view.getFloat64(16, true),
    seq: view.getFloat64(24, true),
    end: view.getFloat64(32, true),
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
