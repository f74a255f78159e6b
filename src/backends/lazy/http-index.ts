import { checkOptions, refuseSurplus } from '../../util/check-options.ts'
import { addressOf, bodyOf, type Fetch, failed, get, isFetch, requireStatus } from './http.ts'
import type { LazyFile, LazySource } from './source.ts'

/** Options of {@link httpIndex}. */
export interface HttpIndexOptions {
  /** Sends the requests. Default: the global `fetch`. */
  readonly fetch?: Fetch
}

const MAX_INDEX_BYTES = 128 * 1024 * 1024

/**
 * Files on a web server, listed by an index in JSON, as a source for {@link lazy}: one request for the index, and one for each
 * file when it is first read. The files are at their paths below the directory of the index. The index is
 * `{ "files": [{ "path": "src/a.ts", "size": 12, "sha256": "…", "executable": true }] }`; `sha256`, in lower-case hex, and
 * `executable` are optional. A content of another size or hash is refused.
 *
 * @param url address of the index
 * @throws TypeError for anything but an address with `http:` or `https:`
 * @example
 * const docs = lazy(httpIndex('https://example.com/docs/index.json'))
 * const workspace = await createWorkspace({ backend: overlay(docs), policy: 'autonomous' })
 */
export function httpIndex(url: string | URL, options?: HttpIndexOptions): LazySource<LazyFile> {
  refuseSurplus('httpIndex()', 2, arguments)
  const index = addressOf('httpIndex()', 'url', url)
  const { fetch } = checkOptions<HttpIndexOptions>('httpIndex()', options, { fetch: isFetch })
  const load = async (address: URL, max: number, signal: AbortSignal) => {
    const response = await get(fetch, address, { signal })
    await requireStatus(response, address, 200)
    return bodyOf(response, address, max)
  }
  return {
    async list({ signal }) {
      const files = filesIn(await load(index, MAX_INDEX_BYTES, signal))
      if (files === undefined) throw failed(index, 'answered with something else than an index of files')
      return files.map(({ path, size, sha256, executable }) => ({
        type: 'file',
        path,
        size,
        ...(executable === true ? { mode: 0o755 } : {}),
        ...(sha256 === undefined ? {} : { sha256 }),
      }))
    },
    async load({ path, size }, { signal }) {
      return load(new URL(path.split('/').map(encodeURIComponent).join('/'), index), size, signal)
    },
  }
}

type IndexedFile = Pick<LazyFile, 'path' | 'size' | 'sha256'> & { readonly executable?: boolean }

/** Returns the files of an index, whose fields {@link lazy} checks. */
function filesIn(body: Uint8Array): readonly IndexedFile[] | undefined {
  try {
    const { files } = JSON.parse(new TextDecoder().decode(body)) as { readonly files: readonly IndexedFile[] }
    return Array.isArray(files) && files.every((file) => Object(file) === file) ? files : undefined
  } catch {
    return undefined
  }
}
