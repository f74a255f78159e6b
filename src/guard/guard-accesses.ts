import { ToolError } from '../errors.ts'
import { classifyPath, normalizedName } from '../files/classify/index.ts'
import type { Classification } from '../files/classify/types.ts'
import {
  childOf,
  isWithin,
  type LogicalPath,
  nameOf,
  type Path,
  parentOf,
  parsePath,
  quote,
} from '../paths/logical-path.ts'
import type { Access, ContentProtection, GuardedAccess } from '../policy/access.ts'
import type { Backend, Change } from '../storage/backend.ts'

/**
 * Guards what a plan names: the lexical guard, then the one true path, then what both names are.
 * A link that is acted on itself (`noFollow`) adds an access for its target, so that policy judges that too.
 *
 * @param judgeName judges, by its name alone, a path that cannot be followed, and throws where that is denied: what lies at a
 * hidden name must not be told by how the way there fails
 * @throws ToolError `PATH_REJECTED`, `NOT_A_DIRECTORY`
 */
export async function guardAccesses(
  backend: Backend,
  planned: readonly Access[],
  judgeName?: (access: GuardedAccess) => void,
): Promise<GuardedAccess[]> {
  const guarded: GuardedAccess[] = []
  const further: GuardedAccess[] = []
  for (const access of planned) {
    const asked = parsePath(access.path)
    refuseAltered(asked)
    const noFollow = access.noFollow === true
    let followed: Followed
    try {
      followed = await follow(backend, access, asked)
    } catch (error) {
      judgeName?.(namedOnly(access, asked))
      throw error
    }
    const { one, bare } = followed
    const { path } = one
    guarded.push(one)
    for (const protection of access.protections ?? []) {
      further.push({ ...one, classification: { ...one.classification, ...contentProtections[protection] } })
    }
    if (!noFollow || bare !== undefined) continue
    const target = await backend.canonical(asked)
    if (target !== path) further.push({ ...one, path: target, classification: classifyBoth(asked, target) })
  }
  return further.length === 0 ? guarded : [...guarded, ...further]
}

/** The stricter of what two names of one thing are. */
export function classifyBoth(asked: LogicalPath, path: Path): Classification {
  const byPath = classifyPath(path)
  if (asked === path) return byPath
  const byAsked = classifyPath(asked)
  return strictness(byAsked) > strictness(byPath) ? byAsked : byPath
}

/** Refuses a change outside the granted accesses. Missing parents of a granted path may be made. */
export function coveringAccess(accesses: readonly GuardedAccess[], change: Change): GuardedAccess | undefined {
  const known = accesses.length > MANY ? soleAccesses(accesses).get(change.path) : undefined
  if (known !== undefined) return known
  for (const access of accesses) {
    if (access.path === change.path || (access.recursive && isWithin(change.path, access.path))) return access
    const other = respelled(access)
    if (other !== undefined && other !== access.path && isWithin(change.path, other)) return access
  }
  if (change.to?.type === 'directory' && change.expect === 'any') {
    for (const access of accesses) {
      if (isWithin(access.path, change.path)) return undefined
    }
  }
  // A directory above a granted path may go once it is empty: the backend refuses it while anything is left in it.
  if (change.to === null && accesses.some(({ path }) => isWithin(path, change.path))) return undefined
  throw notGranted(change.path)
}

interface Followed {
  /** The access with the one true path. */
  readonly one: GuardedAccess
  /** There is nothing yet, for a part of the path is a file that goes away. */
  readonly bare: Path | undefined
}

async function follow(backend: Backend, access: Access, asked: LogicalPath): Promise<Followed> {
  const noFollow = access.noFollow === true
  const bare =
    access.removedAncestor === undefined
      ? undefined
      : await pathBelow(backend, asked, parsePath(access.removedAncestor))
  const path = bare ?? (await backend.canonical(asked, noFollow ? { noFollow } : undefined))
  const permission =
    access.permission === 'file:write'
      ? (await backend.stat(path)) === undefined
        ? 'file:write:create'
        : 'file:write:replace'
      : access.permission
  const classification = classifyBoth(asked, path)
  return { one: { permission, asked, path, classification, recursive: access.recursive === true }, bare }
}

function namedOnly({ permission, recursive }: Access, asked: LogicalPath): GuardedAccess {
  return {
    permission: permission === 'file:write' ? 'file:write:create' : permission,
    asked,
    path: asked as string as Path,
    classification: classifyPath(asked),
    recursive: recursive === true,
  }
}

/** A name that some platform would turn into a protected one is refused, never trimmed. */
function refuseAltered(asked: LogicalPath): void {
  const altered = normalizedName(asked)
  if (altered === undefined) return
  const { protection } = classifyPath(altered)
  if (protection === 'git' || protection === 'secret') {
    throw new ToolError(
      'PATH_REJECTED',
      `Path ${quote(asked)} would become the protected ${quote(altered)} on some platforms`,
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
 * The one true path below a file or a link that the same call takes away: there is nothing yet, and the path is as it is
 * named. `undefined` where something else stands above it.
 */
async function pathBelow(backend: Backend, asked: LogicalPath, above: LogicalPath): Promise<Path | undefined> {
  const path = await backend.canonical(above, { noFollow: true })
  const type = (await backend.stat(path))?.type
  if ((type !== 'file' && type !== 'link') || !isWithin(asked, above)) return undefined
  return `${path}${asked.slice(above.length)}` as Path
}

function strictness({ protection }: Classification): number {
  return protection === undefined ? -1 : byStrictness.indexOf(protection)
}

/** From here on, accesses are looked up instead of gone through. */
const MANY = 16
const sole = new WeakMap<readonly GuardedAccess[], ReadonlyMap<Path, GuardedAccess>>()

/** The first access of each path, where none of them reaches further than its own path. */
function soleAccesses(accesses: readonly GuardedAccess[]): ReadonlyMap<Path, GuardedAccess> {
  let known = sole.get(accesses)
  if (known === undefined) {
    const isSimple = accesses.every(({ recursive, permission }) => !recursive && permission !== 'file:move')
    const found = new Map<Path, GuardedAccess>()
    if (isSimple) for (const access of accesses) if (!found.has(access.path)) found.set(access.path, access)
    known = found
    sole.set(accesses, known)
  }
  return known
}

/** The spelling that a rename asks for, where the storage ignores letter case and so knows the name already. */
function respelled({ permission, path, asked }: GuardedAccess): Path | undefined {
  return permission === 'file:move' ? childOf(parentOf(path), nameOf(asked)) : undefined
}

export function notGranted(path: Path): ToolError {
  return new ToolError('POLICY_DENIED', `${quote(path)} was not part of what the call had planned`, { path })
}

/** The mildest first: those that ask before those that deny, what shows content last but for git's own. */
const byStrictness = ['binary', 'mode', 'lockfile', 'vendored', 'generated', 'secret', 'git'] as const
