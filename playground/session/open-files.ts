import { type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { Path } from 'wardspace'
import { type FileText, sha256Of, textOf } from './text.ts'
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

export function createOpenFiles({ project, save }: Pick<Session, 'project' | 'save'>): OpenFiles {
  const all = signal<readonly OpenFile[]>([])
  const active = signal<string | undefined>(undefined)
  const find = (path: string) => all.value.find((file) => file.path === path)
  const change = (path: string, fields: Partial<OpenFile>) => {
    all.value = all.value.map((file) => (file.path === path ? { ...file, ...fields } : file))
  }

  async function read(path: string): Promise<{ text: FileText | undefined; sha256: string | undefined }> {
    const stat = await project.backend.stat(path as Path).catch(() => undefined)
    if (stat?.type !== 'file') return { text: undefined, sha256: undefined }
    const { bytes } = await project.backend.read(path as Path)
    return { text: bytes.length > MAX_BYTES ? undefined : textOf(bytes), sha256: await sha256Of(bytes) }
  }

  async function load(path: string): Promise<void> {
    const { text, sha256 } = await read(path)
    const loaded = (find(path)?.loaded ?? 0) + 1
    change(path, { base: text, sha256, draft: undefined, theirs: undefined, trouble: undefined, loaded })
  }

  /** Paths that are being written, whose changes do not come from elsewhere. */
  const writing = new Set<string>()

  async function write(path: string, content: string, expectedSha256: string | undefined): Promise<void> {
    writing.add(path)
    try {
      await writeNow(path, content, expectedSha256)
    } finally {
      writing.delete(path)
    }
  }

  async function writeNow(path: string, content: string, expectedSha256: string | undefined): Promise<void> {
    const result = await save(path, content, expectedSha256 ?? null)
    if (result.ok) {
      const text = textOf(new TextEncoder().encode(content))
      const draft = find(path)?.draft
      change(path, {
        base: text,
        sha256: String(result.newSha256),
        // Text typed during the write is not saved yet.
        draft: draft === content ? undefined : draft,
        theirs: undefined,
        trouble: undefined,
      })
    } else if (result.code === 'WRITE_CONFLICT' || result.code === 'ALREADY_EXISTS') {
      change(path, { theirs: await read(path), trouble: undefined })
    } else {
      change(path, { trouble: `${result.message}. ${result.hint}` })
    }
  }

  return {
    all,
    active,
    async open(path) {
      if (find(path) === undefined) {
        const empty = { base: undefined, sha256: undefined, draft: undefined, theirs: undefined, trouble: undefined }
        const { text, sha256 } = await read(path)
        if (find(path) === undefined) all.value = [...all.value, { ...empty, path, base: text, sha256, loaded: 1 }]
      }
      active.value = path
    },
    close(path) {
      const at = all.value.findIndex((file) => file.path === path)
      all.value = all.value.filter((file) => file.path !== path)
      if (active.value === path) active.value = (all.value[at] ?? all.value[at - 1])?.path
    },
    edit(path, text) {
      const file = find(path)
      if (file !== undefined) change(path, { draft: file.base?.text === text ? undefined : text })
    },
    async save(path) {
      const file = find(path)
      if (file?.draft !== undefined) await write(path, file.draft, file.sha256)
    },
    async settle(path, text) {
      const file = find(path)
      if (file?.theirs === undefined) return
      change(path, { draft: text })
      await write(path, text, file.theirs.sha256)
      const loaded = (find(path)?.loaded ?? 0) + 1
      if (find(path)?.theirs === undefined) change(path, { loaded })
    },
    revert: load,
    async refresh() {
      for (const { path } of all.value) {
        const previous = find(path)?.sha256
        const now = await read(path)
        const file = find(path)
        // The file was read or written in the meantime, so this read is outdated.
        if (file === undefined || file.sha256 !== previous || writing.has(path)) continue
        if (now.sha256 === file.sha256) {
          // The file again has the content that the draft started from.
          if (file.theirs !== undefined) change(path, { theirs: undefined })
        } else if (file.draft === undefined) await load(path)
        else if (file.theirs === undefined || now.sha256 !== file.theirs.sha256) change(path, { theirs: now })
      }
    },
  }
}
