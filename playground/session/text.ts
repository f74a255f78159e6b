/** The text of a file in the editor. */
export interface FileText {
  readonly text: string
  /** The line ending if all lines share it; otherwise `\n`, and each `\r` belongs to its line. */
  readonly lineEnd: '\n' | '\r\n'
}

/** Decodes a file without loss. Returns `undefined` if it is not UTF-8 text. */
export function textOf(bytes: Uint8Array): FileText | undefined {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
  if (text.includes('\0')) return undefined
  const all = text.match(/\r\n|\r|\n/g) ?? []
  const isDos = all.length > 0 && all.every((end) => end === '\r\n')
  return { text, lineEnd: isDos ? '\r\n' : '\n' }
}
