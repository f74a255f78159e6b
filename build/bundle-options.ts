import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { BuildOptions, Plugin } from 'esbuild'

export const top = join(import.meta.dirname, '..')

export const common: BuildOptions = {
  absWorkingDir: top,
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  allowOverwrite: true,
  metafile: true,
  legalComments: 'none',
  logLevel: 'warning',
}

/** What CommonJS modules of packages for Node use. */
export const COMMON_JS =
  "import{createRequire as __requireFrom}from'node:module';const require=__requireFrom(import.meta.url);"

export function modulesOf(directory: string): string[] {
  return readdirSync(join(top, directory)).map((name) => `${directory}/${name}`)
}

/** Sources by the specifier that they replace. */
export type Replacements = Readonly<Record<string, string>>

/** Replaces packages and their chunks, which have a hash in their names, by other sources. */
export function replace(replacements: Replacements): Plugin {
  return {
    name: 'replace',
    setup(to) {
      to.onResolve({ filter: /./ }, ({ path }) => {
        const name = /(?:^|\/chunks\/)([\w-]+)-[A-Z0-9]{8}\.js$/.exec(path)?.[1] ?? path
        return Object.hasOwn(replacements, name) ? { path: name, namespace: 'replaced' } : undefined
      })
      to.onLoad({ filter: /./, namespace: 'replaced' }, ({ path }) => ({ contents: replacements[path] ?? '' }))
    },
  }
}
