import { ToolError } from '../errors.ts'
import { quote } from '../paths/logical-path.ts'
import type { Changed } from './changed-path.ts'
import { sectionsOf } from './compare-commits.ts'
import type { DiffSection } from './diff-section.ts'

/**
 * Returns changes as text that reproduces the exact bytes.
 *
 * @throws ToolError for a file that may not be read, contains a secret, or is too large
 */
export async function exactSections(
  changed: readonly Changed[],
  mayRead: (path: Changed['path']) => boolean,
): Promise<readonly DiffSection[]> {
  const hidden = changed.filter(({ path }) => !mayRead(path)).length
  if (hidden > 0) {
    const files = hidden === 1 ? 'a file that may not be read' : `${hidden} files that may not be read`
    throw new ToolError('POLICY_DENIED', `Cannot format a patch: a commit contains ${files}`)
  }
  const sections = await sectionsOf(changed, () => true)
  for (const { path, redacted, text, binary } of sections) {
    if (redacted) {
      throw new ToolError('POLICY_DENIED_SECRET', `Cannot format a patch: ${quote(path)} contains a secret`, {
        ...{
          path,
          hint: 'Remove the secret from the commits.',
        },
      })
    }
    if (binary && /^Binary files /m.test(text)) {
      throw new ToolError('FILE_TOO_LARGE', `Cannot format a patch: ${quote(path)} is too large`, { path })
    }
  }
  return sections
}
