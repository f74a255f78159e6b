import { ToolError } from '../../errors.ts'
import { findSecretsInSteps } from '../../files/secrets/find.ts'
import type { HiddenSecrets } from '../../files/secrets/hidden.ts'
import { markPositions, mayHoldSecret, redactInSteps, utf16EncodingOf } from '../../files/secrets/index.ts'
import { requireOpen, revealedError } from '../../files/secrets/refusals.ts'
import { type LogicalPath, quote } from '../../paths/logical-path.ts'
import { byteText, fromByteText } from '../../util/native-bytes.ts'
import { runAtOnce, type Steps } from '../../util/steps.ts'

/** Replaces secrets in what a command reads by marks, and marks in what it writes by the secrets. */
export interface SecretMarks {
  /** Returns the bytes with every recognized secret replaced by its mark. @throws ToolError if that is impossible */
  hide(bytes: Uint8Array, path: LogicalPath): Uint8Array
  /** {@link hide} with pauses. */
  hideInSteps(bytes: Uint8Array, path: LogicalPath): Steps<Uint8Array>
  /**
   * Returns the bytes with the marks replaced by their secrets, so that a file keeps its secrets when it is edited or
   * copied. `before`: the content to which they are appended.
   *
   * @throws ToolError if a mark is ambiguous, or if a secret would no longer be recognized where it is written
   */
  restore(bytes: Uint8Array, path: LogicalPath, before?: Uint8Array): Steps<Uint8Array>
}

/**
 * Creates the marks of one command. They are stored by the file in which they were shown.
 *
 * @param hidden receives the secrets
 */
export function createMarks(hidden?: HiddenSecrets): SecretMarks {
  const byPath = new Map<LogicalPath, Map<string, string>>()

  /** Returns the secret of a mark: in the file itself, or else in the only other file that showed it. */
  function secretOf(mark: string, path: LogicalPath): string | undefined {
    const secretHere = byPath.get(path)?.get(mark)
    if (secretHere !== undefined) return secretHere
    const secrets = new Set<string>()
    for (const marks of byPath.values()) {
      const secret = marks.get(mark)
      if (secret !== undefined) secrets.add(secret)
    }
    if (secrets.size > 1) throw misplacedMark(path)
    return [...secrets][0]
  }

  function* hideInSteps(bytes: Uint8Array, path: LogicalPath): Steps<Uint8Array> {
    const encoding = utf16EncodingOf(bytes)
    if (encoding !== undefined) return yield* hideUtf16(bytes, encoding, path)
    // Every format of a secret is ASCII, so other bytes can stay as they are.
    const text = byteText(bytes)
    const { text: visibleText, marks } = yield* redactInSteps(text)
    if (marks.length === 0) return bytes
    if (hidden !== undefined) yield* hidden.addInSteps(bytes)
    const shownMarks = byPath.get(path) ?? new Map<string, string>()
    for (const { mark, originalStart, originalEnd } of marks)
      shownMarks.set(mark, text.slice(originalStart, originalEnd))
    byPath.set(path, shownMarks)
    return fromByteText(visibleText)
  }

  return {
    hide: (bytes, path) => (mayHoldSecret(bytes) ? runAtOnce(hideInSteps(bytes, path)) : bytes),

    hideInSteps,

    *restore(bytes, path, before = NO_BYTES) {
      if (byPath.size === 0) return bytes
      const text = byteText(bytes)
      const ranges: { shown: string; start: number; end: number }[] = []
      let restored = ''
      let from = 0
      for (const { start, end, value: secret } of markPositions(text, (mark) => secretOf(mark, path))) {
        restored += text.slice(from, start)
        ranges.push({ shown: text.slice(start, end), start: restored.length, end: restored.length + secret.length })
        if (ranges.length % 1000 === 0) yield
        restored += secret
        from = end
      }
      if (ranges.length === 0) return bytes
      if (hidden !== undefined) requireOpen(hidden, path)
      restored += text.slice(from)
      const { marks } = yield* redactInSteps(byteText(before) + restored)
      const offset = before.length
      let next = 0
      let mark = marks[next]
      for (const { shown, start, end } of ranges) {
        while (mark !== undefined && mark.originalEnd < offset + end) mark = marks[++next]
        if (mark !== undefined && mark.originalStart <= offset + start) continue
        // A secret is recognized in another place only if its length and characters fit, so this answer counts as one to a guess.
        throw hidden === undefined ? misplacedMark(path) : revealedError(hidden, path, shown)
      }
      return fromByteText(restored)
    },
  }
}

const NO_BYTES = new Uint8Array()

/** Text in UTF-16 cannot be shown with marks: they would be bytes of another encoding. A command may also read its bytes. */
function* hideUtf16(bytes: Uint8Array, encoding: 'utf-16le' | 'utf-16be', path: LogicalPath): Steps<Uint8Array> {
  let count = 0
  for (const text of [new TextDecoder(encoding).decode(bytes), byteText(bytes)])
    count += (yield* findSecretsInSteps(text)).length
  if (count === 0) return bytes
  throw new ToolError('UNSUPPORTED_ENCODING', `${quote(path)} holds a secret and is UTF-16, so it cannot be shown`, {
    path,
  })
}

function misplacedMark(path: LogicalPath): ToolError {
  return new ToolError(
    'POLICY_DENIED',
    `Cannot write ${quote(path)}: a mark of a hidden secret stands where the secret itself may not`,
    { path, hint: 'Leave the [REDACTED:…] marks in the lines and the file that they were shown in.' },
  )
}
