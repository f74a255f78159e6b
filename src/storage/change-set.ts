import { ToolError } from '../errors.ts'
import { type LogicalPath, nearestFinder, type Path, parentOf, parsePath, quote } from '../paths/logical-path.ts'
import { isUint8Array } from '../util/bytes.ts'
import { checkArgument, isObjectWith, must } from '../util/check-options.ts'
import type { Change, EntryType, Stat, StoredContent } from './backend.ts'
import { linkTarget } from './link-target.ts'

/**
 * Refuses a change set that is invalid for any tree: a duplicate path, the root, a malformed expectation or state, an
 * entry below a path that the same set makes a file, a link or absent, a link that leads outside. Pure. Every backend
 * calls it (most through {@link checkChangeSet}), so that all refuse the same sets.
 *
 * @param stages whether the backend has `stage`, so that a state may name a stored `content`. Default: false
 * @throws ToolError `INVALID_INPUT`, `PATH_REJECTED`, `NOT_A_DIRECTORY`, `NOT_FOUND`
 */
export function validateChanges(changes: readonly Change[], stages = false): void {
  checkArgument('validateChanges()', 'changes', changes, isChangeSet)
  for (const change of changes) validateChange(change, stages)
  if (changes.length < 2) return
  const byPath = indexByPath(changes)
  const obstacleAt = nearestFinder<Path>((path) => byPath.has(path) && byPath.get(path)?.to?.type !== 'directory')
  for (const change of changes) {
    if (change.to === null) continue
    const obstacle = obstacleAt(parentOf(change.path))
    if (obstacle === undefined) continue
    throw byPath.get(obstacle)?.to === null ? missingParent(change, obstacle) : fileInTheWay(change, obstacle)
  }
}

/** An existing entry. Nodes of a tree in memory have this shape. */
export interface Present {
  readonly type: EntryType
  readonly stat: Pick<Stat, 'tag'>
}

/** An existing entry that is a file. */
export type FileOf<P> = P & { readonly type: 'file' }

/** The present tree of a backend, for {@link checkChangeSet}. */
export interface PresentView<P extends Present> {
  /** The entry at a path, links not followed; `undefined` for a missing path. */
  at(path: Path): P | undefined
  /** Returns the sha256 of a file. Called only if `at` returned a file. */
  sha256(present: FileOf<P>, path: Path): string
  /** Returns the names in a directory. Called only if `at` returned a directory. */
  names(path: Path): Iterable<string>
  /** Whether the backend has `stage`. Default: false. */
  readonly stages?: boolean
}

/**
 * Checks a change set against the present tree: {@link validateChanges}, every expectation, target state and parent, and
 * that no directory is deleted with entries left in it. Changes nothing. Returns the entry at the path of each change, in
 * the order of the set. A backend with asynchronous lookups loads the view first.
 *
 * A file or link may replace a directory only if the change expects the directory by its `tag` and the set deletes
 * everything in it. A directory may replace a file or link only if that is expected by `sha256` or `tag`.
 *
 * @throws ToolError what {@link validateChanges} throws, `WRITE_CONFLICT` (with `currentSha256`, null if there is no
 *   file), `ALREADY_EXISTS`, `IS_DIRECTORY`, `NOT_A_DIRECTORY`, `NOT_FOUND`, `DIRECTORY_NOT_EMPTY`
 */
export function checkChangeSet<P extends Present>(changes: readonly Change[], view: PresentView<P>): (P | undefined)[] {
  checkArgument('checkChangeSet()', 'view', view, isPresentView)
  checkArgument('checkChangeSet()', 'changes', changes, isChangeSet)
  validateChanges(changes, view.stages)
  const byPath = changes.length < 2 ? undefined : indexByPath(changes)
  return changes.map((change) => {
    const present = view.at(change.path)
    checkExpectation(change, present, view)
    checkTarget(change, present)
    if (change.to === null || change.to.type !== 'directory') {
      if (present?.type === 'directory') checkEmptied(change, byPath, view)
    }
    if (change.to !== null) checkParent(change, byPath, view)
    return present
  })
}

/**
 * Sorts a set into an order in which it can be applied step by step: deletions (children before parents), directories
 * (parents before children), files and links. The result does not depend on the order of the set.
 */
export function applyOrder<C extends Change>(changes: readonly C[]): readonly C[] {
  checkArgument('applyOrder()', 'changes', changes, isChangeSet)
  if (changes.length < 2) return changes
  const deletions = changes.filter(({ to }) => to === null).sort((a, b) => (a.path < b.path ? 1 : -1))
  const directories = changes.filter(({ to }) => to?.type === 'directory').sort(byPathAscending)
  const others = changes.filter(({ to }) => to !== null && to.type !== 'directory').sort(byPathAscending)
  return [...deletions, ...directories, ...others]
}

/** Checks an argument that takes a change set. Its paths and states are checked later. */
export const isChangeSet = must(
  'a list of changes',
  (changes) => Array.isArray(changes) && changes.every((change) => typeof change?.path === 'string'),
)
const isPresentView = isObjectWith('a view of the present tree', 'at', 'names')

/** Returns the error for an unmet expectation. `currentSha256` is null if there is no file. */
export function conflict(path: LogicalPath, currentSha256: string | null): ToolError {
  const reason = currentSha256 === null ? 'the expected file is not there' : 'it is not the expected version'
  return new ToolError('WRITE_CONFLICT', `Cannot change ${quote(path)}: ${reason}`, { path, currentSha256 })
}

function validateChange(change: Change, stages: boolean): void {
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
  else if (to.type !== 'file' || !isUint8Array(to.bytes)) throw invalid(path, 'its state is malformed')
  else if (to.mode !== undefined && !isMode(to.mode)) throw invalid(path, 'its mode is not permission bits')
  else if (to.content !== undefined) validateContent(change, to.content, stages)
}

function validateContent({ path }: Change, content: StoredContent, stages: boolean): void {
  if (!stages) throw invalid(path, 'this storage takes contents as bytes only')
  const { size, sha256 } = Object(content) as StoredContent
  if (!Number.isSafeInteger(size) || size < 0 || !isSha256(sha256)) throw invalid(path, 'its content is malformed')
}

function checkExpectation<P extends Present>(
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

function checkTarget({ path, expect, to }: Change, present: Present | undefined): void {
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

function checkEmptied<P extends Present>(
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

function checkParent<P extends Present>(
  change: Change,
  byPath: ReadonlyMap<string, Change> | undefined,
  view: PresentView<P>,
): void {
  const parent = parentOf(change.path)
  // A parent in the set was checked already: it becomes a directory.
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

function invalid(path: string, reason: string): ToolError {
  return new ToolError('INVALID_INPUT', `Cannot commit the change of ${quote(path)}: ${reason}`, { path })
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

export function isSha256(text: unknown): boolean {
  return typeof text === 'string' && /^[0-9a-f]{64}$/.test(text)
}

function isMode(mode: number): boolean {
  return Number.isInteger(mode) && mode >= 0 && mode <= 0o7777
}
