import { realpath, stat } from 'node:fs/promises'
import { basename, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ToolError } from '../../errors.ts'
import { parsePath } from '../../paths/logical-path.ts'
import { isAtOrBelow } from '../../paths/physical.ts'
import type { ClientRoot, RefusedRoot } from '../mcp/client-roots.ts'

/** A directory of the disk, and where it stands in a workspace: `''` is the root of it. */
export interface PlacedRoot {
  readonly at: string
  readonly directory: string
}

/** Where a client's roots stand, and those that are not served. */
export interface PlacedRoots {
  readonly roots: readonly PlacedRoot[]
  readonly refused: readonly RefusedRoot[]
}

/**
 * Places the roots that a client names: the mounts of a workspace for that client.
 *
 * `within` are the directories that were granted before. The client's roots can only narrow these: each stands where it
 * stands in them, so that the rules of a policy speak of the same paths, and what lies outside is refused. Without `within`
 * the client's word is the grant: one root is the root of the workspace, several stand side by side under the names of their
 * directories.
 *
 * A root that is a link is the directory it leads to. A root inside another one is reached through that.
 *
 * @throws ToolError `NOT_FOUND` where none of the roots can be served
 * @example
 * const { roots } = await placeClientRoots([{ uri: pathToFileURL(directory).href }])
 * const files = mounts({ '': readOnly(memory()), ...Object.fromEntries(roots.map(({ at, directory }) => [at, nodeBackend(directory)])) })
 */
export async function placeClientRoots(
  client: readonly ClientRoot[],
  within?: readonly PlacedRoot[],
): Promise<PlacedRoots> {
  const granted = within && (await Promise.all(within.map(truePlace)))
  const refused: RefusedRoot[] = []
  const found: Found[] = []
  for (const { uri } of client) {
    const place = client.length > MOST ? { why: `there are more than ${MOST}` } : await directoryOf(uri)
    const placed = 'why' in place ? place : placedIn(place.directory, granted)
    if ('why' in placed) refused.push({ uri, why: placed.why })
    else found.push(...placed.roots.map((root) => ({ ...root, uri })))
  }
  const apart = found.filter((one, index) => {
    const why = coveredBy(one, index, found)
    if (why !== undefined) refused.push({ uri: one.uri, why })
    return why === undefined
  })
  const roots = granted === undefined ? named(apart) : apart.map(({ at, directory }) => ({ at, directory }))
  if (roots.length === 0 && client.length > 0) throw noneServed(refused)
  return { roots, refused }
}

/** More of them are no roots. */
const MOST = 100

interface Found extends PlacedRoot {
  readonly uri: string
}

type Why = { readonly why: string }

/** The directory that an address names, links followed. */
async function directoryOf(uri: string): Promise<{ readonly directory: string } | Why> {
  const url = URL.canParse(uri) ? new URL(uri) : undefined
  if (url?.protocol !== 'file:') return { why: 'it is no file: address' }
  if (url.hostname !== '') return { why: 'it names another machine' }
  try {
    const directory = await realpath(fileURLToPath(url))
    if (!(await stat(directory)).isDirectory()) return { why: 'it is no directory' }
    if (directory.split(sep).some((name) => name.toLowerCase() === '.git')) return { why: 'it lies in .git' }
    return { directory }
  } catch {
    return { why: 'there is no such directory' }
  }
}

/** Where a directory stands in what was granted: itself, or those granted ones that lie in it. */
function placedIn(
  directory: string,
  granted: readonly PlacedRoot[] | undefined,
): { readonly roots: readonly PlacedRoot[] } | Why {
  if (granted === undefined) return { roots: [{ at: '', directory }] }
  const around = granted.find((root) => isAtOrBelow(directory, root.directory, sep))
  const inside = granted.filter((root) => isAtOrBelow(root.directory, directory, sep))
  if (around === undefined) {
    return inside.length > 0 ? { roots: inside } : { why: 'it lies outside of what was granted' }
  }
  const names = relative(around.directory, directory).split(sep)
  const at = [around.at, ...names].filter((name) => name !== '').join('/')
  return at === '' || isPath(at)
    ? { roots: [{ at, directory }] }
    : { why: 'its path is none that a workspace could name' }
}

/** A file has one name: under a second one, a rule for the first would not hold. */
function coveredBy({ directory }: Found, index: number, all: readonly Found[]): string | undefined {
  const twin = all.findIndex((other) => other.directory === directory)
  if (twin < index) return 'it is there already'
  const outer = all.find((other) => other.directory !== directory && isAtOrBelow(directory, other.directory, sep))
  return outer === undefined ? undefined : `it lies inside ${JSON.stringify(outer.uri)}, and is reached through that`
}

/** One is the root; several have the names of their directories, each its own. */
function named(roots: readonly Found[]): PlacedRoot[] {
  if (roots.length === 1) return roots.map(({ directory }) => ({ at: '', directory }))
  const taken = new Set<string>()
  return roots.map(({ directory }) => {
    const name = isPath(basename(directory)) ? basename(directory) : 'root'
    let at = name
    for (let number = 2; taken.has(at.toLowerCase()); number++) at = `${name}-${number}`
    taken.add(at.toLowerCase())
    return { at, directory }
  })
}

function isPath(text: string): boolean {
  try {
    return parsePath(text) === text
  } catch {
    return false
  }
}

async function truePlace({ at, directory }: PlacedRoot): Promise<PlacedRoot> {
  return { at, directory: await realpath(directory) }
}

function noneServed(refused: readonly RefusedRoot[]): ToolError {
  const all = refused.slice(0, 5).map(({ uri, why }) => `${JSON.stringify(uri.slice(0, 200))}: ${why}`)
  return new ToolError('NOT_FOUND', `None of the client's roots can be served (${all.join('; ')})`, {
    hint: 'Nothing can be reached until the client sends other roots. Report this to the user.',
  })
}
