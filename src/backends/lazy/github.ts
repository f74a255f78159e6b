import { ToolError } from '../../errors.ts'
import { classifyPath } from '../../files/classify/index.ts'
import { objectId } from '../../files/hash/sha1.ts'
import type { LogicalPath } from '../../paths/logical-path.ts'
import { checkArgument, checkOptions, must, refuseSurplus } from '../../util/check-options.ts'
import { mapConcurrent } from '../../util/map-concurrent.ts'
import { fromByteText } from '../../util/native-bytes.ts'
import { withoutEndSlashes } from '../../util/slashes.ts'
import { bodyOf, discard, type Fetch, failed, get, isFetch } from './http.ts'
import { MAX_ENTRIES, tooMany } from './listing.ts'
import type { LazyFile, LazyLink, LazyOmitted, LazyOther, LazySource } from './source.ts'

/** Options of {@link github}. */
export interface GithubOptions {
  /** A branch, tag or commit. Default: the default branch. */
  readonly ref?: string
  /**
   * A token that may read the repository. It is sent to the origin of `api` only. Without one, GitHub answers 60 requests an
   * hour.
   */
  readonly token?: string
  /** Address of the API. Default: `https://api.github.com`; of GitHub Enterprise, `https://HOST/api/v3`. */
  readonly api?: string
  /** Sends the requests. Default: the global `fetch`. */
  readonly fetch?: Fetch
}

/** A file or link of a repository. */
export type GithubEntry =
  | ((LazyFile | LazyLink) & { readonly sha: string; readonly bytes: number })
  | LazyOther
  | LazyOmitted

/**
 * The files of a GitHub repository at one commit, as a source for {@link lazy}: one request lists them, and each file or link
 * is one request when it is first read. The id of every content is checked.
 *
 * A listing that GitHub truncates (over 100,000 entries or 7 MB) takes a request per directory that is too large, and one per
 * directory in it. While a rate limit is reached, reads fail with the time of its reset, and nothing is sent. Submodules and
 * paths that git does not check out, such as `.git`, are in {@link LazyBackend.omitted}. Another `list` by the same source asks
 * whether the commit changed, which costs nothing of the rate limit if it did not.
 *
 * @param repository `owner/name`
 * @throws TypeError for another form of a repository or token
 * @example
 * const repository = lazy(github('octocat/hello-world', { ref: 'main' }))
 * const workspace = await createWorkspace({ backend: overlay(repository), policy: 'autonomous' })
 */
export function github(repository: string, options?: GithubOptions): LazySource<GithubEntry> {
  refuseSurplus('github()', 2, arguments)
  checkArgument('github()', 'repository', repository, isRepository)
  const {
    ref = 'HEAD',
    token,
    api = 'https://api.github.com',
    fetch,
  } = checkOptions<GithubOptions>('github()', options, { ref: isRef, token: isToken, api: isAddress, fetch: isFetch })
  const base = `${withoutEndSlashes(api)}/repos/${repository}`
  const server = new ApiClient(base, token, fetch)
  let latest: { readonly etag: string; readonly entries: readonly GithubEntry[] } | undefined
  return {
    async list({ signal }) {
      const answer = await server.tree(ref, true, signal, latest?.etag)
      if (answer === 'unchanged') return latest?.entries ?? []
      const entries: GithubEntry[] = []
      if (answer.truncated) await addTruncated(server, answer.sha, entries, signal)
      else addEntries(entries, '', answer.tree)
      latest = answer.etag === null ? undefined : { etag: answer.etag, entries }
      return entries
    },
    load: ({ sha, bytes }, { signal }) => server.blob(sha, bytes, signal),
  }
}

const isRepository = must('the owner and the name of a repository, such as "octocat/hello-world"', (value) =>
  /^(?!\.{1,2}\/)[\w.-]+\/(?!\.{1,2}$)[\w.-]+$/.test(String(value)),
)
const isRef = must('a branch, a tag or a commit', (value) => typeof value === 'string' && value.trim() !== '')
const isToken = must('a token without spaces', (value) => typeof value === 'string' && /^[\x21-\x7e]+$/.test(value))
const isAddress = must('an address with http: or https:', (value) =>
  /^https?:\/\/[^/?#@]+(\/[^?#]*)?$/.test(String(value)),
)

interface TreeEntry {
  readonly path: string
  readonly mode: string
  readonly type: string
  readonly sha: string
  readonly size?: number
}

interface Tree {
  readonly sha: string
  readonly tree: readonly TreeEntry[]
  readonly truncated: boolean
  readonly etag: string | null
}

/** Adds the entries of a listing of one tree. */
function addEntries(entries: GithubEntry[], prefix: string, tree: readonly TreeEntry[]): void {
  for (const { path: below, mode, type, sha, size = 0 } of tree) {
    if (type === 'tree') continue
    const path = prefix + below
    const reason = refusalOf(path)
    if (reason !== undefined) entries.push({ type: 'omitted', path, reason })
    else if (type === 'commit') entries.push({ type: 'other', path, reason: `a submodule at commit ${sha}` })
    else if (mode === '120000') entries.push({ type: 'link', path, sha, bytes: size })
    else {
      const bits = Number.parseInt(mode, 8) & 0o100 ? 0o755 : 0o644
      entries.push({ type: 'file', path, size, mode: bits, version: sha, sha, bytes: size })
    }
  }
  if (entries.length > MAX_ENTRIES) throw tooMany()
}

/** Why git does not check a path out. */
function refusalOf(path: string): string | undefined {
  if (path.includes('\ufffd')) return 'its name is not UTF-8'
  return classifyPath(path as LogicalPath).kind === 'GIT_INTERNAL' ? 'git does not check out such a name' : undefined
}

/** Adds the entries of a tree whose listing is truncated: lists its directories one by one. */
async function addTruncated(
  server: ApiClient,
  root: string,
  entries: GithubEntry[],
  signal: AbortSignal,
): Promise<void> {
  let directories = [{ sha: root, prefix: '', isTruncated: true }]
  while (directories.length > 0) {
    const next: typeof directories = []
    const addDirectory = async ({ sha, prefix, isTruncated }: (typeof directories)[number]) => {
      const answer = await server.tree(sha, !isTruncated, signal)
      if (!answer.truncated) addEntries(entries, prefix, answer.tree)
      else if (isTruncated) throw tooMany()
      else next.push({ sha, prefix, isTruncated: true })
      if (!isTruncated) return
      for (const { type, path, sha } of answer.tree) {
        if (type === 'tree') next.push({ sha, prefix: `${prefix}${path}/`, isTruncated: false })
      }
      // Trees that contain each other many times need few objects.
      if (next.length > MAX_ENTRIES) throw tooMany()
    }
    await mapConcurrent(directories, addDirectory, CONCURRENCY)
    directories = next
  }
}

/** The id of a file without bytes. */
const EMPTY_BLOB = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
const CONCURRENCY = 6
const MAX_LISTING_BYTES = 128 * 1024 * 1024
/** GitHub's longest answer for a file in JSON: 100 MB in base64, in lines, with a few fields. */
const JSON_FACTOR = 1.4
const JSON_FIELDS_BYTES = 64 * 1024
const MAX_REDIRECTS = 3
const DEFAULT_WAIT_MS = 60_000
const MAX_WAIT_MS = 24 * 60 * 60 * 1000

/** Sends requests about one repository, until a rate limit is reached. */
class ApiClient {
  #base: string
  readonly #origin: string
  readonly #token: string | undefined
  readonly #fetch: Fetch | undefined
  /** The end of the rate limit that was reached, in milliseconds since 1970. */
  #limitedUntil = 0

  constructor(base: string, token: string | undefined, fetch: Fetch | undefined) {
    this.#base = base
    this.#origin = new URL(base).origin
    this.#token = token
    this.#fetch = fetch
  }

  /** Lists a tree. With the `etag` of an earlier answer that is still right, returns `unchanged`. */
  tree(ref: string, isRecursive: boolean, signal: AbortSignal): Promise<Tree>
  tree(ref: string, isRecursive: boolean, signal: AbortSignal, etag: string | undefined): Promise<Tree | 'unchanged'>
  async tree(ref: string, isRecursive: boolean, signal: AbortSignal, etag?: string): Promise<Tree | 'unchanged'> {
    const headers = { accept: 'application/vnd.github+json', ...(etag === undefined ? {} : { 'if-none-match': etag }) }
    const query = isRecursive ? '?recursive=1' : ''
    const { response, url } = await this.#get(`/git/trees/${encodeURIComponent(ref)}${query}`, headers, signal)
    if (response.status === 304 && etag !== undefined) return 'unchanged'
    // An empty repository.
    if (response.status === 409) return { sha: '', tree: [], truncated: false, etag: null }
    await this.#requireOk(response, url)
    // A repository that was renamed is asked by its new address.
    if (url.origin === this.#origin) this.#base = url.href.replace(/\/git\/trees\/.*/, '')
    const body = await bodyOf(response, url, MAX_LISTING_BYTES)
    const answer = parsed(body)
    if (!isTree(answer)) throw failed(url, 'answered in an unknown form')
    const { sha, tree, truncated } = answer
    return { sha, tree, truncated, etag: response.headers.get('etag') }
  }

  /** Returns the bytes of a blob. */
  async blob(sha: string, size: number, signal: AbortSignal): Promise<Uint8Array> {
    if (sha === EMPTY_BLOB) return new Uint8Array()
    const headers = { accept: 'application/vnd.github.raw+json' }
    const { response, url } = await this.#get(`/git/blobs/${sha}`, headers, signal)
    await this.#requireOk(response, url)
    const body = await bodyOf(response, url, Math.ceil(size * JSON_FACTOR) + JSON_FIELDS_BYTES)
    for (const bytes of [body, decodedBlob(body)]) {
      if (bytes?.length === size && objectId('blob', bytes) === sha) return bytes
    }
    throw failed(url, 'answered with another content than it listed')
  }

  /** Sends a request. The token goes to the origin of the API only. */
  async #get(
    path: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<{ readonly response: Response; readonly url: URL }> {
    const wait = this.#limitedUntil - Date.now()
    let url = new URL(this.#base + path)
    if (wait > 0) throw this.#limited(url)
    const token = this.#token
    for (let hops = 0; ; hops++) {
      const isOwn = url.origin === this.#origin && token !== undefined
      const authorization = isOwn ? { authorization: `Bearer ${token}` } : {}
      const init = { headers: { ...headers, ...authorization }, signal }
      // Without a token there is nothing to keep from other addresses. A page cannot see where a redirect leads.
      const response = await get(this.#fetch, url, { ...init, redirect: token === undefined ? 'follow' : 'manual' })
      const location = response.headers.get('location')
      const isRedirect = response.type === 'opaqueredirect' || [301, 302, 307, 308].includes(response.status)
      if (!isRedirect) return { response, url: addressAt(response.url, url) ?? url }
      await discard(response)
      const next = addressAt(location, url)
      if (next === undefined || hops === MAX_REDIRECTS) {
        throw failed(url, 'redirects elsewhere', 'Report this to the user: the repository may have another name.')
      }
      url = next
    }
  }

  /** @throws ToolError for an answer without a result */
  async #requireOk(response: Response, url: URL): Promise<void> {
    const { status } = response
    if (status === 200) return
    const limitedUntil = await limitEnd(response, url)
    if (limitedUntil !== undefined) {
      this.#limitedUntil = limitedUntil
      throw this.#limited(url)
    }
    await discard(response)
    const [what, hint] = reasons[status] ?? [`answered with status ${status}`]
    throw failed(url, what, hint)
  }

  #limited({ host }: URL): ToolError {
    const until = new Date(this.#limitedUntil).toISOString()
    const more = this.#token === undefined ? 'A token of GitHub raises the limit. ' : ''
    return new ToolError('BACKEND_ERROR', `Cannot load from ${host}: its rate limit is reached until ${until}`, {
      hint: `${more}Try again after ${until}, or report this to the user.`,
      retryAfterMs: Math.max(0, this.#limitedUntil - Date.now()),
    })
  }
}

/** Returns the address that a header or a response names, if it is one. */
function addressAt(location: string | null, from: URL): URL | undefined {
  try {
    return location === null || location === '' ? undefined : new URL(location, from)
  } catch {
    return undefined
  }
}

const reasons: Readonly<Record<number, readonly [what: string, hint: string]>> = {
  401: ['does not accept the token', 'Report this to the user: the token may have expired.'],
  403: [
    'does not allow this',
    'Report this to the user: the token may not read the repository, or the file is too large.',
  ],
  404: [
    'knows no such repository, branch or content',
    'Report this to the user: a private repository needs a token that may read it.',
  ],
  422: ['knows no such branch', 'Report this to the user: the branch, tag or commit does not exist.'],
}

/** Returns the time at which a rate limit ends, if a response is refused because of one, in milliseconds since 1970. */
async function limitEnd(response: Response, url: URL): Promise<number | undefined> {
  if (response.status !== 403 && response.status !== 429) return undefined
  const now = Date.now()
  const end = (ms: number) => now + Math.min(Math.max(Number.isFinite(ms) ? ms : DEFAULT_WAIT_MS, 1000), MAX_WAIT_MS)
  const after = response.headers.get('retry-after')
  if (after !== null) return end(/^\d+$/.test(after) ? Number(after) * 1000 : Date.parse(after) - now)
  if (response.headers.get('x-ratelimit-remaining') === '0') {
    return end(Number(response.headers.get('x-ratelimit-reset') ?? 'none') * 1000 - now)
  }
  if (response.status === 429) return end(DEFAULT_WAIT_MS)
  const text = new TextDecoder().decode(await bodyOf(response, url, JSON_FIELDS_BYTES))
  return /rate limit/i.test(text) ? end(DEFAULT_WAIT_MS) : undefined
}

function isTree(answer: unknown): answer is Omit<Tree, 'etag'> {
  const { sha, tree, truncated } = Object(answer) as Partial<Tree>
  const isEntry = (entry: unknown) => {
    const { path, mode, type, sha, size = 0 } = Object(entry) as Partial<TreeEntry>
    const isText = [path, mode, type].every((field) => typeof field === 'string')
    return isText && isObjectId(sha) && Number.isSafeInteger(size) && size >= 0
  }
  return isObjectId(sha) && typeof truncated === 'boolean' && Array.isArray(tree) && tree.every(isEntry)
}

/** An id is part of an address. */
function isObjectId(value: unknown): boolean {
  return typeof value === 'string' && /^[0-9a-f]{40}$/.test(value)
}

/** Returns the content of a blob that was answered as JSON, or `undefined`. */
function decodedBlob(body: Uint8Array): Uint8Array | undefined {
  const { content, encoding } = Object(parsed(body)) as { readonly content?: unknown; readonly encoding?: unknown }
  if (typeof content !== 'string') return undefined
  if (encoding === 'utf-8') return new TextEncoder().encode(content)
  try {
    return fromByteText(atob(content.replace(/\s/g, '')))
  } catch {
    return undefined
  }
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body))
  } catch {
    return undefined
  }
}
