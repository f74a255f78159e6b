import type { Steps } from '../../util/steps.ts'
import { asciiSet, BASE64URL, isIn } from './ascii-set.ts'
import type { Secret } from './formats.ts'
import { SLICE, visitMatches } from './slices.ts'

/** A PEM block of a private key in a text. */
interface KeyBlock {
  readonly start: number
  readonly end: number
}

const KEY_EDGE = /-----(?:BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?(?=-----)/g
/** The line that ends a block may begin with the dashes of the one before. */
const DASHES = 5
/** No edge is longer. */
export const LONGEST_EDGE = 80

/** A block whose end was not met yet. */
interface OpenBlock {
  readonly start: number
  /** The body if the block has its last line. */
  readonly closed: KeyBody
  /** The body if it lacks its last line: it ends at the first character that a key cannot contain. */
  readonly open: KeyBody
}

/** Finds the PEM blocks of private keys in a text that comes in parts. Keeps no text but what may be the beginning of an edge. */
export class KeyScan {
  /** The blocks with enough Base64 for a key, in the order of the text. Source code that only mentions a header has none. */
  readonly found: KeyBlock[] = []
  readonly #mayBeEither: boolean
  #kept = ''
  #keptOffsets: readonly number[] = []
  #block: OpenBlock | undefined
  #end = 0

  /** @param mayBeEither whether a block with its last line also ends where one without it would */
  constructor(mayBeEither = false) {
    this.#mayBeEither = mayBeEither
  }

  /** The offset before which all blocks are known. */
  get settled(): number {
    return this.#block?.start ?? this.#keptOffsets[0] ?? this.#end
  }

  /** Whether the next part belongs to a block, if that ends. */
  get isOpen(): boolean {
    return this.#block !== undefined
  }

  /** Leaves out a part without the beginning of a block. @param end its end */
  skip(end: number): void {
    this.#kept = ''
    this.#keptOffsets = []
    this.#end = end
  }

  /**
   * Adds the next part of the text.
   *
   * @param offsetOf returns the offset of a character of the part in the whole text; for its length, that of its end
   */
  *add(part: string, offsetOf: (index: number) => number, isLast: boolean): Steps<void> {
    const text = this.#kept + part
    const before = this.#keptOffsets
    const at = (index: number) => (index < before.length ? (before[index] as number) : offsetOf(index - before.length))
    let from = 0
    if (text.includes('PRIVATE KEY')) {
      const edges: { readonly index: number; readonly edge: string }[] = []
      yield* visitMatches(text, KEY_EDGE, (index, [edge]) => edges.push({ index, edge }))
      const reached = { BEGIN: 0, END: 0 }
      for (const { index, edge } of edges) {
        const kind = edge.startsWith('-----BEGIN') ? 'BEGIN' : 'END'
        // Two edges may share dashes, but not two of one kind, and not a header and what ends it.
        if (index < reached[kind]) continue
        reached[kind] = index + edge.length + DASHES
        if (kind === 'END' && index < from) continue
        yield* this.#read(text, from, index, at)
        from = index + edge.length + DASHES
        if (this.#block !== undefined) this.#close(kind === 'END' ? at(from - 1) + 1 : undefined, at(index))
        if (kind === 'BEGIN') this.#block = { start: at(index), closed: new KeyBody(false), open: new KeyBody(true) }
      }
    }
    const last = this.#block === undefined ? from - DASHES : from
    const stop = isLast ? text.length : Math.max(last, text.length - LONGEST_EDGE, 0)
    yield* this.#read(text, from, stop, at)
    this.#end = at(text.length)
    if (isLast && this.#block !== undefined) this.#close(undefined, this.#end)
    this.#keptOffsets = Array.from({ length: text.length - stop }, (_, index) => at(stop + index))
    this.#kept = text.slice(stop)
  }

  *#read(text: string, from: number, to: number, at: (index: number) => number): Steps<void> {
    if (this.#block === undefined) return
    const { closed, open } = this.#block
    for (let index = from, stop = from + SLICE; index < to; index++) {
      if (index === stop) {
        yield
        stop += SLICE
      }
      const unit = text.charCodeAt(index)
      closed.add(unit, index, at)
      open.add(unit, index, at)
    }
  }

  /** Ends the block: behind its last line, or else where something follows. */
  #close(lineEnd: number | undefined, next: number): void {
    const { start, closed, open } = this.#block as OpenBlock
    this.#block = undefined
    const at = () => next
    const isClosed = closed.end(at) !== undefined && lineEnd !== undefined
    const unclosedEnd = lineEnd === undefined || this.#mayBeEither ? open.end(at, this.#mayBeEither) : undefined
    const end = isClosed ? lineEnd : unclosedEnd
    if (end !== undefined) this.found.push({ start, end })
  }
}

/** The characters of a block, as far as they were read. */
class KeyBody {
  readonly #isOpen: boolean
  #material = 0
  #other = 0
  #run = 0
  /** The end of the last line of Base64. */
  #last: number | undefined
  /** The greatest such end at which there was enough Base64 for a key. */
  #lastEnough: number | undefined
  /** Number of line breaks since, or more than there can be if anything else follows. */
  #breaks = 0
  #isOver = false

  constructor(isOpen: boolean) {
    this.#isOpen = isOpen
  }

  add(unit: number, index: number, at: (index: number) => number): void {
    if (this.#isOver) return
    if (isIn(IN_BASE64, unit)) {
      this.#run += 1
      return
    }
    const isLine = this.#run >= BASE64_LINE
    if (isLine) this.#material += this.#run
    else this.#other += this.#run
    // A short run may be alone on the line after the last one.
    const isNextLine =
      this.#run > 0 &&
      this.#breaks > 0 &&
      this.#breaks <= MAX_BREAKS &&
      this.#last !== undefined &&
      isIn(ENDS_LINE, unit)
    if (isLine || isNextLine) {
      this.#last = at(index)
      this.#breaks = 0
      if (this.#isEnough) this.#lastEnough = this.#last
    } else if (this.#run > 0) this.#breaks = MAX_BREAKS + 1
    this.#run = 0
    this.#breaks += isIn(BREAKS, unit) ? 1 : MAX_BREAKS + 1
    if (unit < 128) this.#other += 1
    if (this.#isOpen && !isIn(IN_BODY, unit)) this.#isOver = true
  }

  get #isEnough(): boolean {
    return this.#material >= BASE64_LINE && this.#material * 2 >= this.#other
  }

  /** Returns the end of the last line of Base64, if there is enough of it for a key: at the end, or at any time before. */
  end(at: (index: number) => number, atAnyTime = false): number | undefined {
    this.add(0, 0, at)
    return this.#isEnough ? this.#last : atAnyTime ? this.#lastEnough : undefined
  }
}

const BASE64_LINE = 32
/** Most line breaks before the short last line of a body, escaped ones included. */
const MAX_BREAKS = 4
const ENDS_LINE = asciiSet('\0\r\n\\"\'`')
const BREAKS = asciiSet('\r\n\\')
const IN_BASE64 = asciiSet(`${BASE64URL.slice(0, 62)}+/=`)
const IN_BODY = asciiSet(' \t\r\n\\:,-.')

/** Adds a secret for each line of a block, without its indentation. */
export function* markLines(text: string, blockStart: number, blockEnd: number, secrets: Secret[]): Steps<void> {
  let pausedAt = blockStart
  for (let end = blockStart; ; ) {
    NOT_WHITE.lastIndex = end
    const start = NOT_WHITE.exec(text)?.index ?? blockEnd
    if (start >= blockEnd) return
    end = start
    while (end < blockEnd && !isIn(LINE_BREAKS, text.charCodeAt(end))) end += 1
    secrets.push({ kind: 'private-key', start, end })
    if (end < pausedAt + SLICE) continue
    yield
    pausedAt = end
  }
}

const NOT_WHITE = /\S/g
const LINE_BREAKS = asciiSet('\r\n')
