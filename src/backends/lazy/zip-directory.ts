import { ToolError } from '../../errors.ts'
import { crc32 } from '../../util/crc32.ts'
import { MAX_ENTRIES, tooMany } from './listing.ts'
import type { Ranges } from './ranges.ts'
import type { LazyDirectory, LazyFile, LazyLink, LazyOmitted, LazyOther } from './source.ts'

/** An entry of a zip archive. */
export type ZipEntry = ((LazyFile | LazyLink) & { readonly place: ZipPlace }) | LazyDirectory | LazyOther | LazyOmitted

/** Where and how the content of an entry of a zip archive is stored. */
export interface ZipPlace {
  readonly type: 'file' | 'link'
  /** The name as in the archive. */
  readonly name: Uint8Array
  readonly flags: number
  readonly method: number
  readonly crc: number
  readonly size: number
  readonly compressedSize: number
  /** Where its header begins. */
  readonly offset: number
  /** Where the next entry or the list of entries begins. */
  readonly end: number
}

/** Bytes of the header before a content, without its name. */
export const LOCAL_HEADER_BYTES = 30

const END_SIGNATURE = 0x06054b50
const END_BYTES = 22
const LOCATOR_SIGNATURE = 0x07064b50
const LOCATOR_BYTES = 20
const END64_SIGNATURE = 0x06064b50
const END64_BYTES = 56
const ENTRY_SIGNATURE = 0x02014b50
const ENTRY_BYTES = 46
/** The id of the extra field with large numbers. */
export const ZIP64_EXTRA = 0x0001
const UNICODE_PATH_EXTRA = 0x7075
/** Read at first: the whole list of some 2,000 entries, and always the records at the end. */
const TAIL_BYTES = 256 * 1024
const MAX_DIRECTORY_BYTES = 128 * 1024 * 1024

/** Reads the list of the entries at the end of an archive. */
export async function readDirectory(ranges: Ranges, signal: AbortSignal): Promise<ZipEntry[]> {
  const { bytes, size } = await ranges.tail(TAIL_BYTES, signal)
  const tailStart = size - bytes.length
  const { count, start, end, base } = findDirectory(bytes, tailStart)
  const isInTail = start >= tailStart
  const directory = isInTail
    ? bytes.subarray(start - tailStart, end - tailStart)
    : await ranges.read(start, end, signal)
  const records = readRecords(directory, count, base)
  const extents = extentsOf(records, start)
  return records.map((record, index) => entryOf(record, extents[index]))
}

interface Directory {
  readonly count: number
  readonly start: number
  readonly end: number
  /** What the archive's own offsets count from: bytes before it, such as of a program that extracts it. */
  readonly base: number
}

/** Finds the list of entries by the records at the end of an archive, which begins at `tailStart`. */
function findDirectory(tail: Uint8Array, tailStart: number): Directory {
  const view = viewOf(tail)
  const at = endRecordIn(view)
  const parts = view.getUint16(at + 4, true) + view.getUint16(at + 6, true)
  let count = view.getUint16(at + 10, true)
  let countHere = view.getUint16(at + 8, true)
  let size = view.getUint32(at + 12, true)
  let offset = view.getUint32(at + 16, true)
  let end = at
  const locator = at - LOCATOR_BYTES
  const isOver = count === 0xffff || size === 0xffffffff || offset === 0xffffffff
  const at64 = locator - END64_BYTES
  if (isOver && at64 >= 0 && view.getUint32(locator, true) === LOCATOR_SIGNATURE) {
    if (view.getUint32(at64, true) !== END64_SIGNATURE) throw damaged('its zip64 record is not where it should be')
    if (view.getUint32(at64 + 16, true) + view.getUint32(at64 + 20, true) > 0) throw severalParts()
    countHere = safeInteger(view, at64 + 24)
    count = safeInteger(view, at64 + 32)
    size = safeInteger(view, at64 + 40)
    offset = safeInteger(view, at64 + 48)
    end = at64
  } else if (parts > 0) throw severalParts()
  if (count !== countHere) throw severalParts()
  if (count > MAX_ENTRIES) throw tooMany()
  if (size > MAX_DIRECTORY_BYTES) {
    throw new ToolError('LIMIT_EXCEEDED', 'Cannot list the archive: the list of its entries is too large', {
      limit: 'bytes of the list of a zip archive',
      value: MAX_DIRECTORY_BYTES,
    })
  }
  const start = tailStart + end - size
  const base = start - offset
  if (start < 0 || base < 0) throw damaged('the list of its entries is not where it should be')
  return { count, start, end: tailStart + end, base }
}

/** Returns where the last record of an archive begins: its comment ends where the archive ends. */
function endRecordIn(view: DataView): number {
  for (let at = view.byteLength - END_BYTES; at >= 0 && at >= view.byteLength - END_BYTES - 0xffff; at--) {
    if (view.getUint32(at, true) !== END_SIGNATURE) continue
    if (at + END_BYTES + view.getUint16(at + 20, true) === view.byteLength) return at
  }
  throw damaged('it is no zip archive, or its end is missing')
}

/** An entry of the list, without its extent. */
interface Entry {
  readonly name: Uint8Array
  readonly path: string
  readonly flags: number
  readonly method: number
  readonly crc: number
  readonly size: number
  readonly compressedSize: number
  readonly offset: number
  /** Type and permission bits of Unix; 0 from other systems. */
  readonly mode: number
}

function readRecords(directory: Uint8Array, count: number, base: number): Entry[] {
  const view = viewOf(directory)
  const records: Entry[] = []
  let at = 0
  for (let i = 0; i < count; i++) {
    if (at + ENTRY_BYTES > directory.length || view.getUint32(at, true) !== ENTRY_SIGNATURE) throw damaged(LIST)
    const flags = view.getUint16(at + 8, true)
    const nameEnd = at + ENTRY_BYTES + view.getUint16(at + 28, true)
    const extraEnd = nameEnd + view.getUint16(at + 30, true)
    const next = extraEnd + view.getUint16(at + 32, true)
    if (next > directory.length) throw damaged(LIST)
    const name = directory.subarray(at + ENTRY_BYTES, nameEnd)
    const extras = extrasIn(directory.subarray(nameEnd, extraEnd))
    const large = new LargeFields(extras.get(ZIP64_EXTRA))
    // In this order: each field is in the extra field only if it is full here.
    const size = large.value(view.getUint32(at + 24, true))
    const compressedSize = large.value(view.getUint32(at + 20, true))
    const offset = base + large.value(view.getUint32(at + 42, true))
    const isUnix = UNIX_SYSTEMS.has(view.getUint8(at + 5))
    records.push({
      name,
      path: pathOf(name, flags, extras.get(UNICODE_PATH_EXTRA), isUnix),
      flags,
      method: view.getUint16(at + 10, true),
      crc: view.getUint32(at + 16, true),
      size,
      compressedSize,
      offset,
      mode: isUnix ? view.getUint16(at + 40, true) : 0,
    })
    at = next
  }
  if (at !== directory.length) throw damaged(LIST)
  return records
}

const LIST = 'the list of its entries is damaged'
/** Unix and macOS. */
const UNIX_SYSTEMS: ReadonlySet<number> = new Set([3, 19])

/** Returns the extra fields of an entry by their ids. Ends at one that is damaged. */
export function extrasIn(bytes: Uint8Array): Map<number, Uint8Array> {
  const view = viewOf(bytes)
  const extras = new Map<number, Uint8Array>()
  for (let at = 0; at + 4 <= bytes.length; ) {
    const end = at + 4 + view.getUint16(at + 2, true)
    if (end > bytes.length) break
    const id = view.getUint16(at, true)
    if (!extras.has(id)) extras.set(id, bytes.subarray(at + 4, end))
    at = end
  }
  return extras
}

/** The fields of a zip64 extra field, in their order. */
export class LargeFields {
  readonly #view: DataView
  #at = 0

  constructor(bytes: Uint8Array = new Uint8Array()) {
    this.#view = viewOf(bytes)
  }

  /** Returns a value, or the next field if the value is full. */
  value(small: number): number {
    if (small !== 0xffffffff) return small
    if (this.#at + 8 > this.#view.byteLength) throw damaged(LIST)
    this.#at += 8
    return safeInteger(this.#view, this.#at - 8)
  }
}

const UTF8_NAME = 0x0800
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Returns the name of an entry as text: UTF-8 if the archive says so, or if a program for Unix wrote it and it can be;
 * otherwise in the code page of DOS.
 */
function pathOf(name: Uint8Array, flags: number, unicode: Uint8Array | undefined, isUnix: boolean): string {
  const [version] = unicode ?? []
  // The field holds the checksum of the name that it replaces.
  if (unicode !== undefined && version === 1 && unicode.length >= 5) {
    if (viewOf(unicode).getUint32(1, true) === crc32(name)) return utf8Text(unicode.subarray(5))
  }
  if (flags & UTF8_NAME) return utf8Text(name)
  const text = isUnix ? utf8Text(name) : REFUSED
  if (!text.endsWith(REFUSED)) return text
  return Array.from(name, (byte) => (byte < 0x80 ? String.fromCharCode(byte) : CODE_PAGE_437[byte - 0x80])).join('')
}

/** Ends names that are not UTF-8: the guard refuses it. */
const REFUSED = '\0'

function utf8Text(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    return new TextDecoder().decode(bytes) + REFUSED
  }
}

const CODE_PAGE_437 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0'

/** Returns where the bytes of each entry may end; `undefined` for entries that overlap, or are not in the archive. */
function extentsOf(records: readonly Entry[], directoryStart: number): (number | undefined)[] {
  const order = [...records.keys()].sort((a, b) => (records[a] as Entry).offset - (records[b] as Entry).offset)
  const ends = new Array<number | undefined>(records.length)
  for (const [place, index] of order.entries()) {
    const { offset, name, compressedSize } = records[index] as Entry
    const next = order[place + 1]
    const end = Math.min(next === undefined ? directoryStart : (records[next] as Entry).offset, directoryStart)
    if (offset + LOCAL_HEADER_BYTES + name.length + compressedSize <= end) ends[index] = end
  }
  return ends
}

const TYPE_BITS = 0o170000
const LINK_TYPE = 0o120000
const DIRECTORY_TYPE = 0o040000
const FILE_TYPE = 0o100000

function entryOf(record: Entry, end: number | undefined): ZipEntry {
  const { path, mode, size } = record
  const systemType = mode & TYPE_BITS
  if (path.endsWith('/')) return { type: 'directory', path: path.slice(0, -1) }
  if (systemType === DIRECTORY_TYPE) return { type: 'directory', path }
  if (![0, FILE_TYPE, LINK_TYPE].includes(systemType))
    return { type: 'other', path, reason: 'a device, pipe or socket' }
  if (end === undefined) {
    return {
      type: 'omitted',
      path,
      reason: 'its data overlap with those of another entry, or lie outside of the archive',
    }
  }
  const { name, flags, method, crc, compressedSize, offset } = record
  const type = systemType === LINK_TYPE ? 'link' : 'file'
  const place: ZipPlace = { type, name, flags, method, crc, size, compressedSize, offset, end }
  if (type === 'link') return { type, path, place }
  const bits = mode & 0o777
  return { type, path, size, place, ...(bits === 0 ? {} : { mode: bits }) }
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}

/** Reads a number of eight bytes. */
function safeInteger(view: DataView, at: number): number {
  const value = Number(view.getBigUint64(at, true))
  if (!Number.isSafeInteger(value)) throw damaged('a number in it is too large')
  return value
}

function damaged(reason: string): ToolError {
  return new ToolError('BACKEND_ERROR', `Cannot list the archive: ${reason}`)
}

function severalParts(): ToolError {
  return new ToolError('BACKEND_ERROR', 'Cannot list the archive: it is one of several parts')
}
