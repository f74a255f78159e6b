import { ToolError } from '../../errors.ts'
import { type LogicalPath, quote } from '../../paths/logical-path.ts'

/** The random part that starts every temporary name of one opening of a root: 64 bits, so that nobody can guess it. */
export type TempPrefix = string

/** How the temporary names of one opening begin. */
export function tempPrefix(id: string): TempPrefix {
  return `.wardspace-${id.slice(0, 16)}`
}

/** A temporary name; `count` must not repeat for a prefix. */
export function tempName(prefix: TempPrefix, count: number): string {
  return `${prefix}${count.toString(16).padStart(16, '0')}.tmp`
}

/** Whether a name is one that {@link tempName} could make. Letter case does not matter, as on some disks. */
export function isTempName(name: string): boolean {
  return TEMP_NAME.test(name)
}

/** Refuses a path through a temporary name: for tools such files do not exist. */
export function refuseTempNames(path: LogicalPath): void {
  if (!ANYWHERE.test(path)) return
  if (!path.split('/').some(isTempName)) return
  throw new ToolError('PATH_REJECTED', `Path ${quote(path)} holds a name that is reserved for temporary files`, {
    path,
  })
}

const TEMP_NAME = /^\.wardspace-[0-9a-f]{32}\.tmp$/i
const ANYWHERE = /\.wardspace-/i
