import { Zip, ZipDeflate, ZipPassThrough } from 'fflate'
import type { Backend } from 'wardspace'
import { filesOf, type StoredFile } from './files-of.ts'
import type { Task } from './types.ts'
import { createYield } from './yield-to-page.ts'

/** Bytes that are packed at a time. */
const SLICE = 256 * 1024
const UNIX = 3
const REGULAR = 0o100000
const LINK = 0o120000
/** The zip format has no earlier dates. */
const EARLIEST = Date.UTC(1980, 0, 2)

/** Returns all files of a project as a zip, including `.git` and hidden files, since the person owns them. */
export async function zipOf(backend: Backend, { onProgress, signal }: Task = {}): Promise<Blob> {
  const parts: BlobPart[] = []
  let failure: Error | undefined
  const zip = new Zip((error, chunk) => {
    failure ??= error ?? undefined
    parts.push(chunk as Uint8Array<ArrayBuffer>)
  })
  let done = 0
  const yieldToPage = createYield()
  for await (const file of filesOf(backend)) {
    const content = contentOf(file)
    const entry = entryFor(file)
    zip.add(entry)
    for (let from = 0; from === 0 || from < content.length; from += SLICE) {
      const slice = content.subarray(from, from + SLICE)
      entry.push(slice, from + SLICE >= content.length)
      const pause = yieldToPage()
      if (pause === undefined) continue
      onProgress?.({ phase: 'Packing', done })
      await pause
      signal?.throwIfAborted()
    }
    done++
  }
  zip.end()
  if (failure !== undefined) throw failure
  onProgress?.({ phase: 'Packing', done, total: done })
  return new Blob(parts, { type: 'application/zip' })
}

function contentOf({ bytes, target }: StoredFile): Uint8Array {
  return target === undefined ? bytes : new TextEncoder().encode(target)
}

function entryFor({ path, isDirectory, target, mode, modifiedAt }: StoredFile): ZipDeflate | ZipPassThrough {
  if (isDirectory === true) return new ZipPassThrough(`${path}/`)
  const entry = target === undefined ? new ZipDeflate(path, { level: 6 }) : new ZipPassThrough(path)
  entry.os = UNIX
  entry.attrs = (target === undefined ? REGULAR | (mode ?? 0o644) : LINK | 0o777) << 16
  entry.mtime = Math.max(modifiedAt ?? EARLIEST, EARLIEST)
  return entry
}
