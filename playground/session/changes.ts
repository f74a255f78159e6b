import type { JournalEntry, Path, Workspace, WorkspaceHistory } from 'wardspace'
import type { EntryState, Version } from 'wardspace/backend'
import { sha256Of } from '../projects/sha256.ts'
import type { SessionProject } from './types.ts'

/** A file before and after. `undefined`: no file, or content that is no longer available. */
export interface FileChange {
  readonly path: string
  readonly status: 'added' | 'changed' | 'deleted'
  readonly before: Uint8Array | undefined
  readonly after: Uint8Array | undefined
}

/** Returns the changed paths since the start of the history, with the kind of change. */
export function changedPaths(history: WorkspaceHistory): ReadonlyMap<string, FileChange['status']> {
  const found = new Map<string, FileChange['status']>()
  for (const [path, { first, last }] of ways(history.entries)) {
    const status = statusOf(first, last)
    if (status !== undefined) found.set(path, status)
  }
  return found
}

/** A file of a review. A renamed file counts once, under its present path. */
export interface ChangedFile {
  readonly path: string
  readonly status: FileChange['status'] | 'renamed'
  /** The path of a renamed file at the start. */
  readonly from?: string
  /** Identifies the two states of the file. */
  readonly version: string
}

/** Returns the changed files since the start of the history, sorted by path. */
export function changedFiles({ entries }: WorkspaceHistory): readonly ChangedFile[] {
  const all = ways(entries)
  const status = (path: Path) => {
    const way = all.get(path)
    return way && statusOf(way.first, way.last)
  }
  const moves = new Map<string, string>()
  const gone = new Set<string>()
  const origins = originsOf(entries)
  const deleted = deletedByContent(all)
  for (const [path, { last }] of all) {
    if (status(path) !== 'added') continue
    const from = origins.get(path) ?? deleted.get(keyOf(last))
    if (from === undefined || status(from) !== 'deleted' || gone.has(from)) continue
    moves.set(path, from)
    gone.add(from)
  }
  const files: ChangedFile[] = []
  for (const [path, { first, last }] of all) {
    const kind = status(path)
    if (kind === undefined || gone.has(path)) continue
    const from = moves.get(path) as Path | undefined
    const start = from === undefined ? first : (all.get(from)?.first ?? null)
    const version = `${keyOf(start)} ${keyOf(last)}`
    files.push(from === undefined ? { path, status: kind, version } : { path, status: 'renamed', from, version })
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** Returns the first path of each path that a call has moved a file to. */
function originsOf(entries: readonly JournalEntry[]): ReadonlyMap<Path, Path> {
  const origins = new Map<Path, Path>()
  for (const { changes = [] } of entries) {
    const removed = new Map<string, Path>()
    for (const { path, was, became } of changes) {
      if (was?.type === 'file' && !became && !removed.has(keyOf(was))) removed.set(keyOf(was), path)
    }
    for (const { path, was, became } of changes) {
      if (became?.type !== 'file' || was?.type === 'file') continue
      const source = removed.get(keyOf(became))
      if (source === undefined) origins.delete(path)
      else origins.set(path, origins.get(source) ?? source)
    }
  }
  return origins
}

/** Returns the deleted files by their content at the start. A content that several of them had is left out. */
function deletedByContent(all: ReadonlyMap<Path, Way>): ReadonlyMap<string, Path | undefined> {
  const deleted = new Map<string, Path | undefined>()
  for (const [path, { first, last }] of all) {
    if (last !== null || first?.type !== 'file') continue
    const key = keyOf(first)
    deleted.set(key, deleted.has(key) ? undefined : path)
  }
  return deleted
}

/** Returns the content and the permission bits of a file at the start of the history, and its present content. */
export async function contentOfChange(
  project: Pick<SessionProject, 'backend'>,
  { entries }: WorkspaceHistory,
  { path, from = path, status }: Pick<ChangedFile, 'path' | 'from' | 'status'>,
): Promise<{ readonly before: Uint8Array | undefined; readonly after: Uint8Array | undefined }> {
  const before = status === 'added' ? null : (ways(entries).get(from as Path)?.before ?? null)
  return { before: bytesOf(before), after: await present(project, path) }
}

/** Whether a file that some calls have changed differs now from what it was before them. A rollback may restore any state before them. */
export function hasChangesOf({ entries }: WorkspaceHistory, callIds: ReadonlySet<string>): boolean {
  const all = ways(entries)
  const ofCalls = ways(entries.filter(({ callId }) => callIds.has(callId)))
  const earlier = entries.slice(
    0,
    entries.findIndex(({ callId }) => callIds.has(callId)),
  )
  return [...ofCalls].some(([path, { first }]) => {
    const { last = null, tool } = all.get(path) ?? {}
    const isNow = (version: Version) => statusOf(version, last) === undefined
    if (isNow(first)) return false
    const wasEarlier = () => earlier.some(({ changes }) => changes?.some((one) => one.path === path && isNow(one.was)))
    return tool !== 'rollback' || !wasEarlier()
  })
}

/** Returns the state at the start of the history of each path that differs now. */
export function firstStates({ entries }: WorkspaceHistory): ReadonlyMap<Path, EntryState> {
  const changed = [...ways(entries)].filter(([, { first, last }]) => statusOf(first, last) !== undefined)
  return new Map(changed.map(([path, { before }]) => [path, before]))
}

/** Returns the combined change of all calls to one file. */
export async function changeOfFile(
  project: Pick<SessionProject, 'backend'>,
  workspace: Pick<Workspace, 'history'>,
  path: string,
): Promise<FileChange | undefined> {
  const { entries } = workspace.history()
  const way = ways(entries).get(path as Path)
  const status = way && statusOf(way.first, way.last)
  if (way === undefined || status === undefined) return undefined
  return { path, status, before: bytesOf(way.before), after: await present(project, path) }
}

/** Returns the changes of one call, file by file. */
export async function changesOfCall(
  project: Pick<SessionProject, 'backend'>,
  workspace: Pick<Workspace, 'history'>,
  callId: string,
): Promise<readonly FileChange[]> {
  const { entries } = workspace.history()
  const at = entries.findLastIndex((entry) => entry.callId === callId)
  const changes = entries[at]?.changes ?? []
  const files = await Promise.all(
    changes.map(async ({ path, before, was, became }): Promise<FileChange | undefined> => {
      const status = isGitInternal(path) ? undefined : statusOf(was, became)
      if (status === undefined) return undefined
      const after = became?.type === 'file' ? await contentAfter(project, entries, at, path) : undefined
      return { path, status, before: bytesOf(before), after }
    }),
  )
  return files.filter((file) => file !== undefined)
}

/** Returns the content of one version of a file, if the history still contains it. */
export async function contentOfVersion(
  project: Pick<SessionProject, 'backend'>,
  { entries }: WorkspaceHistory,
  path: string,
  sha256: string,
): Promise<Uint8Array | undefined> {
  for (const { changes = [] } of entries) {
    for (const { path: changed, before, was } of changes) {
      if (changed === path && before?.type === 'file' && was?.type === 'file' && was.sha256 === sha256)
        return before.bytes
    }
  }
  const now = await present(project, path)
  return now !== undefined && (await sha256Of(now)) === sha256 ? now : undefined
}

interface Way {
  readonly first: Version
  last: Version
  /** The tool of the last change. */
  tool: string
  readonly before: EntryState
}

function ways(entries: readonly JournalEntry[]): Map<Path, Way> {
  const found = new Map<Path, Way>()
  for (const { tool, changes = [] } of entries) {
    for (const { path, before, was, became } of changes) {
      const way = found.get(path)
      if (way !== undefined) Object.assign(way, { last: became, tool })
      else if (!isGitInternal(path)) found.set(path, { first: was, last: became, tool, before })
    }
  }
  return found
}

/** Whether a path belongs to git itself, whose files are no changes of the project. */
export function isGitInternal(path: string): boolean {
  return path.toLowerCase().split('/').includes('.git')
}

function bytesOf(state: EntryState): Uint8Array | undefined {
  return state?.type === 'file' ? state.bytes : undefined
}

/** Ignores changes of directories. */
function statusOf(from: Version, to: Version): FileChange['status'] | undefined {
  const isFile = (version: Version) => version !== null && version.type !== 'directory'
  if (!isFile(from)) return isFile(to) ? 'added' : undefined
  if (!isFile(to)) return 'deleted'
  return keyOf(from) === keyOf(to) ? undefined : 'changed'
}

function keyOf(version: Version): string {
  return version?.type === 'file' ? version.sha256 : JSON.stringify(version)
}

/** Content of a file after a call: the state before the next call that changed it, or the current one. */
async function contentAfter(
  project: Pick<SessionProject, 'backend'>,
  entries: readonly JournalEntry[],
  at: number,
  path: Path,
): Promise<Uint8Array | undefined> {
  for (const { changes } of entries.slice(at + 1)) {
    const next = changes?.find((change) => change.path === path)
    if (next !== undefined) return bytesOf(next.before)
  }
  return present(project, path)
}

async function present({ backend }: Pick<SessionProject, 'backend'>, path: string): Promise<Uint8Array | undefined> {
  try {
    return (await backend.read(path as Path)).bytes
  } catch {
    return undefined
  }
}
