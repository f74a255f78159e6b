import type { Dialect } from '../dialects/runtime/types.ts'

/**
 * The dialect of a name, if one is given.
 *
 * @throws TypeError that names the dialects
 */
export async function dialectOf(name: string | undefined): Promise<Dialect | undefined> {
  if (name === undefined) return undefined
  const { dialects } = await import('../dialects/index.ts')
  const open = Object.hasOwn(dialects, name) ? dialects[name] : undefined
  if (open === undefined) {
    throw new TypeError(`There is no dialect "${name}"; the dialects are ${Object.keys(dialects).join(', ')}`)
  }
  return open()
}
