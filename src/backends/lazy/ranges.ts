import { ToolError } from '../../errors.ts'
import { bodyOf, discard, type Fetch, failed, get, requireStatus } from './http.ts'

/** Bytes that are read in parts. */
export interface Ranges {
  /** Returns the last bytes, at most `length`, and the number of all bytes. */
  tail(length: number, signal: AbortSignal): Promise<{ readonly bytes: Uint8Array; readonly size: number }>
  /** Returns the bytes `[start, end)`, which must exist. */
  read(start: number, end: number, signal: AbortSignal): Promise<Uint8Array>
}

/** The ranges of bytes in memory, or of a `Blob`. */
export function localRanges(archive: Uint8Array | Blob): Ranges {
  const size = archive instanceof Blob ? archive.size : archive.length
  const read = async (start: number, end: number) =>
    archive instanceof Blob
      ? new Uint8Array(await archive.slice(start, end).arrayBuffer())
      : archive.subarray(start, end)
  return {
    read,
    tail: async (length) => ({ bytes: await read(Math.max(0, size - length), size), size }),
  }
}

/** The largest archive that is kept in memory, if its server does not answer requests for ranges. */
const MAX_WHOLE_BYTES = 256 * 1024 * 1024

/** The ranges of a file on a web server. The whole file if the server does not know ranges. */
export function remoteRanges(url: URL, fetch: Fetch | undefined): Ranges {
  let whole: Ranges | undefined
  let latest: { readonly size: number; readonly version: string } | undefined

  async function request(range: string, signal: AbortSignal): Promise<Response> {
    const response = await get(fetch, url, { headers: { range: `bytes=${range}` }, signal })
    await requireStatus(response, url, 200, 206)
    return response
  }

  return {
    async tail(length, signal) {
      whole = undefined
      const response = await request(`-${length}`, signal)
      if (response.status === 200) {
        whole = localRanges(await bodyOf(response, url, MAX_WHOLE_BYTES))
        return whole.tail(length, signal)
      }
      const { start, end, size } = contentRange(response, url)
      if (end !== size || start !== Math.max(0, size - length)) throw failed(url, 'answered with another range')
      latest = { size, version: versionOf(response) }
      return { bytes: await exactly(response, url, end - start), size }
    },

    async read(start, end, signal) {
      if (whole !== undefined) return whole.read(start, end, signal)
      const response = await request(`${start}-${end - 1}`, signal)
      const answered = response.status === 206 ? contentRange(response, url) : undefined
      if (answered?.size !== latest?.size || versionOf(response) !== latest?.version) {
        await discard(response)
        throw new ToolError(
          'BACKEND_ERROR',
          `Cannot load from ${url.host}: the archive has changed since it was listed`,
        )
      }
      if (answered?.start !== start || answered.end !== end) throw failed(url, 'answered with another range')
      return exactly(response, url, end - start)
    },
  }
}

async function exactly(response: Response, url: URL, length: number): Promise<Uint8Array> {
  const bytes = await bodyOf(response, url, length)
  if (bytes.length !== length) throw failed(url, 'ended its answer early')
  return bytes
}

/** Returns what tells two versions of a file apart, if the server says it. */
function versionOf({ headers }: Response): string {
  return headers.get('etag') ?? headers.get('last-modified') ?? ''
}

function contentRange(
  response: Response,
  url: URL,
): { readonly start: number; readonly end: number; readonly size: number } {
  const [, start, last, size] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(response.headers.get('content-range') ?? '') ?? []
  if (start === undefined) {
    throw failed(url, 'does not show which range it answers', 'The server must expose the header Content-Range.')
  }
  return { start: Number(start), end: Number(last) + 1, size: Number(size) }
}
