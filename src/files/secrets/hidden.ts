import { ToolError } from '../../errors.ts'
import { byteText } from '../../util/native-bytes.ts'
import { runAtOnce, type Steps } from '../../util/steps.ts'
import { visiblePrefixes } from './formats.ts'
import {
  areWithoutSecrets,
  mayHoldSecret,
  noteBytesWithoutSecrets,
  redactInSteps,
  type SecretMark,
  utf16EncodingOf,
} from './index.ts'
import { SLICE } from './slices.ts'
import { WINDOW, WindowTable } from './window-table.ts'

/** The content of one path before and after a change; `undefined` for a path without content. */
export interface ContentChange {
  readonly before: Uint8Array | undefined
  readonly after: Uint8Array | undefined
}

/** A part of a secret that a change would show. */
export interface ExposedSecret {
  /** Index of the change that shows it. */
  readonly index: number
  /** The mark that hid it. */
  readonly mark: string
}

/** A range of a text that a mark hides. */
type HiddenRange = Pick<SecretMark, 'kind' | 'mark' | 'originalStart' | 'originalEnd'>

/** A content as a reader sees it. */
interface Content {
  readonly text: string
  readonly marks: readonly HiddenRange[]
}

/** A content that a change set would write. */
interface WrittenContent {
  /** Index of the change. */
  readonly index: number
  readonly content: Content
}

/** The refusals of all runs of a workspace that told what a secret contains. */
export interface SecretRefusals {
  count: number
}

/**
 * Refusals after which the runs of a workspace change nothing beside hidden secrets. Each one tells that {@link WINDOW} characters are in a secret.
 * An agent that knows all of them but one learns that one.
 */
const MAX_REFUSALS = 3

/**
 * The secrets in the contents that a call reads or replaces. Checks that the contents it writes hide them too: a secret is
 * recognized by its form and by the text around it, so a change next to it can make it unrecognisable.
 */
export class HiddenSecrets {
  readonly #known: readonly string[]
  readonly #windows = new WindowTable()
  /** Secrets that marks hide, without their usual beginnings, with their marks. */
  readonly #whole = new Map<string, string>()
  /** The lengths of those among them of which both parts could be shorter than a window. */
  readonly #splitLengths = new Set<number>()
  /** Secrets shorter than a window, with their marks. */
  readonly #short = new Map<string, string>()
  /** The latest contents with secrets, by their text. */
  readonly #contents = new Map<string, Content>()
  #keptUnits = 0
  #secretUnits = 0

  readonly #refusals: SecretRefusals | undefined

  /**
   * @param knownTexts texts that the reader of the files has written, and so knows
   * @param refusals those of the workspace. Without them, as for an undo, a secret may get other bounds in what is hidden
   */
  constructor(knownTexts: readonly string[] = [], refusals?: SecretRefusals) {
    this.#known = knownTexts
    this.#refusals = refusals
  }

  /** Whether every change beside a secret is refused now. Without that, the answer would tell whether a guess is right. */
  get isClosed(): boolean {
    return !this.isEmpty && this.#refusals !== undefined && this.#refusals.count >= MAX_REFUSALS
  }

  /** Notes that a change is refused for what it shows. */
  noteRefusal(): void {
    if (this.#refusals !== undefined) this.#refusals.count += 1
  }

  get isEmpty(): boolean {
    return this.#contents.size === 0
  }

  /** Adds the secrets of a content. @throws ToolError `LIMIT_EXCEEDED` if there are too many */
  add(bytes: Uint8Array): void {
    if (mayHoldSecret(bytes)) runAtOnce(this.addInSteps(bytes))
  }

  /** {@link add} with pauses. */
  *addInSteps(bytes: Uint8Array): Steps<void> {
    for (const content of yield* contentsOf(bytes)) yield* this.#add(content)
  }

  /**
   * Finds a secret that a change set would show: {@link WINDOW} or more characters of it in a row, or a shorter secret as a
   * whole, if no mark hides them and they were not visible before. Finds one as well that is hidden with other text in one mark, or
   * that a mark hides in part.
   */
  find(changes: readonly ContentChange[]): ExposedSecret | undefined {
    return runAtOnce(this.findInSteps(changes))
  }

  /** {@link find} with pauses. */
  *findInSteps(changes: readonly ContentChange[]): Steps<ExposedSecret | undefined> {
    const before: Content[] = []
    for (const change of changes) before.push(...(yield* storedContents(change.before)))
    for (const content of before) if (content.marks.length > 0) yield* this.#add(content)
    if (this.isEmpty) return undefined
    const after: WrittenContent[] = []
    for (const [index, change] of changes.entries()) {
      for (const content of yield* contentsOf(change.after)) after.push({ index, content })
    }
    return (
      (yield* this.#findWindow(before, after)) ??
      (yield* this.#findShort(before, after)) ??
      (yield* this.#findSplit(before, after))
    )
  }

  /** {@link add} of a part of a large content. */
  *addPart(part: ContentPart): Steps<void> {
    yield* this.#add(part, ownMarks(part))
  }

  /** Finds a piece of a secret that shows in a part of a large content, or that is hidden with other text. Returns its mark. */
  *findInPart(part: ContentPart): Steps<string | undefined> {
    const { text, marks, start, end } = part
    const own = { text, marks: ownMarks(part) }
    let visible: ReadonlySet<string> | undefined
    // A piece that begins in this part and ends in the next one is found here.
    const shown = visibleParts({ text, marks }, start, Math.min(text.length, end + WINDOW - 1))
    for (const pieces of [shown, this.#alteredIn(own)]) {
      for (const piece of pieces) {
        for (const { window, mark } of this.#windows.search(piece)) {
          visible ??= yield* this.#visibleWindows([])
          if (!visible.has(window)) return mark
        }
        yield
      }
    }
    return yield* this.#alteredShort(own)
  }

  /** Whether {@link findByCounts} may find any of the secrets. */
  get needsCounts(): boolean {
    return this.#short.size > 0 || this.#splitLengths.size > 0
  }

  /** Counts in a part of a large content what {@link findByCounts} compares. */
  *countPart(part: ContentPart, counts: SecretCounts): Steps<void> {
    const { text, marks, start, end } = part
    const own = { text, marks: ownMarks(part) }
    addCounts(counts.hidden, countHidden([own]))
    for (const secret of yield* this.#splitIn(own)) addCounts(counts.split, new Map([[secret, 1]]))
    // What begins in this part counts here, and what begins after it in the next one.
    const whole = yield* countVisible([{ text, marks }], this.#short, start)
    const later = yield* countVisible([{ text, marks }], this.#short, end)
    for (const [secret, count] of later) whole.set(secret, (whole.get(secret) ?? 0) - count)
    addCounts(counts.visible, whole)
  }

  /**
   * Returns the mark of a secret that a mark hides in part more often than before, or of a short one that shows more often, and is hidden
   * less often, than before.
   */
  findByCounts(before: SecretCounts, after: SecretCounts): string | undefined {
    const isMore = (of: keyof SecretCounts, secret: string) =>
      (after[of].get(secret) ?? 0) > (before[of].get(secret) ?? 0)
    const isLess = (secret: string) => (after.hidden.get(secret) ?? 0) < (before.hidden.get(secret) ?? 0)
    for (const [secret, mark] of this.#short) {
      if (isLess(secret) && isMore('visible', secret) && !this.#isKnown(secret)) return mark
    }
    for (const secret of after.split.keys()) {
      if (isMore('split', secret) && !this.#isKnown(secret)) return this.#whole.get(secret)
    }
    return undefined
  }

  #isKnown(secret: string): boolean {
    return this.#known.some((text) => text.includes(secret))
  }

  /** Returns the mark of the first secret of which a piece is in a text that shows as it is. */
  findIn(text: string): string | undefined {
    return runAtOnce(this.#findWindow([], [{ index: 0, content: { text, marks: [] } }]))?.mark
  }

  /** Replaces each piece of a secret in a text by the mark of the secret. */
  hide(text: string): string {
    let visible = ''
    let from = 0
    for (const { mark, end } of this.#windows.search(text)) {
      // Windows of one piece overlap.
      if (end - WINDOW >= from) visible += text.slice(from, end - WINDOW) + mark
      from = end
    }
    return from === 0 ? text : visible + text.slice(from)
  }

  *#add(content: Content, marks: Content['marks'] = content.marks): Steps<void> {
    const { text } = content
    if (marks.length === 0 || this.#contents.has(text)) return
    this.#secretUnits += marks.reduce((units, { originalStart, originalEnd }) => units + originalEnd - originalStart, 0)
    if (this.#secretUnits > MAX_SECRET_UNITS) {
      throw new ToolError('LIMIT_EXCEEDED', 'The files hold too many secrets', {
        limit: 'characters of secrets in the files of a call',
        value: MAX_SECRET_UNITS,
        hint: 'Leave out the file with the secrets.',
      })
    }
    let units = 0
    for (const { kind, mark, originalStart, originalEnd } of marks) {
      const prefix =
        visiblePrefixes.get(kind)?.exec(text.slice(Math.max(0, originalStart - WINDOW), originalStart))?.[0] ?? ''
      const hidden = text.slice(originalStart, originalEnd)
      this.#whole.set(hidden, mark)
      if (hidden.length > 1 && hidden.length < 2 * WINDOW - 1) this.#splitLengths.add(hidden.length)
      const secret = prefix + hidden
      if (secret.length < WINDOW) this.#short.set(secret, mark)
      else this.#windows.add(secret, mark)
      units += secret.length
      if (units > SLICE) {
        units = 0
        yield
      }
    }
    this.#contents.set(text, content)
    this.#keptUnits += text.length
    for (const [oldest] of this.#contents) {
      if (this.#keptUnits <= MAX_KEPT_UNITS || oldest === text) break
      this.#contents.delete(oldest)
      this.#keptUnits -= oldest.length
    }
  }

  *#findWindow(before: readonly Content[], after: readonly WrittenContent[]): Steps<ExposedSecret | undefined> {
    if (this.#windows.isEmpty) return undefined
    let visible: ReadonlySet<string> | undefined
    for (const { index, content } of after) {
      for (const part of visibleParts(content)) {
        for (const { window, mark } of this.#windows.search(part)) {
          visible ??= yield* this.#visibleWindows(before)
          if (!visible.has(window)) return { index, mark }
        }
        yield
      }
      for (const hidden of this.#alteredIn(content)) {
        for (const { window, mark } of this.#windows.search(hidden)) {
          visible ??= yield* this.#visibleWindows(before)
          if (!visible.has(window)) return { index, mark }
        }
        yield
      }
    }
    return undefined
  }

  /**
   * Yields the hidden texts of a content that are not known as secrets. Text that has become a part of a secret would change it where
   * nobody sees that, and tell how long it is.
   */
  *#alteredIn({ text, marks }: Content): Generator<string, void, undefined> {
    if (this.#refusals === undefined) return
    for (const { originalStart, originalEnd } of marks) {
      const hidden = text.slice(originalStart, originalEnd)
      if (!this.#whole.has(hidden)) yield hidden
    }
  }

  /** The windows of secrets that the reader knows, or sees somewhere without a mark. */
  *#visibleWindows(before: readonly Content[]): Steps<ReadonlySet<string>> {
    const windows = new Set<string>()
    for (const text of this.#known) for (const { window } of this.#windows.search(text)) windows.add(window)
    for (const content of [...before, ...this.#contents.values()]) {
      for (const part of visibleParts(content)) {
        for (const { window } of this.#windows.search(part)) windows.add(window)
        yield
      }
    }
    return windows
  }

  /** A short secret may be an ordinary word. It counts as shown if it is visible more often and hidden less often than before. */
  *#findShort(before: readonly Content[], after: readonly WrittenContent[]): Steps<ExposedSecret | undefined> {
    if (this.#short.size === 0) return undefined
    for (const { index, content } of after) {
      const mark = yield* this.#alteredShort(content)
      if (mark !== undefined) return { index, mark }
    }
    const hiddenCounts = countHidden(before)
    for (const [secret, count] of countHidden(after.map(({ content }) => content)))
      hiddenCounts.set(secret, (hiddenCounts.get(secret) ?? 0) - count)
    for (const [secret, count] of hiddenCounts) {
      if (count <= 0 || this.#isKnown(secret)) hiddenCounts.delete(secret)
    }
    if (hiddenCounts.size === 0) return undefined
    const visibleCounts = yield* countVisible(before, hiddenCounts)
    for (const { index, content } of after) {
      for (const [secret, count] of yield* countVisible([content], hiddenCounts)) {
        const remaining = (visibleCounts.get(secret) ?? 0) - count
        if (remaining < 0) return { index, mark: this.#short.get(secret) as string }
        visibleCounts.set(secret, remaining)
      }
    }
    return undefined
  }

  /** Returns the mark of a short secret that has become a part of a hidden text. */
  *#alteredShort(content: Content): Steps<string | undefined> {
    // Of passwords, which contain no line break.
    const altered = [...this.#alteredIn(content)].join('\n')
    if (altered === '') return undefined
    for (const [secret] of yield* countVisible([{ text: altered, marks: [] }], this.#short)) {
      if (!this.#isKnown(secret)) return this.#short.get(secret)
    }
    return undefined
  }

  /**
   * Finds a secret at the border of a mark that hides it in part, more often than before. Of a longer one, either part has a window
   * that is found without this.
   */
  *#findSplit(before: readonly Content[], after: readonly WrittenContent[]): Steps<ExposedSecret | undefined> {
    const counts = new Map<string, number>()
    for (const content of before) {
      for (const secret of yield* this.#splitIn(content)) counts.set(secret, (counts.get(secret) ?? 0) + 1)
    }
    for (const { index, content } of after) {
      for (const secret of yield* this.#splitIn(content)) {
        const remaining = (counts.get(secret) ?? 0) - 1
        counts.set(secret, remaining)
        if (remaining < 0 && !this.#isKnown(secret)) return { index, mark: this.#whole.get(secret) as string }
      }
    }
    return undefined
  }

  /** Returns the secrets that have a part on either side of the border of a mark. */
  *#splitIn({ text, marks }: Content): Steps<readonly string[]> {
    const found: string[] = []
    if (this.#splitLengths.size === 0) return found
    const longest = Math.max(...this.#splitLengths)
    for (const { originalStart, originalEnd } of marks) {
      for (const border of [originalStart, originalEnd]) {
        for (let start = Math.max(0, border - longest + 1); start < border; start++) {
          for (const length of this.#splitLengths) {
            const secret = start + length > border ? text.slice(start, start + length) : ''
            if (this.#whole.has(secret)) found.push(secret)
          }
        }
      }
      yield
    }
    return found
  }
}

/** How often each short secret is hidden by a mark and shows without one, and how often a mark hides a secret in part. */
export interface SecretCounts {
  readonly hidden: Map<string, number>
  readonly visible: Map<string, number>
  readonly split: Map<string, number>
}

/** A part of a large content: the text from `start` to `end`, and what is around it. */
export interface ContentPart extends Content {
  readonly start: number
  readonly end: number
}

/** Returns the marks that begin in a part. */
function ownMarks({ marks, start, end }: ContentPart): Content['marks'] {
  return marks.filter(({ originalStart }) => originalStart >= start && originalStart < end)
}

/** Text kept to know what was visible. Without an older one, a change may be refused that shows nothing new. */
const MAX_KEPT_UNITS = 16 * 1024 * 1024

/** Each takes up to 40 bytes of the table. */
export const MAX_SECRET_UNITS = 4 * 1024 * 1024

const NO_CONTENT: Content = { text: '', marks: [] }

/**
 * Returns a content as each reader sees it: a file in UTF-16 is text for the tools and bytes for commands, and marks hide only
 * what is in its text.
 */
function* contentsOf(bytes: Uint8Array | undefined): Steps<readonly Content[]> {
  if (bytes === undefined) return [NO_CONTENT]
  const encoding = utf16EncodingOf(bytes)
  if (encoding !== undefined) {
    const text = new TextDecoder(encoding).decode(bytes)
    return [
      { text, marks: (yield* redactInSteps(text)).marks },
      { text: byteText(bytes), marks: [] },
    ]
  }
  // Every format of a secret is ASCII, so other bytes need no decoding.
  if (bytes.length > SLICE || mayHoldSecret(bytes)) {
    const text = byteText(bytes)
    return [{ text, marks: (yield* redactInSteps(text)).marks }]
  }
  return [new ContentWithoutSecrets(bytes)]
}

/** {@link contentsOf} of a stored version, whose bytes never change. */
function* storedContents(bytes: Uint8Array | undefined): Steps<readonly Content[]> {
  if (bytes !== undefined && areWithoutSecrets(bytes)) return [new ContentWithoutSecrets(bytes)]
  const contents = yield* contentsOf(bytes)
  const [content, inBytes] = contents
  if (bytes !== undefined && content?.marks.length === 0 && inBytes === undefined) noteBytesWithoutSecrets(bytes)
  return contents
}

/** Most contents have no secret, and nobody asks for their text. */
class ContentWithoutSecrets implements Content {
  readonly marks = []
  readonly #bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get text(): string {
    return byteText(this.#bytes)
  }
}

/** Yields the text between the marks in slices, which overlap by less than a window. */
function* visibleParts(
  { text, marks }: Content,
  start = 0,
  end: number = text.length,
): Generator<string, void, undefined> {
  let from = start
  for (const { originalStart, originalEnd } of marks) {
    yield* slicesOf(text, from, Math.min(originalStart, end))
    from = Math.max(from, originalEnd)
  }
  yield* slicesOf(text, from, end)
}

function* slicesOf(text: string, start: number, end: number): Generator<string, void, undefined> {
  for (let from = start; from < end; from += SLICE) yield text.slice(from, Math.min(end, from + SLICE + WINDOW - 1))
}

/** Counts the short secrets that marks hide. */
function countHidden(contents: readonly Content[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { text, marks } of contents) {
    for (const { originalStart, originalEnd } of marks) {
      if (originalEnd - originalStart >= WINDOW) continue
      const secret = text.slice(originalStart, originalEnd)
      counts.set(secret, (counts.get(secret) ?? 0) + 1)
    }
  }
  return counts
}

/** Counts the given secrets in what is visible from an offset on. Linear in the length of the text. */
function* countVisible(
  contents: readonly Content[],
  secrets: ReadonlyMap<string, unknown>,
  start = 0,
): Steps<Map<string, number>> {
  const counts = new Map<string, number>()
  const lengths = new Set([...secrets.keys()].map((secret) => secret.length))
  for (const content of contents) {
    for (const part of visibleParts(content, start)) {
      for (const length of lengths) {
        // A secret that starts after a slice counts in the next one.
        for (let at = 0; at < SLICE && at + length <= part.length; at++) {
          const text = part.slice(at, at + length)
          if (secrets.has(text)) counts.set(text, (counts.get(text) ?? 0) + 1)
        }
        yield
      }
    }
  }
  return counts
}

function addCounts(sums: Map<string, number>, counts: ReadonlyMap<string, number>): void {
  for (const [key, count] of counts) sums.set(key, (sums.get(key) ?? 0) + count)
}
