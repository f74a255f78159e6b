import { ToolError } from '../errors.ts'
import { type LogicalPath, quote } from '../paths/logical-path.ts'
import type { BinaryBody } from './file-change.ts'

/**
 * Applies a git binary patch. The old bytes must have the old id of the patch, and the result is checked against its new id.
 *
 * @throws ToolError `PATCH_CONFLICT` for other old bytes; `INVALID_PATCH` for corrupt data; `FILE_TOO_LARGE` over `maxBytes`
 */
export async function applyBinary(
  old: Uint8Array | null,
  body: BinaryBody,
  path: LogicalPath,
  maxBytes: number,
): Promise<Uint8Array> {
  if (body.size > maxBytes) throw tooLarge(path, body.size, maxBytes)
  const { oldId, newId } = body
  const from = old ?? EMPTY
  // The patch may treat an empty file as missing.
  const isNone = from.length === 0 && isZero(oldId)
  if (!isNone && !(await hasId(from, oldId))) {
    throw new ToolError(
      'PATCH_CONFLICT',
      `Cannot patch ${quote(path)}: it is not the version that the binary patch was created from`,
      {
        path,
        hint: 'Create the patch again from the current file.',
      },
    )
  }
  if (isZero(newId)) return EMPTY
  const data = await inflate(body.data, body.size)
  if (data === undefined) throw corrupt(path)
  const bytes = body.method === 'literal' ? data : applyDelta(from, data, path, maxBytes)
  if (bytes === undefined || !(await hasId(bytes, newId))) throw corrupt(path)
  return bytes
}

const EMPTY = new Uint8Array()

function corrupt(path: LogicalPath): ToolError {
  return new ToolError('INVALID_PATCH', `Cannot patch ${quote(path)}: the binary patch is corrupt`, { path })
}

function tooLarge(path: LogicalPath, size: number, limit: number): ToolError {
  return new ToolError(
    'FILE_TOO_LARGE',
    `Cannot patch ${quote(path)}: it would have ${size} bytes, over the limit of ${limit}`,
    {
      path,
      limit,
    },
  )
}

function isZero(id: string): boolean {
  return /^0+$/.test(id)
}

/** Whether bytes have a blob id, in either of git's hashes. */
async function hasId(bytes: Uint8Array, id: string): Promise<boolean> {
  const head = new TextEncoder().encode(`blob ${bytes.length}\0`)
  const blob = new Uint8Array(head.length + bytes.length)
  blob.set(head)
  blob.set(bytes, head.length)
  const digest = await globalThis.crypto.subtle.digest(id.length === 40 ? 'SHA-1' : 'SHA-256', blob)
  let hex = ''
  for (const byte of new Uint8Array(digest)) hex += byte.toString(16).padStart(2, '0')
  return hex === id
}

/** Returns exactly `size` bytes, or `undefined`. Stops before a larger result takes memory. */
async function inflate(data: Uint8Array, size: number): Promise<Uint8Array | undefined> {
  const stream = new Blob([data as Uint8Array<ArrayBuffer>]).stream().pipeThrough(new DecompressionStream('deflate'))
  const reader = stream.getReader()
  const bytes = new Uint8Array(size)
  let at = 0
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      if (at + value.length > size) {
        await reader.cancel()
        return undefined
      }
      bytes.set(value, at)
      at += value.length
    }
  } catch {
    return undefined
  }
  return at === size ? bytes : undefined
}

/** Applies a delta of git: the two sizes, then copies from the old bytes and literal bytes. */
function applyDelta(old: Uint8Array, delta: Uint8Array, path: LogicalPath, maxBytes: number): Uint8Array | undefined {
  let at = 0
  const size = (): number => {
    let value = 0
    for (let scale = 1; at < delta.length; scale *= 128) {
      const byte = delta[at++] as number
      value += (byte & 0x7f) * scale
      if ((byte & 0x80) === 0 || scale > 2 ** 42) break
    }
    return value
  }
  if (size() !== old.length) return undefined
  const newSize = size()
  if (newSize > maxBytes) throw tooLarge(path, newSize, maxBytes)
  const bytes = new Uint8Array(newSize)
  let to = 0
  while (at < delta.length) {
    const command = delta[at++] as number
    if ((command & 0x80) === 0) {
      if (command === 0 || at + command > delta.length || to + command > newSize) return undefined
      bytes.set(delta.subarray(at, at + command), to)
      at += command
      to += command
      continue
    }
    let offset = 0
    let length = 0
    for (let i = 0; i < 4; i++) if ((command & (1 << i)) !== 0) offset += (delta[at++] ?? 0) * 2 ** (8 * i)
    for (let i = 0; i < 3; i++) if ((command & (16 << i)) !== 0) length += (delta[at++] ?? 0) * 2 ** (8 * i)
    if (length === 0) length = 0x10000
    if (offset + length > old.length || to + length > newSize) return undefined
    bytes.set(old.subarray(offset, offset + length), to)
    to += length
  }
  return to === newSize ? bytes : undefined
}
