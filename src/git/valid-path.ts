import { classifyPath } from '../files/classify/index.ts'
import { childOf, type Path, parsePath } from '../paths/logical-path.ts'

const PLAIN = /^(?!\.{1,2}$)[\w.+@()[\] -]{1,255}$/

/** Names that a file system could equate with `.git` need the full check. */
const GIT_LIKE = /^\.?git/i

/**
 * Whether a name in a repository can be the name of a file in a workspace. Names that the guard refuses, and git's own
 * files, are never visible, so their absence is not a change.
 */
export function isValidGitPath(directory: Path, name: string): boolean {
  if (PLAIN.test(name) && directory.length < 2000 && !GIT_LIKE.test(name)) return true
  if (name.includes('\ufffd') || name.includes('/')) return false
  try {
    const path = childOf(directory, name)
    return parsePath(path) === path && classifyPath(path).kind !== 'GIT_INTERNAL'
  } catch {
    return false
  }
}
