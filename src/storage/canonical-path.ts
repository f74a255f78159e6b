import { ToolError } from '../errors.ts'
import { childOf, type LogicalPath, type Path, parentOf, parsePath, quote, ROOT } from '../paths/logical-path.ts'
import { checkArgument, checkOptions, isBoolean, isFunction, isObjectWith, requireText } from '../util/check-options.ts'
import type { Backend, EntryType } from './backend.ts'

/** How the refusal of a circle of links ends. Programs expect a code of its own for it. */
export const TOO_MANY_LINKS = 'leads through too many links'

/** Where the links of a path lead that cannot be resolved. */
export interface LinksEnd {
  readonly path: Path
  /** The file above the path. */
  readonly file: Path | undefined
}

/** The ends of links, by the error. */
const ends = new WeakMap<object, LinksEnd>()

/** Returns where the links of a path end without leading outside: below a file, at a missing directory, or in a circle. */
export function endOfLinks(error: unknown): LinksEnd | undefined {
  return ends.get(error as object)
}

/** Maximum number of links followed, as in Linux. More are treated as a circle. */
const MAX_LINKS = 40

/** Reads that never follow a link, neither at the end of a path nor within it. */
export type LinkReads = Pick<Backend, 'stat' | 'readLink'>

/** Options of {@link canonical}. */
export interface CanonicalOptions {
  /** Does not resolve the last name, for operations on a link itself. */
  readonly noFollow?: boolean
}

/**
 * Implements `Backend.canonical` with `stat` and `readLink`: resolves link by link from the root. Needs one `stat` if the
 * path exists and contains no link, and two if only its last name does not exist. Names that do not exist are kept below the
 * nearest existing directory.
 *
 * @throws ToolError `PATH_REJECTED` if a link leads outside or in a circle, `NOT_A_DIRECTORY` if an ancestor is a file
 */
export async function canonical(backend: LinkReads, path: LogicalPath, requested?: CanonicalOptions): Promise<Path> {
  checkArgument('canonical()', 'backend', backend, isLinkReads)
  requireText('canonical()', 'path', path)
  const { noFollow = false } = optionsOf(requested)
  if (path === '') return ROOT
  const direct = await statOrNothing(backend, path as Path)
  // `stat` follows no link, so the path contains none.
  if (direct !== undefined && (direct.type !== 'link' || noFollow)) return path as Path
  // A name that does not exist in a directory that does: no need to resolve the directories above one by one.
  const parent = parentOf(path)
  if (direct === undefined && parent !== '' && (await statOrNothing(backend, parent as Path))?.type === 'directory') {
    return path as Path
  }
  const steps = resolve(path, noFollow)
  let step = steps.next()
  while (!step.done) {
    const stat = await backend.stat(step.value)
    const entry = stat && (stat.type === 'link' ? { link: await backend.readLink(step.value) } : { type: stat.type })
    step = steps.next(entry)
  }
  return step.value
}

const NO_OPTIONS: CanonicalOptions = {}

/** Checks the options. Those of internal callers are recognized quickly, because `canonical` is called for every path. */
function optionsOf(options: CanonicalOptions | undefined): CanonicalOptions {
  if (options === undefined) return NO_OPTIONS
  const [first, ...others] = Object.entries(options ?? {})
  const isKnown = first === undefined || (first[0] === 'noFollow' && typeof first[1] === 'boolean')
  if (isKnown && others.length === 0 && Object.getPrototypeOf(options ?? '') === Object.prototype) return options
  return checkOptions<CanonicalOptions>('canonical()', options, { noFollow: isBoolean })
}

const isLinkReads = isObjectWith('a backend, or an object with stat() and readLink()', 'stat', 'readLink')

/** The entry at a path: its type, or the target of a link. */
export type LookupResult = { readonly type: Exclude<EntryType, 'link'> } | { readonly link: string } | undefined

/** Like {@link canonical}, for backends with synchronous lookups. */
export function canonicalSync(look: (path: Path) => LookupResult, path: LogicalPath, noFollow: boolean): Path {
  requireText('canonicalSync()', 'path', path)
  checkArgument('canonicalSync()', 'look', look, isFunction)
  const steps = resolve(path, noFollow)
  let step = steps.next()
  while (!step.done) step = steps.next(look(step.value))
  return step.value
}

/** The algorithm, independent of how entries are looked up: yields each path to look up. */
function* resolve(requestedPath: LogicalPath, noFollow: boolean): Generator<Path, Path, LookupResult> {
  const refuse = (reason: string, path?: Path, file?: Path): never => {
    const code = file ? 'NOT_A_DIRECTORY' : 'PATH_REJECTED'
    const error = new ToolError(code, `Path ${quote(requestedPath)} ${reason}`, { path: requestedPath })
    if (path) ends.set(error, { path, file })
    throw error
  }
  // Names still to be resolved, the next one last.
  const pending = requestedPath.split('/').reverse()
  const pendingBelow = (directory: Path): Path =>
    pending.filter((name) => name !== '' && name !== '.').reduceRight<Path>(childOf, directory)
  let ownNames = pending.length
  let current: Path = ROOT
  let links = 0
  while (pending.length > 0) {
    const name = pending.pop() as string
    if (name === '' || name === '.') continue
    if (name === '..') {
      if (current === '') refuse('leads outside the workspace')
      current = parentOf(current)
      continue
    }
    const next = childOf(current, name)
    const entry = yield next
    if (entry === undefined) {
      if (pending.includes('..')) refuse('leads through a directory that does not exist', next)
      current = pendingBelow(next)
      break
    }
    if ('link' in entry) {
      if (noFollow && pending.length === 0 && ownNames > 0) {
        current = next
        break
      }
      links += 1
      if (links > MAX_LINKS) refuse(TOO_MANY_LINKS, next)
      if (entry.link.startsWith('/')) refuse('leads outside the workspace')
      // From here on, only the names below the link belong to the requested path.
      ownNames = Math.min(ownNames, pending.length)
      pending.push(...entry.link.split('/').reverse())
      continue
    }
    if (entry.type !== 'directory' && pending.length > 0) {
      refuse(`leads through ${quote(next)}, which is not a directory`, pendingBelow(next), next)
    }
    current = next
  }
  // The target of a link may contain names that the path guard has not checked.
  if (links > 0 && current !== '' && !isGuarded(current)) refuse('leads to a name that is not allowed', current)
  return current
}

async function statOrNothing(backend: LinkReads, path: Path) {
  try {
    return await backend.stat(path)
  } catch (error) {
    // A storage may refuse a name below a link. Resolving name by name finds the reason.
    if (error instanceof ToolError && (error.code === 'PATH_REJECTED' || error.code === 'NOT_A_DIRECTORY'))
      return undefined
    throw error
  }
}

function isGuarded(path: string): boolean {
  try {
    return parsePath(path) === path
  } catch {
    return false
  }
}
