import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Every module that a package publishes, as its `exports` list them: the subpath, and its file below `dist/`.
 * Entries with a `*` are expanded by the folders that exist below `root`; a source counts as its built file.
 */
export function publishedModules(
  directory: string,
  root: 'src' | 'dist' = 'dist',
): readonly (readonly [subpath: string, file: string])[] {
  const { exports } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as {
    exports: Record<string, string | { readonly default: string }>
  }
  return Object.entries(exports).flatMap(([subpath, target]) => {
    if (typeof target === 'string') return []
    const file = target.default.replace(/^\.\//, '')
    if (!file.includes('*')) return [[subpath, file] as const]
    const [before = '', after = ''] = file.split('*')
    return readdirSync(join(directory, inRoot(before)))
      .filter((name) => existsSync(join(directory, inRoot(`${before}${name}${after}`))))
      .map((name) => [subpath.replace('*', name), file.replace('*', name)] as const)
  })

  function inRoot(path: string): string {
    return root === 'dist' ? path : sourceOf(path)
  }
}

/** The source of a built file, such as `src/a/index.ts` for `dist/a/index.js`. */
export function sourceOf(file: string): string {
  return file.replace(/^dist\//, 'src/').replace(/\.js$/, '.ts')
}
