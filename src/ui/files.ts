import { isFunction, isObjectWith, refuseSurplus } from '../util/check-options.ts'
import { type Controller, ControllerState } from './controller.ts'
import { FileActions } from './file-actions.ts'
import { FileTree } from './file-tree.ts'
import { visibleFiles } from './files-source.ts'
import type { FileClipboard, FilesOptions, FilesSnapshot, Naming } from './files-state.ts'
import { createPersonCall } from './person-run.ts'

/**
 * The files of a workspace as a tree, as far as its policy shows them, and what a person does to them. Each action is a
 * call that can be undone; it returns whether it was carried out, and `notice` says what it did. The tree follows changes.
 */
export interface Files extends Controller<FilesSnapshot> {
  /** Opens or closes a directory. */
  toggle(path: string, isOpen?: boolean): Promise<void>
  /** Opens the directories above a path and selects it. */
  reveal(path: string): Promise<void>
  /** Closes all directories. */
  collapse(): void
  /** Puts the keyboard on a row. */
  select(path: string): void
  /** Lists the open directories again. */
  refresh(): Promise<void>
  /** Begins or ends to name an entry. */
  setNaming(naming: Naming | undefined): void
  /** Takes an entry to be pasted. */
  setClipboard(clipboard: FileClipboard | undefined): void
  /** Creates a file or a directory, with the directories above. */
  create(kind: 'file' | 'directory', path: string): Promise<boolean>
  /** Moves or renames an entry. Sets `question` if the new path exists. */
  move(path: string, to: string): Promise<boolean>
  /** Answers `question`: the moved file takes the place of the other one. */
  replace(): Promise<boolean>
  /** Copies an entry into a directory, under a free name. */
  copy(path: string, directory: string): Promise<boolean>
  /** Copies or moves the entry of the clipboard into a directory. */
  paste(directory: string): Promise<boolean>
  /** Deletes an entry. */
  remove(path: string): Promise<boolean>
  /** Undoes the action of `notice`. */
  undo(): Promise<boolean>
  /** Drops `notice` and `question`. */
  dismiss(): void
  /** Stops following changes. */
  close(): void
}

const optionChecks = {
  source: isObjectWith('a source', 'list', 'typeOf'),
  ...{ changeFiles: isFunction, onMove: isFunction, onRemove: isFunction, hasDraft: isFunction },
}

/**
 * Creates the tree of files of a workspace.
 *
 * @example
 * const workspace = await createWorkspace({ backend: memory({ 'src/a.ts': '' }), policy: 'readOnly' })
 * const files = createFiles({ workspace })
 * await files.toggle('src')
 * console.log(files.snapshot.rows.map(({ path }) => path)) // ['src', 'src/a.ts']
 * files.close()
 */
export function createFiles(options: FilesOptions): Files {
  refuseSurplus('createFiles()', 1, arguments)
  const call = createPersonCall('createFiles()', options, optionChecks)
  const state = new ControllerState<FilesSnapshot>({
    ...{ rows: [], isLoading: true, trouble: undefined, selected: undefined },
    ...{ naming: undefined, question: undefined, clipboard: undefined, notice: undefined },
  })
  const { workspace, source = visibleFiles(call) } = options
  const tree = new FileTree(state, source)
  const undo = (callId: string) => workspace.undo(callId, { approve: () => ({ allow: 'once', by: 'person' }) })
  const actions = new FileActions({ state, tree, source, call, undo, options })
  const close = workspace.subscribe((event) => {
    if (event.type === 'changed' && event.listing) void tree.refresh()
  })
  void tree.refresh()
  return {
    get snapshot() {
      return state.snapshot
    },
    subscribe: state.subscribe,
    toggle: (path, isOpen) => tree.toggle(path, isOpen),
    reveal: (path) => tree.reveal(path),
    collapse: () => tree.collapse(),
    select: (selected) => state.update({ selected }),
    refresh: tree.refresh,
    setNaming: (naming) => state.update({ naming }),
    setClipboard: (clipboard) => state.update({ clipboard }),
    create: (kind, path) => actions.create(kind, path),
    move: (path, to) => actions.move(path, to),
    replace: () => actions.replace(),
    copy: (path, directory) => actions.copy(path, directory),
    paste: (directory) => actions.paste(directory),
    remove: (path) => actions.remove(path),
    undo: () => actions.undo(),
    dismiss: () => state.update({ notice: undefined, question: undefined }),
    close,
  }
}
