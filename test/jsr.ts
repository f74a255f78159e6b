import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { publishedModules, sourceOf } from './published.ts'

/**
 * `npm run check:jsr` checks that `jsr.json` matches `package.json`, and that JSR would publish the sources with no
 * complaints except the types that are inferred from the schemas of tools. `--write` updates `jsr.json`.
 */
const top = join(import.meta.dirname, '..')
const file = join(top, 'jsr.json')
const deno = join(top, 'node_modules/@deno/linux-x64-glibc/deno')

/** Packages that the build for npm bundles. JSR publishes the sources, which import them. */
const bundled = [
  '@modelcontextprotocol/server',
  'just-bash',
  'quickjs-emscripten',
  'smol-toml',
  'unbash',
  'yaml',
  'zod',
]
/** JSR refuses modules that augment the types of other modules, which matchers and elements need, and has no stylesheets. */
const leftOut = ['./testing/vitest', './elements']

const expected = `${JSON.stringify(manifest(), null, 2)}\n`
if (process.argv.includes('--write')) writeFileSync(file, expected)
const faults =
  `${JSON.stringify(JSON.parse(readFileSync(file, 'utf8')), null, 2)}\n` === expected
    ? []
    : ['jsr.json is not as package.json: npm run check:jsr -- --write']

const home = mkdtempSync(join(tmpdir(), 'wardspace-jsr-'))
try {
  // The types of tools are inferred from zod schemas; explicit types would duplicate them.
  const strict = publish()
  const slow = strict.said.match(/error\[missing-explicit-type\]/g)?.length ?? 0
  const complaints = [...strict.said.matchAll(/(?:error|warning)\[([\w-]+)\][\s\S]*?--> \S*?\/src\/(\S+?):\d+/g)]
  for (const [, complaint, file = ''] of complaints) {
    // The command line imports the dialect that its user names.
    if (file.startsWith('tools/') || (complaint === 'unanalyzable-dynamic-import' && file === 'cli/dialect.ts'))
      continue
    faults.push(`JSR complains of src/${file}: ${complaint}`)
  }
  const { code, said: output } = publish('--allow-slow-types')
  if (code !== 0) faults.push(`JSR would not take the package:\n${output.slice(-2000)}`)
  console.log(`${Object.keys(manifest().exports).length} subpaths, ${slow} types inferred from the schemas of tools`)
} finally {
  rmSync(home, { recursive: true, force: true })
}
for (const fault of faults) console.error(fault)
process.exit(faults.length === 0 ? 0 : 1)

function manifest() {
  const { version, license, peerDependencies, devDependencies } = JSON.parse(
    readFileSync(join(top, 'package.json'), 'utf8'),
  )
  const sources = publishedModules(top, 'src').map(([subpath, file]) => [subpath, `./${sourceOf(file)}`] as const)
  const isLeftOut = ([subpath]: readonly [string, string]): boolean => leftOut.includes(subpath)
  const bundledRanges = Object.fromEntries(bundled.map((name) => [name, devDependencies[name]]))
  const packages = Object.entries({ ...bundledRanges, ...peerDependencies }).filter(([name]) => name !== 'vitest')
  return {
    $schema: 'https://jsr.io/schema/config-file.v1.json',
    name: '@wardspace/wardspace',
    version,
    license,
    exports: Object.fromEntries(sources.filter((entry) => !isLeftOut(entry))),
    imports: Object.fromEntries(packages.map(([name, range]) => [name, `npm:${name}@${plain(String(range))}`])),
    publish: {
      include: ['src', 'README.md', 'LICENSE', 'CHANGELOG.md'],
      exclude: sources.filter(isLeftOut).map(([, file]) => file.slice('./'.length).replace(/\/index\.ts$/, '')),
    },
  }
}

/** Types are checked by `npm run check:types`. */
function publish(...more: readonly string[]) {
  const options = ['--dry-run', '--no-check', '--allow-dirty', '--node-modules-dir=manual', '--no-lock', ...more]
  const env = { ...process.env, NO_COLOR: '1', DENO_DIR: home }
  const { status, stdout, stderr } = spawnSync(deno, ['publish', ...options], { cwd: top, env, encoding: 'utf8' })
  return { code: status, said: `${stdout}${stderr}` }
}

/** Deno accepts no spaces and no comparison operators in the range of a subpath import. */
function plain(range: string): string {
  return range.replace(/^>=\s*/, '^')
}
