import { ToolError } from '../errors.ts'
import { type Path, quote } from '../paths/logical-path.ts'
import { compareTrees, sectionsOf } from './compare-commits.ts'
import type { DiffSection } from './diff-section.ts'
import type { Objects } from './objects.ts'
import type { TreeDirectory } from './trees.ts'

/**
 * Returns the changes between two trees as text that reproduces the exact bytes.
 *
 * @throws ToolError for a file that may not be read, contains a secret, is too large, or has a name that a workspace cannot hold
 */
export async function exactSections(
  objects: Objects,
  from: TreeDirectory,
  to: TreeDirectory,
  mayRead: (path: Path) => boolean,
): Promise<readonly DiffSection[]> {
  const changed = compareTrees(objects, from, to, () => {
    throw new ToolError(
      'PATH_REJECTED',
      'Cannot format a patch: a commit changes a file whose name a workspace cannot hold',
    )
  })
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
