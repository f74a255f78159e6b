import { ToolError } from '../errors.ts'
import { type LogicalPath, type Path, parentOf, parsePath, quote } from '../paths/logical-path.ts'
import type { Change, EntryType, Stat } from './backend.ts'

/**
 * Refuses a change set that makes no sense whatever the tree looks like: a path twice, the root, a malformed
 * expectation or state, something present below what the same set makes a file, a link or absent, a link that leads
 * outside. Pure. Every backend calls it (most through {@link checkChangeSet}), so that all refuse the same sets.
 *
 * @throws ToolError `INVALID_INPUT`, `PATH_REJECTED`, `NOT_A_DIRECTORY`, `NOT_FOUND`
 */
export function validateChanges(changes: readonly Change[]): void {
  for (const change of changes) validateChange(change)
  if (changes.length < 2) return
  const byPath = indexByPath(changes)
  for (const change of changes) {
    if (change.to === null) continue
    for (let above = parentOf(change.path); above !== ''; above = parentOf(above)) {
      const other = byPath.get(above)
      if (other === undefined || other.to?.type === 'directory') continue
      throw other.to === null ? missingParent(change, above) : fileInTheWay(change, above)
    }
  }
}

/** What is at a path now. Nodes of a tree in memory are such as they are. */
export interface Present {
  readonly type: EntryType
  readonly stat: Pick<Stat, 'tag'>
}

/** Such of it as is a file. */
export type FileOf<P> = P & { readonly type: 'file' }

/** How a backend shows its present tree to {@link checkChangeSet}. */
export interface PresentView<P extends Present> {
  /** The entry at a path, links not followed; `undefined` if there is none. */
  at(path: Path): P | undefined
  /** The sha256 of a file's content; only asked where `at` told of a file. */
  sha256(present: FileOf<P>, path: Path): string
  /** The names in a directory; only asked where `at` told of one. */
  names(path: Path): Iterable<string>
}

/**
 * Judges a whole change set against the present tree, before anything is touched: `validateChanges`, every expectation,
 * every target state, every parent, and that no directory vanishes with something left in it. Returns what is at each
 * change's path, in the order of the set. A backend that must wait for its storage gathers the view first.
 *
 * A directory gives way to a file or a link only where the change expects that directory by its `tag` and the set makes
 * everything in it absent; a file or a link gives way to a directory only where it is expected by `sha256` or `tag`.
 *
 * @throws ToolError what {@link validateChanges} throws, `WRITE_CONFLICT` (with `currentSha256`, null for what is no
 *   file), `ALREADY_EXISTS`, `IS_DIRECTORY`, `NOT_A_DIRECTORY`, `NOT_FOUND`, `DIRECTORY_NOT_EMPTY`
 */
export function checkChangeSet<P extends Present>(changes: readonly Change[], view: PresentView<P>): (P | undefined)[] {
  validateChanges(changes)
  const byPath = changes.length < 2 ? undefined : indexByPath(changes)
  return changes.map((change) => {
    const present = view.at(change.path)
    judgeExpectation(change, present, view)
    judgeTarget(change, present)
    if (change.to === null || change.to.type !== 'directory') {
      if (present?.type === 'directory') judgeEmptied(change, byPath, view)
    }
    if (change.to !== null) judgeParent(change, byPath, view)
    return present
  })
}

/**
 * The order in which a set can be applied step by step: what vanishes first, children before parents, then directories,
 * parents before children, then files and links. The same for every order of the set.
 */
export function applyOrder<C extends Change>(changes: readonly C[]): readonly C[] {
  if (changes.length < 2) return changes
  const absent = changes.filter(({ to }) => to === null).sort((a, b) => (a.path < b.path ? 1 : -1))
  const directories = changes.filter(({ to }) => to?.type === 'directory').sort(byPathAscending)
  const rest = changes.filter(({ to }) => to !== null && to.type !== 'directory').sort(byPathAscending)
  return [...absent, ...directories, ...rest]
}

/**
 * Where a link at `path` leads, by its text alone. Only relative targets that stay inside are taken, and `..` only at
 * their beginning: after a name it would climb from wherever that name leads, which may be another place later.
 *
 * @throws ToolError `PATH_REJECTED`
 */
export function linkTarget(path: LogicalPath, target: string): LogicalPath {
  const refuse = (why: string): never => {
    throw new ToolError('PATH_REJECTED', `Cannot link ${quote(path)} to ${quote(target)}: the target ${why}`, { path })
  }
  if (target === '') return refuse('is empty')
  if (target.startsWith('/')) return refuse('is absolute')
  const names = target.split('/').filter((name) => name !== '' && name !== '.')
  let climbs = 0
  while (names[climbs] === '..') climbs += 1
  const down = names.slice(climbs)
  if (down.includes('..')) return refuse('climbs after it went down')
  const base = path.split('/').slice(0, -1)
  if (climbs > base.length) return refuse('leads outside the workspace')
  const full = [...base.slice(0, base.length - climbs), ...down].join('/')
  if (full === '') return '' as LogicalPath
  let parsed: LogicalPath
  try {
    parsed = parsePath(full)
    if (down.length > 0) parsePath(down.join('/'))
  } catch {
    return refuse('has a name that is not allowed')
  }
  return parsed
}

/** The refusal of a change whose expected version is not there. `currentSha256` is null where no file is. */
export function conflict(path: LogicalPath, currentSha256: string | null): ToolError {
  const why = currentSha256 === null ? 'the expected file is not there' : 'it is not the expected version'
  return new ToolError('WRITE_CONFLICT', `Cannot change ${quote(path)}: ${why}`, { path, currentSha256 })
}

function validateChange(change: Change): void {
  const { path, expect, to } = change
  if (path === '') throw invalid(path, 'the root cannot be changed')
  if (parsePath(path) !== path)
    throw new ToolError('PATH_REJECTED', `Cannot change ${quote(path)}: the path is not normalised`, { path })
  if (expect !== 'any' && expect !== 'absent') {
    if (typeof expect !== 'object' || expect === null) throw invalid(path, 'its expectation is malformed')
    const sane = 'sha256' in expect ? isSha256(expect.sha256) : typeof expect.tag === 'string'
    if (!sane) throw invalid(path, 'its expectation is malformed')
  }
  if (to === null || to.type === 'directory') return
  if (to.type === 'link') linkTarget(path, to.target)
  else if (to.type !== 'file' || !(to.bytes instanceof Uint8Array)) throw invalid(path, 'its state is malformed')
  else if (to.mode !== undefined && !isMode(to.mode)) throw invalid(path, 'its mode is no permission bits')
}

function judgeExpectation<P extends Present>(
  { path, expect }: Change,
  present: P | undefined,
  view: PresentView<P>,
): void {
  if (expect === 'absent') {
    if (present === undefined) return
    throw new ToolError('ALREADY_EXISTS', `Cannot create ${quote(path)}: it already exists`, { path })
  }
  if (present?.type === 'other') {
    throw new ToolError('PATH_REJECTED', `Cannot change ${quote(path)}: it is neither a file, a directory nor a link`, {
      path,
    })
  }
  if (expect === 'any') return
  const current = present?.type === 'file' ? (present as FileOf<P>) : undefined
  if ('tag' in expect) {
    if (present?.stat.tag === expect.tag) return
    throw conflict(path, current === undefined ? null : view.sha256(current, path))
  }
  const sha256 = current === undefined ? null : view.sha256(current, path)
  if (sha256 !== expect.sha256) throw conflict(path, sha256)
}

function judgeTarget({ path, expect, to }: Change, present: Present | undefined): void {
  if (to === null || present === undefined) return
  if (to.type === 'directory') {
    if (present.type === 'directory' || expect !== 'any') return
    throw new ToolError('ALREADY_EXISTS', `Cannot create directory ${quote(path)}: a ${present.type} is there`, {
      path,
    })
  }
  if (present.type === 'directory' && expect === 'any') {
    throw new ToolError('IS_DIRECTORY', `Cannot write ${quote(path)}: it is a directory`, { path })
  }
}

function judgeEmptied<P extends Present>(
  change: Change,
  byPath: ReadonlyMap<string, Change> | undefined,
  view: PresentView<P>,
): void {
  const { path } = change
  for (const name of view.names(path)) {
    if (byPath?.get(`${path}/${name}`)?.to === null) continue
    const verb = change.to === null ? 'delete' : 'replace'
    throw new ToolError('DIRECTORY_NOT_EMPTY', `Cannot ${verb} directory ${quote(path)}: it is not empty`, { path })
  }
}

function judgeParent<P extends Present>(
  change: Change,
  byPath: ReadonlyMap<string, Change> | undefined,
  view: PresentView<P>,
): void {
  const parent = parentOf(change.path)
  // What the set says of a parent was judged: it is a directory.
  if (parent === '' || byPath?.has(parent)) return
  for (let above = parent; above !== ''; above = parentOf(above)) {
    const present = view.at(above)
    if (present === undefined) continue
    if (present.type !== 'directory') throw fileInTheWay(change, above)
    if (above === parent) return
    break
  }
  throw missingParent(change, parent)
}

function missingParent({ path }: Change, parent: Path): ToolError {
  return new ToolError('NOT_FOUND', `Cannot create ${quote(path)}: directory ${quote(parent)} does not exist`, { path })
}

function fileInTheWay({ path }: Change, above: Path): ToolError {
  return new ToolError('NOT_A_DIRECTORY', `Cannot create ${quote(path)}: ${quote(above)} is not a directory`, { path })
}

function invalid(path: string, why: string): ToolError {
  return new ToolError('INVALID_INPUT', `Cannot commit the change of ${quote(path)}: ${why}`, { path })
}

function indexByPath(changes: readonly Change[]): ReadonlyMap<string, Change> {
  const byPath = new Map<string, Change>()
  for (const change of changes) {
    if (byPath.has(change.path)) throw invalid(change.path, 'the set holds it twice')
    byPath.set(change.path, change)
  }
  return byPath
}

function byPathAscending(a: Change, b: Change): number {
  return a.path < b.path ? -1 : 1
}

function isSha256(text: unknown): boolean {
  return typeof text === 'string' && /^[0-9a-f]{64}$/.test(text)
}

function isMode(mode: number): boolean {
  return Number.isInteger(mode) && mode >= 0 && mode <= 0o7777
}
