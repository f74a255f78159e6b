/** Replaces vitest for mutants: the portable part, and the functions of `vi` that the tests of the areas use. */
export * from '../runtimes/vitest-shim.ts'

const replaced: (readonly [string, PropertyDescriptor | undefined])[] = []

export const vi = {
  stubGlobal(name: string, value: unknown) {
    replaced.push([name, Object.getOwnPropertyDescriptor(globalThis, name)])
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true })
  },
  unstubAllGlobals() {
    for (const [name, before] of replaced.splice(0).reverse()) {
      if (before === undefined) Reflect.deleteProperty(globalThis, name)
      else Object.defineProperty(globalThis, name, before)
    }
  },
}
