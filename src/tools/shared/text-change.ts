import { ToolError } from '../../errors.ts'
import { markPositions, redact } from '../../files/secrets/index.ts'
import { refuseMarksOver } from '../../files/secrets/refusals.ts'
import type { TextDocument } from '../../files/text/document.ts'
import { encodeText } from '../../files/text/encoding.ts'
import { PLACEHOLDER_HINT, placeholderAt } from '../../files/text/omission.ts'
import { checkLimit } from '../../limits.ts'
import { type Path, quote } from '../../paths/logical-path.ts'
import type { Change, Receipt } from '../../storage/backend.ts'
import { memoizeAsync } from '../../util/memoize-async.ts'
import type { BuiltinContext } from '../builtin-tool.ts'
import type { ShownVersion } from '../define-tool.ts'

const loadDiff = memoizeAsync(() => import('../../patch/diff.ts'))

/** A changed text, ready to commit over the version that it is based on. */
export interface TextChange {
  readonly change: Change
  /** As a model may see it, with secrets marked on both sides. */
  readonly diff: string
  readonly insertions: number
  readonly deletions: number
  /** `undefined` if a secret is on either side: the diff compares marks. */
  readonly lines: { readonly insertions: number; readonly deletions: number } | undefined
  readonly shown: (receipt: Receipt) => readonly ShownVersion[]
}

/**
 * Converts a changed text with marks into the bytes to commit: replaces marks by their secrets and keeps the encoding and
 * BOM of the file.
 */
export async function changeText(
  context: BuiltinContext,
  path: Path,
  document: TextDocument,
  changed: string,
): Promise<TextChange> {
  const bytes = encodeText(restoreMarks(document, changed), document)
  checkLimit(
    'file size in bytes',
    bytes.length,
    context.limits.textFileBytes,
    path,
    'The file cannot grow further: write to another one.',
  )
  // Secrets in the caller's own text are marked too, because the diff is stored.
  const redacted = redact(changed).text
  const { unifiedDiff } = await loadDiff()
  const { text, insertions, deletions } = unifiedDiff({ path, text: document.text }, { path, text: redacted })
  return {
    change: { path, expect: { sha256: document.sha256 }, to: { type: 'file', bytes } },
    diff: text,
    insertions,
    deletions,
    lines: document.redaction.marks.length > 0 || redacted !== changed ? undefined : { insertions, deletions },
    shown: shownAfterEdit(context, path, document.sha256),
  }
}

/** Marks the new version as read if the run had read the whole old one. `null`: the file is new. */
export function shownAfterEdit(
  context: BuiltinContext,
  path: Path,
  oldSha256: string | null,
): (receipt: Receipt) => readonly ShownVersion[] {
  const hadReadAll = oldSha256 === null || context.hasReadWhole(path, oldSha256)
  return (receipt) => (hadReadAll ? [{ path, sha256: newSha256(receipt, path), lines: 'all' }] : [])
}

/** Marks the version at its new path as read if the run had read the whole file. */
export function shownAfterMove(
  context: BuiltinContext,
  from: Path,
  to: Path,
  sha256: string | null,
): () => readonly ShownVersion[] {
  const hadReadAll = sha256 !== null && context.hasReadWhole(from, sha256)
  return () => (hadReadAll ? [{ path: to, sha256, lines: 'all' }] : [])
}

/** Returns the version of a file after a commit. */
export function newSha256(receipt: Receipt, path: Path): string {
  for (const { path: applied, after } of receipt.applied) {
    if (applied === path && after?.type === 'file') return after.sha256
  }
  throw new TypeError('the receipt does not contain the file')
}

/**
 * Refuses new text with a mark of the file's secrets, which would overwrite the secret with its mark.
 *
 * @throws ToolError `POLICY_DENIED_SECRET`
 */
export function refuseMarks(document: TextDocument, newText: string, path: Path): void {
  refuseMarksOver(path, newText, () => document.redaction.marks.map(({ mark }) => mark))
}

/**
 * Refuses new text with a line that only marks omitted text, if the old text has none: that line would replace the text.
 *
 * @throws ToolError `INVALID_INPUT`
 */
export function refusePlaceholder(oldText: string, newText: string, path: Path): void {
  const line = placeholderAt(newText.split('\n'))
  if (line === -1 || placeholderAt(oldText.split('\n')) !== -1) return
  throw new ToolError(
    'INVALID_INPUT',
    `Cannot edit ${quote(path)}: line ${line + 1} of the new text is only a placeholder for omitted text`,
    { path, field: 'newText', hint: PLACEHOLDER_HINT },
  )
}

export function noChangeError(path: Path): ToolError {
  return new ToolError('INVALID_INPUT', `Cannot edit ${quote(path)}: the new text equals the old`, {
    path,
    field: 'newText',
    hint: 'Use a newText that differs from the current text.',
  })
}

/** Replaces the marks by their secrets. */
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
