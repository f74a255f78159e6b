import { counted } from '../../src/util/counted.ts'
import type { ProjectFile } from '../projects/types.ts'
import type { FromOutside, ToOutside } from './messages.ts'
import { isOffline, OFFLINE } from './offline.ts'

type Request = Extract<ToOutside, { kind: 'github' }>

/** Files that are asked for at the same time. */
const AT_ONCE = 8
/** Files per message. */
const BATCH_SIZE = 50
/** Bounds of a project in the browser. */
const MAX_FILES = 20_000
const MAX_BYTES = 256 * 1024 * 1024

/** An entry of a tree, as the API describes it. */
interface TreeEntry {
  readonly path: string
  readonly mode: string
  readonly type: 'blob' | 'tree' | 'commit'
  readonly sha: string
  readonly size?: number
}

/**
 * Reads the files of a commit by GitHub's REST API, which a page may ask, unlike its git server. Public files come from the
 * server of raw files, which does not count requests; with a token, all come from the API.
 */
export async function importGithub(request: Request, send: (message: FromOutside) => void): Promise<void> {
  const { owner, repo } = request
  const base = `${request.api}/repos/${encodeURIComponent(owner)}/${encodeURIComponent(repo)}`
  const ref = request.ref ?? ((await askJson(base, request)) as { default_branch: string }).default_branch
  const commit = (await askJson(`${base}/commits/${encodeURIComponent(ref)}`, request)) as {
    readonly sha: string
    readonly commit: { readonly tree: { readonly sha: string } }
  }
  const warnings: string[] = []
  const entries = await listTree(base, commit.commit.tree.sha, request)
  const wanted = entries.filter(({ type }) => type === 'blob')
  for (const { path, type } of entries) {
    if (type === 'commit') warnings.push(`Left out: "${path}", which is another repository (a submodule)`)
  }
  const bytes = wanted.reduce((sum, { size = 0 }) => sum + size, 0)
  if (wanted.length > MAX_FILES) throw new Error(`Cannot import ${owner}/${repo}: it has more than ${MAX_FILES} files`)
  if (bytes > MAX_BYTES) throw new Error(`Cannot import ${owner}/${repo}: it has more than ${MAX_BYTES >> 20} MiB`)
  const read = (entry: TreeEntry) => readFile(base, commit.sha, entry, request)
  let done = 0
  for (let from = 0; from < wanted.length; from += BATCH_SIZE) {
    const files = await mapSome(wanted.slice(from, from + BATCH_SIZE), async (entry) => {
      const file = await read(entry)
      done += 1
      send({ kind: 'progress', phase: 'Receiving files', done, total: wanted.length })
      return file
    })
    send({ kind: 'files', files, total: wanted.length })
  }
  send({ kind: 'end', warnings })
}

/** Lists a tree. The API cuts long answers, so then each directory is asked for itself. */
async function listTree(base: string, sha: string, request: Request, prefix = ''): Promise<TreeEntry[]> {
  const url = `${base}/git/trees/${sha}`
  const all = (await askJson(`${url}?recursive=1`, request)) as { tree: TreeEntry[]; truncated: boolean }
  const named = (entries: readonly TreeEntry[]) =>
    entries.map((entry) => ({ ...entry, path: `${prefix}${entry.path}` }))
  if (!all.truncated) return named(all.tree.filter(({ type }) => type !== 'tree'))
  const { tree } = (await askJson(url, request)) as { tree: TreeEntry[] }
  const entries = named(tree.filter(({ type }) => type !== 'tree'))
  for (const { path, sha, type } of tree) {
    if (type === 'tree') entries.push(...(await listTree(base, sha, request, `${prefix}${path}/`)))
    if (entries.length > MAX_FILES) break
  }
  return entries
}

async function readFile(base: string, commit: string, { path, mode, sha }: TreeEntry, request: Request) {
  const bytes = await readBlob(base, commit, { path, sha }, request)
  const isLink = mode === '120000'
  const file: ProjectFile = isLink
    ? { path, bytes: new Uint8Array(), target: new TextDecoder().decode(bytes) }
    : { path, bytes, ...(mode === '100755' && { mode: 0o755 }) }
  return file
}

async function readBlob(
  base: string,
  commit: string,
  { path, sha }: { readonly path: string; readonly sha: string },
  request: Request,
): Promise<Uint8Array> {
  const { owner, repo, raw, token } = request
  if (raw !== undefined && token === undefined) {
    const url = `${raw}/${owner}/${repo}/${commit}/${path.split('/').map(encodeURIComponent).join('/')}`
    return new Uint8Array(await (await ask(url, request)).arrayBuffer())
  }
  const { content } = (await askJson(`${base}/git/blobs/${sha}`, request)) as { readonly content: string }
  return Uint8Array.from(atob(content.replaceAll(/\s/g, '')), (character) => character.charCodeAt(0))
}

async function askJson(url: string, request: Request): Promise<unknown> {
  return (await ask(url, request)).json()
}

async function ask(url: string, { owner, repo, ref, token }: Request): Promise<Response> {
  const response = await fetch(url, {
    // The server of raw files allows no other headers.
    headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
    credentials: 'omit',
    redirect: 'follow',
    referrerPolicy: 'no-referrer',
  }).catch(() => {
    const reason = isOffline() ? OFFLINE : `${new URL(url).host} does not answer`
    throw new Error(`Cannot import ${owner}/${repo}: ${reason}`)
  })
  if (response.ok) return response
  throw new Error(`Cannot import ${owner}/${repo}: ${reasonOf(response, ref, token)}`)
}

function reasonOf({ status, headers }: Response, ref: string | undefined, token: string | undefined): string {
  const reset = Number(headers.get('x-ratelimit-reset'))
  if (status === 429 || (status === 403 && headers.get('x-ratelimit-remaining') === '0')) {
    const minutes = reset > 0 ? Math.max(1, Math.ceil((reset * 1000 - Date.now()) / 60_000)) : 60
    return `GitHub answers no more requests of this address for ${counted(minutes, 'minute')}. A token of yours raises the limit.`
  }
  if (status === 401) return 'GitHub does not accept the token'
  if (status === 404 || status === 403) {
    return token === undefined ? 'it does not exist, or it is private and needs a token' : 'the token does not reach it'
  }
  if (status === 409) return 'it is empty'
  if (status === 422) return `it has no branch, tag or commit “${ref}”`
  return `GitHub answers with status ${status}`
}

/** Maps some values at a time, in order. */
async function mapSome<A, B>(values: readonly A[], map: (value: A) => Promise<B>): Promise<B[]> {
  const results: B[] = []
  let next = 0
  const work = async () => {
    for (let at = next++; at < values.length; at = next++) results[at] = await map(values[at] as A)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return results
}
