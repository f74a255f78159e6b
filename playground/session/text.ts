/** The text of a file as the editor holds it. */
export interface FileText {
  readonly text: string
  /** What ends its lines, where all do alike; else `\n`, and any `\r` is a character of its line. */
  readonly lineEnd: '\n' | '\r\n'
}

/** A file's text, byte for byte; `undefined` for what is none in UTF-8. */
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

/** The version of some bytes, as the tools name it. */
export async function sha256Of(bytes: Uint8Array): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>))
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
