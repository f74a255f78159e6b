import { ToolError } from '../../errors.ts'
import { type LogicalPath, quote } from '../../paths/logical-path.ts'

/** Start of all temporary names of one opening of a root: 64 random bits, so that it cannot be guessed. */
export type TempPrefix = string

/** Returns the prefix of an opening. */
export function tempPrefix(id: string): TempPrefix {
  return `.wardspace-${id.slice(0, 16)}`
}

/** Returns a temporary name. `count` must not repeat for a prefix. */
export function tempName(prefix: TempPrefix, count: number): string {
  return `${prefix}${count.toString(16).padStart(16, '0')}.tmp`
}

/** Returns whether {@link tempName} could have made a name. Ignores letter case, as some disks do. */
export function isTempName(name: string): boolean {
  return TEMP_NAME.test(name)
}

/** Throws for a path with a temporary name: for tools, such files do not exist. */
export function refuseTempNames(path: LogicalPath): void {
  if (!CONTAINS_PREFIX.test(path)) return
  if (!path.split('/').some(isTempName)) return
  throw new ToolError('PATH_REJECTED', `Path ${quote(path)} contains a name that is reserved for temporary files`, {
    path,
  })
}

const TEMP_NAME = /^\.wardspace-[0-9a-f]{32}\.tmp$/i
const CONTAINS_PREFIX = /\.wardspace-/i
