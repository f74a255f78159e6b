import { ToolError } from '../../errors.ts'
import { redact } from '../../files/secrets/index.ts'
import { occupantFinder } from '../../git/apply-cone.ts'
import type { Changed } from '../../git/changed-path.ts'
import { fileAt } from '../../git/checkout.ts'
import type { CommitHistory } from '../../git/commit-history.ts'
import { listCommits, readEntry } from '../../git/commit-log.ts'
import { commitsBetween } from '../../git/commit-range.ts'
import { compareTrees, sectionsOf, treeOfIndex, unholdableFiles } from '../../git/compare-commits.ts'
import type { DiffSection } from '../../git/diff-section.ts'
import { exactSections } from '../../git/exact-sections.ts'
import { gitPath } from '../../git/isomorphic-fs.ts'
import type { LogEntry } from '../../git/provider.ts'
import { openReader, type RepositoryReader } from '../../git/reader.ts'
import { findRenames } from '../../git/renames.ts'
import { type GitFiles, gitFiles } from '../../git/repository-files.ts'
import { readSparse } from '../../git/sparse-settings.ts'
import { readStashes } from '../../git/stash-log.ts'
import { EMPTY_TREE, type TreeDirectory } from '../../git/trees.ts'
import { holdableTest, judgedPath } from '../../git/valid-path.ts'
import { hasFile } from '../../git/workspace-changes.ts'
import { createWorkspaceDiffs, type WorkspaceDiffs } from '../../git/workspace-diff.ts'
import { isWrittenAsId } from '../../git/written-as-id.ts'
import { isWithin, type Path, parsePath, quote } from '../../paths/logical-path.ts'
import { decodeName } from '../../paths/name-bytes.ts'
import type { TrackedCommandFiles } from '../../shells/shared/command-files.ts'
import type {
  CommandDiff,
  CommandGit,
  CommandRepository,
  CommandSparse,
  CommandStatus,
  GitDiffRequest,
  GitState,
} from '../../shells/types.ts'
import type { Backend } from '../../storage/backend.ts'
import { type StatusInput, statusOf } from './git-status.ts'
import type { RepositoryView } from './git-write.ts'

export interface CommandGitOptions {
  readonly backend: Backend
  readonly files: Pick<TrackedCommandFiles, 'reach' | 'show'>
  /** Whether a file may be shown, with its content. */
  readonly sees: (path: Path) => boolean
  /** Called with each file whose content is shown. */
  readonly onRead: (path: Path, bytes: number) => void
  /** Called with each path and each ref whose name is shown. */
  readonly onName: (path: Path) => void
  /** Called with each file that an answer leaves out because a workspace cannot hold its name. */
  readonly onLeftOut: (path: string) => void
  /** Called with each commit whose message or id is shown. Its ancestors have no higher label. */
  readonly onCommit: (history: CommitHistory, commit: string) => Promise<void>
  /** Called with each path whose stored content the command receives in some way. */
  readonly onStored: (path: Path) => void
  /** The paths whose content the command or an earlier call has written. */
  readonly chosen: () => Iterable<Path>
  readonly signal: AbortSignal
  /** Opens write access to the repository. */
  readonly change: (view: RepositoryView) => Promise<CommandRepository>
}

/** The repository as one command sees it. The command's own changes replace `reader` and `diffs`. */
interface RepositoryState {
  readonly options: CommandGitOptions
  readonly files: GitFiles
  reader: RepositoryReader
  diffs: WorkspaceDiffs
}

const decoder = new TextDecoder()
const MAX_BRANCHES = 10_000

/** The bits of a mode that are the type of an entry, and the type of a submodule. */
const MODE_TYPE = 0o170000
const SUBMODULE = 0o160000

/** Opens the repository in `.git` of the root for one command. */
export function commandGit(base: CommandGitOptions): CommandGit {
  const onLeftOut = (path: string) => {
    if (base.sees(judgedPath(path))) base.onLeftOut(path)
  }
  const options = { ...base, onLeftOut }
  const { backend, files: gate, sees, signal, change } = options
  const state: RepositoryState = {
    options,
    files: gitFiles(backend),
    reader: openReader(backend),
    diffs: createWorkspaceDiffs(backend),
  }
  return {
    async head() {
      const bytes = await state.files.read('HEAD')
      if (bytes === undefined) return undefined
      const branch = /^ref: refs\/heads\/(\S+)/.exec(decoder.decode(bytes))?.[1]
      return {
        commit: await state.reader.headCommit(),
        // Most commands do not show the branch.
        get branch() {
          if (branch !== undefined) options.onName(gitPath('refs/heads', branch))
          return branch
        },
      }
    },
    async branches({ showsAll = true } = {}) {
      const names = await listBranches(state.files)
      if (showsAll) for (const name of names) options.onName(gitPath('refs/heads', name))
      return names
    },
    async resolve(name, { shows = false } = {}) {
      const id = await resolve(state, name)
      if (shows) await options.onCommit(state.reader, id)
      return id
    },
    async status({ untracked = 'directories', showsAll = true } = {}) {
      const { entries: index } = await state.reader.index()
      const head = await treeOf(state, undefined)
      const changed = await state.diffs.changedFrom(head, signal)
      const rows = statusOf({ head, index, changed, sees }, untracked)
      noteEqual(options, head, changed)
      if (!showsAll) return rows
      for (const files of [head, index]) for (const path of unholdableFiles(files)) options.onLeftOut(path)
      const shown = await withRenames(state, rows, { head, index })
      for (const row of shown) noteStatus(options, row)
      return shown
    },
    diff: async (request) => showDiff(state, await changedBetween(state, request)),
    log: (ref, maxCount) => readLog(state, ref, maxCount),
    show: (ref) => showCommit(state, ref),
    patches: (base, head) => exactPatches(state, base, head),
    async stashes() {
      const stashes = await readStashes(state.files)
      for (const { commit } of stashes) await options.onCommit(state.reader, commit)
      return stashes.map(({ commit, message }) => ({ commit, message: redact(message).text }))
    },
    sparse: () => readCommandSparse(state),
    async fileAt(ref, path) {
      // Policy decides before the lookup, so that an error does not reveal that a hidden file once existed.
      await gate.reach({ permission: 'file:read', path })
      const file = fileAt(await treeOf(state, ref), parsePath(path))
      if (file === undefined || (file.mode & MODE_TYPE) === SUBMODULE) {
        throw new ToolError('NOT_FOUND', `${quote(path)} is not a file in ${quote(ref)}`, { path })
      }
      options.onStored(parsePath(path) as Path)
      return gate.show(path, await state.reader.objects.need(file.id, 'blob'))
    },
    change: () => change(repositoryView(state)),
  }
}

/** Returns the sparse checkout without the directories that have only hidden files. */
async function readCommandSparse({ files, reader, options }: RepositoryState): Promise<CommandSparse> {
  const { isEnabled, cone } = await readSparse(files)
  const { entries, skipped } = await reader.index()
  const tracked = [...entries.keys()].filter((path) => options.sees(path as Path)) as Path[]
  const hidden = cone?.directories.filter(
    (directory) =>
      [...entries.keys()].some((path) => isWithin(path as Path, directory)) &&
      !tracked.some((path) => isWithin(path, directory)),
  )
  const directories = cone?.directories.filter((directory) => hidden?.includes(directory) === false)
  for (const directory of directories ?? []) options.onName(directory)
  const occupantOf = occupantFinder(options.backend)
  const isHoldable = holdableTest()
  let missing = 0
  for (const path of isEnabled ? tracked : []) {
    if (skipped.has(path) && !(isHoldable(path) && (await occupantOf(path)) === 'file')) missing += 1
  }
  return { isEnabled, directories, percentage: 100 - Math.floor((100 * missing) / Math.max(tracked.length, 1)) }
}

/** What write access needs to know of the repository. */
function repositoryView(state: RepositoryState): RepositoryView {
  const { backend, signal } = state.options
  return {
    async changed() {
      const { entries } = await state.reader.index()
      const changed = await state.diffs.changedFrom(await treeOf(state, undefined), signal)
      return changed.map(({ path }) => ({ path, tracked: entries.has(path) }))
    },
    tracked: async () => (await state.reader.index()).entries.keys(),
    async noteWritten(name) {
      // The change itself reports a name that it cannot resolve.
      if (isWrittenAsId(name)) await resolve(state, name).catch(() => undefined)
    },
    async noteUnchanged() {
      const head = await treeOf(state, undefined)
      noteEqual(state.options, head, await state.diffs.changedFrom(head, signal))
    },
    forget() {
      state.reader = openReader(backend)
      state.diffs = createWorkspaceDiffs(backend)
    },
  }
}

/** Resolves the name of a commit. That an id exists tells as much as the id itself. */
async function resolve({ reader, options }: RepositoryState, name: string): Promise<string> {
  const id = await reader.resolve(name)
  if (isWrittenAsId(name)) await options.onCommit(reader, id)
  return id
}

/** A changed file shows how its content compares with that of the commit; any other entry shows only its name. */
function noteStatus({ onName, onStored }: CommandGitOptions, { path, from, index, files }: CommandStatus): void {
  onName(path.replace(/\/$/, '') as Path)
  if (from !== undefined) onName(from as Path)
  if (index === 'modified' || files === 'modified') onStored(path as Path)
}

/** Pairs files that were deleted and added in the index. The rows then show how the contents of these files compare. */
async function withRenames(
  { reader, options }: RepositoryState,
  rows: readonly CommandStatus[],
  { head, index }: Pick<StatusInput, 'head' | 'index'>,
): Promise<readonly CommandStatus[]> {
  const hasStaged = (state: GitState) => rows.some((row) => row.index === state)
  if (!hasStaged('deleted') || !hasStaged('added')) return rows
  const staged = compareTrees(reader.objects, head, treeOfIndex(index)).filter(({ path }) => options.sees(path))
  for (const { path, old, now } of staged) if (old === null || now === null) options.onStored(path)
  const renamed = new Map((await findRenames(staged)).map(({ path, from }) => [path as string, from]))
  const sources = new Set(renamed.values())
  return rows
    .filter(({ path, index }) => index !== 'deleted' || !sources.has(path as Path))
    .map((row) => {
      const from = row.index === 'added' ? renamed.get(row.path) : undefined
      return from === undefined ? row : { ...row, from, index: 'renamed' }
    })
}

/** Returns the tree of a commit, by default that of HEAD. Before the first commit, it is empty. */
async function treeOf(state: RepositoryState, ref: string | undefined): Promise<TreeDirectory> {
  const commit = ref === undefined ? await state.reader.headCommit() : await resolve(state, ref)
  return commit === undefined ? EMPTY_TREE : state.reader.tree(commit)
}

/** Returns the local branches, loose and packed, sorted. */
async function listBranches(files: GitFiles): Promise<readonly string[]> {
  const names = new Set<string>()
  const pending = ['']
  for (let next = pending.pop(); next !== undefined && names.size < MAX_BRANCHES; next = pending.pop()) {
    for (const name of await files.list(`refs/heads${next === '' ? '' : `/${next}`}`)) {
      const path = next === '' ? name : `${next}/${name}`
      if ((await files.stat(`refs/heads/${path}`))?.type === 'directory') pending.push(path)
      else names.add(path)
    }
  }
  const packed = await files.read('packed-refs')
  const lines = packed === undefined ? [] : decodeName(packed).matchAll(/^[0-9a-f]{40} refs\/heads\/(\S+)$/gm)
  const isHoldable = holdableTest()
  for (const [, name] of lines) if (isHoldable(name as Path)) names.add(name as string)
  return [...names].sort()
}

/** Returns the paths that differ between the two sides of a diff. Others than those of the request are not looked at. */
async function changedBetween(
  state: RepositoryState,
  { from, to, paths }: GitDiffRequest,
): Promise<readonly Changed[]> {
  const { reader, diffs, options } = state
  const { entries } = await reader.index()
  const index = treeOfIndex(entries)
  const base = from === undefined && to === undefined ? index : await treeOf(state, from)
  const isAsked = (path: string) =>
    paths === undefined || paths.some((start) => start === '.' || isWithin(path as Path, start as Path))
  const leaveOut = (path: string) => {
    if (isAsked(path)) options.onLeftOut(path)
  }
  if (to === undefined) for (const path of unholdableFiles(base === index ? entries : base)) leaveOut(path)
  const all =
    to === undefined
      ? await diffs.changedFrom(base, options.signal)
      : compareTrees(reader.objects, base, to === 'index' ? index : await treeOf(state, to), leaveOut)
  const changed = all.filter(({ path }) => isAsked(path))
  noteEqual({ ...options, chosen: () => [...options.chosen()].filter(isAsked) }, base, changed)
  return to === undefined ? changed.filter(({ path, old }) => old !== null || entries.has(path)) : changed
}

/** Records the chosen paths that have the content of the base. What was written there may be a guess, which that confirms. */
function noteEqual(
  { chosen, sees, onStored }: CommandGitOptions,
  base: TreeDirectory,
  changed: readonly Changed[],
): void {
  const paths = new Set(chosen())
  if (paths.size === 0) return
  for (const { path } of changed) paths.delete(path as Path)
  for (const path of paths) if (hasFile(base, path) && sees(path)) onStored(path)
}

/** Returns the diffs of the visible paths, and records them as read. */
async function showDiff({ options }: RepositoryState, changed: readonly Changed[]): Promise<readonly CommandDiff[]> {
  const sections = await sectionsOf(changed.filter(({ path }) => options.sees(path)))
  noteDiff(options, sections)
  return sections
}

/** Records diffs as read. */
function noteDiff({ onRead, onName }: CommandGitOptions, sections: readonly DiffSection[]): void {
  for (const { path, oldPath, text } of sections) {
    onRead(path as Path, text.length)
    onName(path as Path)
    if (oldPath === undefined) continue
    onRead(oldPath as Path, 0)
    onName(oldPath as Path)
  }
}

/** Returns the commits of `head` that `base` lacks, with changes that reproduce the exact bytes. */
async function exactPatches(state: RepositoryState, base: string, head: string): ReturnType<CommandGit['patches']> {
  const { reader, options } = state
  const [from, to] = [await resolve(state, base), await resolve(state, head)]
  await options.onCommit(reader, to)
  const patches: Awaited<ReturnType<CommandGit['patches']>>[number][] = []
  for (const { commit, parents } of await commitsBetween(reader.objects, await reader.shallow(), from, to)) {
    options.signal.throwIfAborted()
    if (parents.length > 1) continue
    const before = parents[0] === undefined ? EMPTY_TREE : await reader.tree(parents[0])
    const diff = await exactSections(reader.objects, before, await reader.tree(commit), options.sees)
    noteDiff(options, diff)
    patches.push({ entry: withoutSecrets(await readEntry(reader.objects, commit)), diff })
  }
  return patches
}

function withoutSecrets(entry: LogEntry): LogEntry {
  return { ...entry, message: redact(entry.message).text }
}

/** Returns the commits that lead to a ref, newest first. */
async function readLog({ reader, options }: RepositoryState, ref: string, maxCount: number): Promise<LogEntry[]> {
  const start = await reader.resolve(ref)
  await options.onCommit(reader, start)
  const entries = await listCommits(reader.objects, start, await reader.shallow(), maxCount, options.signal)
  return entries.map(withoutSecrets)
}

/** Returns a commit with its diff. Like git, a merge is shown without a diff. */
async function showCommit(state: RepositoryState, ref: string): ReturnType<CommandGit['show']> {
  const commit = await state.reader.resolve(ref)
  await state.options.onCommit(state.reader, commit)
  const entry = withoutSecrets(await readEntry(state.reader.objects, commit))
  const [parent] = (await state.reader.shallow()).has(commit) ? [] : entry.parents
  const before = parent === undefined ? EMPTY_TREE : await state.reader.tree(parent)
  const now = entry.parents.length > 1 ? before : await state.reader.tree(commit)
  const changed = compareTrees(state.reader.objects, before, now, state.options.onLeftOut)
  return { entry, diff: await showDiff(state, changed) }
}
