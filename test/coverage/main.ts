import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { addChildren, type Coverage, type FileCoverage } from './merge.ts'

/**
 * `npm run coverage [TEST...]`: runs the tests, and tells what of `src/` they reached: in the processes of vitest, in its
 * pages, and in the Node processes and threads that tests start. What runs in pages that a test drives itself, in workers
 * of a page and in other runtimes is not seen.
 */
const top = join(import.meta.dirname, '../..')
const written = mkdtempSync(join(tmpdir(), 'wardspace-coverage-'))
const run = (command: string, args: readonly string[], env = process.env) =>
  spawnSync(command, args, { cwd: top, stdio: 'inherit', env }).status
try {
  if (run('npx', ['vite', 'build', '--logLevel', 'warn', '--sourcemap']) !== 0) throw new Error('The build failed')
  const projects = ['--project', 'node', '--project', 'browser']
  const tests = ['vitest', 'run', '--config', 'test/coverage/vitest.config.ts', ...projects, ...process.argv.slice(2)]
  process.exitCode = run('npx', tests, { ...process.env, WARDSPACE_CHILD_COVERAGE: written }) ?? 1
  const file = join(top, 'coverage/coverage-final.json')
  const coverage = JSON.parse(readFileSync(file, 'utf8')) as Coverage
  await addChildren(coverage, written, join(top, 'dist'))
  writeFileSync(file, JSON.stringify(coverage))
  tell(coverage)
} finally {
  rmSync(written, { recursive: true, force: true })
}

/** Prints the files that have gaps, with the lines where they begin, and the sums. */
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
  for (const [what, [all = 0, missed = 0]] of Object.entries(sums)) {
    console.log(`${what}: ${all - missed} of ${all}, ${((100 * (all - missed)) / all).toFixed(2)} %`)
  }
}

function count(sum: number[], all: number, missed: number): void {
  sum[0] = (sum[0] ?? 0) + all
  sum[1] = (sum[1] ?? 0) + missed
}

/** A line counts as often as the statement that begins in it and ran most often. */
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
