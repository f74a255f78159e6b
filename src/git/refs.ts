import { ToolError } from '../errors.ts'
import { quote } from '../paths/logical-path.ts'
import { decodeName } from '../paths/name-bytes.ts'
import { corrupt } from './corrupt-error.ts'
import type { Objects } from './objects.ts'
import type { GitFiles } from './repository-files.ts'

/** Returns the commit that HEAD names, or `undefined` when there is no repository or no commit yet. */
export async function headCommit(files: GitFiles): Promise<string | undefined> {
  const commit = await readRef(files, 'HEAD')
  if (commit === null) throw corrupt('HEAD does not name a commit in a known format')
  return commit
}

const MAX_HOPS = 10

/** What git allows in the name of a ref, and a workspace does not in that of a file. */
const UNHOLDABLE = /[\p{Cc}\p{Cs}\p{Bidi_Control}]/u

/** The content of HEAD in a repository whose refs are in a reftable. */
const NOT_IN_FILES = 'refs/heads/.invalid'

/**
 * Returns `undefined` if there is no such ref, and `null` if it has an unknown format, is circular, or may be in a file that a
 * workspace cannot hold.
 */
async function readRef(files: GitFiles, name: string): Promise<string | undefined | null> {
  for (let hops = 0; hops < MAX_HOPS; hops++) {
    const bytes = await files.read(name)
    const text = bytes === undefined ? await packedRef(files, name) : decodeName(bytes).trim()
    if (text === undefined) return UNHOLDABLE.test(name) ? null : undefined
    if (isId(text)) return text
    const next = /^ref: (refs\/\S+)$/.exec(text)?.[1]
    if (next === undefined || next === NOT_IN_FILES) return null
    name = next
  }
  return null
}

async function packedRef(files: GitFiles, name: string): Promise<string | undefined> {
  const bytes = await files.read('packed-refs')
  if (bytes === undefined) return undefined
  for (const line of decodeName(bytes).split('\n')) {
    if (line.endsWith(name) && line[40] === ' ' && line.length === 41 + name.length && isId(line.slice(0, 40))) {
      return line.slice(0, 40)
    }
  }
  return undefined
}

/** Returns the refs below a prefix such as `refs/heads/` by their names without it, in order. Those in files of their own have no id here. */
export async function listRefs(files: GitFiles, prefix: string): Promise<ReadonlyMap<string, string | undefined>> {
  const refs = new Map<string, string | undefined>()
  for (const line of decodeName((await files.read('packed-refs')) ?? new Uint8Array()).split('\n')) {
    const id = line.slice(0, 40)
    if (line.startsWith(` ${prefix}`, 40) && isId(id)) refs.set(line.slice(41 + prefix.length), id)
  }
  const waiting = [prefix.slice(0, -1)]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const { type } = (await files.stat(name)) ?? {}
    if (type === 'file') refs.set(name.slice(prefix.length), undefined)
    if (type === 'directory') for (const child of await files.list(name)) waiting.push(`${name}/${child}`)
  }
  return new Map([...refs].sort(([a], [b]) => (a < b ? -1 : 1)))
}

function isId(text: string): boolean {
  return /^[0-9a-f]{40}$/.test(text)
}

/**
 * Returns the id of the commit that a branch, tag, ref or (short) id names, optionally followed by `~N` and `^`.
 *
 * @throws ToolError `NOT_FOUND` with the name
 */
export async function resolveCommit(files: GitFiles, objects: Objects, name: string): Promise<string> {
  const missing = (): ToolError =>
    new ToolError('NOT_FOUND', `Cannot find the commit ${quote(name)}`, {
      hint: 'Use a commit id, a branch or a tag of the repository.',
    })
  const [, start = '', steps = ''] = /^((?:(?!@\{)[^~^:?*[\\\s])+)((?:~\d{0,6}|\^)*)$/.exec(name) ?? []
  if (start === '' || start.split('/').some((part) => part === '' || part === '.' || part === '..')) throw missing()
  const base = start === '@' ? 'HEAD' : start
  let id: string | undefined
  if (isId(base)) id = base
  else {
    const candidates = [
      base,
      `refs/${base}`,
      `refs/tags/${base}`,
      `refs/heads/${base}`,
      `refs/remotes/${base}`,
      `refs/remotes/${base}/HEAD`,
    ]
    for (const ref of candidates) {
      if (!ref.startsWith('refs/') && !/^[A-Z_]+$/.test(ref)) continue
      id ??= (await readRef(files, ref)) ?? undefined
    }
    id ??= await objects.complete(base)
  }
  if (id === undefined) throw missing()
  let commit = await peel(objects, id)
  const visited = new Set<string>()
  for (const [, kind, count = ''] of steps.matchAll(/([~^])(\d*)/g)) {
    for (let n = kind === '^' || count === '' ? 1 : Number(count); n > 0 && commit !== undefined; n--) {
      if (visited.has(commit)) throw corrupt('its history is circular')
      visited.add(commit)
      const { parents } = parseCommit(await objects.need(commit, 'commit'))
      commit = parents[0]
    }
  }
  if (commit === undefined) throw missing()
  return commit
}

/** Returns the commit that an id names, also through annotated tags. */
export async function peel(objects: Objects, id: string): Promise<string | undefined> {
  let at = id
  for (let hops = 0; hops < MAX_HOPS; hops++) {
    const object = await objects.read(at)
    if (object === undefined) return undefined
    if (object.type === 'commit') return at
    if (object.type !== 'tag') return undefined
    at = /^object ([0-9a-f]{40})\n/.exec(new TextDecoder().decode(object.bytes.subarray(0, 60)))?.[1] ?? ''
  }
  return undefined
}

export function parseCommit(bytes: Uint8Array): { tree: string; parents: string[] } {
  const text = new TextDecoder().decode(bytes)
  const head = text.slice(0, text.indexOf('\n\n') + 1 || text.length)
  const tree = /^tree ([0-9a-f]{40})$/m.exec(head)?.[1] ?? ''
  return { tree, parents: [...head.matchAll(/^parent ([0-9a-f]{40})$/gm)].map(([, id]) => id as string) }
}
