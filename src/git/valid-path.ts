import { classifyPath } from '../files/classify/index.ts'
import { childOf, nameOf, nearestFinder, type Path, parentOf, parsePath, ROOT } from '../paths/logical-path.ts'

const PLAIN = /^(?!\.{1,2}$)[\w.+@()[\] -]{1,255}$/

/** Names that a file system could equate with `.git` need the full check. */
const GIT_LIKE = /^\.?git/i

/**
 * Whether a name in a repository can be the name of a file in a workspace. Names that the guard refuses, and git's own
 * files, are never visible, so their absence is not a change.
 */
export function isValidGitPath(directory: Path, name: string): boolean {
  if (isPlain(name) && directory.length < 2000) return true
  if (name.includes('/')) return false
  try {
    const path = childOf(directory, name)
    return parsePath(path) === path && classifyPath(path).kind !== 'GIT_INTERNAL'
  } catch {
    return false
  }
}

function isPlain(name: string): boolean {
  return PLAIN.test(name) && !GIT_LIKE.test(name)
}

/** Returns a function that tells whether a workspace can hold a path of a tree: whether each of its names is valid. */
export function holdableTest(): (path: Path) => boolean {
  const refusedAt = nearestFinder<Path>((at) => !isValidGitPath(parentOf(at), nameOf(at)))
  // An empty first name leaves no directory to test.
  return (path) => path !== '' && !path.startsWith('/') && refusedAt(path) === undefined
}

/**
 * Whether git refuses a path of a tree, because it leads out of the repository or into git's own files. git does not check the paths
 * of an index again, so a command that restores files from the index would write there.
 */
export function isRefusedByGit(path: string): boolean {
  return /^[a-z]:/i.test(path) || path.split(/[/\\]/).some((name) => /^\.{0,2}$/.test(name) || isGitName(name))
}

/** A colon ends the name of a file on NTFS. */
function isGitName(name: string): boolean {
  return !isPlain(name) && classifyPath(name.replace(/:.*/s, '') as Path).kind === 'GIT_INTERNAL'
}

/** Returns a path for policy, which judges only valid ones: a name that is not valid counts as any other name. */
export function judgedPath(path: string): Path {
  return path.replace(/[^/]+/g, (name) => (isValidGitPath(ROOT, name) ? name : '_')) as Path
}
