/** ASCII text in a wide encoding, such as UTF-16 without a byte order mark, read as bytes: each character has NULs around it. */
export interface WideText {
  /** The characters without the NULs. */
  readonly text: string
  /** Returns the offset in the bytes of a character of `text`. */
  offsetOf(index: number): number
}

/** The last character of big-endian text has no NUL behind it. */
const WIDE_TEXT = /(?:[\t\n\r -~]\0{1,3}){8,}(?:[\t\n\r -~](?![\t\n\r -~]))?/g

/** Yields the runs of wide text in a text of one character per byte. Linear in its length. */
export function* wideTexts(text: string): Generator<WideText, void, undefined> {
  if (!text.includes('\0')) return
  for (const { 0: run, index } of text.matchAll(WIDE_TEXT)) {
    let offsets: number[] | undefined
    yield {
      text: run.replaceAll('\0', ''),
      offsetOf(character) {
        offsets ??= [...run].flatMap((unit, at) => (unit === '\0' ? [] : [index + at]))
        return offsets[character] as number
      },
    }
  }
}
