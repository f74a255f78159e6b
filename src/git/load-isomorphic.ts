type BufferModule = typeof import('buffer/index.js')
type Isomorphic = typeof import('./isomorphic.ts')

let loaded: Promise<Isomorphic> | undefined

/**
 * Loads isomorphic-git when it is first needed: diffs need it not. It takes a global `Buffer` for granted, so where the
 * platform has none, as a browser or a worker, one is put there before.
 */
export function loadIsomorphic(): Promise<Isomorphic> {
  loaded ??= load()
  return loaded
}

async function load(): Promise<Isomorphic> {
  const host = globalThis as { Buffer?: unknown }
  if (host.Buffer === undefined) {
    // A bundler may give what a CommonJS module exports by name, or as its default alone.
    const module: Partial<BufferModule> & { readonly default?: BufferModule } = await import('buffer/index.js')
    /* v8 ignore next -- @preserve: another platform: which of the two there is, its loader or bundler decides */
    host.Buffer ??= module.Buffer ?? module.default?.Buffer
  }
  return import('./isomorphic.ts')
}
