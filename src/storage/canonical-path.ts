import { ToolError } from '../errors.ts'
import { childOf, type LogicalPath, type Path, parentOf, parsePath, quote, ROOT } from '../paths/logical-path.ts'
import type { Backend, EntryType } from './backend.ts'

/** As many links as Linux follows; more are taken for a circle. */
const MAX_LINKS = 40

/** What is needed of a backend: reads that never follow a link, neither at the end of a path nor within it. */
export type LinkReads = Pick<Backend, 'stat' | 'readLink'>

/** Options of {@link canonical}. */
export interface CanonicalOptions {
  /** Leaves the last name alone, for what acts on a link itself. */
  readonly noFollow?: boolean
}

/**
 * The derived default of `Backend.canonical`: resolves link by link from the root. One `stat` where the path exists and
 * no link is involved. What does not exist keeps its name below the nearest directory that does.
 *
 * @throws ToolError `PATH_REJECTED` where a link leads outside or in a circle, `NOT_A_DIRECTORY` where a file stands in the way
 */
export async function canonical(backend: LinkReads, path: LogicalPath, options: CanonicalOptions = {}): Promise<Path> {
  if (path === '') return ROOT
  const direct = await statOrNothing(backend, path as Path)
  // A stat follows nothing, so that what it finds has no link above it.
  if (direct !== undefined && (direct.type !== 'link' || options.noFollow)) return path as Path
  const steps = resolve(path, options.noFollow ?? false)
  let step = steps.next()
  while (!step.done) {
    const stat = await backend.stat(step.value)
    const seen = stat && (stat.type === 'link' ? { link: await backend.readLink(step.value) } : { type: stat.type })
    step = steps.next(seen)
  }
  return step.value
}

/** What is at a path, as `canonical` needs it. */
export type LookupResult = { readonly type: Exclude<EntryType, 'link'> } | { readonly link: string } | undefined

/** The same for a backend that can look without waiting. */
export function canonicalSync(look: (path: Path) => LookupResult, path: LogicalPath, noFollow: boolean): Path {
  const steps = resolve(path, noFollow)
  let step = steps.next()
  while (!step.done) step = steps.next(look(step.value))
  return step.value
}

/** The algorithm, apart from how one looks: yields each path that it must know about. */
function* resolve(asked: LogicalPath, noFollow: boolean): Generator<Path, Path, LookupResult> {
  const refuse = (why: string): never => {
    throw new ToolError('PATH_REJECTED', `Path ${quote(asked)} ${why}`, { path: asked })
  }
  // Names still to be walked, the next one last.
  const rest = asked.split('/').reverse()
  let ownNames = rest.length
  let here: Path = ROOT
  let links = 0
  while (rest.length > 0) {
    const isOwnLast = rest.length === 1 && ownNames > 0
    const name = rest.pop() as string
    if (name === '' || name === '.') continue
    if (name === '..') {
      if (here === '') refuse('leads outside the workspace')
      here = parentOf(here)
      continue
    }
    const next = childOf(here, name)
    const seen = yield next
    if (seen === undefined) {
      if (rest.includes('..')) refuse('leads through a directory that does not exist')
      const tail = rest.filter((part) => part !== '' && part !== '.').reverse()
      here = tail.reduce<Path>((directory, part) => childOf(directory, part), next)
      break
    }
    if ('link' in seen) {
      if (isOwnLast && noFollow) {
        here = next
        break
      }
      links += 1
      if (links > MAX_LINKS) refuse('leads through too many links')
      if (seen.link.startsWith('/')) refuse('leads outside the workspace')
      // From here on only the names below the link belong to the path that was asked for.
      ownNames = Math.min(ownNames, rest.length)
      rest.push(...seen.link.split('/').reverse())
      continue
    }
    if (seen.type !== 'directory' && rest.length > 0) {
      throw new ToolError(
        'NOT_A_DIRECTORY',
        `Path ${quote(asked)} leads through ${quote(next)}, which is not a directory`,
        {
          path: asked,
        },
      )
    }
    here = next
  }
  // A link's text may hold names that the guard never saw.
  if (links > 0 && here !== '' && !isGuarded(here)) refuse('leads to a name that is not allowed')
  return here
}

async function statOrNothing(backend: LinkReads, path: Path) {
  try {
    return await backend.stat(path)
  } catch (error) {
    // Some storages refuse to look through a link; the walk finds out why.
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
