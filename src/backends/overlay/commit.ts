import { ToolError } from '../../errors.ts'
import { sha256 } from '../../files/hash/sha256.ts'
import { type Path, parentOf, quote } from '../../paths/logical-path.ts'
import type { Capabilities, Change, Stat, Version } from '../../storage/backend.ts'
import { checkChangeSet } from '../../storage/change-set.ts'
import { isLost, priorStateWithin, versionAt } from '../../storage/versions.ts'
import { type Base, keptContent, MAX_BASE_BYTES } from './changed-paths.ts'
import { type Layers, refuseReserved } from './layers.ts'
import type { LayeredReads } from './reads.ts'

/** Attempts to read a file that others change at the same time. */
const MOST_ATTEMPTS = 20

/** A checked change, with the version before it. */
export interface CheckedChange {
  readonly change: Change
  readonly before: Version
  /** The path already has the requested state. */
  readonly isNoChange: boolean
}

/** Refuses changes that an overlay cannot store or `lower` could not take, before anything is read. */
export function refuseUnsupported(changes: readonly Change[], capabilities: Capabilities): void {
  for (const { path, to } of changes) {
    refuseReserved(path)
    if (to?.type === 'link' && !capabilities.links) {
      throw new ToolError('INVALID_INPUT', `Cannot link ${quote(path)}: the storage has no links`, { path })
    }
  }
}

/** Checks a set against what the overlay shows. */
export async function checkSet(
  { locate, touched }: Layers,
  reads: LayeredReads,
  changes: readonly Change[],
): Promise<CheckedChange[]> {
  const present = new Map<Path, Stat | undefined>()
  const names = new Map<Path, readonly string[]>()
  const versions = new Map<Path, Version>()
  /** Directories whose nearest existing ancestor is known. */
  const searched = new Set<Path>()

  async function look(path: Path): Promise<Stat | undefined> {
    if (!present.has(path)) present.set(path, await reads.stat(path))
    return present.get(path)
  }

  /** Notes an entry and its version, which is that of the same moment: others may change `lower` in between. */
  async function note(path: Path): Promise<Stat | undefined> {
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      // Below a file, no entry exists, whatever a storage returns for such a path.
      const stat = await look(path)
      versions.set(path, stat === undefined ? null : await versionAt(reads, path))
      if (stat?.type !== 'file' || (await reads.stat(path))?.tag === stat.tag) return stat
      present.delete(path)
    }
    throw new ToolError('WRITE_CONFLICT', `Cannot change ${quote(path)}: it changes all the time`, { path })
  }

  for (const { path, to } of changes) {
    const stat = await note(path)
    if (stat?.type === 'directory' && to?.type !== 'directory') {
      names.set(
        path,
        (await reads.list(path)).map(({ name }) => name),
      )
    }
    if (to === null) continue
    for (let above = parentOf(path); above !== '' && !searched.has(above); above = parentOf(above)) {
      searched.add(above)
      if ((await look(above)) !== undefined) break
    }
  }
  checkChangeSet(changes, {
    at(path) {
      const stat = present.get(path)
      return stat && { type: stat.type, stat }
    },
    sha256: (_, path) => (versions.get(path) as Extract<Version, { readonly type: 'file' }>).sha256,
    names: (path) => names.get(path) as readonly string[],
  })
  return changes.map((change) => {
    const before = versions.get(change.path) ?? null
    const isNoChange =
      change.to === null ? before === null : change.to.type === 'directory' && before?.type === 'directory'
    // Deleting an absent path again still hides what others may create in `lower`.
    return { change, before, isNoChange: isNoChange && (change.to !== null || !wasTouched(change.path)) }
  })

  function wasTouched(path: Path): boolean {
    return touched.has(path) || locate(path) === 'upper'
  }
}

/** Returns a checked set as changes of the upper backend, and the lower versions of newly changed paths. */
export async function upperSet(
  { lower, upper, touched, locate }: Layers,
  reads: LayeredReads,
  checked: readonly CheckedChange[],
  capabilities: Capabilities,
): Promise<{ set: Change[]; bases: Map<Path, Base> }> {
  const set: Change[] = []
  const bases = new Map<Path, Base>()
  const parents = new Set<Path>()
  const ownPaths = new Set(checked.map(({ change }) => change.path))

  for (const { change, before, isNoChange } of checked) {
    const { path, to, from } = change
    if (isNoChange) {
      // The upper backend may not have a directory yet that the same set writes into.
      if (to !== null) {
        await addParents(path)
        parents.add(path)
      }
      continue
    }
    if (!touched.has(path)) bases.set(path, await baseOf(path, before))
    const stat = await upper.stat(path)
    const expect = stat === undefined ? 'absent' : { tag: stat.tag }
    if (to?.type !== 'file') {
      set.push({ path, expect: to?.type === stat?.type && to?.type === 'directory' ? 'any' : expect, to })
    } else {
      const mode = to.mode ?? (capabilities.modes ? await modeOf(before, from) : undefined)
      const { type, bytes } = to
      const shared = locate(path) === 'upper' && to.sharedPrefix !== undefined ? { sharedPrefix: to.sharedPrefix } : {}
      set.push({ path, expect, to: { type, bytes, ...shared, ...(mode === undefined ? {} : { mode }) } })
    }
    if (to !== null) await addParents(path)
  }
  const parentChanges: Change[] = [...parents].map((path) => ({ path, expect: 'any', to: { type: 'directory' } }))
  const all = set.length === 0 ? [] : [...parentChanges, ...set, ...touched.notes(bases)]
  return { set: all, bases }

  /** Adds the directories above a path that the upper backend does not have. */
  async function addParents(path: Path): Promise<void> {
    for (let above = parentOf(path); above !== ''; above = parentOf(above)) {
      // The directories above one of the set are added with it.
      if (parents.has(above) || ownPaths.has(above)) return
      if ((await upper.stat(above))?.type === 'directory') return
      parents.add(above)
    }
  }

  async function baseOf(path: Path, before: Version): Promise<Base> {
    if (before === null || locate(path) === 'upper') return { base: null }
    if (before.type === 'file') {
      if (before.size > MAX_BASE_BYTES) return { base: before }
      const { state } = await priorStateWithin(lower, path)
      if (state?.type !== 'file' || isLost(state)) return { base: before }
      // Others may have changed it since.
      return { base: before, ...(sha256(state.bytes) === before.sha256 ? keptContent(state.bytes) : {}) }
    }
    const tag = (await lower.stat(path))?.tag
    return { base: before, ...(tag === undefined ? {} : { tag }) }
  }

  /** Permission bits of the replaced file, else of the moved file. */
  async function modeOf(before: Version, from: Path | undefined): Promise<number | undefined> {
    if (before?.type === 'file') return before.mode
    const source = from === undefined ? undefined : await reads.stat(from)
    return source?.type === 'file' ? source.mode : undefined
  }
}
