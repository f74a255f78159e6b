/**
 * The interpreter decodes the whole output of a script as UTF-8 if it contains no character over U+00FF and its characters, taken
 * as bytes, are valid. Tells whether that changes an output that contains a text: `none` for ASCII, which it leaves as it is,
 * `never` for a text that prevents it, `possible` otherwise.
 */
export function effectOfDecoding(text: string): 'none' | 'never' | 'possible' {
  if (/^[\0-\x7f]*$/.test(text)) return 'none'
  if (/[^\0-\xff]/.test(text)) return 'never'
  try {
    const bytes = Uint8Array.from(text, (char) => char.charCodeAt(0))
    // What follows may complete a character at the end.
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
    return 'possible'
  } catch {
    return 'never'
  }
}
