import { transform } from 'esbuild'
import type { Plugin } from 'vite'

/**
 * Minifies the chunks that consist of other packages: nobody reads those, and programs start sooner. Those of zod keep
 * their form and annotations, which let bundlers leave out what a page does not use.
 */
export function shortenPackages(): Plugin {
  return {
    name: 'shorten-packages',
    apply: 'build',
    async generateBundle(_, bundle) {
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== 'chunk' || !isForeign(chunk.moduleIds)) continue
        const isZod = chunk.moduleIds.some((id) => id.includes('/node_modules/zod/'))
        const { code } = await transform(chunk.code, {
          ...(isZod ? { minifyIdentifiers: true } : { minify: true }),
          ...{ format: 'esm', target: 'es2022' },
        })
        chunk.code = code
      }
    },
  }
}

function isForeign(modules: readonly string[]): boolean {
  return modules.length > 0 && modules.every((id) => id.includes('node_modules') || id.startsWith('\0'))
}
