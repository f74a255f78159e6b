import { ToolError } from '../errors.ts'
import { ancestorsOf, childOf, type Path, quote } from '../paths/logical-path.ts'
import type { Backend, Change, EntryState, Version } from '../storage/backend.ts'
import { sameVersion, versionAt, versionOf } from '../storage/versions.ts'
import type { JournalEntry } from './journal.ts'

/** What a path shall be again, and what it must be for that: what the workspace made of it last. */
export interface RevertTarget {
  readonly path: Path
  readonly to: EntryState
  readonly from: Version
}

/**
 * Calls, oldest first, taken together: for each path the way from what they made of it to what it was before them. Pure.
 *
 * @throws ToolError `LIMIT_EXCEEDED` where what a call replaced is no longer kept; `WRITE_CONFLICT` with `paths` where
 *   someone else has changed a path between two of the calls, which going back would discard
 */
export function invertEntries(what: string, entries: readonly JournalEntry[]): RevertTarget[] {
  const ways = new Map<Path, RevertTarget>()
  const conflicts = new Set<Path>()
  for (const { callId, changes } of entries) {
    if (changes === undefined) throw notKept(what, callId)
    for (const { path, before, was, became } of changes) {
      const way = ways.get(path)
      if (way === undefined && !sameVersion(versionOf(before), was)) conflicts.add(path)
      if (way !== undefined && !sameVersion(way.from, was)) conflicts.add(path)
      ways.set(path, { path, to: way === undefined ? before : way.to, from: became })
    }
  }
  // What is as it was before needs no way back, whatever happened to it in between.
  const open = [...ways.values()].filter(({ to, from }) => !sameVersion(versionOf(to), from))
  const torn = open.map(({ path }) => path).filter((path) => conflicts.has(path))
  if (torn.length > 0) throw changedByOthers(what, torn)
  return open.sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** The change set that takes a way back, and directories that have to stay because others use them. */
export interface RevertPlan {
  readonly changes: readonly Change[]
  readonly kept: readonly Path[]
}

/**
 * Compares with what is there now, and gives the changes. A directory that the calls made and that holds something
 * else now, or holds it again after this, stays; a missing parent of what comes back is made.
 *
 * @throws ToolError `WRITE_CONFLICT` with `paths` where anything is no longer as the workspace left it
 */
export async function planRevert(backend: Backend, what: string, ways: readonly RevertTarget[]): Promise<RevertPlan> {
  const conflicts = new Set<Path>()
  const changes = new Map<Path, Change>()
  const kept: Path[] = []
  const needed = new Set<Path>()
  // Children before parents, so that a directory knows what stays in it.
  for (const { path, to, from } of [...ways].reverse()) {
    const now = await versionNow(backend, path)
    if (now === 'unknown' || !sameVersion(now, from)) {
      if (!isDone(now, from, to)) conflicts.add(path)
      continue
    }
    if (from?.type === 'directory' && to?.type !== 'directory') {
      const names = await backend.list(path)
      const staying = names.map(({ name }) => childOf(path, name)).filter((child) => changes.get(child)?.to !== null)
      if (staying.length > 0 || needed.has(path)) {
        if (to === null) kept.push(path)
        else for (const child of staying.length > 0 ? staying : [path]) conflicts.add(child)
        continue
      }
    }
    if (to !== null) for (const above of ancestorsOf(path)) needed.add(above)
    changes.set(path, { path, expect: await expectationOf(backend, path, from, to), to })
  }
  for (const { path, to } of [...changes.values()]) {
    if (to === null) continue
    for (const above of ancestorsOf(path)) {
      if (changes.has(above)) continue
      const stat = await backend.stat(above)
      if (stat === undefined) changes.set(above, { path: above, expect: 'any', to: { type: 'directory' } })
      else if (stat.type !== 'directory') conflicts.add(above)
    }
  }
  if (conflicts.size > 0) throw changedByOthers(what, [...conflicts].sort())
  return { changes: [...changes.values()].sort((a, b) => (a.path < b.path ? -1 : 1)), kept: kept.sort() }
}

/** A directory that is gone already, or there again, is nobody's loss. */
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
  // What is gone by now has no tag, and so is refused.
  const stat = await backend.stat(path)
  return { tag: stat?.tag ?? '' }
}

function changedByOthers(what: string, paths: readonly Path[]): ToolError {
  const named = paths.slice(0, 5).map(quote).join(', ')
  const more = paths.length > 5 ? ` and ${paths.length - 5} more` : ''
  return new ToolError(
    'WRITE_CONFLICT',
    `Cannot ${what}: changed since by someone or something else: ${named}${more}`,
    {
      path: paths[0] as Path,
      paths,
      hint: 'Nothing was taken back. Read these files; take the later changes back first, or change the files by hand.',
    },
  )
}

function notKept(what: string, callId: string): ToolError {
  return new ToolError('LIMIT_EXCEEDED', `Cannot ${what}: what ${quote(callId)} replaced is no longer kept`, {
    limit: 'journalBytes',
    hint: 'The undo history is bounded, and this call lies too far back or was too large; change the files by hand.',
  })
}
