import { ToolError } from '../../errors.ts'
import { HiddenSecrets, type SecretRefusals } from '../../files/secrets/hidden.ts'
import { redact } from '../../files/secrets/index.ts'
import { WINDOW } from '../../files/secrets/window-table.ts'
import { classifyBoth, guardLookups } from '../../guard/guard-accesses.ts'
import { requireHidden, requireOrdinaryNames } from '../../guard/require-hidden.ts'
import { hiddenInside, tooManyEntries } from '../../guard/tree-errors.ts'
import type { Visibility } from '../../guard/visibility.ts'
import { childOf, type LogicalPath, notFound, type Path, parentOf, quote, ROOT } from '../../paths/logical-path.ts'
import { type Access, type GuardedAccess, refusedPermission } from '../../policy/access.ts'
import type { ContentFlow, CopySource } from '../../policy/content-flow.ts'
import type { Permission } from '../../policy/permissions.ts'
import type { Backend, Change, ContentSink, EntryState, EntryType, Stat } from '../../storage/backend.ts'
import { type Lookups, look, runLookups } from '../../storage/lookups.ts'
import { priorStateWithin, sizeOf } from '../../storage/versions.ts'
import { throwIfAborted } from '../../util/abort.ts'
import { createCheckedPacer } from '../../util/checked-pacer.ts'
import { mapTexts } from '../../util/map-texts.ts'
import { runInTurns } from '../../util/steps.ts'
import type { CommandStat, RefusedAccess } from '../types.ts'
import { refusing } from './refusal-codes.ts'
import { createMarks, type SecretMarks } from './secret-marks.ts'
import { addReadableSecrets } from './unseen-secrets.ts'

/** Maximum number of refusals recorded per command. Later accesses are still refused, but not recorded. */
const MAX_REFUSALS = 200

/** Maximum number of bytes that one command writes, by default. They are in memory until the command ends. */
const MAX_WRITTEN_BYTES = 256 * 1024 * 1024

/** Bounds of the contents that are kept after a command has read them. */
const MAX_KEPT_FILES = 50
const MAX_KEPT_BYTES = 64 * 1024 * 1024

export interface CommandFilesOptions {
  /** Receives the changes: an overlay of the command's own. */
  readonly backend: Backend
  /** Evaluates one access. @throws ToolError if it is refused */
  readonly judge: (access: GuardedAccess) => void
  /** Throws the denial of an access that policy denies. Unlike `judge`, it requests no approval. */
  readonly requireAllowed: (access: GuardedAccess) => void
  /** What shows in listings, and in searches. */
  readonly visibility: (kind: 'list' | 'search') => Visibility
  readonly signal: AbortSignal
  /** Called with each file whose bytes are read, and their number. An error that it throws refuses them. */
  readonly onRead: (path: Path, bytes: number) => void
  /** Called with each file that is copied without being shown, and its bytes. Default: `onRead`. */
  readonly onCopy?: (path: Path, bytes: number) => void
  /** Tracks the labels of what the command writes, if the policy has labels. */
  readonly flow?: ContentFlow | undefined
  readonly limits: { readonly treeEntries: number; readonly fileBytes: number; readonly writtenBytes?: number }
  /** Texts that the caller of the command has written, such as its line. */
  readonly knownTexts?: readonly string[]
  /** What changes have told the run about secrets. */
  readonly secretRefusals?: SecretRefusals
  /** Takes contents that are too large for memory. Absent if all contents have to be in memory. */
  readonly large?: LargeContents | undefined
  /** Programs open files by themselves, so any file may be the source of what they write. */
  readonly readsUnseen?: boolean
}

/** The contents of a program that are too large for memory. */
export interface LargeContents {
  /** Stores a content part by part. */
  stage(path: Path): Promise<ContentSink>
  /** Takes changes with a stored content. They are committed with the others, and reads do not show them before. */
  take(changes: readonly Change[]): void
}

/** The content of a file that a command read, as stored and with secrets replaced by marks. */
export interface ReadContent {
  readonly stored: Uint8Array
  readonly shown: Uint8Array
}

/** A content of this size is searched for secrets in some milliseconds. */
export const LARGE_BYTES = 256 * 1024

/** Guards, classifies and evaluates every access of one command, and records what it reached and what was refused. */
export class CommandGate {
  readonly backend: Backend
  readonly options: CommandFilesOptions
  /** What shows in listings. */
  readonly listing: Visibility
  /** The secrets of what the command has read or replaced. */
  readonly #hidden: HiddenSecrets
  readonly marks: SecretMarks
  /** The search for the secrets of all files before the command changes any. */
  #searched: Promise<void> | undefined
  /** To be called between the steps of a long operation. @throws ToolError `ABORTED` if the command was stopped */
  readonly pause = createCheckedPacer(() => this.requireRunning())
  readonly readContents = new Map<Path, ReadContent>()
  #keptBytes = 0
  /** The size of each file that the command has written, and the sum. */
  readonly #written = new Map<Path, number>()
  #writtenBytes = 0
  readonly #refusals = new Map<string, RefusedAccess>()
  readonly #accesses = new Map<string, GuardedAccess>()
  /** Refusals that are already recorded, since one error passes several callers. */
  readonly #recorded = new WeakSet<ToolError>()

  constructor(options: CommandFilesOptions) {
    this.options = options
    this.backend = options.backend
    this.listing = options.visibility('list')
    this.#hidden = new HiddenSecrets(options.knownTexts, options.secretRefusals)
    this.marks = createMarks(this.#hidden)
  }

  /** The refused accesses, each once. */
  get refused(): readonly RefusedAccess[] {
    return [...this.#refusals.values()]
  }

  /** The refused accesses. Programs choose names, so pieces of secrets in them are marks. */
  async refusals(): Promise<readonly RefusedAccess[]> {
    const refusals = this.refused
    try {
      return await this.hideSecrets(refusals)
    } catch (error) {
      if (!(error instanceof ToolError)) throw error
      // Nothing tells what is part of a secret.
      const { message } = error
      return refusals.map((refusal) => ({
        ...refusal,
        path: refusal.path.length < WINDOW ? refusal.path : '.',
        message,
      }))
    }
  }

  get accesses(): readonly GuardedAccess[] {
    return [...this.#accesses.values()]
  }

  /** Records a refusal, once, and returns the error to throw. */
  refuse(asked: Permission, path: string, error: ToolError): ToolError {
    if (this.#recorded.has(error)) return error
    this.#recorded.add(error)
    const permission = refusedPermission(asked)
    const key = `${permission} ${path} ${error.code}`
    if (refusing.has(error.code) && !this.#refusals.has(key) && this.#refusals.size < MAX_REFUSALS) {
      this.#refusals.set(key, { permission, path: path.slice(0, 300), code: error.code, message: error.message })
    }
    return error
  }

  /** @throws ToolError `ABORTED` if the command was stopped */
  requireRunning(): void {
    throwIfAborted(this.options.signal, 'Stopped before the end')
  }

  /** Runs an action on behalf of an access; records its refusal. */
  async attempt<T>(permission: Permission, path: string, action: () => Promise<T>): Promise<T> {
    this.requireRunning()
    try {
      return await action()
    } catch (error) {
      throw this.#refusalOf(permission, path, error)
    }
  }

  /** {@link attempt} for an action that returns at once. */
  attemptNow<T>(permission: Permission, path: string, action: () => T): T {
    try {
      return action()
    } catch (error) {
      throw this.#refusalOf(permission, path, error)
    }
  }

  #refusalOf(permission: Permission, path: string, error: unknown): unknown {
    if (!(error instanceof ToolError)) return error
    // A refused name may contain a part of a secret; its error has the root as path.
    return this.refuse(permission, error.details.path === '.' ? '.' : path, error)
  }

  /**
   * Guards and evaluates one access under all of its names.
   *
   * @throws ToolError if it is refused
   */
  reach(access: Access): Promise<GuardedAccess> {
    return runLookups(this.backend, this.reachLookups(access))
  }

  /** {@link reach}, independent of how entries are looked up. */
  *reachLookups(access: Access): Lookups<GuardedAccess> {
    const evaluate = (guarded: GuardedAccess) => {
      try {
        this.options.judge(guarded)
      } catch (error) {
        throw error instanceof ToolError ? this.refuse(guarded.permission, guarded.asked, error) : error
      }
    }
    const accesses = yield* guardLookups([access], ([guarded, ...above]) => {
      evaluate(guarded as GuardedAccess)
      if (above.some(this.#isHidden)) throw notFound(access.path)
      return false
    })
    for (const guarded of accesses) evaluate(guarded)
    return accesses[0] as GuardedAccess
  }

  /** Keeps the content of a file that the command has read, within bounds. */
  keepContent(path: Path, content: ReadContent): void {
    const bytes = content.stored.length + (content.shown === content.stored ? 0 : content.shown.length)
    if (this.readContents.has(path) || this.readContents.size >= MAX_KEPT_FILES) return
    if (this.#keptBytes + bytes > MAX_KEPT_BYTES) return
    this.#keptBytes += bytes
    this.readContents.set(path, content)
  }

  /** Records accesses that have changed something, or have to be approved with the changes. */
  record(...accesses: readonly GuardedAccess[]): void {
    for (const access of accesses) this.#accesses.set(`${access.permission} ${access.asked} ${access.path}`, access)
  }

  /**
   * Applies changes to the command's overlay, and records the accesses that made them.
   *
   * @param keepsContent what is at the paths now, or was under these names, stays part of their content
   * @param copied the file of which the changes are a copy
   * @throws ToolError `POLICY_DENIED` if the command cannot see what it would change; `LIMIT_EXCEEDED` if it would have
   *   written more than `writtenBytes`; `POLICY_DENIED_SECRET` if a secret would show
   */
  async commit(
    changes: readonly Change[],
    accesses: readonly GuardedAccess[],
    {
      keepsContent = false,
      copied,
    }: { readonly keepsContent?: boolean; readonly copied?: CopySource | undefined } = {},
  ): Promise<void> {
    const views = await this.#requireSeen(changes, accesses)
    let bytes = this.#writtenBytes
    for (const { path, to } of changes) {
      bytes += (to?.type === 'file' ? sizeOf(to) : 0) - (this.#written.get(path) ?? 0)
    }
    const { writtenBytes = MAX_WRITTEN_BYTES } = this.options.limits
    if (bytes > writtenBytes) {
      const path = changes[0]?.path ?? ROOT
      throw new ToolError(
        'LIMIT_EXCEEDED',
        `Cannot change ${quote(path)}: the command would have written ${bytes} bytes`,
        {
          path,
          limit: 'bytes written by a command',
          value: writtenBytes,
        },
      )
    }
    await this.requireHidden(changes)
    this.#writtenBytes = bytes
    for (const { path, to } of changes) this.#written.set(path, to?.type === 'file' ? sizeOf(to) : 0)
    const { flow } = this.options
    await flow?.name(changes, async (path) => (await this.backend.stat(path)) !== undefined, copied)
    const recordLabels = flow?.write(changes, keepsContent, copied)
    if (changes.some(hasContent)) this.options.large?.take(changes)
    else await this.backend.commit(changes, { durability: 'relaxed', signal: this.options.signal })
    recordLabels?.()
    this.record(...accesses, ...views)
  }

  /**
   * Refuses changes of entries that exist but that the command cannot see: it takes them to be absent, and would destroy
   * their content unknowingly. Returns the accesses that would have shown them, if these only need an approval.
   *
   * @throws ToolError `POLICY_DENIED`
   */
  async #requireSeen(changes: readonly Change[], accesses: readonly GuardedAccess[]): Promise<GuardedAccess[]> {
    const requestedPaths = new Map(accesses.map(({ path, asked }) => [path, asked]))
    const views: GuardedAccess[] = []
    for (const { path } of changes) {
      const requested = requestedPaths.get(path) ?? path
      if (this.#shows(requested, path, 'file')) continue
      const stat = await this.backend.stat(path)
      if (stat === undefined || this.#shows(requested, path, stat.type)) continue
      views.push(
        ...this.#requireViewable(
          path,
          requested,
          (reason) =>
            new ToolError(
              'POLICY_DENIED',
              `Cannot change ${quote(requested)}: it exists, but is not visible here. ${reason}`,
              { path: requested, hint: 'Use another path, or ask the user for permission to view this one.' },
            ),
        ),
      )
    }
    return views
  }

  /** Returns the accesses that read and list a path. @throws the error for a path that policy does not let a call view */
  #requireViewable(path: Path, requested: LogicalPath, errorFor: (reason: string) => ToolError): GuardedAccess[] {
    const classification = classifyBoth(requested, path)
    const views = (['file:read', 'file:list'] as const).map(
      (permission): GuardedAccess => ({ permission, asked: requested, path, classification, recursive: false }),
    )
    try {
      for (const view of views) this.options.requireAllowed(view)
    } catch (error) {
      throw error instanceof ToolError ? errorFor(error.message) : error
    }
    return views
  }

  /**
   * Refuses changes that would show a part of a secret, and new names that hold one. A removal or a move shows nothing new.
   *
   * @throws ToolError `POLICY_DENIED_SECRET`
   */
  async requireHidden(changes: readonly Change[]): Promise<void> {
    const writes = changes.filter(({ to, from }) => to !== null && from === undefined)
    const contentChanges: { change: Change; before: EntryState }[] = []
    for (const change of writes) {
      // A content that is not in memory is searched before the call commits it.
      if (!hasContent(change)) contentChanges.push({ change, before: await this.#stateBefore(change) })
    }
    const search = this.findSecrets()
    // A removal shows nothing. What cannot be searched is hidden as a whole, by hideSecrets.
    await (writes.length === 0 ? search.catch(() => {}) : search)
    await requireHidden(this.#hidden, contentChanges, this.pause)
    requireOrdinaryNames([
      ...contentChanges,
      ...changes.filter(({ from }) => from !== undefined).map((change) => ({ change, before: null })),
    ])
  }

  /** Returns a content with marks in place of its secrets. Lets the event loop turn during a large one. */
  async hide(bytes: Uint8Array, path: LogicalPath): Promise<Uint8Array> {
    if (bytes.length <= LARGE_BYTES) return this.marks.hide(bytes, path)
    return runInTurns(this.marks.hideInSteps(bytes, path), this.pause)
  }

  /**
   * Finds the secrets of all files that a program could read. To be called before it starts: it may remove them.
   *
   * @throws ToolError `LIMIT_EXCEEDED` if there are too many
   */
  findSecrets(): Promise<void> {
    this.#searched ??= this.#search()
    return this.#searched
  }

  /**
   * Replaces pieces of the secrets of all files by marks in the texts that a program has made: its output, and the names that
   * it chose. Any other command sees marks in the files.
   */
  async hideSecrets<T>(made: T): Promise<T> {
    let longest = 0
    mapTexts(made, (text) => {
      longest = Math.max(longest, text.length)
      return text
    })
    if (this.options.readsUnseen !== true || longest < WINDOW) return made
    await this.findSecrets()
    // Other calls may have changed files meanwhile.
    await this.#search()
    // Whole secrets keep the numbers that they have in the output.
    return mapTexts(made, (text) => this.#hidden.hide(redact(text).text))
  }

  async #search(): Promise<void> {
    const { readsUnseen, visibility } = this.options
    if (readsUnseen === true) await addReadableSecrets(this.#hidden, this.backend, visibility('search'))
  }

  /** The state that a change replaces. An appended file begins with it. */
  async #stateBefore({ path, to }: Change): Promise<EntryState> {
    if (to?.type === 'file' && to.sharedPrefix !== undefined) {
      return { type: 'file', bytes: to.bytes.subarray(0, to.sharedPrefix) }
    }
    return to?.type === 'directory' ? null : (await priorStateWithin(this.backend, path)).state
  }

  /** Whether a listing shows a path. A command sees what it has written itself. */
  sees(path: Path, type: EntryType): boolean {
    return this.#written.has(path) || this.listing.see(path, type)
  }

  /** Whether both names of a path show: the requested one and the canonical one. */
  #shows(requested: LogicalPath, path: Path, type: EntryType): boolean {
    if (path === ROOT || this.#written.has(path)) return true
    return this.listing.see(path, type) && (requested === path || this.listing.see(requested as Path, type))
  }

  readonly #isHidden = ({ asked, path }: GuardedAccess): boolean => !this.#shows(asked, path, 'file')

  /** Returns the facts of a path, or `undefined` when nothing is there or policy hides it. */
  visibleStat(path: string, noFollow = false): Promise<CommandStat | undefined> {
    return runLookups(this.backend, this.statLookups(path, noFollow))
  }

  /** {@link visibleStat}, independent of how entries are looked up. */
  *statLookups(path: string, noFollow = false): Lookups<CommandStat | undefined> {
    const access = yield* this.#visibleAccess(path, noFollow)
    if (access === undefined) return undefined
    const stat = yield* look((reads) => reads.stat(access.path))
    if (stat === undefined || !this.#shows(access.asked, access.path, stat.type)) return undefined
    return shownStat(access, stat)
  }

  *#visibleAccess(path: string, noFollow: boolean): Lookups<GuardedAccess | undefined> {
    let isHidden = false
    const [access] = yield* guardLookups([{ permission: 'file:info', path, noFollow }], (accesses) => {
      isHidden = accesses.some(this.#isHidden)
      return isHidden
    })
    return isHidden ? undefined : access
  }

  /**
   * Requires that policy shows the target of a link, because the text of the link is the path of the target.
   *
   * @throws ToolError `POLICY_DENIED`
   */
  *targetLookups(link: string): Lookups<void> {
    const [, target] = yield* guardLookups([{ permission: 'file:info', path: link, noFollow: true }])
    if (target === undefined) return
    const stat = yield* look((reads) => reads.stat(target.path))
    if (this.#shows(target.asked, target.path, stat?.type ?? 'file')) return
    throw new ToolError('POLICY_DENIED', `Cannot read the link ${quote(link)}: it leads to what is not visible here`, {
      path: link,
    })
  }

  /** @throws ToolError `NOT_FOUND` if nothing is there or policy hides it */
  requireVisible(path: string): Promise<CommandStat> {
    return runLookups(this.backend, this.visibleLookups(path))
  }

  /** {@link requireVisible}, independent of how entries are looked up. */
  *visibleLookups(path: string): Lookups<CommandStat> {
    const stat = yield* this.statLookups(path)
    if (stat === undefined) throw notFound(path)
    return stat
  }

  /** @throws ToolError `NOT_FOUND` if the directory above a path does not exist */
  async requireParent(path: Path): Promise<void> {
    const parent = parentOf(path)
    if (parent === ROOT) return
    // A path through a file was refused when it was followed.
    if ((await this.backend.stat(parent))?.type === 'directory') return
    throw new ToolError('NOT_FOUND', `Cannot create ${quote(path)}: its directory does not exist`, { path })
  }

  /**
   * Lists everything below a directory that is to be changed, parents first.
   *
   * @throws ToolError `POLICY_DENIED` if the command cannot see an entry, without its name; `LIMIT_EXCEEDED` for more than
   *   `treeEntries` entries
   */
  async descendants(start: Path): Promise<{ path: Path; type: EntryType }[]> {
    const { treeEntries } = this.options.limits
    const entries: { path: Path; type: EntryType }[] = []
    const pending: Path[] = [start]
    for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
      await this.pause()
      for (const { name, type } of await this.backend.list(directory)) {
        const path = childOf(directory, name)
        if (!this.sees(path, type)) {
          this.#requireViewable(path, path, () => hiddenInside(start))
        }
        entries.push({ path, type })
        if (type === 'directory') pending.push(path)
        if (entries.length > treeEntries) throw tooManyEntries(start, treeEntries)
      }
    }
    return entries
  }

  /** @throws ToolError `LIMIT_EXCEEDED` for a file over `fileBytes` */
  requireFits(path: string, bytes: number, verb: 'has' | 'would have'): void {
    const { fileBytes } = this.options.limits
    if (bytes <= fileBytes) return
    throw new ToolError('LIMIT_EXCEEDED', `${quote(path)} ${verb} ${bytes} bytes, over the limit of ${fileBytes}`, {
      path,
      sizeBytes: bytes,
      limit: 'commandFileBytes',
      value: fileBytes,
    })
  }
}

/**
 * Returns what a program may learn about an entry: of a protected file neither its size nor its time, and of a directory no tag of
 * the backend, which changes with hidden entries below it.
 */
export function shownStat({ path, classification }: GuardedAccess, stat: Stat): Stat & { readonly path: Path } {
  if (classification.redacted) return { path, type: stat.type, size: 0, tag: path }
  return { ...stat, path, tag: stat.type === 'directory' ? path : stat.tag }
}

function hasContent({ to }: Change): boolean {
  return to?.type === 'file' && to.content !== undefined
}
