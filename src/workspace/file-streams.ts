import { ToolError } from '../errors.ts'
import { quote } from '../paths/logical-path.ts'
import type { Rates } from '../policy/rate-limits.ts'
import { largeBounds } from '../storage/large-bounds.ts'
import { concatBytes, copyBytes, isUint8Array } from '../util/bytes.ts'
import { ignoreRejection } from '../util/ignore-rejection.ts'
import { holdContent } from './held-bytes.ts'

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
  const read = () => readPart({ start: at, end: Math.min(end, at + largeBounds.streamPartBytes) })
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
        if (part.length < largeBounds.streamPartBytes || at >= end) controller.close()
      },
    },
    { highWaterMark: 0 },
  )
}

/** The destination of a written stream. */
export interface StreamTarget {
  readonly rates: Rates
  /** Writes a content that was collected. */
  write(content: Uint8Array): Promise<unknown>
  /** Writes a content that comes part by part, as one call. Absent if everything has to be collected. */
  writeParts?: ((parts: AsyncIterable<Uint8Array>) => Promise<unknown>) | undefined
}

/** Collects what is written and writes the file at the end. A larger content is stored while it is written. */
export async function openWritable(target: StreamTarget): Promise<WritableStream<Uint8Array | string>> {
  const collected = new CollectedParts(target.rates)
  let large: PartQueue | undefined
  return new WritableStream<Uint8Array | string>({
    async write(chunk) {
      const bytes = typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk
      if (!isUint8Array(bytes)) throw new TypeError('A chunk of files.writable() must be a string or a Uint8Array')
      if (
        large === undefined &&
        target.writeParts !== undefined &&
        collected.size + bytes.length > largeBounds.collectedBytes
      ) {
        large = new PartQueue(target.writeParts)
        for (const part of collected.take()) await large.add(part)
      }
      if (large === undefined) collected.add(bytes)
      // Storing it can take a while, in which the program may change the chunk.
      else await large.add(copyBytes(bytes))
    },
    async close() {
      if (large === undefined) await target.write(concatBytes(collected.take()))
      else await large.end()
    },
    async abort() {
      collected.take()
      await large?.fail()
    },
  })
}

/** Parts in memory, whose bytes are reserved in the budget of the run. */
class CollectedParts {
  readonly #rates: Rates
  #parts: Uint8Array[] = []
  size = 0

  constructor(rates: Rates) {
    this.#rates = rates
  }

  add(bytes: Uint8Array): void {
    try {
      holdContent(this.#rates, this.size + bytes.length, bytes.length)
    } catch (error) {
      // A stream that has failed is not aborted as well.
      this.take()
      throw error
    }
    this.size += bytes.length
    this.#parts.push(copyBytes(bytes))
  }

  take(): readonly Uint8Array[] {
    const parts = this.#parts
    this.#rates.holdWrite(-this.size)
    this.#parts = []
    this.size = 0
    return parts
  }
}

/** Passes parts to a reader, one at a time: `add` waits until the reader has used the part and asks for the next. */
class PartQueue {
  readonly #done: Promise<unknown>
  #next: Uint8Array | 'end' | 'failed' | undefined
  /** Called when the reader waits for a part. */
  #wanted: () => void = () => {}
  /** Called when there is a part. */
  #arrived: () => void = () => {}
  #isWanted = false

  constructor(read: (parts: AsyncIterable<Uint8Array>) => Promise<unknown>) {
    this.#done = read(this.#parts())
    // It is thrown by what the program does next.
    ignoreRejection(this.#done)
  }

  /** @throws what the reader throws */
  async add(part: Uint8Array): Promise<void> {
    await this.#whenWanted()
    this.#pass(part)
    await this.#whenWanted()
  }

  async end(): Promise<void> {
    await this.#whenWanted()
    this.#pass('end')
    await this.#done
  }

  /** Ends the reader with an error, so that it writes nothing. */
  async fail(): Promise<void> {
    this.#pass('failed')
    await this.#done.catch(() => {})
  }

  #pass(next: Uint8Array | 'end' | 'failed'): void {
    this.#next = next
    this.#isWanted = false
    this.#arrived()
  }

  async #whenWanted(): Promise<void> {
    if (this.#isWanted) return
    const wanted = new Promise<void>((resolve) => {
      this.#wanted = resolve
    })
    await Promise.race([wanted, this.#done])
  }

  async *#parts(): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      const arrived = new Promise<void>((resolve) => {
        this.#arrived = resolve
      })
      this.#isWanted = true
      this.#wanted()
      if (this.#next === undefined) await arrived
      const next = this.#next
      this.#next = undefined
      if (next === 'end') return
      if (next === 'failed' || next === undefined) throw new ToolError('ABORTED', 'The stream was aborted')
      yield next
    }
  }
}
