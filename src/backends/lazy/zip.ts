import { ToolError } from '../../errors.ts'
import { quote } from '../../paths/logical-path.ts'
import { concatBytes, copyBytes, isUint8Array, sameBytes } from '../../util/bytes.ts'
import { checkArgument, checkOptions, must, refuseSurplus } from '../../util/check-options.ts'
import { crc32 } from '../../util/crc32.ts'
import { pipeBytes } from '../../util/pipe-bytes.ts'
import { addressOf, type Fetch, isFetch } from './http.ts'
import { MAX_TARGET_BYTES } from './listing.ts'
import { localRanges, type Ranges, remoteRanges } from './ranges.ts'
import type { LazySource } from './source.ts'
import {
  extrasIn,
  LargeFields,
  LOCAL_HEADER_BYTES,
  readDirectory,
  ZIP64_EXTRA,
  type ZipEntry,
  type ZipPlace,
} from './zip-directory.ts'

/** Options of {@link zip}. */
export interface ZipOptions {
  /** Sends the requests for an archive on a server. Default: the global `fetch`. */
  readonly fetch?: Fetch
}

/**
 * The files of a zip archive, as a source for {@link lazy}: bytes, a `Blob` (such as a picked file), or an address. The list of
 * files is read first, with one or two requests for ranges, and each file by a range of its own when it is first read. An
 * archive on a server without ranges is loaded as a whole, up to 256 MiB.
 *
 * Contents are stored or deflated; sizes and checksums are compared. Encrypted and otherwise compressed files are listed, and
 * cannot be read. Entries whose data overlap, names that lead outside and names that occur twice are not shown: see
 * {@link LazyBackend.omitted}. zip64 is supported, archives of several parts are not.
 *
 * @throws TypeError for anything but bytes, a `Blob` or an address
 * @example
 * const archive = lazy(zip('https://example.com/release.zip'))
 * const workspace = await createWorkspace({ backend: overlay(archive), policy: 'autonomous' })
 */
export function zip(archive: Uint8Array | Blob | string | URL, options?: ZipOptions): LazySource<ZipEntry> {
  refuseSurplus('zip()', 2, arguments)
  const { fetch } = checkOptions<ZipOptions>('zip()', options, { fetch: isFetch })
  checkArgument('zip()', 'archive', archive, isArchive)
  const ranges =
    isUint8Array(archive) || archive instanceof Blob
      ? localRanges(archive)
      : remoteRanges(addressOf('zip()', 'archive', archive), fetch)
  return {
    list: ({ signal }) => readDirectory(ranges, signal),
    load: (entry, { signal }) => readContent(ranges, entry, signal),
  }
}

const isArchive = must(
  'bytes, a Blob or an address',
  (value) => typeof value === 'string' || value instanceof URL || value instanceof Blob || isUint8Array(value),
)

const LOCAL_SIGNATURE = 0x04034b50
const MAX_EXTRA_BYTES = 0xffff
const ENCRYPTED = 1

async function readContent(
  ranges: Ranges,
  { path, place }: { readonly path: string; readonly place: ZipPlace },
  signal: AbortSignal,
): Promise<Uint8Array> {
  const refuse = (reason: string): never => {
    throw new ToolError('BACKEND_ERROR', `Cannot read ${quote(path)}: ${reason}`, { path })
  }
  const { name, offset, end, method, flags, size, compressedSize, type } = place
  if (flags & ENCRYPTED) refuse('it is encrypted')
  if (method !== STORED && method !== DEFLATED) refuse(`its compression method, ${method}, is not supported`)
  if (type === 'link' && size > MAX_TARGET_BYTES)
    refuse(`the target of the link is longer than ${MAX_TARGET_BYTES} bytes`)
  if (!isPlausible(place)) refuse(DAMAGED)
  const most = offset + LOCAL_HEADER_BYTES + name.length + MAX_EXTRA_BYTES + compressedSize
  const bytes = await ranges.read(offset, Math.min(end, most), signal)
  const header = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  if (bytes.length < LOCAL_HEADER_BYTES || header.getUint32(0, true) !== LOCAL_SIGNATURE) refuse(DAMAGED)
  const nameEnd = LOCAL_HEADER_BYTES + header.getUint16(26, true)
  const isSame =
    (header.getUint16(6, true) & ENCRYPTED) === 0 &&
    header.getUint16(8, true) === method &&
    sameBytes(bytes.subarray(LOCAL_HEADER_BYTES, nameEnd), name) &&
    hasSameSizes(header, bytes.subarray(nameEnd, nameEnd + header.getUint16(28, true)), place)
  if (!isSame) refuse('the archive describes it in two different ways')
  const start = nameEnd + header.getUint16(28, true)
  const data = bytes.subarray(start, start + compressedSize)
  if (data.length !== compressedSize) refuse(DAMAGED)
  const content = method === STORED ? copyBytes(data) : await inflateRaw(data, size).catch(() => refuse(DAMAGED))
  if (content.length !== size || crc32(content) !== place.crc) refuse('its content does not match its checksum')
  return content
}

/** Set where the checksum and the sizes follow the content: its header has none. */
const DESCRIPTOR = 8

/** Whether a header has the checksum and the sizes of the list. */
function hasSameSizes(header: DataView, extra: Uint8Array, { crc, size, compressedSize }: ZipPlace): boolean {
  if (header.getUint16(6, true) & DESCRIPTOR) return true
  try {
    const large = new LargeFields(extrasIn(extra).get(ZIP64_EXTRA))
    return (
      header.getUint32(14, true) === crc &&
      large.value(header.getUint32(22, true)) === size &&
      large.value(header.getUint32(18, true)) === compressedSize
    )
  } catch {
    return false
  }
}

const STORED = 0
const DEFLATED = 8
const DAMAGED = 'the archive is damaged'

/** Whether the compressed size fits the size: deflating makes no content much larger. */
function isPlausible({ method, size, compressedSize }: ZipPlace): boolean {
  return method === STORED ? compressedSize === size : compressedSize <= 2 * size + 1024
}

/** Inflates deflated bytes without a header to at most `max` bytes. */
async function inflateRaw(bytes: Uint8Array, max: number): Promise<Uint8Array> {
  let stream: DecompressionStream
  try {
    stream = new DecompressionStream('deflate-raw')
  } catch {
    const { decodeZlib } = await import('../../util/decode-zlib.ts')
    // It expects the two bytes of zlib's header before the data, and a checksum of four bytes, which it skips.
    const { start: whole, end } = decodeZlib(concatBytes([new Uint8Array(2), bytes, new Uint8Array(4)]), 0, max, max)
    if (end !== bytes.length + 6) throw new RangeError('The data do not end where they should')
    return whole
  }
  const content = await pipeBytes(bytes, stream, max)
  // Some runtimes ignore bytes after the end: then the data are complete without their last byte.
  const isLonger = await pipeBytes(bytes.subarray(0, -1), new DecompressionStream('deflate-raw'), max).then(
    () => true,
    () => false,
  )
  if (isLonger) throw new RangeError('The data do not end where they should')
  return content
}
