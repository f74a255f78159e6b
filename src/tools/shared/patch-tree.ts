import { ToolError } from '../../errors.ts'
import { requireFile } from '../../guard/guarded-files.ts'
import { applyToFile, refuseAddedMarks } from '../../patch/apply-file.ts'
import type { FileChange, Mode } from '../../patch/file-change.ts'
import type { PatchedFile } from '../../patch/line-diff.ts'
import type { PatchPlan } from '../../patch/plan.ts'
import { type LogicalPath, notFound, type Path, quote } from '../../paths/logical-path.ts'
import type { GuardedAccess } from '../../policy/access.ts'
import type { Change, Receipt, Stat } from '../../storage/backend.ts'
import { throwIfAborted } from '../../util/abort.ts'
import { sameBytes } from '../../util/bytes.ts'
import { createPacer } from '../../util/pacer.ts'
import type { BuiltinContext } from '../builtin-tool.ts'
import type { ShownVersion } from '../define-tool.ts'
import { checkExpected } from './expected-version.ts'
import { alreadyThere, refuseRoot, targetOf } from './target.ts'

/** The result of a patch, ready to commit over the versions that it was applied to. */
export interface PatchedTree {
  readonly changes: readonly Change[]
  /** The changed files, in the order of the patch. `null` means no file. */
  readonly files: readonly {
    readonly path: LogicalPath
    readonly before: Uint8Array | null
    readonly after: Uint8Array | null
    /** Version before the patch. */
    readonly oldSha256: string | null
    /** The canonical path. */
    readonly stored: Path
    readonly patched: PatchedFile | undefined
  }[]
  readonly deletions: number
  readonly shown: (receipt: Receipt) => readonly ShownVersion[]
}

/**
 * Applies the sections of a patch in order, without writing. A rename or copy in a git patch uses its source as it was
 * before the whole patch, as git does. All other sections see the result of the sections before them.
 *
 * @throws ToolError `NOT_FOUND ALREADY_EXISTS IS_DIRECTORY PATH_REJECTED WRITE_CONFLICT FILE_TOO_LARGE PATCH_CONFLICT`
 */
export async function patchTree(
  context: BuiltinContext,
  plan: PatchPlan,
  expected: ReadonlyMap<LogicalPath, string | null>,
): Promise<PatchedTree> {
  const pause = createPacer()
  const entries = new Map<LogicalPath, Entry>()
  for (const [index, path] of plan.paths.entries()) {
    await pause()
    entries.set(path, await openEntry(context, targetOf(context, index), expected.get(path)))
  }
  const entryOf = (path: LogicalPath): Entry => entries.get(path) as Entry
  const removedPaths = new Set<LogicalPath>()
  for (const { kind, oldPath } of plan.changes)
    if (oldPath !== null && (kind === 'delete' || kind === 'rename')) removedPaths.add(oldPath)
  const isUnified = plan.format === 'unified'
  let { deletions } = plan

  for (const [index, change] of plan.changes.entries()) {
    context.progress(index, 'files patched', plan.changes.length)
    await pause()
    throwIfAborted(context.signal, 'Applying the patch was cancelled')
    const { kind, oldPath, newPath } = change
    const old = oldPath === null ? undefined : entryOf(oldPath)
    const usesOriginal = isUnified && (kind === 'rename' || kind === 'copy')
    const source = old === undefined ? null : usesOriginal ? old.before : old.after
    const creates = source === null && change.mayCreate && old?.stat === undefined
    if (old !== undefined && source === null && !creates) throw missingSource(old, change)
    if (newPath !== null && (creates || kind === 'create' || kind === 'rename' || kind === 'copy')) {
      requireFree(entryOf(newPath), removedPaths.has(newPath))
    }
    refuseAddedMarks(source?.bytes ?? null, change)
    let patched: PatchedFile | undefined
    const before = kind === 'create' ? null : (source?.bytes ?? null)
    const bytes = await applyToFile(before, change, context.limits, (file) => {
      patched = file
    })
    if (kind === 'delete') {
      if (plan.format === 'v4a') deletions += lineCount((source as Content).bytes)
      else if (bytes.length > 0) throw incompleteDeletion(old as Entry, change)
    }
    // A rename used the original file, so it does not remove the result of an earlier section.
    if (old !== undefined && kind === 'rename' && old.setBy !== 'section') set(old, null, 'removed')
    if (kind === 'delete') set(old as Entry, null, 'removed')
    if (newPath !== null) {
      const mode = modeOf(change, source)
      set(entryOf(newPath), { bytes, patched, ...(mode === undefined ? {} : { mode }) }, 'section')
    }
  }
  return finish(context, [...entries.values()], deletions)
}

/** A file while a patch is applied. */
interface Entry {
  readonly requestedPath: LogicalPath
  readonly path: Path
  readonly stat: Stat | undefined
  /** Before the patch. */
  readonly before: Content | null
  readonly sha256: string | null
  /** After the sections so far. */
  after: Content | null
  /** Source of the current state: the tree, a section that wrote the file, or a section that removed it. */
  setBy: 'none' | 'section' | 'removed'
}

interface Content {
  readonly bytes: Uint8Array
  /** Permission bits, if the storage keeps them or the patch sets them. */
  readonly mode?: number
  /** How the last section made it. */
  readonly patched?: PatchedFile | undefined
}

function set(entry: Entry, after: Content | null, by: Entry['setBy']): void {
  entry.after = after
  entry.setBy = by
}

async function openEntry(
  context: BuiltinContext,
  { asked: requestedPath, path }: GuardedAccess,
  expected: string | null | undefined,
): Promise<Entry> {
  refuseRoot(path, 'patch')
  refuseLink(context, requestedPath, path)
  const stat = await context.files.stat(path)
  if (stat !== undefined && stat.type !== 'file' && stat.type !== 'directory') requireFile(path, stat)
  if (stat?.type !== 'file') {
    checkExpected(context, path, expected, null, { mustKnow: false })
    return { requestedPath, path, stat, before: null, sha256: null, after: null, setBy: 'none' }
  }
  const read = await context.files.read(path, context.limits.textFileBytes)
  const version = context.files.versionOf(read.bytes)
  checkExpected(context, path, expected, version, { mustKnow: false })
  const { mode } = read.stat
  const before: Content = { bytes: read.bytes, ...(mode === undefined ? {} : { mode }) }
  return { requestedPath, path, stat: read.stat, before, sha256: version, after: before, setBy: 'none' }
}

/**
 * Refuses a path that is a link or goes through one, as git does.
 *
 * @throws ToolError `PATH_REJECTED`
 */
function refuseLink({ files }: BuiltinContext, requestedPath: LogicalPath, path: Path): void {
  if (requestedPath === path) return
  if (!files.capabilities.caseSensitive && requestedPath.toLowerCase() === path.toLowerCase()) return
  throw new ToolError('PATH_REJECTED', `Cannot patch ${quote(requestedPath)}: it is a link or behind a link`, {
    path: requestedPath,
    hint: 'Use the path of the file itself, not of a link.',
  })
}

function missingSource(old: Entry, { line }: FileChange<LogicalPath>): ToolError {
  const { requestedPath: path, stat, setBy } = old
  if (setBy === 'removed') {
    return new ToolError(
      'NOT_FOUND',
      `${quote(path)} is deleted or renamed by an earlier section of the patch (line ${line})`,
      {
        path,
        line,
        hint: 'Put all changes of one file into one section.',
      },
    )
  }
  if (stat?.type === 'directory')
    return new ToolError('IS_DIRECTORY', `Cannot patch ${quote(path)}: it is a directory`, { path })
  return notFound(path)
}

/** Requires that a target path is free, or that the same patch removes its file. */
function requireFree(entry: Entry, isRemoved: boolean): void {
  if (entry.after === null) return
  if (entry.setBy !== 'section' && isRemoved) return
  throw alreadyThere(entry.requestedPath, 'file')
}

function incompleteDeletion({ requestedPath: path }: Entry, { line }: FileChange<LogicalPath>): ToolError {
  return new ToolError('PATCH_CONFLICT', `Cannot delete ${quote(path)}: it contains more than the patch removes`, {
    path,
    patchLine: line,
    hint: 'Read the file again: a deletion must remove every line of it.',
  })
}

function lineCount(bytes: Uint8Array): number {
  let lines = 0
  for (const byte of bytes) if (byte === 10) lines += 1
  return bytes.length > 0 && bytes[bytes.length - 1] !== 10 ? lines + 1 : lines
}

/** Returns the permission bits after a section: those that the patch sets, or else those of the source file. */
function modeOf({ kind, oldMode, newMode }: FileChange<LogicalPath>, source: Content | null): number | undefined {
  const newBits: Mode | undefined = kind === 'create' ? newMode : newMode === oldMode ? undefined : newMode
  if (newBits === undefined || (kind === 'create' && newBits === 0o644)) return source?.mode
  return newBits
}

/** Builds the change set, with each path once. */
async function finish(context: BuiltinContext, entries: readonly Entry[], deletions: number): Promise<PatchedTree> {
  const { files } = context
  const touched = entries.filter(({ before, after }) => before !== after && !sameContent(before, after))
  const removed = touched.filter(({ after }) => after === null)
  const created = touched.filter(({ before, after }) => before === null && after !== null)
  const changes = new Map<Path, Change>()
  const keptDirectories = new Set<Path>()
  for (const { path } of created) {
    for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
      const above = path.slice(0, slash) as Path
      if (keptDirectories.has(above)) break
      keptDirectories.add(above)
    }
  }
  for (const { path, sha256: version, after, stat } of touched) {
    const expect = version === null ? ('absent' as const) : { sha256: version }
    if (after === null) changes.set(path, { path, expect, to: null })
    else {
      // A file that replaces a directory does not inherit its permission bits.
      const oldMode = stat?.type === 'file' ? stat.mode : undefined
      const mode = after.mode !== undefined && after.mode !== oldMode ? { mode: after.mode } : {}
      changes.set(path, { path, expect, to: { type: 'file', bytes: after.bytes, ...mode } })
    }
  }
  for (const change of await files.emptiedDirectories(
    removed.map(({ path }) => path),
    keptDirectories,
  )) {
    const planned = changes.get(change.path)
    changes.set(change.path, planned === undefined ? change : { ...planned, expect: change.expect })
  }
  for (const { path, stat, requestedPath } of created) {
    if (stat?.type === 'directory' && changes.get(path)?.expect === 'absent')
      throw alreadyThere(requestedPath, 'directory')
  }
  await addParents(
    context,
    created.map(({ path }) => path),
    keptDirectories,
    changes,
  )
  return {
    changes: [...changes.values()],
    files: touched.map(({ requestedPath, path, before, after, sha256: oldSha256 }) => ({
      path: requestedPath,
      stored: path,
      oldSha256,
      before: before?.bytes ?? null,
      after: after?.bytes ?? null,
      patched: after?.patched,
    })),
    deletions,
    shown: shownAfter(context, touched),
  }
}

/** Adds the missing parent directories of new files. A directory may replace a file that the patch removes. */
async function addParents(
  { files }: BuiltinContext,
  created: readonly Path[],
  parents: ReadonlySet<Path>,
  changes: Map<Path, Change>,
): Promise<void> {
  const handled = new Set<Path>()
  const replaced = [...parents].filter((path) => changes.get(path)?.to === null)
  for (const path of replaced) changes.set(path, { ...(changes.get(path) as Change), to: { type: 'directory' } })
  for (const path of created) {
    const above = path.slice(0, Math.max(0, path.lastIndexOf('/'))) as Path
    if (handled.has(above)) continue
    handled.add(above)
    const file = replaced.find((other) => path.startsWith(`${other}/`))
    if (file === undefined) {
      for (const change of await files.missingParents(path))
        if (!changes.has(change.path)) changes.set(change.path, change)
      continue
    }
    for (let at = above; at.length > file.length; at = at.slice(0, at.lastIndexOf('/')) as Path) {
      if (!changes.has(at)) changes.set(at, { path: at, expect: 'any', to: { type: 'directory' } })
    }
  }
}

function sameContent(before: Content | null, after: Content | null): boolean {
  if (before === null || after === null) return before === after
  return before.mode === after.mode && sameBytes(before.bytes, after.bytes)
}

/** Marks the new versions as read for files that the run had read as a whole. */
function shownAfter(context: BuiltinContext, touched: readonly Entry[]): (receipt: Receipt) => readonly ShownVersion[] {
  const readPaths = new Set<Path>()
  for (const { path, sha256: version } of touched) {
    if (version === null || context.hasReadWhole(path, version)) readPaths.add(path)
  }
  return ({ applied }) =>
    applied.flatMap(({ path, after }) =>
      after?.type === 'file' && readPaths.has(path) ? [{ path, sha256: after.sha256, lines: 'all' as const }] : [],
    )
}
