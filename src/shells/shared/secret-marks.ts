import { ToolError } from '../../errors.ts'
import { markPositions, mayHoldSecret, redact } from '../../files/secrets/index.ts'
import { type LogicalPath, quote } from '../../paths/logical-path.ts'
import { byteText, fromByteText } from '../../util/native-bytes.ts'

/** Hides the secrets in what a command reads, and brings them back in what it writes. */
export interface SecretMarks {
  /** The bytes with every recognised secret replaced by its mark. @throws ToolError where that cannot be done */
  hide(bytes: Uint8Array, path: LogicalPath): Uint8Array
  /**
   * The bytes with the marks replaced by what they hide, so that a file keeps its secrets when it is edited or copied.
   * @throws ToolError where a mark could mean several, or where a secret would stand so that it was no longer recognised
   */
  restore(bytes: Uint8Array, path: LogicalPath): Uint8Array
}

/** The marks of one command. They are remembered by the file that they were shown in. */
export function createMarks(): SecretMarks {
  const byPath = new Map<LogicalPath, Map<string, string>>()

  /** What a mark hides: in the file itself, or else in the only other file that showed it. */
  function meaningOf(mark: string, path: LogicalPath): string | undefined {
    const own = byPath.get(path)?.get(mark)
    if (own !== undefined) return own
    const meanings = new Set<string>()
    for (const marks of byPath.values()) {
      const meaning = marks.get(mark)
      if (meaning !== undefined) meanings.add(meaning)
    }
    if (meanings.size > 1) throw unclear(path)
    return [...meanings][0]
  }

  return {
    hide(bytes, path) {
      if (!mayHoldSecret(bytes)) return bytes
      const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
      if (isUtf16) return hideUtf16(bytes, path)
      // Every format of a secret is ASCII, so that other bytes may stand for themselves.
      const text = byteText(bytes)
      const { text: shown, marks } = redact(text)
      if (marks.length === 0) return bytes
      const known = byPath.get(path) ?? new Map<string, string>()
      for (const { mark, originalStart, originalEnd } of marks) known.set(mark, text.slice(originalStart, originalEnd))
      byPath.set(path, known)
      return fromByteText(shown)
    },

    restore(bytes, path) {
      if (byPath.size === 0) return bytes
      const text = byteText(bytes)
      const places: { start: number; end: number }[] = []
      let restored = ''
      let from = 0
      for (const { start, end, value: meaning } of markPositions(text, (mark) => meaningOf(mark, path))) {
        restored += text.slice(from, start)
        places.push({ start: restored.length, end: restored.length + meaning.length })
        restored += meaning
        from = end
      }
      if (places.length === 0) return bytes
      restored += text.slice(from)
      const { marks } = redact(restored)
      let next = 0
      let mark = marks[next]
      for (const { start, end } of places) {
        while (mark !== undefined && mark.originalEnd < end) mark = marks[++next]
        if (mark === undefined || mark.originalStart > start) throw unclear(path)
      }
      return fromByteText(restored)
    },
  }
}

/** A text in UTF-16 cannot be shown in part: its marks would be taken for bytes of another encoding. */
function hideUtf16(bytes: Uint8Array, path: LogicalPath): Uint8Array {
  const text = new TextDecoder(bytes[0] === 0xff ? 'utf-16le' : 'utf-16be').decode(bytes)
  if (redact(text).marks.length === 0) return bytes
  throw new ToolError('UNSUPPORTED_ENCODING', `${quote(path)} holds a secret and is UTF-16: no command may read it`, {
    path,
  })
}

function unclear(path: LogicalPath): ToolError {
  return new ToolError(
    'POLICY_DENIED',
    `Cannot write ${quote(path)}: a mark of a hidden secret stands where the secret itself may not`,
    { path, hint: 'Leave the [REDACTED:…] marks in the lines and the file that they were shown in.' },
  )
}
