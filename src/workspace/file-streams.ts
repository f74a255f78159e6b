import { ToolError } from '../errors.ts'
import { quote } from '../paths/logical-path.ts'
import { concatBytes, copyBytes, isUint8Array } from '../util/bytes.ts'
import type { FileWriteOptions, WorkspaceFiles } from './files.ts'

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
  path: string,
  options: FileWriteOptions,
): Promise<WritableStream<Uint8Array | string>> {
  const parts: Uint8Array[] = []
  return new WritableStream<Uint8Array | string>({
    write(chunk) {
      if (typeof chunk === 'string') parts.push(new TextEncoder().encode(chunk))
      else if (isUint8Array(chunk)) parts.push(copyBytes(chunk))
      else throw new TypeError('A chunk of files.writable() must be a string or a Uint8Array')
    },
    async close() {
      await files.write(path, concatBytes(parts), options)
    },
    abort() {
      parts.length = 0
    },
  })
}
