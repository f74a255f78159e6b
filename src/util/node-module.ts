/**
 * Returns a module of Node on platforms that have it, without an import that bundlers and other platforms would refuse. The
 * functions of `process` throw on some platforms that imitate it.
 */
export function nodeModule(name: string): unknown {
  try {
    return globalThis.process?.getBuiltinModule?.(`node:${name}`)
  } catch {
    return undefined
  }
}
