import { transform } from 'esbuild'
import type { Plugin } from 'vite'

/**
 * Minifies the chunks that consist of other packages: nobody reads those, and programs start sooner. Not those of zod, whose
 * annotations let bundlers leave out what a page does not use.
 */
export function shortenPackages(): Plugin {
  return {
    name: 'shorten-packages',
    apply: 'build',
    async generateBundle(_, bundle) {
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== 'chunk' || !isForeign(chunk.moduleIds)) continue
        const { code } = await transform(chunk.code, { minify: true, format: 'esm', target: 'es2022' })
        chunk.code = code
      }
    },
  }
}

function isForeign(modules: readonly string[]): boolean {
  if (modules.length === 0 || modules.some((id) => id.includes('/node_modules/zod/'))) return false
  return modules.every((id) => id.includes('node_modules') || id.startsWith('\0'))
}
