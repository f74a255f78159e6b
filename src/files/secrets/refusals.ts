import { ToolError } from '../../errors.ts'
import { type LogicalPath, quote } from '../../paths/logical-path.ts'
import type { HiddenSecrets } from './hidden.ts'
import { MARK_START, redact } from './index.ts'

/**
 * Refuses every change beside hidden secrets once the runs of a workspace have met some refusals. Each refusal tells whether a guess is right, so an
 * agent that knows the beginning or the end of a secret could find the rest, one character at a time.
 *
 * @throws ToolError `POLICY_DENIED_SECRET`
 */
export function requireOpen(hidden: HiddenSecrets, path: LogicalPath | undefined): void {
  if (path === undefined || !hidden.isClosed) return
  throw new ToolError(
    'POLICY_DENIED_SECRET',
    `Cannot change ${quote(path)}: parts of secrets would have shown several times, so nothing beside secrets is changed any more`,
    {
      path,
      hint: 'Leave files with secrets alone, also as input of a command. A new workspace without this history may change them.',
    },
  )
}

/** Notes and returns the refusal of a change after which a part of a hidden secret would show. */
export function revealedError(hidden: HiddenSecrets, path: LogicalPath, mark: string): ToolError {
  hidden.noteRefusal()
  return new ToolError(
    'POLICY_DENIED_SECRET',
    `Cannot change ${quote(path)}: the secret behind ${mark} would change, or a part of it would show`,
    {
      path,
      hint: 'Keep the mark and the text next to it as they are, or delete the mark as a whole.',
    },
  )
}

/**
 * Refuses a text with a mark of the file that it changes: the mark would replace the secret that it hides.
 *
 * @param marks returns the marks of the file. Called only for a text with some mark
 * @throws ToolError `POLICY_DENIED_SECRET`
 */
export function refuseMarksOver(
  path: string,
  text: string,
  marks: () => readonly string[],
  hint = 'Use edit_file or replace_range on the lines around the mark, and leave the mark out of the new text.',
): void {
  const shown = text.includes(MARK_START) ? marks().find((mark) => text.includes(mark)) : undefined
  if (shown === undefined) return
  const name = shown === MARK_START ? 'a mark' : shown
  const message = `Cannot write ${name} over the secret that it replaces in ${quote(path)}`
  throw new ToolError('POLICY_DENIED_SECRET', message, { path, hint })
}

/** Returns the marks that hide the secrets of a text. */
export const marksOf = (text: string): readonly string[] => redact(text).marks.map(({ mark }) => mark)
