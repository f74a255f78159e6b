import { childOf, type Path, parsePath } from '../paths/logical-path.ts'

const PLAIN = /^(?!\.{1,2}$)[\w.+@()[\] -]{1,255}$/

/** Whether a name of a repository can be a path of a workspace: one that the guard refuses cannot be seen, so it cannot be missed. */
export function isNameable(directory: Path, name: string): boolean {
  if (PLAIN.test(name) && directory.length < 2000 && name !== '.git') return true
  if (name.includes('\ufffd')) return false
  try {
    const path = childOf(directory, name)
    return parsePath(path) === path
  } catch {
    return false
  }
}
