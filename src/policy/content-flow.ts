import type { Path } from '../paths/logical-path.ts'
import type { Change } from '../storage/backend.ts'
import type { ContentNames } from './content-names.ts'
import type { Label } from './labels.ts'
import { type ContentLabel, type FileLabels, higher, isAbove, type Labels, maxLabel } from './taint.ts'

/** Where the labels of files come from: the policy, and what was written into them. */
export interface KnownLabels {
  readonly labels: Labels
  readonly fileLabels: FileLabels
  readonly contentNames: ContentNames
}

/**
 * Tracks the labels of the content that one command receives, moves and writes. A moved file keeps its label. Any other
 * write may contain everything that the command has received before.
 */
export class ContentFlow {
  readonly #known: KnownLabels
  readonly #alsoReceived: () => ContentLabel | undefined
  #received: ContentLabel | undefined
  /** The present content of the paths that the command has written. */
  readonly #written = new Map<Path, ContentLabel>()
  /** The highest label that each path had at any time during the command: git may have stored it under that name. */
  readonly #highest = new Map<Path, Label>()

  /** Names that hold content which the command has read. */
  names: ContentNames = new Map()

  /** @param alsoReceived returns what the command has received by other ways than `read` */
  constructor(knownLabels: KnownLabels, alsoReceived: () => ContentLabel | undefined = () => undefined) {
    this.#known = knownLabels
    this.#alsoReceived = alsoReceived
  }

  /** The highest label that the command has received. */
  get received(): ContentLabel | undefined {
    return higher(this.#received, this.#alsoReceived())
  }

  /** Every path whose content has changed, with the highest label that it had during the command. */
  get written(): Iterable<readonly [Path, Label]> {
    return this.#highest
  }

  /** Records that the command receives the content of a path. */
  read(path: Path): void {
    this.#received = higher(this.#received, this.at(path))
  }

  /** Records that the command receives the name of an entry. */
  readName(name: string): void {
    this.#received = higher(this.#received, this.#known.contentNames.get(name))
  }

  /**
   * Records changes that the command is about to make. Returns the function to call once they are made: if they fail, the
   * paths keep the labels of their old content as well.
   *
   * @param keepsContent the old content, or earlier content of the same name, stays part of the new content
   */
  write(changes: readonly Change[], keepsContent: boolean): () => void {
    const contents: (readonly [Path, ContentLabel | undefined])[] = []
    for (const { path, to, from = keepsContent ? path : undefined } of changes) {
      if (to === null) continue
      const moved = from === undefined ? undefined : this.at(from)
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

  #set(path: Path, content: ContentLabel = PUBLIC): void {
    this.#written.set(path, content)
    this.#highest.set(path, maxLabel(this.#highest.get(path) ?? 'public', content.label))
  }
}

const PUBLIC: ContentLabel = { label: 'public' }
