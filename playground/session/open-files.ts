import { type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { Path } from 'wardspace'
import { joinSentences } from 'wardspace/dialect'
import { sha256Of } from '../projects/sha256.ts'
import { type FileText, textOf } from './text.ts'
import type { Session } from './types.ts'

/** One file in the editor. */
export interface OpenFile {
  readonly path: string
  /** The text that was read last, and its version; undefined if it is not text. */
  readonly base: FileText | undefined
  readonly sha256: string | undefined
  /** The person's text, if it differs from `base`. */
  readonly draft: string | undefined
  /** The content on disk if it differs from both: the person resolves the conflict, so that nothing is lost. */
  readonly theirs: { readonly text: FileText | undefined; readonly sha256: string | undefined } | undefined
  /** Reason why the last save was refused. */
  readonly trouble: string | undefined
  /** Counts reads; the editor reloads its text when it changes. */
  readonly loaded: number
}

/** The files that are open in the editor, with their unsaved text. */
export interface OpenFiles {
  readonly all: ReadonlySignal<readonly OpenFile[]>
  readonly active: Signal<string | undefined>
  open(path: string): Promise<void>
  close(path: string): void
  edit(path: string, text: string): void
  /** Writes the draft if the file is unchanged since it was read. Otherwise sets `theirs`. */
  save(path: string): Promise<void>
  /** Resolves a conflict by writing the chosen text. */
  settle(path: string, text: string): Promise<void>
  /** Replaces the draft by the content on disk. */
  revert(path: string): Promise<void>
  /** Checks whether open files have changed on disk. */
  refresh(): Promise<void>
}

/** Maximum size of a file that the editor shows. */
export const MAX_BYTES = 1024 * 1024

export function createOpenFiles(session: Pick<Session, 'project' | 'save'>): OpenFiles {
  return new EditorFiles(session)
}

class EditorFiles implements OpenFiles {
  readonly all = signal<readonly OpenFile[]>([])
  readonly active = signal<string | undefined>(undefined)
  readonly #session: Pick<Session, 'project' | 'save'>
  /** Paths that are being written, whose changes do not come from elsewhere. */
  readonly #writing = new Set<string>()

  constructor(session: Pick<Session, 'project' | 'save'>) {
    this.#session = session
  }

  async open(path: string): Promise<void> {
    if (this.#find(path) === undefined) {
      const empty = { base: undefined, sha256: undefined, draft: undefined, theirs: undefined, trouble: undefined }
      const { text, sha256 } = await this.#read(path)
      if (this.#find(path) === undefined) {
        this.all.value = [...this.all.value, { ...empty, path, base: text, sha256, loaded: 1 }]
      }
    }
    this.active.value = path
  }

  close(path: string): void {
    const at = this.all.value.findIndex((file) => file.path === path)
    this.all.value = this.all.value.filter((file) => file.path !== path)
    if (this.active.value === path) this.active.value = (this.all.value[at] ?? this.all.value[at - 1])?.path
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
    const { text, sha256 } = await this.#read(path)
    const loaded = (this.#find(path)?.loaded ?? 0) + 1
    this.#change(path, { base: text, sha256, draft: undefined, theirs: undefined, trouble: undefined, loaded })
  }

  async refresh(): Promise<void> {
    for (const { path } of this.all.value) {
      const previous = this.#find(path)?.sha256
      const now = await this.#read(path)
      const file = this.#find(path)
      // The file was read or written in the meantime, so this read is outdated.
      if (file === undefined || file.sha256 !== previous || this.#writing.has(path)) continue
      if (now.sha256 === file.sha256) {
        // The file again has the content that the draft started from.
        if (file.theirs !== undefined) this.#change(path, { theirs: undefined })
      } else if (file.draft === undefined) await this.revert(path)
      else if (file.theirs === undefined || now.sha256 !== file.theirs.sha256) this.#change(path, { theirs: now })
    }
  }

  #find(path: string): OpenFile | undefined {
    return this.all.value.find((file) => file.path === path)
  }

  #change(path: string, fields: Partial<OpenFile>): void {
    this.all.value = this.all.value.map((file) => (file.path === path ? { ...file, ...fields } : file))
  }

  async #read(path: string): Promise<{ text: FileText | undefined; sha256: string | undefined }> {
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
      this.#change(path, { theirs: await this.#read(path), trouble: undefined })
    } else {
      this.#change(path, { trouble: joinSentences(result.message, result.hint) })
    }
  }
}
