import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import type { Plugin as EsbuildPlugin } from 'esbuild'
import type { Plugin as VitePlugin } from 'vite'

const top = join(import.meta.dirname, '../..')
/** Where the files of `src/` are with counters in them, under `npm run coverage` only. */
const directory = process.env.WARDSPACE_COUNTED

/** Bundles by esbuild tell what runs of them, wherever they run, under `npm run coverage`. */
export const counted: EsbuildPlugin[] = directory === undefined ? [] : [countedFrom(directory)]

/** Puts the files with counters in them in the place of those of `src/` and `dist/`. */
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

/** The same for what Vite bundles or serves. */
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

/** What is built is counted by what it is built from. */
function sourceOf(built: string): string {
  const source = join(top, 'src', relative(join(top, 'dist'), built).replace(/\.js$/, '.ts'))
  return existsSync(source) ? source : built
}

function withCounters(file: string, from: string): string | undefined {
  const copy = join(from, relative(join(top, 'src'), file))
  return file.startsWith(join(top, 'src/')) && existsSync(copy) ? readFileSync(copy, 'utf8') : undefined
}
