import { ToolError } from '../../errors.ts'
import { MARK_START, markPositions, mayHoldSecret, redact } from '../../files/secrets/index.ts'
import type { TextDocument } from '../../files/text/document.ts'
import { encodeText } from '../../files/text/encoding.ts'
import { checkLimit } from '../../limits.ts'
import { unifiedDiff } from '../../patch/diff.ts'
import { type Path, quote } from '../../paths/logical-path.ts'
import type { Change, Receipt } from '../../storage/backend.ts'
import type { ShownVersion, ToolContext } from '../define-tool.ts'

/** A changed text, ready to be committed over the version it came from. */
export interface TextChange {
  readonly change: Change
  /** As a model may see it: secrets marked on both sides. */
  readonly diff: string
  readonly insertions: number
  readonly deletions: number
  readonly shown: (receipt: Receipt) => readonly ShownVersion[]
}

/**
 * Turns a changed text, in which secrets still stand as marks, into the bytes to commit: marks become again what they
 * hide, and encoding and BOM stay those of the file.
 */
export function changeText(context: ToolContext, path: Path, document: TextDocument, changed: string): TextChange {
  const bytes = encodeText(restoreMarks(document, changed), document)
  checkLimit('file size in bytes', bytes.length, context.limits.textFileBytes, path)
  // What the caller brings itself is marked too: the diff is kept.
  const shown = mayHoldSecret(bytes) ? redact(changed).text : changed
  const diff = unifiedDiff({ path, text: document.text }, { path, text: shown })
  return {
    change: { path, expect: { sha256: document.sha256 }, to: { type: 'file', bytes } },
    diff: diff.text,
    insertions: diff.insertions,
    deletions: diff.deletions,
    shown: shownAfterEdit(context, path, document.sha256),
  }
}

/** A run that knew the whole of a version knows the whole of the one it made of it; `null`: there was none. */
export function shownAfterEdit(
  context: ToolContext,
  path: Path,
  oldSha256: string | null,
): (receipt: Receipt) => readonly ShownVersion[] {
  const knewAll = oldSha256 === null || context.hasReadWhole(path, oldSha256)
  return (receipt) => (knewAll ? [{ path, sha256: newSha256(receipt, path), lines: 'all' }] : [])
}

/** A run that knew the whole of a file knows it at its new path. */
export function shownAfterMove(
  context: ToolContext,
  from: Path,
  to: Path,
  sha256: string | null,
): () => readonly ShownVersion[] {
  const knewAll = sha256 !== null && context.hasReadWhole(from, sha256)
  return () => (knewAll ? [{ path: to, sha256, lines: 'all' }] : [])
}

/** The version that a commit gave to a file. */
export function newSha256(receipt: Receipt, path: Path): string {
  for (const { path: applied, after } of receipt.applied) {
    if (applied === path && after?.type === 'file') return after.sha256
  }
  throw new TypeError('the receipt names no such file')
}

/** Refuses new text that holds a mark of the file's secrets: it would write the mark over what it hides. */
export function refuseMarks(document: TextDocument, newText: string, path: Path): void {
  if (!newText.includes(MARK_START)) return
  for (const { mark } of document.redaction.marks) {
    if (newText.includes(mark)) {
      throw new ToolError('POLICY_DENIED_SECRET', `Cannot write ${mark} over what it hides in ${quote(path)}`, {
        path,
        hint: 'Use edit_file or replace_range on the lines around the mark, and leave the mark out of the new text.',
      })
    }
  }
}

export function noChangeError(path: Path): ToolError {
  return new ToolError('INVALID_INPUT', `Cannot edit ${quote(path)}: the new text equals the old`, {
    path,
    field: 'newText',
    hint: 'Give a newText that differs from what is there.',
  })
}

/** Puts back what the marks hide. A part of the text that was not touched holds each mark as it was. */
function restoreMarks(document: TextDocument, changed: string): string {
  const { marks } = document.redaction
  if (marks.length === 0) return changed
  const hidden = new Map(marks.map((mark) => [mark.mark, mark]))
  let restored = ''
  let from = 0
  for (const { start, end, value: mark } of markPositions(changed, (name) => hidden.get(name))) {
    restored += changed.slice(from, start) + document.original.slice(mark.originalStart, mark.originalEnd)
    from = end
  }
  return restored + changed.slice(from)
}
