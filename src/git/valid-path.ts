import { classifyPath } from '../files/classify/index.ts'
import { childOf, type Path, parsePath } from '../paths/logical-path.ts'

const PLAIN = /^(?!\.{1,2}$)[\w.+@()[\] -]{1,255}$/

/** What a file system could take for `.git`, or for part of another path, is looked at closely. */
const GIT_LIKE = /^\.?git/i

/**
 * Whether a name of a repository can be that of a file of a workspace: one that the guard refuses, or that is git's own,
 * cannot be seen, so it cannot be missed.
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
