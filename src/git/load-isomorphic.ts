import { memoizeAsync } from '../util/memoize-async.ts'
import { optionalPackage } from '../util/optional-package.ts'

type BufferModule = typeof import('buffer/index.js')

/**
 * Loads isomorphic-git on first use. It is an optional package. It requires a global `Buffer`, so one is defined on platforms
 * without it, such as browsers and workers, from the optional package buffer.
 *
 * @throws ToolError `BACKEND_ERROR`
 */
export const loadIsomorphic = memoizeAsync(async () => {
  const host = globalThis as { Buffer?: unknown }
  if (host.Buffer === undefined) {
    // Bundlers expose the exports of a CommonJS module by name, or only as the default.
    const module: Partial<BufferModule> & { readonly default?: BufferModule } = await optionalPackage(
      'buffer',
      'git on this platform',
      () => import('buffer/index.js'),
      'BACKEND_ERROR',
    )
    /* v8 ignore next -- @preserve: which of the two exists depends on the loader or bundler of the platform */
    host.Buffer ??= module.Buffer ?? module.default?.Buffer
  }
  return optionalPackage('isomorphic-git', 'git', () => import('./isomorphic.ts'), 'BACKEND_ERROR')
})
