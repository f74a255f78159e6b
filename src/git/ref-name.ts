import { ToolError } from '../errors.ts'
import { parsePath, quote } from '../paths/logical-path.ts'
import { gitPath } from './isomorphic-fs.ts'

/** Whether git allows a name (https://git-scm.com/docs/git-check-ref-format), and a workspace can hold its file. */
export function isRefName(name: string): boolean {
  if (/[\0-\x20\x7f~^:?*[\\\ufffd]|\.\.|@\{|\/\/|^\/|[/.]$|(^|\/)\.|\.lock(\/|$)/.test(name)) return false
  try {
    const path = gitPath('refs', 'remotes', 'origin', ...name.replace(/^refs\/(heads|tags)\//, '').split('/'))
    return parsePath(path) === path
  } catch {
    return false
  }
}

/** @throws ToolError `INVALID_INPUT` for a name that git does not allow for a new branch */
export function requireBranchName(name: string): void {
  if (name.startsWith('-') || name === 'HEAD' || !isRefName(`refs/heads/${name}`))
    throw new ToolError('INVALID_INPUT', `Cannot use ${quote(name)} as a branch name`)
}
