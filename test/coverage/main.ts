import { spawn } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { build } from 'esbuild'
import { startCollector } from './collector.ts'
import { countedFrom } from './counted.ts'
import { instrument } from './instrument.ts'
import { addChildren, addCoverage, type Coverage, type FileCoverage } from './merge.ts'

/**
 * `npm run coverage [TEST...]`: runs the tests, and reports the coverage of `src/`. V8 counts in the processes of vitest and
 * in the Node processes that tests start. Pages, workers, threads and other runtimes run instrumented code, which reports
 * its counters.
 */
const top = join(import.meta.dirname, '../..')
const directory = mkdtempSync(join(tmpdir(), 'wardspace-coverage-'))
const children = join(directory, 'children')
const counted = join(directory, 'counted')
const message = join(directory, 'told')
const thread = join(top, 'dist/shells/bash/thread.js')
const collector = await startCollector(message)
try {
  mkdirSync(children)
  if ((await run('vite', 'build', '--logLevel', 'warn', '--sourcemap')) !== 0) throw new Error('The build failed')
  const elsewhere = instrument(counted, { file: message, address: collector.address })
  copyFileSync(thread, join(directory, 'thread.js'))
  await countThread()
  const file = join(top, 'coverage/coverage-final.json')
  const vitest = ['vitest', 'run', '--config', 'test/coverage/vitest.config.ts', '--passWithNoTests']
  const expected = process.argv.slice(2)
  const inNode = await run(...vitest, '--project', 'node', '--coverage.enabled', ...expected)
  const inBrowser = await run(...vitest, '--project', 'browser', ...expected)
  process.exitCode = inNode || inBrowser
  const coverage = JSON.parse(readFileSync(file, 'utf8')) as Coverage
  await addChildren(coverage, children, join(top, 'dist'))
  collector.countIn(elsewhere)
  addCoverage(coverage, elsewhere)
  writeFileSync(file, JSON.stringify(coverage))
  tell(coverage)
} finally {
  collector.close()
  // Other tests may use the build.
  if (existsSync(join(directory, 'thread.js'))) copyFileSync(join(directory, 'thread.js'), thread)
  rmSync(directory, { recursive: true, force: true })
}

/** The thread of bash ends before V8 writes its coverage, so it is instrumented, in a separate file. */
async function countThread(): Promise<void> {
  await build({
    entryPoints: [join(top, 'src/shells/bash/thread.ts')],
    outfile: thread,
    allowOverwrite: true,
    bundle: true,
    format: 'esm',
    target: 'es2022',
    packages: 'external',
    logLevel: 'error',
    // Pages load the instrumented files from here.
    define: { XMLHttpRequest: 'undefined' },
    plugins: [countedFrom(counted)],
  })
  // The source map describes the previous file.
  rmSync(`${thread}.map`, { force: true })
}

function run(...args: readonly string[]): Promise<number> {
  const env = { ...process.env, WARDSPACE_CHILD_COVERAGE: children, WARDSPACE_COUNTED: counted }
  const child = spawn('npx', args, { cwd: top, stdio: 'inherit', env })
  return new Promise((resolve) => child.on('close', (code) => resolve(code ?? 1)))
}

/** Prints the files with gaps, the first lines of the gaps, and the totals. */
function tell(coverage: Coverage): void {
  const sums = { lines: [0, 0], branches: [0, 0] }
  for (const [file, one] of Object.entries(coverage)) {
    const lines = linesOf(one)
    const branches = Object.entries(one.b).flatMap(([id, counts]) =>
      counts.map((count, arm) => ({
        count,
        line: one.branchMap[id]?.locations[arm]?.start.line ?? one.branchMap[id]?.loc.start.line,
      })),
    )
    const missedLines = [...lines].filter(([, count]) => count === 0).map(([line]) => line)
    const missedBranches = branches.filter(({ count }) => count === 0).map(({ line }) => line)
    count(sums.lines, lines.size, missedLines.length)
    count(sums.branches, branches.length, missedBranches.length)
    if (missedLines.length + missedBranches.length === 0) continue
    console.log(`${relative(top, file)}: lines ${ranges(missedLines)}; branches at ${ranges(missedBranches)}`)
  }
  for (const [label, [all = 0, missed = 0]] of Object.entries(sums)) {
    console.log(`${label}: ${all - missed} of ${all}, ${((100 * (all - missed)) / all).toFixed(2)} %`)
  }
}

function count(sum: number[], all: number, missed: number): void {
  sum[0] = (sum[0] ?? 0) + all
  sum[1] = (sum[1] ?? 0) + missed
}

/** Counts a line as often as its most frequent statement. */
function linesOf({ statementMap, s }: FileCoverage): Map<number, number> {
  const lines = new Map<number, number>()
  for (const [id, { start }] of Object.entries(statementMap)) {
    lines.set(start.line, Math.max(lines.get(start.line) ?? 0, s[id] ?? 0))
  }
  return lines
}

function ranges(lines: readonly (number | undefined)[]): string {
  const sorted = [...new Set(lines)].sort((a = 0, b = 0) => a - b)
  return sorted.length === 0 ? 'none' : sorted.join(' ')
}
