import { ToolError } from '../../errors.ts'
import type { GitProvider, PushAnswer, PushRequest, Repository, StashOptions } from '../../git/provider.ts'
import { display, isWithin, type LogicalPath, type Path, parsePath, quote } from '../../paths/logical-path.ts'
import type { TrackedCommandFiles } from '../../shells/shared/command-files.ts'
import type { CommandRepository } from '../../shells/types.ts'
import type { Backend } from '../../storage/backend.ts'

export interface CommandRepositoryOptions {
  /** The option `git` of the workspace. */
  readonly provider: GitProvider | undefined
  /** Receives the changes: the overlay of the command. */
  readonly backend: Backend
  readonly files: Pick<TrackedCommandFiles, 'reach' | 'apply' | 'stat'>
  /** Whether a file may become part of a commit without an approval. */
  readonly sees: (path: Path) => boolean
  /** Called with each path whose name is shown. */
  readonly onName: (path: Path) => void
  /** Called with each file that git stores. */
  readonly onStore: (path: Path) => void
  /** @throws ToolError if the address may not be reached */
  readonly requireHost: (url: URL) => void
  /** Does a push if policy allows it. */
  readonly push: (request: PushRequest) => Promise<PushAnswer>
  readonly signal: AbortSignal
  readonly now: () => number
}

/** The state of the repository, read for write access. */
export interface RepositoryView {
  /** Returns every path that differs from HEAD, hidden paths included. */
  changed(): Promise<readonly ChangedPath[]>
  /** Returns the paths in the index. */
  tracked(): Promise<Iterable<string>>
  /** Records the id of a commit that the command writes: the command shows whether the commit exists. */
  noteWritten(name: string): Promise<void>
  /** Records the chosen paths that do not differ from HEAD. */
  noteUnchanged(): Promise<void>
  /** Discards what was read. Call it after each change. */
  forget(): void
}

/** A path that differs from HEAD, and whether the index contains it. */
export interface ChangedPath {
  readonly path: Path
  readonly tracked: boolean
}

/** Write access of one command. */
interface WriteState {
  readonly options: CommandRepositoryOptions
  readonly view: RepositoryView
  /** Files whose reading was approved. */
  readonly granted: Set<Path>
}

/**
 * Opens write access to the repository for one command. What git writes to `.git` goes to the command's overlay. Its
 * changes of files pass the policy gate like any write of the command.
 *
 * @throws ToolError if policy denies it, or the workspace was opened without git
 */
export async function openCommandRepository(
  options: CommandRepositoryOptions,
  view: RepositoryView,
): Promise<CommandRepository> {
  const { files, provider } = options
  await files.reach({ permission: 'git:write', path: '.git', noFollow: true })
  if (provider === undefined) {
    throw new ToolError('SHELL_UNAVAILABLE', 'this workspace was opened without git: its repository is read-only')
  }
  const state: WriteState = { options, view, granted: new Set() }
  return createRepository(state, openRepository(state, provider))
}

function openRepository({ options, granted }: WriteState, provider: GitProvider): Repository {
  const { backend, files, sees, onStore, requireHost, push, now } = options
  return provider.open({
    backend,
    mayRead(path) {
      if (!sees(path as Path) && !granted.has(path as Path)) return false
      onStore(path as Path)
      return true
    },
    change: (changes) => files.apply(changes),
    requireHost,
    push,
    now,
  })
}

/** Returns the paths that may be shown. */
function visible({ options }: WriteState, paths: readonly string[]): readonly string[] {
  const shown = paths.filter((path) => options.sees(path as Path))
  for (const path of shown) options.onName(path as Path)
  return shown
}

/** Puts the changes aside. That there are none is an answer about the files that were written. */
async function stash(
  { view }: WriteState,
  repository: Repository,
  options?: StashOptions,
): Promise<string | undefined> {
  const commit = await repository.stash(options)
  if (commit === undefined) await view.noteUnchanged()
  return commit
}

function createRepository(state: WriteState, repository: Repository): CommandRepository {
  const { sees, onName, signal } = state.options

  /** Makes a method check the signal first, and discard what was read when it has ended. */
  function changing<A extends readonly unknown[], R>(method: (...args: A) => Promise<R>): (...args: A) => Promise<R> {
    return async (...args) => {
      signal.throwIfAborted()
      try {
        return await method(...args)
      } finally {
        state.view.forget()
      }
    }
  }

  return {
    init: changing(repository.init),
    commit: changing(repository.commit),
    branch: changing(async (name, options) => {
      if (options?.at !== undefined) await state.view.noteWritten(options.at)
      return repository.branch(name, options)
    }),
    deleteBranch: changing(repository.deleteBranch),
    moveTo: changing(repository.moveTo),
    checkout: changing(async (ref, options) => {
      await state.view.noteWritten(ref)
      const { commit, skipped, kept } = await repository.checkout(ref, options).catch((error: unknown) => {
        throw withoutHidden(error, sees, onName)
      })
      return { commit, skipped: visible(state, skipped), kept: visible(state, kept) }
    }),
    sparseDirectories: repository.sparseDirectories,
    setSparseDirectories: changing(async (directories) => {
      const { kept } = await repository.setSparseDirectories(directories)
      return { kept: visible(state, kept) }
    }),
    restore: changing(async (paths, options) => {
      if (options?.from !== undefined) await state.view.noteWritten(options.from)
      return repository.restore(paths, options)
    }),
    stash: changing((options) => stash(state, repository, options)),
    applyStash: changing(async (position) => {
      await repository.applyStash(position).catch((error: unknown) => {
        throw withoutHidden(error, sees, onName, 'apply the stash')
      })
    }),
    dropStash: changing(repository.dropStash),
    upstream: repository.upstream,
    push: changing((options) => repository.push({ ...options, signal })),
    remoteBranches: repository.remoteBranches,
    fetch: changing(async (options) => {
      const leftOut: string[] = []
      await repository.fetch({ ...options, signal, onLeftOut: (ref) => leftOut.push(ref) })
      return { leftOut }
    }),
    pull: changing(async (options) => {
      const leftOut: string[] = []
      const onLeftOut = (ref: string) => leftOut.push(ref)
      const result = await repository.pull({ ...options, signal, onLeftOut }).catch((error: unknown) => {
        throw error instanceof ToolError && error.details.paths !== undefined
          ? withoutHidden(error, sees, onName, 'pull')
          : error
      })
      if (result.from !== undefined) await state.view.noteWritten(result.from)
      await state.view.noteWritten(result.to)
      return { ...result, skipped: visible(state, result.skipped), leftOut }
    }),
    clone: changing(async (url, options) => {
      const leftOut: string[] = []
      const result = await repository.clone(url, { ...options, signal, onLeftOut: (ref) => leftOut.push(ref) })
      return { ...result, leftOut }
    }),
    add: changing(async (paths, { tracked = false } = {}) => {
      await prepareAdd(state, paths, tracked)
      const { outside } = await repository.add(paths, { tracked })
      return { outside: visible(state, outside) }
    }),
  }
}

/**
 * Requests the approvals that the files to add need.
 *
 * @throws ToolError `NOT_FOUND` for a path that git does not know, and the refusal of a file that was named itself
 */
async function prepareAdd(state: WriteState, paths: readonly string[], tracked: boolean): Promise<void> {
  const requested = paths.map((path) => parsePath(path))
  const changed = await state.view.changed()
  const changedPaths = changed.map(({ path }) => path)
  for (const path of requested) await requirePathspec(state, path, changedPaths)
  const names = new Set<string>(requested)
  for (const entry of changed) {
    const isRequested = (entry.tracked || !tracked) && requested.some((directory) => isWithin(entry.path, directory))
    if (isRequested) await requestRead(state, entry.path, names.has(entry.path))
  }
}

/** Requests a file that may be listed, but not read. If it is refused, it is left out, unless it was named itself. */
async function requestRead({ options, granted }: WriteState, path: Path, byName: boolean): Promise<void> {
  const { sees, files } = options
  if (sees(path) || (await files.stat(path)) === undefined) return
  try {
    await files.reach({ permission: 'file:read', path })
    granted.add(path)
  } catch (error) {
    // `ABORTED`: the command waits for an approval.
    if (byName || !(error instanceof ToolError) || error.code === 'ABORTED') throw error
  }
}

/** @throws ToolError `NOT_FOUND` if a path matches no changed or tracked file, or only ignored ones */
async function requirePathspec(
  { options, view }: WriteState,
  path: LogicalPath,
  changed: readonly Path[],
): Promise<void> {
  const { sees, files } = options
  const matches = [...changed, ...(await view.tracked())].filter((entry) => isWithin(entry as Path, path)) as Path[]
  if (matches.some(sees)) return
  const stat = await files.stat(display(path))
  if (stat?.type === 'directory' || (stat !== undefined && matches.length > 0)) return
  const reason = stat === undefined ? 'did not match any files' : 'is ignored by one of the .gitignore files'
  throw new ToolError('NOT_FOUND', `pathspec ${quote(path)} ${reason}`, { path })
}

/** Returns a conflict of a checkout without its hidden paths. Any other error stays as it is. */
function withoutHidden(
  error: unknown,
  sees: (path: Path) => boolean,
  onName: (path: Path) => void,
  action = 'check out',
): unknown {
  if (!(error instanceof ToolError) || error.code !== 'WRITE_CONFLICT') return error
  /* v8 ignore next -- @preserve: a conflict without paths comes from the storage, and a command has an overlay of its own */
  const paths = ((error.details.paths ?? []) as readonly Path[]).filter(sees)
  for (const path of paths) onName(path)
  const example = paths[0] === undefined ? '' : `, such as ${quote(paths[0])}`
  return new ToolError(error.code, `Cannot ${action}: changed files would be overwritten${example}`, { paths })
}
