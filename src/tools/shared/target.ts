import { ToolError } from '../../errors.ts'
import { type LogicalPath, nameOf, quote } from '../../paths/logical-path.ts'
import type { GuardedAccess } from '../../policy/access.ts'
import type { CommandSession } from '../../shells/types.ts'
import type { ToolContext } from '../define-tool.ts'

/** The guarded form of the access that the tool planned at `index`. */
export function targetOf({ accesses }: Pick<ToolContext, 'accesses'>, index = 0): GuardedAccess {
  const target = accesses[index]
  if (target === undefined) throw new TypeError(`the tool planned no access ${index}`)
  return target
}

/** What runs commands. */
export function deskOf({ commands }: Pick<ToolContext, 'commands'>): CommandSession {
  if (commands === undefined) throw new ToolError('SHELL_UNAVAILABLE', 'This workspace has no shell')
  return commands
}

/** Refuses to change the root itself. */
export function refuseRoot(path: LogicalPath, verb: string): void {
  if (path === '') throw new ToolError('PATH_REJECTED', `Cannot ${verb} the workspace root`)
}

export function notFound(path: LogicalPath): ToolError {
  return new ToolError('NOT_FOUND', `${quote(path)} does not exist`, { path })
}

/** The refusal to put something where something is; a directory there may have been meant as the place to put it in. */
export function alreadyThere(path: LogicalPath, type: string, source?: LogicalPath): ToolError {
  const inside = `${path}/${source === undefined ? '' : nameOf(source)}`
  return new ToolError('ALREADY_EXISTS', `${quote(path)} exists already (${type})`, {
    path,
    ...(type === 'directory' && source !== undefined
      ? { hint: `Nothing is ever overwritten. To put it into the directory, name the whole path: ${quote(inside)}.` }
      : {}),
  })
}

/** Paths below a directory, as they are named from there. */
export function relativeTo(directory: LogicalPath): (path: LogicalPath) => string {
  const skip = directory.length + 1
  return directory === '' ? (path) => path : (path) => path.slice(skip)
}
