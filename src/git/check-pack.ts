import { yieldToEventLoop } from '../util/timers.ts'
import { corrupt, TooLargeError } from './corrupt-error.ts'
import { MAX_OBJECT_BYTES } from './delta.ts'
import { parseHeader } from './pack.ts'
import { zlibExtent } from './zlib-extent.ts'

const HEADER_BYTES = 12
const CHECKSUM_BYTES = 20

/** Maximum number of bytes that the entries of a pack inflate to. */
const MAX_INFLATED_BYTES = 1024 * 1024 * 1024
/** Maximum number of bytes of all objects that are stored as deltas. */
const MAX_DELTA_RESULT_BYTES = 16 * 1024 * 1024 * 1024

/** Bytes after which timers and other callers run. */
const PACE_BYTES = 4 * 1024 * 1024
/** Bytes that an entry counts in addition to its size: many small ones take time too. */
const ENTRY_BYTES = 2048

/**
 * Checks what a pack unpacks to before isomorphic-git reads it, which inflates whatever comes.
 *
 * @throws ToolError `BACKEND_ERROR` if the pack is damaged, or unpacks to too much
 */
export async function checkPack(pack: Uint8Array): Promise<void> {
  if (pack.length < HEADER_BYTES + CHECKSUM_BYTES) throw corrupt('a pack is cut short')
  const count = new DataView(pack.buffer, pack.byteOffset).getUint32(8)
  const end = pack.length - CHECKSUM_BYTES
  let at = HEADER_BYTES
  let [inflated, deltaResults, sincePause] = [0, 0, 0]
  for (let i = 0; i < count && at < end; i++) {
    const header = parseHeader(pack.subarray(at, end), at)
    inflated += header.size
    if (inflated > MAX_INFLATED_BYTES) throw new TooLargeError('a pack')
    const { start, size, end: next } = zlibExtent(pack, at + header.start, header.size)
    if (size !== header.size) throw corrupt('an object does not have the size in its header')
    if (header.base !== undefined) {
      const result = deltaResultSize(start)
      deltaResults += result
      if (result > MAX_OBJECT_BYTES) throw new TooLargeError('an object')
      if (deltaResults > MAX_DELTA_RESULT_BYTES) throw new TooLargeError('a pack')
    }
    sincePause += next - at + ENTRY_BYTES
    at = next
    if (sincePause < PACE_BYTES) continue
    sincePause = 0
    await yieldToEventLoop()
  }
}

/** Returns the second number at the start of a delta: the size of its result. */
function deltaResultSize(start: Uint8Array): number {
  let size = 0
  let at = 0
  for (let number = 0; number < 2; number++) {
    size = 0
    for (let scale = 1, more = true; more; scale *= 128, at++) {
      const byte = start[at] ?? 0
      size += (byte & 0x7f) * scale
      more = byte >= 0x80
    }
  }
  return size
}
