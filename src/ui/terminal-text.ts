/** Colours and "erase to the end of the line", which stay; other sequences and control characters, which go. */
const sequences =
  /(\x1b\[[0-9;:]*[mK])|\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[PX^_][^\x1b]*(?:\x1b\\)?|\x1b[ -/]*[0-~]?|[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f]/g

/** The start of a sequence that the next piece of output may complete. */
const unfinished = /\x1b(?:\[[0-?]*[ -/]*|\][^\x07\x1b]*\x1b?|[PX^_][^\x1b]*\x1b?)?$/

/** Longest sequence that is waited for. */
const MAX_SEQUENCE = 4_096

/** Removes from output what a terminal would carry out, such as a new title or text for the clipboard. */
export function safeText(text: string): string {
  return text.replace(sequences, (_, kept: string | undefined) => kept ?? '')
}

/** Returns {@link safeText} for output that comes in pieces. */
export function createSafeText(): (piece: string) => string {
  let held = ''
  return (piece) => {
    const text = held + piece
    const at = unfinished.exec(text)?.index ?? text.length
    held = text.length - at > MAX_SEQUENCE ? '' : text.slice(at)
    return safeText(text.slice(0, at))
  }
}

/** Returns a text such as a path without anything that a terminal carries out, line ends included. */
export function oneLine(text: string): string {
  return text.replace(sequences, '').replace(/[\r\n]/g, ' ')
}

/** Returns a text in the colour of errors. */
export function red(text: string): string {
  return `\x1b[31m${text}\x1b[0m`
}
