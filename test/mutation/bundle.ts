import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { build, type Plugin } from 'esbuild'
import picomatch from 'picomatch'

/**
 * Bundles the test files and all project code that they import into one module, without packages. The module is loaded again
 * for each mutant, so no state is shared, at a tenth of the cost of loading the single files. It exports `runFile`, the
 * `files` by name, and `runs`, the number of runs of a property.
 */
export async function bundleTests(top: string, patterns: readonly string[], outfile: string): Promise<void> {
  const isWanted = picomatch([...patterns])
  const all = readdirSync(join(top, 'test'), { recursive: true, encoding: 'utf8' }).map((file) => `test/${file}`)
  const files = all.filter((file) => isWanted(file)).sort()
  const contents = [
    `export { runFile } from './test/runtimes/vitest-shim.ts'`,
    `export { runs } from './test/runtimes/fast-check-shim.ts'`,
    'export const files = {',
    ...files.map((file) => `  ${JSON.stringify(file)}: () => import(${JSON.stringify(`./${file}`)}),`),
    '}',
  ].join('\n')
  await build({
    stdin: { contents, resolveDir: top, loader: 'ts' },
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    logLevel: 'error',
    packages: 'external',
    alias: { vitest: join(top, 'test/mutation/vitest-shim.ts') },
    plugins: [fewerRuns(top), evaluatedOnce(top), originalDirname],
  })
}

function fewerRuns(top: string): Plugin {
  const shim = join(top, 'test/runtimes/fast-check-shim.ts')
  return {
    name: 'fewer-runs',
    setup(to) {
      to.onResolve({ filter: /^fast-check$/ }, ({ importer }) =>
        importer === shim ? { path: 'fast-check', external: true } : { path: shim },
      )
    },
  }
}

function evaluatedOnce(top: string): Plugin {
  return {
    name: 'evaluated-once',
    setup(to) {
      to.onResolve({ filter: /[/]load-again\.ts$/ }, () => ({ path: join(top, 'test/mutation/load-again.ts') }))
    },
  }
}

/** Keeps `import.meta.dirname` of a test the directory of its source, where its data is. */
const originalDirname: Plugin = {
  name: 'original-dirname',
  setup(to) {
    to.onLoad({ filter: /[/]test[/].*\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8')
      if (!text.includes('import.meta.dirname')) return null
      return { contents: text.replaceAll('import.meta.dirname', JSON.stringify(dirname(path))), loader: 'ts' }
    })
  },
}
