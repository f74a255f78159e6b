import type { VirtualRoots } from './path-mapping.ts'
import type { Dialect } from './types.ts'

/** Creates a dialect over virtual roots. Each built-in dialect has default roots. */
export type DialectFactory = (roots?: VirtualRoots) => Dialect

/** Returns a factory that refuses further arguments, which no dialect has. `owner` is its name in messages. */
export function createDialectFactory(
  owner: string,
  defaultRoots: VirtualRoots,
  create: (roots: VirtualRoots) => Dialect,
): DialectFactory {
  return (...args) => {
    const [roots = defaultRoots] = args
    if (args.length > 1) throw new TypeError(`${owner} takes one argument, the virtual roots`)
    return create(roots)
  }
}
