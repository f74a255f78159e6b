import { ToolError } from '../../errors.ts'
import type { Visibility } from '../../guard/visibility.ts'
import { ancestorsOf, isWithin, type Path, quote, ROOT } from '../../paths/logical-path.ts'
import type { EntryState, EntryType } from '../../storage/backend.ts'
import type { CommandChange } from '../shared/apply-changes.ts'
import type { CommandFiles } from '../types.ts'
import { hasSecretMark, withBom, withoutBom } from './bom-forms.ts'
import type { WebContainer } from './client.ts'
import { type ContainerChange, ContainerFiles } from './container-files.ts'
import { type ContainerEntry, type ContainerTree, diffTrees, isContainerOwned, sameContent } from './file-tree.ts'
import { readVisibleFiles, type VisibleEntry } from './visible-files.ts'

/** Copies the workspace into a container, and reads back what commands change there. */
export interface Mirror {
  /** Makes the container contain exactly the visible files, beside the files that exist only there. @throws ToolError */
  sync(options: SyncOptions): Promise<void>
  /** Returns the changes in the container since the last sync. */
  changes(): Promise<readonly CommandChange[]>
  /**
   * Checks that the changes can be applied: nobody else has changed the files since they were copied. Also makes sure
   * that the secrets behind the marks in them are known.
   *
   * @throws ToolError `WRITE_CONFLICT`
   */
  prepare(files: CommandFiles, changes: readonly CommandChange[]): Promise<void>
  /** Keeps the changes that were applied to the workspace, and reverts the others in the container. */
  settle(changes: readonly CommandChange[], isKept: (path: Path) => boolean): Promise<void>
  /** Applies a change of another call to the container. */
  follow(path: Path, state: EntryState): Promise<void>
  /** Whether an operation of the container has failed, so that its content is unknown. */
  isLost(): boolean
}

export interface SyncOptions {
  readonly files: CommandFiles
  readonly visibility: Visibility
  readonly noteReadable?: ((path: Path) => void) | undefined
  readonly tree?: object | undefined
  /** Other commands run in the container and may change the copied files at once. */
  readonly isShared: boolean
}

export interface MirrorOptions {
  readonly container: WebContainer
  /** Existing directory of the workspace, relative to the working directory of the container. */
  readonly directory: string
  /** The container keeps symbolic links. If not, links are not copied. */
  readonly links: boolean
  readonly maxBytes: number
}

/** Creates the mirror of one container. */
export function createMirror(options: MirrorOptions): Mirror {
  return new ContainerMirror(options)
}

interface MirrorEntry {
  /** Content as the workspace shows it. */
  readonly content: ContainerEntry
  /** Content as the container exports it, if that differs, or `null` when the export omits it. */
  readonly exported?: ContainerEntry | null
  readonly tag?: string
}

class ContainerMirror implements Mirror {
  readonly #options: MirrorOptions
  readonly #containerFiles: ContainerFiles
  #entries = new Map<Path, MirrorEntry>()
  /** Tags of visible files that could not be read. */
  readonly #unreadable = new Map<Path, string>()
  #isMounted = false
  #tree: object | undefined
  #isVisible: (path: Path, type?: EntryType) => boolean = () => true

  constructor(options: MirrorOptions) {
    this.#options = options
    this.#containerFiles = new ContainerFiles(options.container, options.directory)
  }

  isLost(): boolean {
    return this.#containerFiles.isLost
  }

  async sync({ files, visibility, noteReadable, tree, isShared }: SyncOptions): Promise<void> {
    // Tags of different trees cannot be compared.
    if (tree !== this.#tree) {
      for (const [path, { tag: _, ...entry }] of this.#entries) this.#entries.set(path, entry)
      this.#unreadable.clear()
    }
    this.#tree = tree
    this.#isVisible = (path, type = 'file') => visibility.see(path, type)
    const { links, maxBytes } = this.#options
    const visible = await readVisibleFiles({
      files,
      visibility,
      cached: (path, tag) => this.#cached(path, tag),
      onUnreadable: (path, tag) => this.#unreadable.set(path, tag),
      links,
      maxBytes,
    })
    if (noteReadable !== undefined) {
      for (const [path, { content }] of visible) if (content.type === 'file') noteReadable(path)
    }
    if (!this.#isMounted) return this.#mount(visible)
    const changes: ContainerChange[] = []
    const next = new Map<Path, MirrorEntry>()
    for (const [path, { content, tag }] of visible) {
      const entry = this.#entries.get(path)
      const isUnchanged = entry !== undefined && sameContent(entry.content, content)
      if (!isUnchanged) changes.push({ path, to: content })
      next.set(path, { ...(isUnchanged ? entry : { content }), ...(tag === undefined ? {} : { tag }) })
    }
    for (const path of this.#entries.keys()) if (!visible.has(path)) changes.push({ path, to: null })
    await this.#containerFiles.write(this.#contents(), changes)
    this.#entries = next
    await this.#verify(
      changes.filter(({ to }) => to !== null).map(({ path }) => path),
      isShared,
    )
  }

  async changes(): Promise<readonly CommandChange[]> {
    const changes = diffTrees(this.#baseline(), await this.#containerFiles.export())
    // An export may omit a directory until it is no longer empty.
    const isNew = ({ path, after }: CommandChange) =>
      after?.type !== 'directory' || this.#entries.get(path)?.content.type !== 'directory'
    return changes.filter(isNew).map((change) => this.#restoreBom(change))
  }

  async prepare(files: CommandFiles, changes: readonly CommandChange[]): Promise<void> {
    for (const { path } of changes) {
      if (await this.#isUnchanged(files, path)) continue
      throw new ToolError(
        'WRITE_CONFLICT',
        `Cannot keep what the command changed: ${quote(path)} is not what it was given`,
        {
          path,
          hint: 'The file was changed meanwhile, or a container cannot hold it. Read it, and run the command again.',
        },
      )
    }
    // The files of a command know a mark only after the command has read the file with it.
    if (!changes.some(({ after }) => hasSecretMark(after))) return
    for (const [path, { content }] of this.#entries) {
      if (hasSecretMark(content)) await files.read(path).catch(() => {})
    }
  }

  async settle(changes: readonly CommandChange[], isKept: (path: Path) => boolean): Promise<void> {
    const current = new Map(this.#contents())
    for (const { path, after } of changes) {
      if (after === null) current.delete(path)
      else current.set(path, after)
    }
    const reverts: ContainerChange[] = []
    for (const { path, before, after } of changes) {
      if (!isKept(path)) reverts.push({ path, to: this.#entries.get(path)?.content ?? before })
      else if (after === null) this.#entries.delete(path)
      else {
        const previous = this.#entries.get(path)?.exported
        const stripped = withoutBom(after)
        const isStripped = previous && !sameContent(stripped, after)
        this.#entries.set(path, { content: after, ...(isStripped ? { exported: stripped } : {}) })
      }
    }
    await this.#containerFiles.write(current, reverts)
  }

  async follow(path: Path, state: EntryState): Promise<void> {
    if (!this.#isMounted || sameContent(this.#entries.get(path)?.content ?? null, state)) return
    await this.#containerFiles.write(this.#contents(), [{ path, to: state }])
    for (const below of this.#entries.keys()) {
      if (below !== path && isWithin(below, path) && state?.type !== 'directory') this.#entries.delete(below)
    }
    if (state === null) {
      this.#entries.delete(path)
      return
    }
    this.#entries.set(path, { content: state })
    for (const above of ancestorsOf(path)) {
      if (above !== path && above !== ROOT && !this.#entries.has(above)) {
        this.#entries.set(above, { content: { type: 'directory' } })
      }
    }
    await this.#verify([path], true)
  }

  /** Mounts everything in one operation, the first time. The export that follows is the baseline for changes. */
  async #mount(visible: ReadonlyMap<Path, VisibleEntry>): Promise<void> {
    await this.#containerFiles.mount(new Map([...visible].map(([path, { content }]) => [path, content])))
    const exported = await this.#containerFiles.export()
    // A mounted tree may lose entries that its format cannot represent, such as unusual names.
    const missing = [...visible].filter(([path]) => !isContainerOwned(path) && !exported.has(path))
    await this.#containerFiles.write(
      exported,
      missing.map(([path, { content }]) => ({ path, to: content })),
    )
    for (const path of exported.keys()) if (!visible.has(path)) await this.#containerFiles.remove(path)
    for (const [path, { content, tag }] of visible) {
      this.#entries.set(path, { content, ...(tag === undefined ? {} : { tag }) })
    }
    await this.#verify([...visible.keys()], false)
    this.#isMounted = true
  }

  /** Records how the container exports the copied files, so that only later differences count as changes. */
  async #verify(paths: readonly Path[], isShared: boolean): Promise<void> {
    const copied = new Set(paths.filter((path) => !isContainerOwned(path)))
    if (copied.size === 0) return
    const current = await this.#containerFiles.export()
    for (const [path, entry] of this.#entries) {
      if (!copied.has(path)) continue
      const exported = current.get(path) ?? null
      const { exported: _, ...rest } = entry
      // In a shared container, a difference is a change by another command, unless only the BOM is missing.
      const isForm = exported === null || !isShared || sameContent(exported, withoutBom(entry.content))
      this.#entries.set(path, sameContent(exported, entry.content) || !isForm ? rest : { ...rest, exported })
    }
  }

  /** The export of an unchanged container. */
  #baseline(): ContainerTree {
    const tree = new Map<Path, ContainerEntry>()
    for (const [path, { content, exported = content }] of this.#entries) if (exported !== null) tree.set(path, exported)
    return tree
  }

  /** Everything in the container, exported or not. */
  #contents(): ContainerTree {
    return new Map([...this.#entries].map(([path, { content }]) => [path, content]))
  }

  #cached(path: Path, tag: string): ContainerEntry | 'unreadable' | undefined {
    if (this.#unreadable.get(path) === tag) return 'unreadable'
    const entry = this.#entries.get(path)
    return entry?.tag === tag ? entry.content : undefined
  }

  /** Adds the byte order mark to a changed file if only the export drops it. */
  #restoreBom(change: CommandChange): CommandChange {
    const { path, after } = change
    const { content, exported } = this.#entries.get(path) ?? {}
    if (content?.type !== 'file' || after?.type !== 'file' || !exported || sameContent(content, exported)) return change
    const dropsBom = sameContent(withoutBom(content), exported) && sameContent(withoutBom(after), after)
    return dropsBom ? { ...change, after: { type: 'file', bytes: withBom(after.bytes) } } : change
  }

  /** Whether the workspace still has the content that was copied. True for invisible paths, which the gate refuses. */
  async #isUnchanged(files: CommandFiles, path: Path): Promise<boolean> {
    const stat = await files.stat(path, { noFollow: true }).catch(() => undefined)
    const entry = this.#entries.get(path)
    if (stat === undefined || entry === undefined) return stat === entry || !this.#isVisible(path, stat?.type)
    const { content } = entry
    if (stat.type !== content.type) return false
    if (content.type === 'directory' || stat.tag === entry.tag) return true
    const current: EntryState =
      stat.type === 'link'
        ? { type: 'link', target: await files.readLink(path) }
        : { type: 'file', bytes: await files.read(path) }
    return sameContent(current, content)
  }
}
