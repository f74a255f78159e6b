import { ToolError } from '../../errors.ts'
import { type LogicalPath, nameOf, quote } from '../../paths/logical-path.ts'
import type { GuardedAccess } from '../../policy/access.ts'
import type { CommandSession } from '../../shells/types.ts'
import type { BuiltinContext } from '../builtin-tool.ts'

/** Returns the guarded access for the planned access at `index`. */
export function targetOf({ accesses }: Pick<BuiltinContext, 'accesses'>, index = 0): GuardedAccess {
  const target = accesses[index]
  if (target === undefined) throw new TypeError(`the tool planned no access ${index}`)
  return target
}

/**
 * Returns the session that runs commands.
 *
 * @throws ToolError `SHELL_UNAVAILABLE`
 */
export function sessionOf({ commands }: Pick<BuiltinContext, 'commands'>): CommandSession {
  if (commands === undefined) throw new ToolError('SHELL_UNAVAILABLE', 'This workspace has no shell')
  return commands
}

/**
 * Refuses to change the workspace root.
 *
 * @throws ToolError `PATH_REJECTED`
 */
export function refuseRoot(path: LogicalPath, verb: string): void {
  if (path === '') throw new ToolError('PATH_REJECTED', `Cannot ${verb} the workspace root`)
}

/**
 * Returns the error for a target path that exists. If it is a directory, the hint names the path inside it, which the
 * caller may have meant.
 */
export function alreadyThere(path: LogicalPath, type: string, source?: LogicalPath): ToolError {
  const inside = `${path}/${source === undefined ? '' : nameOf(source)}`
  return new ToolError('ALREADY_EXISTS', `${quote(path)} exists already (${type})`, {
    path,
    ...(type === 'directory' && source !== undefined
      ? { hint: `Nothing is ever overwritten. To put it into the directory, use the whole path ${quote(inside)}.` }
      : {}),
  })
}

/** Returns a function that makes paths below a directory relative to it. */
export function relativeTo(directory: LogicalPath): (path: LogicalPath) => string {
  const skip = directory.length + 1
  return directory === '' ? (path) => path : (path) => path.slice(skip)
}
