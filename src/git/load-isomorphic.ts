type BufferModule = typeof import('buffer/index.js')
type Isomorphic = typeof import('./isomorphic.ts')

let loaded: Promise<Isomorphic> | undefined

/**
 * Loads isomorphic-git on first use. It requires a global `Buffer`, so one is defined on platforms without it, such as
 * browsers and workers.
 */
export function loadIsomorphic(): Promise<Isomorphic> {
  loaded ??= load()
  return loaded
}

async function load(): Promise<Isomorphic> {
  const host = globalThis as { Buffer?: unknown }
  if (host.Buffer === undefined) {
    // Bundlers expose the exports of a CommonJS module by name, or only as the default.
    const module: Partial<BufferModule> & { readonly default?: BufferModule } = await import('buffer/index.js')
    /* v8 ignore next -- @preserve: which of the two exists depends on the loader or bundler of the platform */
    host.Buffer ??= module.Buffer ?? module.default?.Buffer
  }
  return import('./isomorphic.ts')
}
