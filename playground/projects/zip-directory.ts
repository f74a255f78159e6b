/** One entry of the central directory of a zip. */
export interface ZipEntry {
  readonly path: string
  readonly isDirectory: boolean
  readonly isLink: boolean
  /** Permission bits, if the zip was created on a system that has them. */
  readonly mode: number | undefined
  readonly isEncrypted: boolean
  /** 0: stored, 8: deflated. */
  readonly method: number
  readonly crc32: number
  readonly packed: number
  readonly size: number
  /** Offset of the entry's local header. */
  readonly at: number
}

/** Maximum length of the comment after the end record. */
const MAX_COMMENT = 0xffff
const END = 0x06054b50
const END_64 = 0x06064b50
const LOCATOR_64 = 0x07064b50
const ENTRY = 0x02014b50
const HEADER = 0x04034b50

/** Reads the central directory of a zip, the only reliable source of names, sizes and permission bits. */
export async function readDirectory(file: Blob): Promise<readonly ZipEntry[]> {
  const { at, size, count } = await findEnd(file)
  if (at + size > file.size) throw broken()
  const view = await viewOf(file, at, at + size)
  const entries: ZipEntry[] = []
  let from = 0
  for (let i = 0; i < count; i++) {
    if (from + 46 > view.byteLength || view.getUint32(from, true) !== ENTRY) throw broken()
    const nameLength = view.getUint16(from + 28, true)
    const extraLength = view.getUint16(from + 30, true)
    const next = from + 46 + nameLength + extraLength + view.getUint16(from + 32, true)
    if (next > view.byteLength) throw broken()
    entries.push(entryAt(view, from, nameLength, extraLength))
    from = next
  }
  return entries
}

/** Reads the bytes of a file from `start` to `end`. */
export type ReadAt = (start: number, end: number) => Promise<Uint8Array>

/** Bytes that are read at a time, since one read per small file would take most of the time. */
const WINDOW = 4 * 1024 * 1024

/** Reads a file in windows and keeps the last one, for reading from start to end. */
export function windowsOf(file: Blob): ReadAt {
  let from = 0
  let bytes = new Uint8Array()
  return async (start, end) => {
    if (end > file.size) throw broken()
    if (start < from || end > from + bytes.length) {
      bytes = new Uint8Array(await file.slice(start, Math.max(end, start + WINDOW)).arrayBuffer())
      from = start
    }
    return bytes.subarray(start - from, end - from)
  }
}

/** Returns the offset of an entry's content, after its local header, whose length only the header itself states. */
export async function startOf(read: ReadAt, { at }: ZipEntry): Promise<number> {
  const header = await read(at, at + 30)
  const view = new DataView(header.buffer, header.byteOffset, header.length)
  if (view.getUint32(0, true) !== HEADER) throw broken()
  return at + 30 + view.getUint16(26, true) + view.getUint16(28, true)
}

export function broken(): Error {
  return new Error('Cannot read the zip: it is damaged or not a zip file')
}

function entryAt(view: DataView, from: number, nameLength: number, extraLength: number): ZipEntry {
  const madeBy = view.getUint8(from + 5)
  const flags = view.getUint16(from + 8, true)
  const attributes = view.getUint32(from + 38, true)
  const raw = new Uint8Array(view.buffer, view.byteOffset + from + 46, nameLength)
  // Without the UTF-8 flag, the name is in an unknown code page. Names outside ASCII are lost, unless they are UTF-8 anyway.
  const path = new TextDecoder().decode(raw)
  const unix = madeBy === 3 || madeBy === 19 ? attributes >>> 16 : 0
  const [size, packed, at] = wide(view, from, from + 46 + nameLength, extraLength)
  return {
    path: path.replace(/\/$/, ''),
    isDirectory: path.endsWith('/') || (unix & 0o170000) === 0o040000,
    isLink: (unix & 0o170000) === 0o120000,
    mode: unix === 0 ? undefined : unix & 0o777,
    isEncrypted: (flags & 1) === 1,
    method: view.getUint16(from + 10, true),
    crc32: view.getUint32(from + 16, true),
    packed,
    size,
    at,
  }
}

/** Returns size, packed size and offset, from the 64-bit fields if 32 bits are not enough. */
function wide(view: DataView, from: number, extra: number, extraLength: number): [number, number, number] {
  const values = [24, 20, 42].map((offset) => view.getUint32(from + offset, true))
  for (let at = extra; at + 4 <= extra + extraLength; at += 4 + view.getUint16(at + 2, true)) {
    if (view.getUint16(at, true) !== 1) continue
    let next = at + 4
    for (const [i, value] of values.entries()) {
      if (value !== 0xffffffff) continue
      if (next + 8 > extra + extraLength) throw broken()
      values[i] = Number(view.getBigUint64(next, true))
      next += 8
    }
  }
  return values as [number, number, number]
}

async function findEnd(file: Blob): Promise<{ at: number; size: number; count: number }> {
  const start = Math.max(0, file.size - 22 - MAX_COMMENT - 20)
  const view = await viewOf(file, start, file.size)
  for (let at = view.byteLength - 22; at >= 0; at--) {
    if (view.getUint32(at, true) !== END) continue
    if (at >= 20 && view.getUint32(at - 20, true) === LOCATOR_64) {
      const end64 = Number(view.getBigUint64(at - 12, true))
      const wideEnd = await viewOf(file, end64, end64 + 56)
      if (wideEnd.byteLength < 56 || wideEnd.getUint32(0, true) !== END_64) throw broken()
      const [count, size, from] = [32, 40, 48].map((offset) => Number(wideEnd.getBigUint64(offset, true)))
      return { at: from as number, size: size as number, count: count as number }
    }
    return {
      at: view.getUint32(at + 16, true),
      size: view.getUint32(at + 12, true),
      count: view.getUint16(at + 10, true),
    }
  }
  throw broken()
}

async function viewOf(file: Blob, start: number, end: number): Promise<DataView> {
  return new DataView(await file.slice(start, end).arrayBuffer())
}
