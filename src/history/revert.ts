import { ToolError } from '../errors.ts'
import { addAncestors, childOf, type Path, quote } from '../paths/logical-path.ts'
import type { Backend, Change, EntryState, Version } from '../storage/backend.ts'
import { sameVersion, versionAt, versionOf } from '../storage/versions.ts'
import type { JournalEntry } from './journal.ts'

/** A path to revert: its target state, and the version that the workspace left, which it must still have. */
export interface RevertTarget {
  readonly path: Path
  readonly to: EntryState
  readonly from: Version
}

/**
 * Combines calls, oldest first, into one revert per path: from the version after them to the state before them. Pure.
 *
 * @throws ToolError `LIMIT_EXCEEDED` if the content that a call replaced is no longer kept; `WRITE_CONFLICT` with `paths` if
 *   another writer has changed a path between two of the calls, which the revert would discard
 */
export function invertEntries(action: string, entries: readonly JournalEntry[]): RevertTarget[] {
  const targets = new Map<Path, RevertTarget>()
  const conflicts = new Set<Path>()
  for (const { callId, changes } of entries) {
    if (changes === undefined) throw noLongerKept(action, callId)
    for (const { path, before, was, became } of changes) {
      const target = targets.get(path)
      if (target === undefined && !sameVersion(versionOf(before), was)) conflicts.add(path)
      if (target !== undefined && !sameVersion(target.from, was)) conflicts.add(path)
      targets.set(path, { path, to: target === undefined ? before : target.to, from: became })
    }
  }
  // A path that has its first state again needs no revert, whatever happened in between.
  const changed = [...targets.values()].filter(({ to, from }) => !sameVersion(versionOf(to), from))
  const conflicting = changed.map(({ path }) => path).filter((path) => conflicts.has(path))
  if (conflicting.length > 0) throw changedByOthers(action, conflicting)
  return changed.sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** The change set of a revert, and directories that stay because they contain other files. */
export interface RevertPlan {
  readonly changes: readonly Change[]
  readonly kept: readonly Path[]
}

/**
 * Compares the targets with the current files and plans the changes. A directory that the calls created stays if it contains
 * other files now or after the revert. Missing parents of restored paths are created.
 *
 * @throws ToolError `WRITE_CONFLICT` with `paths` if a path no longer has the version that the workspace left
 */
export async function planRevert(
  backend: Backend,
  action: string,
  targets: readonly RevertTarget[],
): Promise<RevertPlan> {
  const conflicts = new Set<Path>()
  const changes = new Map<Path, Change>()
  const keptPaths: Path[] = []
  const needed = new Set<Path>()
  // Children before parents, so that it is known what stays in a directory.
  for (const { path, to, from } of [...targets].reverse()) {
    const now = await versionNow(backend, path)
    if (now === 'unknown' || !sameVersion(now, from)) {
      if (!isDone(now, from, to)) conflicts.add(path)
      continue
    }
    if (from?.type === 'directory' && to?.type !== 'directory') {
      const names = await backend.list(path)
      const staying = names.map(({ name }) => childOf(path, name)).filter((child) => changes.get(child)?.to !== null)
      if (staying.length > 0 || needed.has(path)) {
        if (to === null) keptPaths.push(path)
        else for (const child of staying.length > 0 ? staying : [path]) conflicts.add(child)
        continue
      }
    }
    if (to !== null) addAncestors(needed, path)
    changes.set(path, { path, expect: await expectationOf(backend, path, from, to), to })
  }
  const directories = new Set<Path>()
  for (const { path, to } of changes.values()) if (to !== null) addAncestors(directories, path)
  for (const directory of directories) {
    if (changes.has(directory)) continue
    const stat = await backend.stat(directory)
    if (stat === undefined) changes.set(directory, { path: directory, expect: 'any', to: { type: 'directory' } })
    else if (stat.type !== 'directory') conflicts.add(directory)
  }
  if (conflicts.size > 0) throw changedByOthers(action, [...conflicts].sort())
  return { changes: [...changes.values()].sort((a, b) => (a.path < b.path ? -1 : 1)), kept: keptPaths.sort() }
}

/** Whether a directory is already deleted, or already restored: that is not a conflict. */
function isDone(now: Version | 'unknown', from: Version, to: EntryState): boolean {
  if (now === 'unknown') return false
  return now === null ? to === null && from?.type === 'directory' : now.type === 'directory' && to?.type === 'directory'
}

async function versionNow(backend: Backend, path: Path): Promise<Version | 'unknown'> {
  try {
    const stat = await backend.stat(path)
    return stat?.type === 'other' ? 'unknown' : await versionAt(backend, path)
  } catch (error) {
    if (error instanceof ToolError && (error.code === 'PATH_REJECTED' || error.code === 'NOT_A_DIRECTORY'))
      return 'unknown'
    throw error
  }
}

async function expectationOf(backend: Backend, path: Path, from: Version, to: EntryState): Promise<Change['expect']> {
  if (from === null) return 'absent'
  if (from.type === 'file') return { sha256: from.sha256 }
  if (from.type === 'directory' && to === null) return 'any'
  // A missing entry has no tag, so the commit refuses it.
  const stat = await backend.stat(path)
  return { tag: stat?.tag ?? '' }
}

function changedByOthers(action: string, paths: readonly Path[]): ToolError {
  const names = paths.slice(0, 5).map(quote).join(', ')
  const more = paths.length > 5 ? ` and ${paths.length - 5} more` : ''
  return new ToolError('WRITE_CONFLICT', `Cannot ${action}: other writers have changed: ${names}${more}`, {
    path: paths[0] as Path,
    paths,
    hint: 'Nothing was reverted. Read these files; revert the later changes first, or edit the files.',
  })
}

function noLongerKept(action: string, callId: string): ToolError {
  return new ToolError(
    'LIMIT_EXCEEDED',
    `Cannot ${action}: the content that ${quote(callId)} replaced is no longer kept`,
    {
      limit: 'journalBytes',
      hint: 'The undo history is bounded, and this call is too old or was too large; edit the files instead.',
    },
  )
}
