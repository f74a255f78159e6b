import { batch, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { Path } from 'wardspace'
import { createRefresh } from '../../src/ui/refresh.ts'
import { sha256Of } from '../projects/sha256.ts'
import { failureInWords } from './failure-words.ts'
import { type FileText, textOf } from './text.ts'
import type { Session } from './types.ts'

/** The content of a file on disk. Both are undefined when the file does not exist; only the text is when it is not text. */
interface FileContent {
  readonly text: FileText | undefined
  readonly sha256: string | undefined
}

/** One file in the editor. */
export interface OpenFile {
  readonly path: string
  /** False for a draft whose tab was closed. It is kept until it is saved or reverted. */
  readonly isOpen: boolean
  /** The text that was read last, and its version. Undefined when it is not text. */
  readonly base: FileText | undefined
  readonly sha256: string | undefined
  /** The person's text, if it differs from `base`. */
  readonly draft: string | undefined
  /** The content on disk if it differs from both: the person resolves the conflict, so that nothing is lost. */
  readonly theirs: FileContent | undefined
  /** Reason why the last save was refused. */
  readonly trouble: string | undefined
  /** Counts reads; the editor reloads its text when it changes. */
  readonly loaded: number
}

type SavedFile = Pick<OpenFile, 'path' | 'isOpen' | 'sha256' | 'draft'>

/** A draft that is no longer in the editor. After a reload, the text that it began with is unknown. */
type DroppedFile = SavedFile & { readonly base?: OpenFile['base'] }

/** The tabs and drafts that are kept over a reload. */
export interface SavedFiles {
  readonly files: readonly SavedFile[]
  readonly active: string | undefined
  /** The draft that `notice` brings back. */
  readonly dropped?: SavedFile
}

/** What has happened to a text of the person, with a way back. */
interface DraftNotice {
  readonly text: string
  readonly dropped: SavedFile
  readonly action: { readonly label: string; readonly act: () => void }
}

/** The files that are open in the editor, with their unsaved text. */
export interface OpenFiles {
  /** The open files and the closed ones that have a draft. */
  readonly all: ReadonlySignal<readonly OpenFile[]>
  readonly active: Signal<string | undefined>
  /** Says that a draft was dropped, and brings it back. */
  readonly notice: Signal<DraftNotice | undefined>
  open(path: string): Promise<void>
  /** Closes the tab. A draft is kept. */
  close(path: string): void
  /** Moves a tab before another one, or by a number of places. */
  reorder(path: string, to: { readonly before: string } | { readonly by: number }): void
  edit(path: string, text: string): void
  /** Writes the draft if the file is unchanged since it was read. Otherwise sets `theirs`. */
  save(path: string): Promise<void>
  /** Resolves a conflict by writing the chosen text. */
  settle(path: string, text: string): Promise<void>
  /** Replaces the draft by the content on disk. `notice` brings the draft back. */
  revert(path: string): Promise<void>
  /** Checks whether open files have changed on disk. */
  refresh(): Promise<void>
  /** Follows a file or directory that the person has moved: its tabs and drafts move with it. */
  moved(path: string, to: string): Promise<void>
  /** Closes the tabs of a file or directory that the person has deleted. A draft is kept. */
  removed(path: string): void
  /** Returns the tabs and drafts to keep over a reload. */
  keep(): SavedFiles
  /** Opens the tabs and drafts that were kept. A draft of a file that has changed since then is a conflict. */
  restore(saved: SavedFiles): Promise<void>
}

function savedOf({ path, isOpen, sha256, draft }: SavedFile): SavedFile {
  return { path, isOpen, sha256, draft }
}

/** Whether a path is the entry or below it. */
function isAt(path: string, entry: string): boolean {
  return path === entry || path.startsWith(`${entry}/`)
}

/** Maximum size of a file that the editor shows. */
export const MAX_BYTES = 1024 * 1024

export function createOpenFiles(session: Pick<Session, 'project' | 'save'>): OpenFiles {
  return new EditorFiles(session)
}

class EditorFiles implements OpenFiles {
  readonly all = signal<readonly OpenFile[]>([])
  readonly active = signal<string | undefined>(undefined)
  readonly notice = signal<DraftNotice | undefined>(undefined)
  readonly #session: Pick<Session, 'project' | 'save'>
  /** Paths that are being written, whose changes do not come from elsewhere. */
  readonly #writing = new Set<string>()
  /** Counts requests to refresh. */
  #revision = 0
  readonly #check = createRefresh(() => this.#checkAll())

  constructor(session: Pick<Session, 'project' | 'save'>) {
    this.#session = session
  }

  async open(path: string): Promise<void> {
    if (this.#find(path) === undefined) {
      await this.#take(path, ({ text, sha256 }) => {
        if (this.#find(path) === undefined) this.#add({ path, base: text, sha256 })
      })
    }
    this.#change(path, { isOpen: true })
    this.active.value = path
  }

  close(path: string): void {
    const open = this.all.value.filter((file) => file.isOpen)
    const at = open.findIndex((file) => file.path === path)
    if (this.active.value === path) this.active.value = (open[at + 1] ?? open[at - 1])?.path
    if (this.#find(path)?.draft !== undefined) this.#change(path, { isOpen: false })
    else this.all.value = this.all.value.filter((file) => file.path !== path)
  }

  reorder(path: string, to: { readonly before: string } | { readonly by: number }): void {
    const open = this.all.value.filter(({ isOpen }) => isOpen)
    const others = open.filter((file) => file.path !== path)
    const file = open.find((one) => one.path === path)
    if (file === undefined) return
    const at = 'by' in to ? open.indexOf(file) + to.by : others.findIndex((one) => one.path === to.before)
    const place = Math.max(0, Math.min(others.length, at))
    const closed = this.all.value.filter(({ isOpen }) => !isOpen)
    this.all.value = [...others.slice(0, place), file, ...others.slice(place), ...closed]
  }

  async moved(path: string, to: string): Promise<void> {
    const newPath = (name: string): string => (isAt(name, path) ? `${to}${name.slice(path.length)}` : name)
    // The moved file replaces one that was there, whose draft was made from another text.
    const gone = this.all.value.filter((file) => !isAt(file.path, path) && isAt(file.path, to))
    const active = this.active.value
    batch(() => {
      this.all.value = this.all.value
        .filter((file) => !gone.includes(file))
        .map((file) => (isAt(file.path, path) ? { ...file, path: newPath(file.path), theirs: undefined } : file))
      if (active !== undefined) this.active.value = newPath(active)
    })
    await this.refresh()
  }

  removed(path: string): void {
    for (const file of this.all.value) if (isAt(file.path, path) && file.draft === undefined) this.close(file.path)
  }

  keep(): SavedFiles {
    const dropped = this.notice.value?.dropped
    return { files: this.all.value.map(savedOf), active: this.active.value, ...(dropped && { dropped }) }
  }

  async restore({ files, active, dropped }: SavedFiles): Promise<void> {
    for (const { path, isOpen, sha256, draft } of files) {
      await this.#take(path, (now) => {
        if (draft === undefined) {
          if (now.sha256 !== undefined) this.#add({ path, base: now.text, sha256: now.sha256 })
        } else if (now.sha256 === sha256) this.#add({ path, isOpen, base: now.text, sha256, draft })
        else this.#add({ path, isOpen, sha256, draft, theirs: now })
      })
    }
    this.active.value = this.#find(active ?? '')?.path
    if (dropped !== undefined) this.#offerBack(dropped)
  }

  edit(path: string, text: string): void {
    const file = this.#find(path)
    if (file !== undefined) this.#change(path, { draft: file.base?.text === text ? undefined : text })
  }

  async save(path: string): Promise<void> {
    const file = this.#find(path)
    if (file?.draft !== undefined) await this.#write(path, file.draft, file.sha256)
  }

  async settle(path: string, text: string): Promise<void> {
    const file = this.#find(path)
    if (file?.theirs === undefined) return
    this.#change(path, { draft: text })
    await this.#write(path, text, file.theirs.sha256)
    const loaded = (this.#find(path)?.loaded ?? 0) + 1
    if (this.#find(path)?.theirs === undefined) this.#change(path, { loaded })
  }

  async revert(path: string): Promise<void> {
    await this.#take(path, (content) => {
      const file = this.#find(path)
      this.#load(path, content)
      if (file?.draft !== undefined) this.#offerBack(file)
    })
  }

  #offerBack(file: DroppedFile): void {
    this.notice.value = {
      text: `Your unsaved text of “${file.path}” is no longer in the editor.`,
      dropped: savedOf(file),
      action: { label: 'Undo', act: () => void this.#bringBack(file) },
    }
  }

  /** Shows a dropped draft again. A draft that was begun since then can be brought back in its place. */
  async #bringBack({ path, sha256, draft, base }: DroppedFile): Promise<void> {
    await this.open(path)
    const now = this.#find(path)
    if (now === undefined) return
    this.notice.value = undefined
    if (now.draft !== undefined && now.draft !== draft) this.#offerBack(now)
    const current = now.theirs ?? { text: now.base, sha256: now.sha256 }
    const isSame = current.sha256 === sha256
    const versions = isSame ? { base: current.text, theirs: undefined } : { base, theirs: current }
    this.#change(path, { sha256, draft, ...versions, loaded: now.loaded + 1 })
  }

  refresh(): Promise<void> {
    this.#revision += 1
    return this.#check()
  }

  async #checkAll(): Promise<void> {
    for (const { path } of this.all.value) {
      const previous = this.#find(path)?.sha256
      const now = await this.#read(path)
      const file = this.#find(path)
      // The end of a write checks the files again.
      if (file === undefined || this.#writing.has(path)) continue
      if (file.sha256 !== previous) {
        // The file was read or written in the meantime, so this read may be outdated.
        void this.#check()
      } else if (now.sha256 === file.sha256) {
        // The file again has the content that the draft started from.
        if (file.theirs !== undefined) this.#change(path, { theirs: undefined, base: now.text })
      } else if (file.draft === undefined) this.#load(path, now)
      else if (file.theirs === undefined || now.sha256 !== file.theirs.sha256) this.#change(path, { theirs: now })
    }
  }

  #add(file: Pick<OpenFile, 'path' | 'sha256'> & Partial<OpenFile>): void {
    const empty = { isOpen: true, base: undefined, draft: undefined, theirs: undefined, trouble: undefined, loaded: 1 }
    this.all.value = [...this.all.value, { ...empty, ...file }]
  }

  /** Shows the content on disk instead of a draft. */
  #load(path: string, { text, sha256 }: FileContent): void {
    const loaded = (this.#find(path)?.loaded ?? 0) + 1
    this.#change(path, { base: text, sha256, draft: undefined, theirs: undefined, trouble: undefined, loaded })
  }

  #find(path: string): OpenFile | undefined {
    return this.all.value.find((file) => file.path === path)
  }

  #change(path: string, fields: Partial<OpenFile>): void {
    this.all.value = this.all.value.map((file) => (file.path === path ? { ...file, ...fields } : file))
  }

  /** Reads a file and passes its content on. Checks the files again if they have changed since the read began. */
  async #take(path: string, use: (content: FileContent) => void): Promise<void> {
    const revision = this.#revision
    use(await this.#read(path))
    if (this.#revision !== revision) await this.#check()
  }

  async #read(path: string): Promise<FileContent> {
    const { backend } = this.#session.project
    const stat = await backend.stat(path as Path).catch(() => undefined)
    if (stat?.type !== 'file') return { text: undefined, sha256: undefined }
    const { bytes } = await backend.read(path as Path)
    return { text: bytes.length > MAX_BYTES ? undefined : textOf(bytes), sha256: await sha256Of(bytes) }
  }

  async #write(path: string, content: string, expectedSha256: string | undefined): Promise<void> {
    this.#writing.add(path)
    try {
      await this.#writeNow(path, content, expectedSha256)
    } finally {
      this.#writing.delete(path)
    }
    await this.#check()
  }

  async #writeNow(path: string, content: string, expectedSha256: string | undefined): Promise<void> {
    const result = await this.#session.save(path, content, expectedSha256 ?? null)
    if (result.ok) {
      const text = textOf(new TextEncoder().encode(content))
      const draft = this.#find(path)?.draft
      this.#change(path, {
        base: text,
        sha256: String(result.newSha256),
        // Text typed during the write is not saved yet.
        draft: draft === content ? undefined : draft,
        theirs: undefined,
        trouble: undefined,
      })
    } else if (result.code === 'WRITE_CONFLICT' || result.code === 'ALREADY_EXISTS') {
      await this.#take(path, (theirs) => this.#change(path, { theirs, trouble: undefined }))
    } else {
      this.#change(path, { trouble: failureInWords(result) })
    }
  }
}
