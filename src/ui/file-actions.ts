import type { Success } from '../call/state/call.ts'
import type { Failure } from '../errors.ts'
import type { ControllerState } from './controller.ts'
import { baseNameOf, directoryOf, joinPath, nameOfCopy } from './file-paths.ts'
import type { FileTree } from './file-tree.ts'
import type { FilesSource } from './files-source.ts'
import type { FilesOptions, FilesSnapshot } from './files-state.ts'
import type { PersonCall } from './person-run.ts'

export interface FileActionParts {
  readonly state: ControllerState<FilesSnapshot>
  readonly tree: FileTree
  readonly source: FilesSource
  readonly call: PersonCall
  readonly undo: (callId: string) => Promise<Success | Failure>
  readonly options: Pick<FilesOptions, 'changeFiles' | 'onMove' | 'onRemove' | 'hasDraft'>
}

/** What a person does to files in the tree. */
export class FileActions {
  readonly #parts: FileActionParts
  /** The calls of the last action before that of its notice, last first. */
  #earlier: readonly string[] = []
  /** Brings back what a move has taken along. */
  #followUndo: (() => unknown) | undefined

  constructor(parts: FileActionParts) {
    this.#parts = parts
  }

  async create(kind: 'file' | 'directory', path: string): Promise<boolean> {
    const { call, source, tree } = this.#parts
    if ((await source.typeOf(path)) !== undefined) return this.#refuse(`“${path}” exists already`)
    const made =
      kind === 'directory'
        ? await call('create_directory', { path })
        : await call('write_file', { path, content: '', mode: 'CREATE_NEW' })
    if (!this.#note(made, `Created “${path}”`)) return false
    await tree.reveal(path)
    return true
  }

  async move(path: string, to: string): Promise<boolean> {
    const { call, source, state } = this.#parts
    if (to === path) return true
    if (to.startsWith(`${path}/`)) return this.#refuse(`“${path}” cannot be moved into itself`)
    const type = await source.typeOf(to)
    // On storage that ignores letter case, the new spelling names the same entry.
    if (type !== undefined && to.toLowerCase() !== path.toLowerCase()) {
      const isFile = type !== 'directory' && (await source.typeOf(path)) === 'file'
      state.update({ question: { path, to, type: isFile ? 'file' : 'directory' } })
      return false
    }
    const isRename = directoryOf(path) === directoryOf(to)
    const text = isRename ? `Renamed “${path}” to “${baseNameOf(to)}”` : `Moved “${path}” to “${to}”`
    return this.#note(await call('move_file', { path, to }), text) && this.#follow(path, to)
  }

  async replace(): Promise<boolean> {
    const { call, state, options } = this.#parts
    const { question } = state.snapshot
    state.update({ question: undefined })
    if (question === undefined) return false
    const { path, to } = question
    if (options.hasDraft?.(to) === true) {
      return this.#refuse(`“${to}” has text that is not saved. Save or revert it first.`)
    }
    const label = `Replaced “${to}” by “${path}”`
    if (options.changeFiles !== undefined) {
      return this.#note(await options.changeFiles({ replace: { path, to }, label }), label) && this.#follow(path, to)
    }
    const removed = await call('delete_file', { path: to })
    if (!removed.ok) return this.#note(removed, label)
    const moved = await call('move_file', { path, to })
    if (!moved.ok) await this.#parts.undo(removed.callId)
    return this.#note(moved, label, { earlier: [removed.callId] }) && this.#follow(path, to)
  }

  async copy(path: string, directory: string): Promise<boolean> {
    const { call, source, tree } = this.#parts
    const name = baseNameOf(path)
    let to = joinPath(directory, name)
    for (let count = 1; (await source.typeOf(to)) !== undefined; count++) {
      to = joinPath(directory, nameOfCopy(name, count))
    }
    if (to.startsWith(`${path}/`)) return this.#refuse(`“${path}” cannot be copied into itself`)
    if (!this.#note(await call('copy_file', { path, to }), `Copied “${path}” to “${to}”`)) return false
    await tree.reveal(to)
    return true
  }

  async paste(directory: string): Promise<boolean> {
    const { state } = this.#parts
    const { clipboard } = state.snapshot
    if (clipboard === undefined) return false
    const { path, isCut } = clipboard
    if (!isCut) return this.copy(path, directory)
    state.update({ clipboard: undefined })
    return this.move(path, joinPath(directory, baseNameOf(path)))
  }

  async remove(path: string): Promise<boolean> {
    const { call, state, options } = this.#parts
    const label = `Deleted “${path}”`
    const removed = await (options.changeFiles?.({ remove: [path], label }) ?? call('delete_file', { path }))
    if (!this.#note(removed, label)) return false
    options.onRemove?.(path)
    if (state.snapshot.selected === path) state.update({ selected: directoryOf(path) })
    return true
  }

  async undo(): Promise<boolean> {
    const { callId } = this.#parts.state.snapshot.notice ?? {}
    if (callId === undefined) return false
    const follow = this.#followUndo
    let undone: Success | Failure | undefined
    for (const id of [callId, ...this.#earlier]) {
      undone = await this.#parts.undo(id)
      if (!undone.ok) break
    }
    if (undone === undefined || !this.#note(undone, 'Taken back', { canUndo: false })) return false
    await follow?.()
    return true
  }

  async #follow(path: string, to: string): Promise<boolean> {
    const { state, tree, options } = this.#parts
    await options.onMove?.(path, to)
    if (state.snapshot.clipboard?.path === path) state.update({ clipboard: undefined })
    this.#followUndo = () => options.onMove?.(to, path)
    await tree.reveal(to)
    return true
  }

  #refuse(text: string): false {
    this.#parts.state.update({ question: undefined, notice: { text, isRefused: true, callId: undefined } })
    return false
  }

  /** Shows what a call did. Its undo undoes the `earlier` calls as well. */
  #note(
    result: Success | Failure,
    text: string,
    { earlier = [], canUndo = true }: { readonly earlier?: readonly string[]; readonly canUndo?: boolean } = {},
  ): boolean {
    if (!result.ok)
      return this.#refuse(result.hint === undefined ? result.message : `${result.message}. ${result.hint}`)
    this.#followUndo = undefined
    this.#earlier = earlier
    const callId = canUndo ? result.callId : undefined
    this.#parts.state.update({ question: undefined, notice: { text, isRefused: false, callId } })
    return true
  }
}
