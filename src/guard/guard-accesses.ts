import { ToolError } from '../errors.ts'
import { classifyPath, normalizedName } from '../files/classify/index.ts'
import type { Classification } from '../files/classify/types.ts'
import { display, isWithin, type LogicalPath, type Path, parsePath, quote } from '../paths/logical-path.ts'
import type { Access, ContentProtection, GuardedAccess } from '../policy/access.ts'
import type { Backend } from '../storage/backend.ts'
import { endOfLinks } from '../storage/canonical-path.ts'
import { type Lookups, look, readsAtOnce, runLookups, runLookupsNow } from '../storage/lookups.ts'

/** Whether policy hides a path that cannot be resolved, the first one, or the file above it. */
export type IsHidden = (accesses: readonly GuardedAccess[]) => boolean

/**
 * Guards the accesses of a plan: the lexical guard, then the canonical path, then the classification of both names.
 * An access to a link itself (`noFollow`) adds an access for its target, so that policy evaluates the target too.
 *
 * @param isHidden decides about a path that cannot be resolved. A hidden one is guarded as if nothing were there, because the
 * error would reveal what is.
 * @throws ToolError `PATH_REJECTED`, `NOT_A_DIRECTORY`
 */
export function guardAccesses(
  backend: Backend,
  planned: readonly Access[],
  isHidden?: IsHidden,
): GuardedAccess[] | Promise<GuardedAccess[]> {
  const lookups = guardLookups(planned, isHidden)
  const now = readsAtOnce(backend)
  return now === undefined ? runLookups(backend, lookups) : runLookupsNow(now, lookups)
}

/** {@link guardAccesses}, independent of how entries are looked up. */
export function* guardLookups(planned: readonly Access[], isHidden?: IsHidden): Lookups<GuardedAccess[]> {
  const guarded: GuardedAccess[] = []
  const further: GuardedAccess[] = []
  for (const access of planned) {
    const requestedPath = parsePath(access.path)
    rejectProtectedVariant(requestedPath)
    let resolved: ResolvedAccess
    try {
      resolved = yield* resolveAccess(access, requestedPath)
    } catch (error) {
      const end = endOfLinks(error)
      const unresolved = unresolvedAccess(access, requestedPath, end?.path)
      const above = end?.file ? [unresolvedAccess(access, end.file)] : []
      if (!isHidden?.([unresolved, ...above])) throw error
      resolved = { guardedAccess: unresolved, isUnresolved: true }
    }
    const { guardedAccess, isUnresolved } = resolved
    guarded.push(guardedAccess)
    for (const protection of access.protections ?? []) {
      const classification = { ...guardedAccess.classification, ...contentProtections[protection] }
      further.push({ ...guardedAccess, classification })
    }
    if (!access.noFollow || access.revertsLink || isUnresolved) continue
    const target = yield* targetOf(requestedPath)
    if (target === guardedAccess.path) continue
    further.push({ ...guardedAccess, path: target, classification: classifyBoth(requestedPath, target) })
  }
  return further.length === 0 ? guarded : [...guarded, ...further]
}

/**
 * Returns where a link leads, which policy evaluates as well: there may be nothing.
 *
 * @throws ToolError `PATH_REJECTED` if it leads outside
 */
function* targetOf(link: LogicalPath): Lookups<Path> {
  try {
    return yield* look((reads) => reads.canonical(link))
  } catch (error) {
    const end = endOfLinks(error)
    if (end === undefined) throw error
    return end.path
  }
}

/** Returns the stricter classification of two names of one file. */
export function classifyBoth(requestedPath: LogicalPath, path: Path): Classification {
  const byPath = classifyPath(path)
  if (requestedPath === path) return byPath
  const byRequest = classifyPath(requestedPath)
  return strictness(byRequest) > strictness(byPath) ? byRequest : byPath
}

interface ResolvedAccess {
  /** The access with its canonical path. */
  readonly guardedAccess: GuardedAccess
  /** The path leads through a file that the same call deletes, or that is hidden: nothing exists there. */
  readonly isUnresolved: boolean
}

function* resolveAccess(access: Access, requestedPath: LogicalPath): Lookups<ResolvedAccess> {
  const noFollow = access.noFollow === true
  const pathBelowFile =
    access.removedAncestor === undefined
      ? undefined
      : yield* pathBelow(requestedPath, parsePath(access.removedAncestor))
  const options = noFollow ? { noFollow } : undefined
  const path = pathBelowFile ?? (yield* look((reads) => reads.canonical(requestedPath, options)))
  const permission =
    access.permission === 'file:write'
      ? (yield* look((reads) => reads.stat(path))) === undefined
        ? 'file:write:create'
        : 'file:write:replace'
      : access.permission
  const classification = classifyBoth(requestedPath, path)
  // What a search or a diff shows below a directory is decided path by path.
  const isWalk = /:(search|diff)$/.test(permission)
  const isOfFile = isWalk && (yield* look((reads) => reads.stat(path)))?.type === 'file'
  const marks = isOfFile ? { ...access, reveals: true } : access
  return {
    guardedAccess: guardedAccess(permission, requestedPath, path, classification, marks),
    isUnresolved: pathBelowFile !== undefined,
  }
}

/** Returns the access for a path that could not be resolved. */
function unresolvedAccess(
  access: Access,
  requestedPath: LogicalPath,
  path = requestedPath as string as Path,
): GuardedAccess {
  const permission = access.permission === 'file:write' ? 'file:write:create' : access.permission
  return guardedAccess(permission, requestedPath, path, classifyBoth(requestedPath, path), access)
}

/** What policy evaluates beside the permission and the path of an access. */
export interface AccessMarks {
  readonly recursive?: boolean | undefined
  readonly isSource?: boolean | undefined
  readonly reveals?: boolean | undefined
}

/** Returns an access whose path passed the guard. Marks that do not apply are absent. */
export function guardedAccess(
  permission: GuardedAccess['permission'],
  asked: LogicalPath,
  path: Path,
  classification: Classification,
  { recursive, isSource, reveals }: AccessMarks,
): GuardedAccess {
  const access = { permission, asked, path, classification, recursive: recursive === true }
  // Added one by one: a spread would give every access a hidden class of its own in V8.
  if (isSource === true) (access as { isSource?: boolean }).isSource = true
  if (reveals === true) (access as { reveals?: boolean }).reveals = true
  return access
}

/** Rejects a path that some platform would normalize to a protected one, such as `.git.` on Windows. Nothing is trimmed. */
function rejectProtectedVariant(requestedPath: LogicalPath): void {
  const normalized = normalizedName(requestedPath)
  if (normalized === undefined) return
  const names = requestedPath.split('/')
  const altered = normalized.split('/')
  // A name in the middle becomes the protected one as well, so that no later operation finds it.
  for (let count = 1; count <= altered.length; count++) {
    const prefix = altered.slice(0, count).join('/') as LogicalPath
    if (altered.length === names.length && prefix === names.slice(0, count).join('/')) continue
    const { protection } = classifyPath(prefix)
    if (protection !== 'git' && protection !== 'secret') continue
    throw new ToolError(
      'PATH_REJECTED',
      `Path ${quote(requestedPath)} would become the protected ${quote(prefix)} on some platforms`,
    )
  }
}

const contentProtections: Readonly<Record<ContentProtection, Partial<Classification>>> = {
  mode: {
    protection: 'mode',
    reason: 'its mode would change',
    hint: 'Leave the mode lines out of the patch: only policy can allow them.',
  },
  binary: {
    protection: 'binary',
    reason: 'the change is binary',
    hint: 'Leave the binary file out of the patch: only policy can allow it.',
  },
}

/**
 * Returns the canonical path below a file or link that the same call deletes. Nothing exists there yet, so the rest of the
 * path stays as requested. `undefined` if the ancestor is something else.
 */
function* pathBelow(requestedPath: LogicalPath, ancestor: LogicalPath): Lookups<Path | undefined> {
  const path = yield* look((reads) => reads.canonical(ancestor, { noFollow: true }))
  const type = (yield* look((reads) => reads.stat(path)))?.type
  if ((type !== 'file' && type !== 'link') || !isWithin(requestedPath, ancestor)) return undefined
  return `${path}${requestedPath.slice(ancestor.length)}` as Path
}

function strictness({ protection }: Classification): number {
  return protection === undefined ? -1 : byStrictness.indexOf(protection)
}

/** Returns the error for a path that the plan of a tool does not name, or not with an access of this kind. */
export function notGranted(path: Path, access = 'access'): ToolError {
  return new ToolError('POLICY_DENIED', `${quote(display(path))} was not part of the plan of the call`, {
    path: display(path),
    hint: `This is an error of the tool, not of the call: its plan names no ${access} to it. Report it to the user.`,
  })
}

/** In ascending order: protections that ask, then those that deny; those that hide content, and git, last. */
const byStrictness = ['binary', 'mode', 'lockfile', 'vendored', 'generated', 'secret', 'git'] as const
