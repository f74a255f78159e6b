import { isFunction, isObjectValue, isObjectWith, refuseSurplus } from '../util/check-options.ts'
import { createPacer } from '../util/pacer.ts'
import type { UndoOptions, Workspace } from '../workspace/types.ts'
import type { CommentDraft, ReviewComment } from './changes-comments.ts'
import { type ChangeHunk, countLines, hunksOf, linesOf, otherHunks, withoutChange } from './changes-hunks.ts'
import { type ChangeContent, type ChangedFile, type ChangesSource, diffSource } from './changes-source.ts'
import { type Controller, ControllerState } from './controller.ts'
import { createPersonCall, type PersonCall, type PersonOptions } from './person-run.ts'
import { createRefresh } from './refresh.ts'
import { blockedInWords } from './words/person-words.ts'

/** How differences are shown. `fit` chooses by the width. */
export type DiffLayout = 'fit' | 'inline' | 'sides'

/** A changed file with its content and its changes. */
export interface ReviewedFile extends ChangedFile, ChangeContent {
  /** The changes in order; none if the texts are not known. */
  readonly hunks: readonly ChangeHunk[]
  /** The lines of both texts with their ends. */
  readonly lines: { readonly before: readonly string[]; readonly after: readonly string[] }
}

/** What is saved of a review. */
export interface SavedReview {
  readonly accepted: readonly string[]
  readonly viewed: Readonly<Record<string, string>>
  readonly comments: readonly ReviewComment[]
  readonly layout: DiffLayout
}

/** The state of {@link Changes}. */
export interface ChangesSnapshot extends Omit<SavedReview, 'accepted'> {
  readonly files: readonly ChangedFile[]
  /** Whether the files are compared for the first time. */
  readonly isLoading: boolean
  /** Completes “changed since”. */
  readonly since: string
  /** The file whose difference is shown. */
  readonly selected: string | undefined
  /** The selected file with its changes; `undefined` while it loads. */
  readonly file: ReviewedFile | undefined
  /** The difference of the selected file as a patch; `undefined` while it loads, or for a source without patches. */
  readonly patch: string | undefined
  /** The accepted changes, by path and id. */
  readonly accepted: ReadonlySet<string>
  /** Whether somebody takes comments. */
  readonly canComment: boolean
  /** Why the changes cannot be shown, in a person's words. */
  readonly trouble: string | undefined
}

/** What a change of the files came to: the call, which can be undone, or what went wrong in a person's words. */
export type ChangeOutcome = { readonly callId: string } | { readonly trouble: string }

/** What differs from the last commit, or from the start of the workspace without a repository. It follows changes. */
export interface Changes extends Controller<ChangesSnapshot> {
  /** Shows the difference of a file. */
  select(path: string): Promise<void>
  /** Compares the files again. */
  refresh(): Promise<void>
  /** Counts the lines of files whose numbers the source does not know. */
  count(): Promise<void>
  /** Marks a change as accepted, or not. */
  accept(file: ChangedFile, hunk: ChangeHunk, isAccepted: boolean): void
  /** Marks a file as viewed until it changes, or not. */
  view(file: ChangedFile, isViewed: boolean): void
  /** Takes back one change of a file, unless the file has changed since it was read. */
  revert(file: ReviewedFile, hunk: ChangeHunk): Promise<ChangeOutcome>
  /** Takes back everything in a text file. */
  revertFile(file: ReviewedFile): Promise<ChangeOutcome>
  /** Undoes a call, such as that of a revert. */
  undo(callId: string): Promise<ChangeOutcome>
  /** Adds a comment on lines of a file. */
  comment(draft: CommentDraft): void
  /** Removes a comment that is not sent yet. */
  removeComment(id: string): void
  /** Sends the comments. */
  send(): Promise<void>
  /** Chooses how differences are shown. */
  setLayout(layout: DiffLayout): void
  /** Returns what a page saves of the review. */
  keep(): SavedReview
  /** Stops following changes. */
  close(): void
}

/** Options of {@link createChanges}. */
export interface ChangesOptions extends PersonOptions {
  readonly workspace: PersonOptions['workspace'] & Pick<Workspace, 'undo'>
  /** Where the changes come from, by default from `diff_workspace`. */
  readonly source?: ChangesSource | undefined
  /** A saved review. */
  readonly saved?: SavedReview | undefined
  /** Takes the comments of the person, for example as a message to the agent. Without it, there are none. */
  readonly onComments?: ((comments: readonly ReviewComment[]) => void | Promise<void>) | undefined
}

/**
 * Creates the review of the changed files. Secret and ignored files are not among them, except those of a `source`.
 *
 * @example
 * const workspace = await createWorkspace({ backend: memory({ 'a.txt': 'one\n' }), policy: 'autonomous' })
 * const changes = createChanges({ workspace })
 * await workspace.call('append_file', { path: 'a.txt', content: 'two\n' })
 * await changes.select('a.txt')
 * console.log(changes.snapshot.patch)
 * changes.close()
 */
export function createChanges(options: ChangesOptions): Changes {
  refuseSurplus('createChanges()', 1, arguments)
  const review = new ChangesReview(options)
  return {
    get snapshot() {
      return review.state.snapshot
    },
    subscribe: review.state.subscribe,
    select: (path) => review.select(path),
    refresh: () => review.refresh(),
    count: () => review.count(),
    accept: (file, hunk, isAccepted) => review.accept(file, hunk, isAccepted),
    view: (file, isViewed) => review.view(file, isViewed),
    revert: (file, hunk) => review.revert(file, hunk),
    revertFile: (file) => review.revertFile(file),
    undo: (callId) => review.undo(callId),
    comment: (draft) => review.comment(draft),
    removeComment: (id) => review.removeComments([id]),
    send: () => review.send(),
    setLayout: (layout) => review.state.update({ layout }),
    keep: () => review.keep(),
    close: review.close,
  }
}

/** The key of a change among the accepted ones. */
export function changeKey({ path }: Pick<ChangedFile, 'path'>, { id }: Pick<ChangeHunk, 'id'>): string {
  return `${path} ${id}`
}

/** Whether the person has viewed the file as it is now. */
export function isViewed({ viewed }: Pick<SavedReview, 'viewed'>, { path, version }: ChangedFile): boolean {
  return viewed[path] === version
}

/** Longer files are not counted in advance. */
const MAX_COUNTED = 1024 * 1024

const optionChecks = {
  source: isObjectWith('a source', 'list', 'read'),
  saved: isObjectValue,
  onComments: isFunction,
}

class ChangesReview {
  readonly state: ControllerState<ChangesSnapshot>
  readonly close: () => void
  readonly refresh: () => Promise<void>
  readonly count: () => Promise<void>
  readonly #call: PersonCall
  readonly #source: ChangesSource
  readonly #options: ChangesOptions
  /** Changes that remain after a revert, by path and text: a new comparison could cut them in another way. */
  readonly #hunks = new Map<string, readonly ChangeHunk[]>()
  /** Counts of lines by path and version, of files that the source does not count. */
  readonly #counts = new Map<string, Partial<ChangedFile>>()
  /** Counts how often a file was shown. */
  #shown = 0
  #showing: Promise<void> | undefined
  /** Numbers of changes by path, and of changes of any file. */
  readonly #edits = new Map<string | undefined, number>()

  constructor(options: ChangesOptions) {
    this.#call = createPersonCall('createChanges()', options, optionChecks)
    this.#options = options
    const edits = (path: string) => (this.#edits.get(path) ?? 0) + (this.#edits.get(undefined) ?? 0)
    this.#source = options.source ?? diffSource(this.#call, edits)
    const { accepted = [], viewed = {}, comments = [], layout = 'fit' } = options.saved ?? {}
    this.state = new ControllerState<ChangesSnapshot>({
      ...{ files: [], isLoading: true, since: '', selected: undefined, file: undefined, patch: undefined },
      ...{ accepted: new Set(accepted), viewed, comments, layout, trouble: undefined },
      canComment: options.onComments !== undefined,
    })
    this.refresh = createRefresh(() => this.#refresh())
    this.count = createRefresh(() => this.#count())
    this.close = options.workspace.subscribe((event) => {
      if (event.type !== 'changed') return
      for (const path of event.paths ?? [undefined]) this.#edits.set(path, (this.#edits.get(path) ?? 0) + 1)
      void this.refresh()
    })
    void this.refresh()
  }

  async #refresh(): Promise<void> {
    const changed = await this.#source.list()
    if (typeof changed === 'string') {
      const nothing = { files: [], file: undefined, patch: undefined }
      return this.state.update({ ...nothing, isLoading: false, trouble: changed })
    }
    const { selected } = this.state.snapshot
    const files = this.#withCounts(changed.files)
    const isGone = !files.some(({ path }) => path === selected)
    const other = isGone ? { selected: files[0]?.path, file: undefined, patch: undefined } : {}
    this.state.update({ files, since: changed.since, isLoading: false, trouble: undefined, ...other })
    return this.#showSelected()
  }

  async select(path: string): Promise<void> {
    const has = () => this.state.snapshot.files.some((file) => file.path === path)
    if (!has()) await this.refresh()
    if (!has() || (this.state.snapshot.selected === path && this.state.snapshot.file !== undefined)) return
    this.state.update({ selected: path, file: undefined, patch: undefined })
    await this.#showSelected()
  }

  #showSelected(): Promise<void> {
    this.#shown += 1
    this.#showing = this.#show(this.#shown)
    return this.#showing
  }

  async #show(turn: number): Promise<void> {
    const { selected, files } = this.state.snapshot
    const file = files.find(({ path }) => path === selected)
    if (file === undefined) return
    const content = await this.#source.read(file)
    const reviewed = typeof content === 'string' ? undefined : await this.#review(file, content)
    // A later one shows the later state.
    if (turn !== this.#shown) return this.#showing
    if (typeof content === 'string') this.state.update({ file: undefined, patch: undefined, trouble: content })
    else this.state.update({ file: reviewed, patch: content.patch, trouble: undefined })
  }

  async #review(file: ChangedFile, content: ChangeContent): Promise<ReviewedFile> {
    const { text } = content
    if (text === undefined) return { ...file, ...content, hunks: [], lines: { before: [], after: [] } }
    const { before, after } = text
    const lines = { before: linesOf(before), after: linesOf(after) }
    const kept = this.#hunks.get(`${file.path}\0${after}`)
    const hunks = kept ?? (await hunksOf(before, after, lines.before, lines.after))
    return { ...file, ...content, ...countLines(hunks), hunks, lines }
  }

  async #count(): Promise<void> {
    const pause = createPacer()
    const { size } = this.#counts
    for (const file of this.state.snapshot.files) {
      const key = versionKey(file)
      if (file.insertions !== undefined || file.binary || this.#counts.has(key)) continue
      const content = await this.#source.read(file)
      if (typeof content === 'string') continue
      const [before = 0, after = 0] = content.bytes ?? []
      const isSmall = (before ?? 0) + (after ?? 0) <= MAX_COUNTED
      if (content.text === undefined) this.#counts.set(key, { binary: true })
      else this.#counts.set(key, isSmall ? countLines((await this.#review(file, content)).hunks) : {})
      await pause()
    }
    if (this.#counts.size === size) return
    this.state.update({ files: this.#withCounts(this.state.snapshot.files) })
  }

  #withCounts(files: readonly ChangedFile[]): readonly ChangedFile[] {
    return files.map((file) => ({ ...file, ...this.#counts.get(versionKey(file)) }))
  }

  accept(file: ChangedFile, hunk: ChangeHunk, isAccepted: boolean): void {
    const accepted = new Set(this.state.snapshot.accepted)
    if (isAccepted) accepted.add(changeKey(file, hunk))
    else accepted.delete(changeKey(file, hunk))
    this.state.update({ accepted })
  }

  view({ path, version }: ChangedFile, viewed: boolean): void {
    const { [path]: _, ...others } = this.state.snapshot.viewed
    this.state.update({ viewed: viewed ? { ...others, [path]: version } : others })
  }

  async revert(file: ReviewedFile, hunk: ChangeHunk): Promise<ChangeOutcome> {
    const { path, text, hunks, status } = file
    if (text === undefined) return noText(path)
    const reverted = withoutChange(text.after, hunk)
    this.#hunks.set(`${path}\0${text.after}`, hunks)
    this.#hunks.set(`${path}\0${reverted}`, otherHunks(hunks, hunk))
    // The only change of an added file is the file itself.
    return status === 'added' ? this.revertFile(file) : this.#save(file, reverted)
  }

  async revertFile(file: ReviewedFile): Promise<ChangeOutcome> {
    const { path, status, oldPath, sha256, text, hunks } = file
    if (text === undefined) return noText(path)
    if (status === 'added') return this.#act('delete_file', { path, expectedSha256: sha256 ?? undefined })
    if (status !== 'renamed' || oldPath === undefined) return this.#save(file, text.before)
    if (hunks.length > 0) {
      const saved = await this.#save(file, text.before)
      if ('trouble' in saved) return saved
    }
    return this.#act('move_file', { path, to: oldPath })
  }

  #save({ path, sha256 }: ReviewedFile, content: string): Promise<ChangeOutcome> {
    return this.#act('write_file', { path, content, expectedSha256: sha256 })
  }

  async #act(tool: string, input: unknown): Promise<ChangeOutcome> {
    return outcomeOf(await this.#call(tool, input))
  }

  async undo(callId: string): Promise<ChangeOutcome> {
    const approve: UndoOptions['approve'] = () => ({ allow: 'once', by: 'person' })
    return outcomeOf(await this.#options.workspace.undo(callId, { approve }))
  }

  comment(draft: CommentDraft): void {
    const { comments } = this.state.snapshot
    const last = Math.max(0, ...comments.map(({ id }) => Number(id)))
    this.state.update({ comments: [...comments, { ...draft, id: String(last + 1) }] })
  }

  removeComments(ids: readonly string[]): void {
    this.state.update({ comments: this.state.snapshot.comments.filter(({ id }) => !ids.includes(id)) })
  }

  async send(): Promise<void> {
    const { comments } = this.state.snapshot
    if (comments.length === 0 || this.#options.onComments === undefined) return
    await this.#options.onComments(comments)
    this.removeComments(comments.map(({ id }) => id))
  }

  keep(): SavedReview {
    const { accepted, viewed, comments, layout } = this.state.snapshot
    return { accepted: [...accepted], viewed, comments, layout }
  }
}

function versionKey({ path, version }: ChangedFile): string {
  return `${path} ${version}`
}

function noText(path: string): ChangeOutcome {
  return { trouble: `Cannot take back the change of ${path}: it is not a text file` }
}

function outcomeOf(result: Awaited<ReturnType<PersonCall>>): ChangeOutcome {
  return result.ok ? { callId: result.callId } : { trouble: blockedInWords(result) }
}
