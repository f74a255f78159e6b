import { ToolError } from '../errors.ts'
import { type LogicalPath, quote } from '../paths/logical-path.ts'
import { inflateStream } from '../util/zlib-stream.ts'
import type { BinaryBody } from './file-change.ts'
import { applyGitDelta } from './git-delta.ts'

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
  const data = await inflateStream(body.data, body.size).catch(() => undefined)
  if (data?.length !== body.size) throw corrupt(path)
  const bytes =
    body.method === 'literal'
      ? data
      : applyGitDelta(from, data, maxBytes, {
          damaged: () => corrupt(path),
          tooLarge: (size) => tooLarge(path, size, maxBytes),
        })
  if (!(await hasId(bytes, newId))) throw corrupt(path)
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
