import { ToolError } from '../../errors.ts'
import type { GitProvider } from '../../git/provider.ts'
import { display, isWithin, type LogicalPath, type Path, parsePath, quote } from '../../paths/logical-path.ts'
import type { TrackedCommandFiles } from '../../shells/shared/command-files.ts'
import type { CommandRepository } from '../../shells/types.ts'
import type { Backend } from '../../storage/backend.ts'

export interface CommandRepositoryOptions {
  /** The git of the workspace, if it was opened with one. */
  readonly provider: GitProvider | undefined
  /** Takes the changes: an overlay that is the command's own. */
  readonly backend: Backend
  readonly files: Pick<TrackedCommandFiles, 'reach' | 'apply' | 'stat'>
  /** Whether a file may be taken into a commit without a question. */
  readonly sees: (path: Path) => boolean
  readonly onRead: (path: Path, bytes: number) => void
  /** @throws ToolError for an address that may not be reached */
  readonly requireHost: (url: URL) => void
  readonly signal: AbortSignal
  readonly now: () => number
}

/** What the repository's own view tells to whoever changes it. */
export interface RepositoryView {
  /** Every path that differs from HEAD, whatever may be shown. */
  changed(): Promise<readonly { readonly path: Path; readonly tracked: boolean }[]>
  /** The paths that the index holds. */
  tracked(): Promise<Iterable<string>>
  /** Must be called after each change. */
  forget(): void
}

/**
 * The repository for one command, once it may be changed at all. What git writes into `.git` lies in the command's own
 * overlay, and what it does to files takes the same way as any write of the command.
 *
 * @throws ToolError where policy denies it, or the workspace was opened without git
 */
export async function openCommandRepository(
  { provider, backend, files, sees, onRead, requireHost, signal, now }: CommandRepositoryOptions,
  view: RepositoryView,
): Promise<CommandRepository> {
  await files.reach({ permission: 'git:write', path: '.git', noFollow: true })
  if (provider === undefined) {
    throw new ToolError(
      'SHELL_UNAVAILABLE',
      'this workspace was opened without git: its repository can only be looked at',
    )
  }
  /** Files that were asked about, and allowed. */
  const granted = new Set<Path>()
  const repository = provider.open({
    backend,
    mayRead(path) {
      if (!sees(path as Path) && !granted.has(path as Path)) return false
      onRead(path as Path, 0)
      return true
    },
    change: (changes) => files.apply(changes),
    requireHost,
    now,
  })

  /** What shows and may not be read is refused like any reading of it, and left out. */
  async function ask(path: Path, byName: boolean): Promise<void> {
    if (sees(path) || (await files.stat(path)) === undefined) return
    try {
      await files.reach({ permission: 'file:read', path })
      granted.add(path)
    } catch (error) {
      // Aborted, it waits for an answer.
      if (byName || !(error instanceof ToolError) || error.code === 'ABORTED') throw error
    }
  }

  /** @throws ToolError for a name that git has nothing to do with */
  async function requireKnown(path: LogicalPath, changed: readonly Path[]): Promise<void> {
    const known = [...changed, ...(await view.tracked())].filter((one) => isWithin(one as Path, path)) as Path[]
    if (known.some(sees)) return
    const stat = await files.stat(display(path))
    if (stat?.type === 'directory' || (stat !== undefined && known.length > 0)) return
    const why = stat === undefined ? 'did not match any files' : 'is ignored by one of the .gitignore files'
    throw new ToolError('NOT_FOUND', `pathspec ${quote(path)} ${why}`, { path })
  }

  /** A conflict that names only what may be seen. */
  function withoutHidden(error: unknown): unknown {
    if (!(error instanceof ToolError) || error.code !== 'WRITE_CONFLICT') return error
    /* v8 ignore next -- @preserve: a conflict without paths is one of the storage, and a command has a draft of its own */
    const shown = ((error.details.paths ?? []) as Path[]).filter(sees)
    const such = shown[0] === undefined ? '' : `, such as ${quote(shown[0])}`
    return new ToolError(error.code, `Cannot check out: what was changed would be overwritten${such}`, { paths: shown })
  }

  function changing<A extends readonly unknown[], R>(run: (...args: A) => Promise<R>): (...args: A) => Promise<R> {
    return async (...args) => {
      signal.throwIfAborted()
      try {
        return await run(...args)
      } finally {
        view.forget()
      }
    }
  }

  return {
    init: changing(repository.init),
    commit: changing(repository.commit),
    branch: changing(repository.branch),
    deleteBranch: changing(repository.deleteBranch),
    moveTo: changing(repository.moveTo),
    checkout: changing(async (ref, how) => {
      const { commit, skipped } = await repository.checkout(ref, how).catch((error: unknown) => {
        throw withoutHidden(error)
      })
      return { commit, skipped: skipped.filter((path) => sees(path as Path)) }
    }),
    restore: changing(repository.restore),
    clone: changing((url, options) => repository.clone(url, { ...options, signal })),
    add: changing(async (paths, { tracked = false } = {}) => {
      const wanted = paths.map((path) => parsePath(path))
      const changed = await view.changed()
      const taken = changed.filter(
        (one) => (one.tracked || !tracked) && wanted.some((each) => isWithin(one.path, each)),
      )
      for (const path of wanted) {
        await requireKnown(
          path,
          changed.map((one) => one.path),
        )
      }
      for (const { path } of taken) await ask(path, (wanted as readonly string[]).includes(path))
      await repository.add(paths, { tracked })
    }),
  }
}
