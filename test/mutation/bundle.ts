import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { build, type Plugin } from 'esbuild'
import picomatch from 'picomatch'

/**
 * One module with the test files and all of our code that they reach, packages apart: loaded anew for each mutant, it shares
 * no state with the last one, and costs a tenth of loading its files. It exports `runFile`, the
 * `files` by their names, and how many `runs` a property has.
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
    plugins: [fewerRuns(top), whereTheyLie],
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

/** A bundled test finds its data where it lay itself. */
const whereTheyLie: Plugin = {
  name: 'where-they-lie',
  setup(to) {
    to.onLoad({ filter: /[/]test[/].*\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8')
      if (!text.includes('import.meta.dirname')) return null
      return { contents: text.replaceAll('import.meta.dirname', JSON.stringify(dirname(path))), loader: 'ts' }
    })
  },
}
