import { computed, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { Failure, Success } from 'wardspace'
import { redact } from 'wardspace/tool'
import { blockedInWords } from 'wardspace/ui'
import { sha256Of } from '../projects/sha256.ts'
import { createYield } from '../projects/yield-to-page.ts'
import { type ChangedFile, changedFiles, contentOfChange } from './changes.ts'
import { type ChangeHunk, countLines, hunksOf, type LineCount, otherHunks, withoutChange } from './changes-hunks.ts'
import { type CommentDraft, messageOf, type ReviewComment } from './changes-message.ts'
import type { Conversation } from './conversation.ts'
import { oneAtATime } from './one-at-a-time.ts'
import { textOf } from './text.ts'
import type { Session } from './types.ts'

/** One file with its changes, as it was read. */
export interface ReviewedFile extends ChangedFile {
  readonly before: Uint8Array | undefined
  readonly after: Uint8Array | undefined
  /** The texts and their changes; undefined for a binary file. */
  readonly text: { readonly before: string; readonly after: string; readonly hunks: readonly ChangeHunk[] } | undefined
}

/** How differences are shown. `fit` chooses by the width. */
export type DiffLayout = 'fit' | 'inline' | 'sides'

/** Lines of a file, or the reason why they are not counted. */
export type FileCount = LineCount | 'binary' | 'large'

/** What is saved of a review. */
export interface SavedReview {
  readonly accepted: readonly string[]
  readonly viewed: Readonly<Record<string, string>>
  readonly comments: readonly ReviewComment[]
  readonly layout: DiffLayout
}

/** The review of all changes since the project was first opened here. */
export interface ChangesReview {
  readonly files: ReadonlySignal<readonly ChangedFile[]>
  /** Counted by `count`, by path. */
  readonly counts: ReadonlySignal<ReadonlyMap<string, FileCount>>
  /** Counts the lines of the changed files whose counts are not known. */
  count(): Promise<void>
  load(path: string): Promise<ReviewedFile | undefined>
  isAccepted(file: ChangedFile, hunk: ChangeHunk): boolean
  accept(file: ChangedFile, hunk: ChangeHunk, isAccepted: boolean): void
  /** Whether the person has viewed the file as it is now. */
  isViewed(file: ChangedFile): boolean
  view(file: ChangedFile, isViewed: boolean): void
  /** Takes back one change of a file, unless the file has changed since it was read. */
  revert(file: ReviewedFile, hunk: ChangeHunk): Promise<Outcome>
  /** Takes back everything in a text file. */
  revertFile(file: ReviewedFile): Promise<Outcome>
  undo(callId: string): Promise<Outcome>
  readonly comments: ReadonlySignal<readonly ReviewComment[]>
  comment(draft: CommentDraft): void
  removeComment(id: string): void
  /** Sends the comments as the next message: now, or when the agent has finished. */
  send(): void
  /** Whether the comments are sent when the agent has finished. */
  readonly isQueued: ReadonlySignal<boolean>
  readonly layout: Signal<DiffLayout>
  readonly saved: ReadonlySignal<SavedReview>
  close(): void
}

/** What a change of the files came to. */
export type Outcome = { readonly callId: string } | { readonly trouble: string }

/** Longer files are not counted in advance. */
const MAX_COUNTED = 1024 * 1024

export interface ReviewParts {
  readonly session: Session
  readonly conversation: Pick<Conversation, 'isWorking' | 'send'>
}

export function createChangesReview(parts: ReviewParts, kept?: SavedReview): ChangesReview {
  return new SessionReview(parts, kept)
}

class SessionReview implements ChangesReview {
  readonly files: ReadonlySignal<readonly ChangedFile[]>
  readonly counts = signal<ReadonlyMap<string, FileCount>>(new Map())
  readonly comments: Signal<readonly ReviewComment[]>
  readonly isQueued = signal(false)
  readonly layout: Signal<DiffLayout>
  readonly saved: ReadonlySignal<SavedReview>
  readonly close: () => void
  readonly #session: Session
  readonly #conversation: ReviewParts['conversation']
  readonly #accepted: Signal<ReadonlySet<string>>
  readonly #viewed: Signal<Readonly<Record<string, string>>>
  /** Changes that remain after a revert, by path and version: a new comparison could cut them in another way. */
  readonly #hunks = new Map<string, readonly ChangeHunk[]>()
  readonly #counted = new Map<string, FileCount>()

  readonly count = oneAtATime(async () => {
    const pause = createYield()
    const files = this.files.peek()
    for (const file of files) {
      const key = `${file.path} ${file.version}`
      if (!this.#counted.has(key)) this.#counted.set(key, await this.#countFile(file))
      await pause()
    }
    const countOf = ({ path, version }: ChangedFile) => this.#counted.get(`${path} ${version}`)
    this.counts.value = new Map(files.flatMap((file) => [[file.path, countOf(file) ?? 'large'] as const]))
  })

  constructor({ session, conversation }: ReviewParts, kept?: SavedReview) {
    this.#session = session
    this.#conversation = conversation
    this.#accepted = signal(new Set(kept?.accepted))
    this.#viewed = signal(kept?.viewed ?? {})
    this.comments = signal(kept?.comments ?? [])
    this.layout = signal(kept?.layout ?? 'fit')
    this.files = computed(() => {
      session.revision.value
      return changedFiles(session.workspace.value.history())
    })
    this.saved = computed(() => ({
      accepted: [...this.#accepted.value],
      viewed: this.#viewed.value,
      comments: this.comments.value,
      layout: this.layout.value,
    }))
    this.close = effect(() => {
      if (!this.isQueued.value || conversation.isWorking.value) return
      this.isQueued.value = false
      void this.#sendNow()
    })
  }

  async #countFile(file: ChangedFile): Promise<FileCount> {
    const { before, after } = await this.#contentOf(file)
    if ((before?.length ?? 0) + (after?.length ?? 0) > MAX_COUNTED) return 'large'
    const { text } = this.#review(file, before, after)
    return text === undefined ? 'binary' : countLines(text.hunks)
  }

  #contentOf(file: ChangedFile) {
    return contentOfChange(this.#session.project, this.#session.workspace.peek().history(), file)
  }

  async load(path: string): Promise<ReviewedFile | undefined> {
    const file = this.files.peek().find((one) => one.path === path)
    if (file === undefined) return undefined
    const { before, after } = await this.#contentOf(file)
    return this.#review(file, before, after)
  }

  #review(file: ChangedFile, before: Uint8Array | undefined, after: Uint8Array | undefined): ReviewedFile {
    const [from, to] = [before, after].map((bytes) => (bytes === undefined ? { text: '' } : textOf(bytes)))
    if (from === undefined || to === undefined) return { ...file, before, after, text: undefined }
    const known = this.#hunks.get(`${file.path}\0${to.text}`)
    const text = { before: from.text, after: to.text, hunks: known ?? hunksOf(from.text, to.text) }
    return { ...file, before, after, text }
  }

  isAccepted({ path }: ChangedFile, { id }: ChangeHunk): boolean {
    return this.#accepted.value.has(`${path} ${id}`)
  }

  accept({ path }: ChangedFile, { id }: ChangeHunk, isAccepted: boolean): void {
    const accepted = new Set(this.#accepted.value)
    if (isAccepted) accepted.add(`${path} ${id}`)
    else accepted.delete(`${path} ${id}`)
    this.#accepted.value = accepted
  }

  isViewed({ path, version }: ChangedFile): boolean {
    return this.#viewed.value[path] === version
  }

  view({ path, version }: ChangedFile, isViewed: boolean): void {
    const { [path]: _, ...others } = this.#viewed.value
    this.#viewed.value = isViewed ? { ...others, [path]: version } : others
  }

  async revert(file: ReviewedFile, hunk: ChangeHunk): Promise<Outcome> {
    if (file.text === undefined)
      return { trouble: `Cannot take back the change of ${file.path}: it is not a text file` }
    const { after, hunks } = file.text
    const others = otherHunks(hunks, hunk)
    const text = withoutChange(after, hunk)
    this.#hunks.set(`${file.path}\0${after}`, hunks)
    this.#hunks.set(`${file.path}\0${text}`, others)
    // The only change of an added file is the file itself.
    return file.status === 'added' ? this.revertFile(file) : this.#save(file, text)
  }

  async revertFile(file: ReviewedFile): Promise<Outcome> {
    const { path, status, from, after, text } = file
    if (text === undefined) return { trouble: `Cannot take back the change of ${path}: it is not a text file` }
    if (status === 'added') {
      const expectedSha256 = after && (await sha256Of(after))
      return outcomeOf(await this.#session.call('delete_file', { path, expectedSha256 }))
    }
    if (status !== 'renamed' || from === undefined) return this.#save(file, text.before)
    if (text.hunks.length > 0) {
      const saved = await this.#save(file, text.before)
      if ('trouble' in saved) return saved
    }
    return outcomeOf(await this.#session.call('move_file', { path, to: from }))
  }

  async #save({ path, after }: ReviewedFile, text: string): Promise<Outcome> {
    return outcomeOf(await this.#session.save(path, text, after === undefined ? null : await sha256Of(after)))
  }

  async undo(callId: string): Promise<Outcome> {
    return outcomeOf(await this.#session.undo(callId))
  }

  comment(draft: CommentDraft): void {
    const last = Math.max(0, ...this.comments.value.map(({ id }) => Number(id)))
    this.comments.value = [...this.comments.value, { ...draft, id: String(last + 1) }]
  }

  removeComment(id: string): void {
    this.comments.value = this.comments.value.filter((comment) => comment.id !== id)
    if (this.comments.value.length === 0) this.isQueued.value = false
  }

  send(): void {
    if (this.comments.value.length > 0) this.isQueued.value = true
  }

  async #sendNow(): Promise<void> {
    const comments = this.comments.value
    if (comments.length === 0) return
    this.comments.value = []
    const readable = new Set<string>()
    for (const path of new Set(comments.map((comment) => comment.path))) {
      const reading = await this.#session.workspace.value.explain('read_file', { path })
      if (reading.ok && reading.verdict.decision === 'allow') readable.add(path)
    }
    await this.#conversation.send(
      messageOf(comments, (path, text) => (readable.has(path) ? redact(text).text : undefined)),
    )
  }
}

function outcomeOf(result: Success | Failure): Outcome {
  if (result.ok) return { callId: result.callId }
  if (result.code === 'WRITE_CONFLICT')
    return { trouble: 'The file has changed meanwhile. Look at its present changes.' }
  return { trouble: blockedInWords(result) }
}
