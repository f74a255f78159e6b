import { ToolError } from '../../errors.ts'
import { isWithin, type Path, quote } from '../../paths/logical-path.ts'
import type { EntryState } from '../../storage/backend.ts'
import { sameState } from '../../storage/versions.ts'
import { byteText } from '../../util/native-bytes.ts'

/** A change that a command made to a path. */
export interface CommandChange {
  readonly path: Path
  readonly before: EntryState
  readonly after: EntryState
  /** For a removed directory, returns the states of all files and links below it that have no change of their own. */
  readonly contents?: () => Promise<readonly EntryState[]>
}

/**
 * Finds content that would be lost because a write of the same command was refused: the program did not see the refusal, so
 * it has removed or replaced what it believed to have stored.
 */
export class ContentKeeper {
  readonly #changes: readonly CommandChange[]
  readonly #skipped: ReadonlySet<Path>
  /** The caller has refused changes whose content is not known. */
  readonly #refusedUnseen: boolean

  constructor(changes: readonly CommandChange[], skipped: ReadonlySet<Path>, refusedUnseen: boolean) {
    this.#changes = changes
    this.#skipped = skipped
    this.#refusedUnseen = refusedUnseen
  }

  /** Returns the replacements of files and links whose earlier content only a refused write has. */
  lostReplacements(): readonly CommandChange[] {
    return this.#changes.filter(
      ({ path, before, after }) =>
        before !== null &&
        before.type !== 'directory' &&
        after !== null &&
        !this.#skipped.has(path) &&
        this.#changes.some((change) => this.#isRefusedWrite(change) && sameState(change.after, before, NO_MODES)) &&
        !this.#isStored(before),
    )
  }

  /** Returns the removals after which content would be lost. A directory that is removed as a whole is kept as a whole. */
  async lostRemovals(removals: readonly CommandChange[]): Promise<ReadonlySet<CommandChange>> {
    const directories = removals.flatMap(({ path, before }) => (before?.type === 'directory' ? [path] : []))
    const tops = directories.filter((path) => !directories.some((above) => above !== path && isWithin(path, above)))
    const unitOf = (path: Path): Path => tops.find((top) => isWithin(path, top)) ?? path
    const holders = this.#changes.flatMap((change) => (this.#isRefusedWrite(change) ? [holderOf(change.after)] : []))
    const lost = new Set<Path>()
    for (const change of removals) {
      const unit = unitOf(change.path)
      if (!lost.has(unit) && (await this.#loses(change, holders))) lost.add(unit)
    }
    return new Set(removals.filter(({ path }) => lost.has(unitOf(path))))
  }

  async #loses({ path, before, after, contents }: CommandChange, holders: readonly Holder[]): Promise<boolean> {
    // What replaces it was refused.
    if (after !== null && this.#skipped.has(path)) return !this.#isStored(before)
    const mayBeHeld = (state: EntryState) => this.#refusedUnseen || holders.some((holder) => mayHold(holder, state))
    const states = before?.type === 'directory' ? ((await contents?.()) ?? []) : [before]
    return states.some((state) => mayBeHeld(state) && !this.#isStored(state))
  }

  #isRefusedWrite({ path, after }: CommandChange): boolean {
    return after !== null && after.type !== 'directory' && this.#skipped.has(path)
  }

  /** Whether a write of the command has stored this content. */
  #isStored(state: EntryState): boolean {
    return this.#changes.some(
      ({ path, after }) => after !== null && !this.#skipped.has(path) && sameState(after, state, NO_MODES),
    )
  }
}

const NO_MODES = { modes: false } as const

/** A refused write. */
interface Holder {
  readonly state: EntryState
  readonly text: string
  readonly words: ReadonlySet<string>
  readonly isCompressed: boolean
}

function holderOf(state: EntryState): Holder {
  const text = state?.type === 'file' ? byteText(state.bytes) : ''
  return { state, text, words: wordsOf(text), isCompressed: COMPRESSED.test(text) }
}

/** The first bytes of gzip, zip, bzip2, xz, zstd, 7z, lz4 and compress. */
const COMPRESSED = /^(?:\x1f\x8b|PK\x03\x04|BZh|\xfd7zXZ|\x28\xb5\x2f\xfd|7z\xbc\xaf|\x04\x22\x4d\x18|\x1f\x9d)/

/** Whether a refused write may have the content of an entry: as it was, edited, beside other content or compressed. */
function mayHold({ state: holder, text, words, isCompressed }: Holder, state: EntryState): boolean {
  if (sameState(holder, state, NO_MODES)) return true
  if (holder?.type !== 'file' || state?.type !== 'file' || state.bytes.length === 0) return false
  if (isCompressed) return true
  const content = byteText(state.bytes)
  if (text.includes(content)) return true
  const contentWords = [...wordsOf(content)]
  return contentWords.filter((word) => words.has(word)).length * 2 > contentWords.length
}

function wordsOf(text: string): Set<string> {
  return new Set(text.match(/\w+/g))
}

/** The error for a change that is not made. */
export function keepError(action: 'remove' | 'replace', path: Path): ToolError {
  const message = `Cannot ${action} ${quote(path)}: the command also wrote to a refused path, and the content would be lost`
  return new ToolError('POLICY_DENIED', message, { path })
}
