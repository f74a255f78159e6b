import { display, nameOf, type Path, parentOf } from '../paths/logical-path.ts'
import type { Change } from '../storage/backend.ts'
import type { Label } from './labels.ts'
import { hasSameName, namedPath, nameLabelOf } from './name-labels.ts'
import { type ContentLabel, type FileLabels, higher, isAbove, type Labels, maxLabel } from './taint.ts'

/** Where the labels of files come from: the policy, and what was written into them. */
export interface KnownLabels {
  readonly labels: Labels
  readonly fileLabels: FileLabels
  /** The labels of names, by the path of the entry that has the name. */
  readonly nameLabels: FileLabels
}

/** What a command receives and knows beside its own accesses. */
export interface FlowSources {
  /** Returns what the command has received by other ways than `read`. */
  readonly received: () => ContentLabel | undefined
  /** Whether the input of the call contains a name, so that the command does not make it of what it reads. */
  readonly spells: (name: string) => boolean
}

/** The source of a copied file: its canonical path, and the path that the command named. */
export interface CopySource {
  readonly path: Path
  readonly asked: Path
}

/**
 * Tracks the labels of the content that one command receives, moves and writes. A moved or copied file keeps its label.
 * Any other write may contain everything that the command has received before.
 */
export class ContentFlow {
  readonly #known: KnownLabels
  readonly #sources: FlowSources
  #received: ContentLabel | undefined
  /** Without the output of commands. */
  #content: ContentLabel | undefined
  /** The present content of the paths that the command has written. */
  readonly #written = new Map<Path, ContentLabel>()
  /** The highest label that each path had at any time during the command: git may have stored it under that name. */
  readonly #highest = new Map<Path, Label>()
  /** Names that may hold labelled content, by the path of their entries. */
  readonly #names = new Map<Path, ContentLabel>()
  /** Entries that were moved or copied with the name that they had. */
  readonly #keptNames = new Set<Path>()

  constructor(knownLabels: KnownLabels, sources: FlowSources) {
    this.#known = knownLabels
    this.#sources = sources
  }

  /** The highest label that the command has received. */
  get received(): ContentLabel | undefined {
    return higher(this.#received, this.#sources.received())
  }

  /** The highest label that the command has received by its own accesses and commands. */
  get ownReceived(): ContentLabel | undefined {
    return this.#received
  }

  /** {@link ownReceived} without the labels that the policy gives to the output of commands. */
  get receivedContent(): ContentLabel | undefined {
    return this.#content
  }

  /** Every path whose content has changed, with the highest label that it had during the command. */
  get written(): Iterable<readonly [Path, Label]> {
    return this.#highest
  }

  /** Records that the command receives the content of a path. */
  read(path: Path): void {
    this.receive(this.at(path))
  }

  /** Records that the command receives content that git stored under a path. */
  readStored(path: Path): void {
    this.receive(this.#storedAt(path))
  }

  /** Records that the command receives some content. */
  receive(content: ContentLabel | undefined): void {
    this.#received = higher(this.#received, content)
    this.#content = higher(this.#content, content)
  }

  /** Records that the command starts another, whose output has a label. */
  receiveOutput(label: Label): void {
    this.#received = higher(this.#received, { label })
  }

  /** Records that the command receives the names in a path. */
  readName(path: Path): void {
    this.receive(nameLabelOf(path, this.#known.nameLabels))
  }

  /** The labels of the names that the command has made, by the path of their entries. */
  get names(): ReadonlyMap<Path, ContentLabel> {
    return this.#names
  }

  /** Whether the command has moved or copied an entry to a path and kept its name. */
  keepsName(path: Path): boolean {
    return this.#keptNames.has(path)
  }

  /**
   * Records the names that changes give to entries. A moved or copied entry that keeps its name keeps its label. Any other
   * name that the input does not spell may contain everything that the command has received before.
   *
   * @param exists returns whether an entry with that name was there before
   */
  async name(
    changes: readonly Change[],
    exists: (path: Path) => Promise<boolean>,
    copied?: CopySource | undefined,
  ): Promise<void> {
    for (const change of changes) {
      const named = change.to === null ? undefined : namedPath(change)
      if (named === undefined) continue
      const sources = change.from === undefined ? copied && [copied.path, copied.asked] : [change.from]
      const same = sources?.filter((source) => hasSameName(source, named)) ?? []
      if (same.length > 0) {
        this.#keptNames.add(named)
        for (const source of same) this.#addName(named, this.#nameAt(source))
        continue
      }
      this.#keptNames.delete(named)
      const { received } = this
      if (received === undefined || this.#sources.spells(nameOf(named)) || (await exists(named))) continue
      this.#addName(named, received)
    }
  }

  #nameAt(path: Path): ContentLabel {
    return this.#names.get(path) ?? { label: this.#known.nameLabels.of(path), path: display(parentOf(path)) }
  }

  #addName(path: Path, content: ContentLabel): void {
    if (content.label !== 'public') this.#names.set(path, higher(content, this.#names.get(path)))
  }

  /**
   * Records changes that the command is about to make. Returns the function to call once they are made: if they fail, the
   * paths keep the labels of their old content as well.
   *
   * @param keepsContent the old content, or earlier content of the same name, stays part of the new content
   */
  write(changes: readonly Change[], keepsContent: boolean, copied?: CopySource | undefined): () => void {
    const contents: (readonly [Path, ContentLabel | undefined])[] = []
    const copiedContent = copied && higher(this.at(copied.path), this.at(copied.asked))
    for (const { path, to, from = keepsContent ? path : undefined } of changes) {
      if (to === null) continue
      const moved = from === undefined ? copiedContent : keepsContent ? this.#storedAt(from) : this.at(from)
      contents.push([path, higher(this.received, moved)])
    }
    for (const [path, content] of contents) this.#set(path, higher(content, this.at(path)))
    return () => {
      for (const [path, content] of contents) this.#written.set(path, content ?? PUBLIC)
    }
  }

  /** Returns the label of what the command has put at a path. A write that was not recorded may contain all it received. */
  into(path: Path): ContentLabel | undefined {
    return this.#written.has(path) ? this.#written.get(path) : this.received
  }

  /** Returns the label of the content at a path, as the command sees it now. */
  at(path: Path): ContentLabel {
    const { labels, fileLabels } = this.#known
    const content = this.#written.get(path) ?? { label: fileLabels.of(path), path }
    const label = labels.ofPath(path)
    return isAbove(label, content.label) ? { label, path } : content
  }

  /** Returns the label of any content that a path had until now. Git may have stored it under that name. */
  #storedAt(path: Path): ContentLabel {
    return higher(this.at(path), { label: this.#highest.get(path) ?? 'public', path })
  }

  #set(path: Path, content: ContentLabel = PUBLIC): void {
    this.#written.set(path, content)
    this.#highest.set(path, maxLabel(this.#highest.get(path) ?? 'public', content.label))
  }
}

const PUBLIC: ContentLabel = { label: 'public' }
