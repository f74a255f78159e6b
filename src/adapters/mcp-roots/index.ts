import { realpath, stat } from 'node:fs/promises'
import { basename, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ToolError } from '../../errors.ts'
import { parsePath } from '../../paths/logical-path.ts'
import { isAtOrBelow } from '../../paths/physical.ts'
import { checkArgument, isListOf, isText, must, refuseSurplus, shape } from '../../util/check-options.ts'
import type { ClientRoot, RefusedRoot } from '../mcp/client-roots.ts'

/** A directory on disk and its path in a workspace. `''` is the root. */
export interface PlacedRoot {
  readonly at: string
  readonly directory: string
}

/** The placed roots of a client, and the roots that are not served. */
export interface PlacedRoots {
  readonly roots: readonly PlacedRoot[]
  readonly refused: readonly RefusedRoot[]
}

/**
 * Assigns paths in a workspace to the roots of a client, for use as mounts.
 *
 * `within` are the granted directories. The client's roots can only narrow them: each keeps its path below its granted directory, so
 * that policy rules apply to the same paths, and roots outside are refused. Without `within`, the client's roots are the granted directories:
 * a single root is the root of the workspace, several are placed side by side under the names of their directories.
 *
 * Links are resolved to their directories. A root inside another root is refused, because it is part of that one.
 *
 * @throws ToolError `NOT_FOUND` if none of the roots can be served
 * @example
 * const { roots } = await placeClientRoots([{ uri: pathToFileURL(directory).href }])
 * const files = mounts({ '': readOnly(memory()), ...Object.fromEntries(roots.map(({ at, directory }) => [at, nodeBackend(directory)])) })
 */
export async function placeClientRoots(
  client: readonly ClientRoot[],
  within?: readonly PlacedRoot[],
): Promise<PlacedRoots> {
  refuseSurplus('placeClientRoots()', 2, arguments)
  checkArgument('placeClientRoots()', 'client', client, isClientRoots)
  if (within !== undefined) checkArgument('placeClientRoots()', 'within', within, isPlacedRoots)
  const granted = within && (await Promise.all(within.map(resolveLinks)))
  const refused: RefusedRoot[] = []
  const candidates: Candidate[] = []
  for (const { uri } of client) {
    const location = client.length > MAX_ROOTS ? { why: `there are more than ${MAX_ROOTS}` } : await directoryOf(uri)
    const placed = 'why' in location ? location : placeWithin(location.directory, granted)
    if ('why' in placed) refused.push({ uri, why: placed.why })
    else candidates.push(...placed.roots.map((root) => ({ ...root, uri })))
  }
  const separate = candidates.filter((candidate, index) => {
    const why = coveredBy(candidate, index, candidates)
    if (why !== undefined) refused.push({ uri: candidate.uri, why })
    return why === undefined
  })
  const roots = granted === undefined ? assignNames(separate) : separate.map(({ at, directory }) => ({ at, directory }))
  if (roots.length === 0 && client.length > 0) throw noneServed(refused)
  return { roots, refused }
}

const isClientRoots = isListOf(must('a root of a client: { uri }', (root) => typeof Object(root).uri === 'string'))
const isPlacedRoots = isListOf(shape<PlacedRoot>({ at: isText, directory: isText }, 'at', 'directory'))

/** Maximum number of roots. */
const MAX_ROOTS = 100

interface Candidate extends PlacedRoot {
  readonly uri: string
}

type Reason = { readonly why: string }

/** Returns the directory of a URI, with links resolved. */
async function directoryOf(uri: string): Promise<{ readonly directory: string } | Reason> {
  const url = URL.canParse(uri) ? new URL(uri) : undefined
  if (url?.protocol !== 'file:') return { why: 'it is not a file: URI' }
  if (url.hostname !== '') return { why: 'it is on another machine' }
  try {
    const directory = await realpath(fileURLToPath(url))
    if (!(await stat(directory)).isDirectory()) return { why: 'it is not a directory' }
    if (directory.split(sep).some((name) => name.toLowerCase() === '.git')) return { why: 'it is inside .git' }
    return { directory }
  } catch {
    return { why: 'the directory does not exist' }
  }
}

/** Returns the path of a directory below a granted one, or the granted directories inside it. */
function placeWithin(
  directory: string,
  granted: readonly PlacedRoot[] | undefined,
): { readonly roots: readonly PlacedRoot[] } | Reason {
  if (granted === undefined) return { roots: [{ at: '', directory }] }
  const outer = granted.find((root) => isAtOrBelow(directory, root.directory, sep))
  const inside = granted.filter((root) => isAtOrBelow(root.directory, directory, sep))
  if (outer === undefined) {
    return inside.length > 0 ? { roots: inside } : { why: 'it is outside the granted directories' }
  }
  const names = relative(outer.directory, directory).split(sep)
  const at = [outer.at, ...names].filter((name) => name !== '').join('/')
  return at === '' || isPath(at) ? { roots: [{ at, directory }] } : { why: 'its path is not valid in a workspace' }
}

/** Returns why a root is refused. Each file must have one path, so that one set of rules applies to it. */
function coveredBy({ directory }: Candidate, index: number, all: readonly Candidate[]): string | undefined {
  const duplicate = all.findIndex((other) => other.directory === directory)
  if (duplicate < index) return 'it is a duplicate'
  const outer = all.find((other) => other.directory !== directory && isAtOrBelow(directory, other.directory, sep))
  return outer === undefined ? undefined : `it is inside ${JSON.stringify(outer.uri)} and part of that root`
}

/** Places a single root at the root, and several under unique names of their directories. */
function assignNames(roots: readonly Candidate[]): PlacedRoot[] {
  if (roots.length === 1) return roots.map(({ directory }) => ({ at: '', directory }))
  const usedNames = new Set<string>()
  return roots.map(({ directory }) => {
    const name = isPath(basename(directory)) ? basename(directory) : 'root'
    let at = name
    for (let number = 2; usedNames.has(at.toLowerCase()); number++) at = `${name}-${number}`
    usedNames.add(at.toLowerCase())
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

async function resolveLinks({ at, directory }: PlacedRoot): Promise<PlacedRoot> {
  return { at, directory: await realpath(directory) }
}

function noneServed(refused: readonly RefusedRoot[]): ToolError {
  const all = refused.slice(0, 5).map(({ uri, why }) => `${JSON.stringify(uri.slice(0, 200))}: ${why}`)
  return new ToolError('NOT_FOUND', `None of the client's roots can be served (${all.join('; ')})`, {
    hint: 'Nothing can be reached until the client sends other roots. Report this to the user.',
  })
}
