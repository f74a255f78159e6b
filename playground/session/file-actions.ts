import { type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { Failure, Path, Success } from 'wardspace'
import { joinSentences } from 'wardspace/dialect'
import type { OpenFiles } from './open-files.ts'
import type { FileTree } from './tree.ts'
import type { Session } from './types.ts'

/** The entry that a person is naming in the tree, with the entered text. */
export type Naming = { readonly text: string } & (
  | { readonly kind: 'file' | 'directory'; readonly parent: string }
  | { readonly kind: 'rename'; readonly path: string }
)

/** What an action did, or why it did nothing. */
export interface ActionNotice {
  readonly text: string
  readonly isRefused: boolean
  /** The call that undoes the action, or undefined when it changed nothing. */
  readonly callId: string | undefined
}

/** An action that waits for an answer, since a file of that name exists. */
export interface ReplaceQuestion {
  readonly path: string
  readonly to: string
  /** Directories are not replaced. */
  readonly type: 'file' | 'directory'
}

/** Entries that were copied or cut in the tree. */
export interface FileClipboard {
  readonly path: string
  readonly isCut: boolean
}

/** What a person does to files in the tree. Each action is a recorded call of the person that can be undone. */
export interface FileActions {
  readonly naming: Signal<Naming | undefined>
  readonly question: Signal<ReplaceQuestion | undefined>
  readonly clipboard: Signal<FileClipboard | undefined>
  readonly notice: ReadonlySignal<ActionNotice | undefined>
  dismiss(): void
  create(kind: 'file' | 'directory', path: string): Promise<boolean>
  /** Moves or renames an entry. Sets `question` if a file of that name exists. */
  move(path: string, to: string): Promise<boolean>
  /** Carries out the move in question: the moved file takes the place of the other one. */
  replace(): Promise<boolean>
  /** Copies an entry next to itself or into a directory, under a free name. */
  copy(path: string, directory: string): Promise<boolean>
  paste(directory: string): Promise<boolean>
  remove(path: string): Promise<boolean>
  /** Undoes the action of the notice. */
  undo(): Promise<boolean>
}

export interface FileActionParts {
  readonly session: Pick<Session, 'project' | 'callAsOwner' | 'changeFiles' | 'undo'>
  readonly tree: Pick<FileTree, 'reveal' | 'selected'>
  readonly files: Pick<OpenFiles, 'all' | 'moved' | 'removed'>
}

export function createFileActions(parts: FileActionParts): FileActions {
  return new TreeActions(parts)
}

/** Returns the directory of a path. */
export function directoryOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

export function baseNameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

export function joinPath(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`
}

/** Returns the name of a copy: `a copy.txt`, then `a copy 2.txt`. */
export function nameOfCopy(name: string, count: number): string {
  const dot = name.lastIndexOf('.')
  const at = dot > 0 ? dot : name.length
  return `${name.slice(0, at)} copy${count === 1 ? '' : ` ${count}`}${name.slice(at)}`
}

class TreeActions implements FileActions {
  readonly naming = signal<Naming | undefined>(undefined)
  readonly question = signal<ReplaceQuestion | undefined>(undefined)
  readonly clipboard = signal<FileClipboard | undefined>(undefined)
  readonly notice = signal<ActionNotice | undefined>(undefined)
  readonly #parts: FileActionParts
  /** Brings the tabs back that a move has taken along. */
  #followUndo: (() => Promise<void>) | undefined

  constructor(parts: FileActionParts) {
    this.#parts = parts
  }

  dismiss(): void {
    this.notice.value = undefined
  }

  async create(kind: 'file' | 'directory', path: string): Promise<boolean> {
    const { session } = this.#parts
    if ((await this.#typeOf(path)) !== undefined) return this.#refuse(`“${path}” exists already`)
    const made =
      kind === 'directory'
        ? await session.callAsOwner('create_directory', { path })
        : await session.callAsOwner('write_file', { path, content: '', mode: 'CREATE_NEW' })
    if (!this.#note(made, `Created “${path}”`)) return false
    await this.#show(path)
    return true
  }

  async move(path: string, to: string): Promise<boolean> {
    if (to === path) return true
    if (to.startsWith(`${path}/`)) return this.#refuse(`“${path}” cannot be moved into itself`)
    const type = await this.#typeOf(to)
    // On storage that ignores letter case, the new spelling names the same entry.
    if (type !== undefined && to.toLowerCase() !== path.toLowerCase()) {
      const isFile = type !== 'directory' && (await this.#typeOf(path)) === 'file'
      this.question.value = { path, to, type: isFile ? 'file' : 'directory' }
      return false
    }
    const moved = await this.#parts.session.callAsOwner('move_file', { path, to })
    const isRename = directoryOf(path) === directoryOf(to)
    const text = isRename ? `Renamed “${path}” to “${baseNameOf(to)}”` : `Moved “${path}” to “${to}”`
    return this.#note(moved, text) && this.#follow(path, to)
  }

  async replace(): Promise<boolean> {
    const question = this.question.value
    this.question.value = undefined
    if (question === undefined) return false
    const { path, to } = question
    if (this.#parts.files.all.value.some((file) => file.path === to && file.draft !== undefined)) {
      return this.#refuse(`“${to}” has text that is not saved. Save or revert it first.`)
    }
    const label = `Replaced “${to}” by “${path}”`
    const moved = await this.#parts.session.changeFiles({ replace: { path, to }, label })
    return this.#note(moved, label) && this.#follow(path, to)
  }

  async copy(path: string, directory: string): Promise<boolean> {
    const name = baseNameOf(path)
    let to = joinPath(directory, name)
    for (let count = 1; (await this.#typeOf(to)) !== undefined; count++) {
      to = joinPath(directory, nameOfCopy(name, count))
    }
    if (to.startsWith(`${path}/`)) return this.#refuse(`“${path}” cannot be copied into itself`)
    const copied = await this.#parts.session.callAsOwner('copy_file', { path, to })
    if (!this.#note(copied, `Copied “${path}” to “${to}”`)) return false
    await this.#show(to)
    return true
  }

  async paste(directory: string): Promise<boolean> {
    const clipboard = this.clipboard.value
    if (clipboard === undefined) return false
    const { path, isCut } = clipboard
    if (!isCut) return this.copy(path, directory)
    this.clipboard.value = undefined
    return this.move(path, joinPath(directory, baseNameOf(path)))
  }

  async remove(path: string): Promise<boolean> {
    const { session, files, tree } = this.#parts
    const label = `Deleted “${path}”`
    const removed = await session.changeFiles({ remove: [path], label })
    if (!this.#note(removed, label)) return false
    files.removed(path)
    if (tree.selected.value === path) tree.selected.value = directoryOf(path)
    return true
  }

  async undo(): Promise<boolean> {
    const { callId } = this.notice.value ?? {}
    if (callId === undefined) return false
    const follow = this.#followUndo
    const undone = await this.#parts.session.undo(callId)
    if (!this.#note(undone, 'Taken back', false)) return false
    await follow?.()
    return true
  }

  async #typeOf(path: string): Promise<string | undefined> {
    const { backend } = this.#parts.session.project
    return (await backend.stat(path as Path).catch(() => undefined))?.type
  }

  async #follow(path: string, to: string): Promise<boolean> {
    await this.#parts.files.moved(path, to)
    if (this.clipboard.value?.path === path) this.clipboard.value = undefined
    this.#followUndo = () => this.#parts.files.moved(to, path)
    await this.#show(to)
    return true
  }

  async #show(path: string): Promise<void> {
    await this.#parts.tree.reveal(path)
    this.#parts.tree.selected.value = path
  }

  #refuse(text: string): false {
    this.question.value = undefined
    this.notice.value = { text, isRefused: true, callId: undefined }
    return false
  }

  #note(result: Success | Failure, text: string, canUndo = true): boolean {
    if (!result.ok) return this.#refuse(joinSentences(result.message, result.hint))
    this.#followUndo = undefined
    this.question.value = undefined
    this.notice.value = { text, isRefused: false, callId: canUndo ? result.callId : undefined }
    return true
  }
}
