import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import type { Plugin as EsbuildPlugin } from 'esbuild'
import type { Plugin as VitePlugin } from 'vite'

const top = join(import.meta.dirname, '../..')
/** Directory of the instrumented files of `src/`, set only under `npm run coverage`. */
const directory = process.env.WARDSPACE_COUNTED

/** Makes bundles of esbuild report their coverage under `npm run coverage`. */
export const counted: EsbuildPlugin[] = directory === undefined ? [] : [countedFrom(directory)]

/** Replaces the files of `src/` and `dist/` with the instrumented files. */
export function countedFrom(from: string): EsbuildPlugin {
  return {
    name: 'counted',
    setup(to) {
      to.onResolve({ filter: /[/]dist[/].*\.js$/ }, ({ path, resolveDir }) => ({
        path: sourceOf(resolve(resolveDir, path)),
      }))
      to.onLoad({ filter: /[/]src[/].*\.ts$/ }, ({ path }) => {
        const contents = withCounters(path, from)
        return contents === undefined ? null : { contents, loader: 'ts' }
      })
    },
  }
}

/** The same for Vite. */
export const countedByVite: VitePlugin = {
  name: 'counted',
  enforce: 'pre',
  resolveId(path, importer = '') {
    if (!/[/]dist[/].*\.js$/.test(path) || /^\w/.test(path)) return null
    const file = resolve(dirname(importer), path)
    const source = sourceOf(file)
    return source === file ? null : source
  },
  load: (id) => (directory === undefined ? null : withCounters(id.replace(/[?].*/, ''), directory)),
}

/** Counts a built file as its source file. */
function sourceOf(built: string): string {
  const source = join(top, 'src', relative(join(top, 'dist'), built).replace(/\.js$/, '.ts'))
  return existsSync(source) ? source : built
}

function withCounters(file: string, from: string): string | undefined {
  const copy = join(from, relative(join(top, 'src'), file))
  return file.startsWith(join(top, 'src/')) && existsSync(copy) ? readFileSync(copy, 'utf8') : undefined
}
