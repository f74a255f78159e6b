import { ToolError } from '../errors.ts'
import { quote } from '../paths/logical-path.ts'
import type { Rates } from '../policy/rate-limits.ts'
import { concatBytes, copyBytes, isUint8Array } from '../util/bytes.ts'
import type { FileWriteOptions, WorkspaceFiles } from './files.ts'
import { holdContent } from './held-bytes.ts'

/** Bytes of one part of a stream. */
const PART_BYTES = 8 * 1024 * 1024

/** Reads a part of a file. Returns its bytes, and the tag of the file. */
type ReadPart = (range: { readonly start: number; readonly end: number }) => Promise<Readonly<Record<string, unknown>>>

/** Reads a file part by part. Nothing of the file is in memory but one part. */
export async function openReadable(
  readPart: ReadPart,
  path: string,
  {
    start = 0,
    end = Number.POSITIVE_INFINITY,
  }: { readonly start?: number | undefined; readonly end?: number | undefined },
): Promise<ReadableStream<Uint8Array>> {
  let at = start
  const read = () => readPart({ start: at, end: Math.min(end, at + PART_BYTES) })
  // The first part is read at once, so that a refusal rejects the call and not the stream.
  const first = await read()
  let next: typeof first | undefined = first
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { bytes, tag } = next ?? (await read())
        next = undefined
        if (tag !== first.tag) {
          throw new ToolError('WRITE_CONFLICT', `Cannot read ${quote(path)}: it changed in the meantime`, { path })
        }
        // The bytes may belong to the backend.
        const part = copyBytes(bytes as Uint8Array)
        if (part.length > 0) controller.enqueue(part)
        at += part.length
        if (part.length < PART_BYTES || at >= end) controller.close()
      },
    },
    { highWaterMark: 0 },
  )
}

/** Collects what is written, and writes the file at the end. */
export async function openWritable(
  files: Pick<WorkspaceFiles, 'write'>,
  rates: Rates,
  path: string,
  options: FileWriteOptions,
): Promise<WritableStream<Uint8Array | string>> {
  const parts: Uint8Array[] = []
  let size = 0
  const release = () => {
    rates.holdWrite(-size)
    size = 0
  }
  return new WritableStream<Uint8Array | string>({
    write(chunk) {
      const bytes = typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk
      if (!isUint8Array(bytes)) throw new TypeError('A chunk of files.writable() must be a string or a Uint8Array')
      try {
        holdContent(rates, size + bytes.length, bytes.length)
      } catch (error) {
        // A stream that has failed is not aborted as well.
        parts.length = 0
        release()
        throw error
      }
      size += bytes.length
      parts.push(copyBytes(bytes))
    },
    async close() {
      release()
      await files.write(path, concatBytes(parts), options)
    },
    abort() {
      parts.length = 0
      release()
    },
  })
}
