import { ToolError } from '../../errors.ts'
import { type LogicalPath, quote } from '../../paths/logical-path.ts'
import type { HiddenSecrets } from './hidden.ts'

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

/** Returns the refusal of a content with a mark in place of the secret that it hides in the file. */
export function markOverSecret(
  path: string,
  mark: string,
  hint = 'Use edit_file or replace_range on the lines around the mark, and leave the mark out of the new text.',
): ToolError {
  return new ToolError(
    'POLICY_DENIED_SECRET',
    `Cannot write ${mark} over the secret that it replaces in ${quote(path)}`,
    { path, hint },
  )
}
