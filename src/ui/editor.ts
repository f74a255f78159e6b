import { refuseSurplus } from '../util/check-options.ts'
import { type Controller, ControllerState } from './controller.ts'
import { createPersonCall, type PersonOptions } from './person-run.ts'
import { headlineOf } from './words/person-words.ts'

/** The state of an {@link Editor}. */
export interface EditorSnapshot {
  /** The open file. */
  readonly path: string | undefined
  /** The text as the person has it, with `\n` at the end of lines. */
  readonly text: string
  readonly isLoading: boolean
  readonly isSaving: boolean
  /** Whether the text differs from the file. */
  readonly isChanged: boolean
  /** Why the text cannot be changed, in a person's words, or `undefined` when it can. */
  readonly readOnly: string | undefined
  /** The text of the file, if somebody else has changed it under the person's text. */
  readonly conflict: string | undefined
  /** Whether somebody else has deleted the file: then `conflict` is empty. */
  readonly isDeleted?: boolean
  /** What has happened to the file of a conflict, in a person's words, such as `has been deleted`. */
  readonly conflictCause?: string | undefined
  /** Why the last step failed, in a person's words. */
  readonly trouble: string | undefined
  /** The files with a text that is not saved, the open one included. */
  readonly drafts: readonly string[]
}

/** A text editor for one file at a time. It keeps the unsaved texts of the others, and never overwrites a newer file. */
export interface Editor extends Controller<EditorSnapshot> {
  /** Opens a file. A text that is not saved stays as a draft. */
  open(path: string): Promise<void>
  /** Changes the text of the open file. */
  edit(text: string): void
  /** Saves the text, unless the file was changed by others: then `conflict` has their text. */
  save(): Promise<void>
  /** Ends a conflict: keeps the person's text, to be saved over the file, or takes the text of the file. */
  resolve(text: 'own' | 'theirs'): void
  /** Drops the person's text of the open file. */
  discard(): Promise<void>
  /** Stops following changes. */
  close(): void
}

/** A file as it was read. */
interface Loaded {
  readonly text: string
  /** `null` for a file that does not exist yet. */
  readonly sha256: string | null
  readonly eol: '\n' | '\r\n'
  readonly readOnly: string | undefined
}

interface Draft {
  readonly text: string
  /** The version that the draft began with. */
  readonly base: Loaded
}

/** Creates an editor for the files of a workspace. What the policy hides or protects stays so. */
export function createEditor(options: PersonOptions): Editor {
  refuseSurplus('createEditor()', 1, arguments)
  const editor = new FileEditor(options)
  return {
    get snapshot() {
      return editor.state.snapshot
    },
    subscribe: editor.state.subscribe,
    open: (path) => editor.open(path),
    edit: (text) => editor.edit(text),
    save: () => editor.save(),
    resolve: (text) => editor.resolve(text),
    discard: () => editor.discard(),
    close: editor.close,
  }
}

/** Whether the open file has a text that can be saved now. A conflict is resolved first. */
export function canSave({ isChanged, isSaving, readOnly, conflict }: EditorSnapshot): boolean {
  return isChanged && !isSaving && readOnly === undefined && conflict === undefined
}

/** More lines than any file that a call can return. */
const ALL_LINES = 1_000_000

class FileEditor {
  readonly state = new ControllerState<EditorSnapshot>({
    path: undefined,
    text: '',
    isLoading: false,
    isSaving: false,
    isChanged: false,
    readOnly: undefined,
    conflict: undefined,
    trouble: undefined,
    drafts: [],
  })
  readonly close: () => void
  readonly #call
  readonly #drafts = new Map<string, Draft>()
  #loaded: Loaded | undefined
  #theirs: Loaded | undefined

  constructor(options: PersonOptions) {
    this.#call = createPersonCall('createEditor()', options)
    this.close = options.workspace.subscribe((event) => {
      const { path, isSaving } = this.state.snapshot
      if (event.type !== 'changed' || path === undefined || isSaving) return
      if (event.paths === undefined || event.paths.includes(path)) void this.#follow(path)
    })
  }

  async open(path: string): Promise<void> {
    this.#theirs = undefined
    this.#loaded = undefined
    this.state.update({
      ...{ path, text: '', isLoading: true, isChanged: false },
      ...{ trouble: undefined, conflict: undefined, readOnly: undefined },
    })
    const loaded = await this.#read(path)
    if (this.state.snapshot.path !== path) return
    const draft = this.#drafts.get(path)
    const isOld = draft !== undefined && typeof loaded !== 'string' && draft.base.sha256 !== loaded.sha256
    if (isOld) this.#theirs = loaded
    this.#show(loaded, draft?.text)
  }

  edit(text: string): void {
    const { path, readOnly, isLoading } = this.state.snapshot
    const base = this.#loaded
    if (path === undefined || base === undefined || readOnly !== undefined || isLoading) return
    if (text === base.text && this.#theirs === undefined) this.#drafts.delete(path)
    else this.#drafts.set(path, { text, base: this.#drafts.get(path)?.base ?? base })
    this.state.update({ text, isChanged: text !== base.text, drafts: [...this.#drafts.keys()] })
  }

  async save(): Promise<void> {
    const { path, text } = this.state.snapshot
    const base = this.#loaded
    if (path === undefined || base === undefined || !canSave(this.state.snapshot)) return
    this.state.update({ isSaving: true, trouble: undefined })
    const content = base.eol === '\n' ? text : text.replaceAll('\n', base.eol)
    const result = await this.#call('write_file', { path, content, expectedSha256: base.sha256 })
    this.state.update({ isSaving: false })
    if (!result.ok) {
      if (result.code === 'WRITE_CONFLICT' && this.state.snapshot.path === path) return this.#follow(path)
      this.state.update({ trouble: headlineOf(result) })
      return
    }
    const saved: Loaded = { ...base, text, sha256: String(result.newSha256) }
    const draft = this.#drafts.get(path)
    // The person may have typed on while the file was written.
    if (draft?.text === text) this.#drafts.delete(path)
    else if (draft !== undefined) this.#drafts.set(path, { ...draft, base: saved })
    if (this.state.snapshot.path === path) this.#show(saved, this.#drafts.get(path)?.text)
    else this.state.update({ drafts: [...this.#drafts.keys()] })
  }

  resolve(choice: 'own' | 'theirs'): void {
    const { path, text } = this.state.snapshot
    const theirs = this.#theirs
    if (path === undefined || theirs === undefined) return
    this.#theirs = undefined
    if (choice === 'theirs') this.#drafts.delete(path)
    else this.#drafts.set(path, { text, base: theirs })
    this.#show(theirs, choice === 'own' ? text : undefined)
  }

  async discard(): Promise<void> {
    const { path } = this.state.snapshot
    if (path === undefined) return
    this.#drafts.delete(path)
    await this.open(path)
  }

  /** Takes a change of the open file by others: its text, or a conflict with the person's. */
  async #follow(path: string): Promise<void> {
    const loaded = await this.#read(path)
    const { path: open, isChanged, text } = this.state.snapshot
    if (open !== path || typeof loaded === 'string' || loaded.sha256 === this.#loaded?.sha256) return
    if (isChanged && loaded.text !== text) this.#theirs = loaded
    else this.#drafts.delete(path)
    this.#show(loaded, isChanged ? text : undefined)
  }

  /** Shows a file, or why it cannot be shown, with the person's text if there is one. */
  #show(loaded: Loaded | string, own: string | undefined): void {
    const drafts = [...this.#drafts.keys()]
    if (typeof loaded === 'string') {
      this.#loaded = undefined
      // A text that was typed stays readable, even if its file cannot be read now.
      const text = own ?? ''
      this.state.update({
        text,
        isLoading: false,
        isChanged: own !== undefined,
        trouble: loaded,
        readOnly: loaded,
        drafts,
      })
      return
    }
    this.#loaded = loaded
    const text = own ?? loaded.text
    this.state.update({
      ...{ text, drafts, isLoading: false, isChanged: text !== loaded.text, readOnly: loaded.readOnly },
      conflict: this.#theirs?.text,
      isDeleted: this.#theirs?.sha256 === null,
    })
  }

  /** Returns the file, or why it cannot be read. */
  async #read(path: string): Promise<Loaded | string> {
    const result = await this.#call('read_file', { path, maxLines: ALL_LINES })
    if (!result.ok && result.code === 'NOT_FOUND') return { text: '', sha256: null, eol: '\n', readOnly: undefined }
    if (!result.ok) return headlineOf(result)
    const { content, sha256, eol, truncated } = result as unknown as ReadFile
    return {
      text: content.replaceAll('\r\n', '\n'),
      sha256,
      eol: eol === 'crlf' ? '\r\n' : '\n',
      readOnly: truncated
        ? 'The file is too large to be edited here'
        : ['lf', 'crlf', 'none'].includes(eol)
          ? undefined
          : 'The lines of the file end in different ways',
    }
  }
}

interface ReadFile {
  readonly content: string
  readonly sha256: string
  readonly eol: string
  readonly truncated: boolean
}
