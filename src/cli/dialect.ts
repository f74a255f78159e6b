import type { Dialect } from '../dialect.ts'
import { dialects } from '../dialects/index.ts'

/**
 * The dialect of a name, if one is given.
 *
 * @throws TypeError that names the dialects
 */
export function dialectOf(name: string | undefined): Dialect | undefined {
  if (name === undefined) return undefined
  const open = Object.hasOwn(dialects, name) ? dialects[name] : undefined
  if (open === undefined) {
    throw new TypeError(`There is no dialect "${name}"; the dialects are ${Object.keys(dialects).join(', ')}`)
  }
  return open()
}
