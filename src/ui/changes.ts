import { type Controller, ControllerState } from './controller.ts'
import { createPersonCall, type PersonOptions } from './person-run.ts'
import { createRefresh } from './refresh.ts'
import { headlineOf } from './words/person-words.ts'

/** A file that differs from the start. */
export interface ChangedFile {
  readonly path: string
  /** The path of a renamed file at the start. */
  readonly oldPath?: string
  readonly status: 'added' | 'deleted' | 'modified' | 'renamed'
  readonly insertions: number
  readonly deletions: number
  readonly binary: boolean
}

/** The state of {@link Changes}. */
export interface ChangesSnapshot {
  readonly files: readonly ChangedFile[]
  /** The file whose difference is shown. */
  readonly selected: string | undefined
  /** The difference of the selected file as a patch; `undefined` while it loads. */
  readonly patch: string | undefined
  /** Why the changes cannot be shown, in a person's words. */
  readonly trouble: string | undefined
}

/** What differs from the last commit, or from the start of the workspace without a repository. It follows changes. */
export interface Changes extends Controller<ChangesSnapshot> {
  /** Shows the difference of a file. */
  select(path: string): Promise<void>
  /** Compares the files again. */
  refresh(): Promise<void>
  /** Stops following changes. */
  close(): void
}

/**
 * Creates the list of changed files with their differences. Secret and ignored files are not among them.
 *
 * @example
 * const workspace = await createWorkspace({ backend: memory({ 'a.txt': 'one\n' }), policy: 'autonomous' })
 * const changes = createChanges({ workspace })
 * await workspace.call('append_file', { path: 'a.txt', content: 'two\n' })
 * await changes.select('a.txt')
 * console.log(changes.snapshot.patch)
 * changes.close()
 */
export function createChanges(options: PersonOptions): Changes {
  const call = createPersonCall('createChanges()', options)
  const state = new ControllerState<ChangesSnapshot>({
    ...{ files: [], selected: undefined, patch: undefined, trouble: undefined },
  })
  const refresh = createRefresh(async () => {
    const result = await call('diff_workspace', { statOnly: true })
    if (!result.ok) return state.update({ files: [], patch: undefined, trouble: headlineOf(result) })
    const { stat } = result as unknown as { readonly stat: readonly ChangedFile[] }
    const { selected } = state.snapshot
    const isGone = !stat.some(({ path }) => path === selected)
    state.update({ files: stat, trouble: undefined, ...(isGone ? { selected: stat[0]?.path, patch: undefined } : {}) })
    return showSelected()
  })

  async function showSelected(): Promise<void> {
    const { selected, files } = state.snapshot
    if (selected === undefined) return
    const { oldPath } = files.find(({ path }) => path === selected) ?? {}
    const paths = oldPath === undefined ? [selected] : [selected, oldPath]
    const result = await call('diff_workspace', { paths })
    if (state.snapshot.selected !== selected) return
    if (result.ok) state.update({ patch: String(result.diff), trouble: undefined })
    else state.update({ patch: undefined, trouble: headlineOf(result) })
  }

  const unsubscribe = options.workspace.subscribe((event) => {
    if (event.type === 'changed') void refresh()
  })
  void refresh()
  return {
    get snapshot() {
      return state.snapshot
    },
    subscribe: state.subscribe,
    async select(path) {
      await refresh()
      if (!state.snapshot.files.some((file) => file.path === path)) return
      state.update({ selected: path, patch: undefined })
      await showSelected()
    },
    refresh,
    close: unsubscribe,
  }
}
