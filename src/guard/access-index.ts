import { childOf, isWithin, nameOf, type Path, parentOf } from '../paths/logical-path.ts'
import type { GuardedAccess } from '../policy/access.ts'
import type { Change, EntryState, Expectation } from '../storage/backend.ts'
import { notGranted } from './guard-accesses.ts'

/** Finds the first of many accesses that covers a path. A move of a tree has thousands of accesses. */
export class AccessIndex {
  readonly accesses: readonly GuardedAccess[]
  readonly #exact = new Map<Path, number>()
  /** For paths whose access covers everything below them. */
  readonly #below = new Map<Path, number>()
  /** The lengths of the paths in `#below`. */
  readonly #lengths = new Set<number>()

  constructor(accesses: readonly GuardedAccess[]) {
    this.accesses = accesses
    for (const [i, access] of accesses.entries()) {
      const { path, recursive } = access
      if (!this.#exact.has(path)) this.#exact.set(path, i)
      for (const start of [recursive ? path : undefined, renamedPath(access)]) {
        if (start === undefined || this.#below.has(start)) continue
        this.#below.set(start, i)
        this.#lengths.add(start.length)
      }
    }
  }

  /** Returns the access that covers a path, if there is one. */
  find(path: Path): GuardedAccess | undefined {
    let first = this.#exact.get(path) ?? this.accesses.length
    for (const length of this.#lengths) {
      if (length > path.length || !isWithin(path, path.slice(0, length) as Path)) continue
      first = Math.min(first, this.#below.get(path.slice(0, length) as Path) ?? first)
    }
    return this.accesses[first]
  }
}

/**
 * Returns the access that grants a change. `undefined` for a change that needs none: creating a missing parent of a granted
 * path, or removing an empty directory above it.
 *
 * @param granting the accesses that may grant it
 * @param before the present state of the path: only a directory may be removed without an access, and nothing replaced
 * @throws ToolError `POLICY_DENIED` for a change outside the granted accesses
 */
export function coveringAccess(granting: AccessIndex, change: Change, before: EntryState): GuardedAccess | undefined {
  const access = granting.find(change.path)
  if (access !== undefined) return access
  const isAbove = granting.accesses.some(({ path }) => isWithin(path, change.path))
  if (isAbove && change.to?.type === 'directory' && change.expect === 'any') {
    if (before === null || before.type === 'directory') return undefined
  }
  // The backend refuses to remove a directory that is not empty. The tag keeps a file that replaces it meanwhile.
  if (isAbove && change.to === null && before?.type === 'directory' && hasTag(change.expect)) return undefined
  throw notGranted(change.path)
}

function hasTag(expect: Expectation): boolean {
  return typeof expect === 'object' && 'tag' in expect
}

/**
 * Returns the requested spelling of a move target, if it is another one. On a storage that ignores letter case, the canonical path
 * keeps the present spelling.
 */
function renamedPath({ permission, path, asked }: GuardedAccess): Path | undefined {
  const name = nameOf(asked)
  return permission === 'file:move' && name !== nameOf(path) ? childOf(parentOf(path), name) : undefined
}
