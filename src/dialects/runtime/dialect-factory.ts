import type { VirtualRoots } from './path-mapping.ts'
import type { Dialect } from './types.ts'

/** Creates a dialect over virtual roots. Each built-in dialect has default roots. */
export type DialectFactory = (roots?: VirtualRoots) => Dialect

/** The dialects whose callers named no roots, with the functions that create them over other roots. */
const defaultDialects = new WeakMap<Dialect, (root: string) => Dialect>()

/** Returns a factory that refuses further arguments, which no dialect has. `owner` is its name in messages. */
export function createDialectFactory(
  owner: string,
  defaultRoots: VirtualRoots,
  create: (roots: VirtualRoots) => Dialect,
): DialectFactory {
  return (...args) => {
    const [roots = defaultRoots] = args
    if (args.length > 1) throw new TypeError(`${owner} takes one argument, the virtual roots`)
    const dialect = create(roots)
    if (args[0] === undefined) {
      defaultDialects.set(dialect, (root) => create({ [root]: '', ...defaultRoots }))
    }
    return dialect
  }
}

/** Returns the dialect with a name of its own for the workspace, beside its default roots; `undefined` if its caller chose the roots. */
export function atShellRoot(dialect: Dialect, root: string): Dialect | undefined {
  return defaultDialects.get(dialect)?.(root)
}
