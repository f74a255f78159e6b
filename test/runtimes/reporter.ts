import { readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node'
import { isLong } from '../counts.ts'
import { type Cell, cellOf, everywhere, TESTS } from './cell.ts'
import { matrixBlock } from './matrix-page.ts'
import type { CaseResult } from './report.ts'
import { faultsOfMatrix, type Matrix, tableOf } from './table.ts'

const top = join(import.meta.dirname, '../..')
const PAGE = join(top, 'docs/runtimes.md')

/** The suites of vitest's own runs that are cells: runtime, row, suite. */
const suites: Readonly<Record<string, readonly (readonly [runtime: string, row: string, suite: string])[]>> = {
  'test/contract/backends.test.ts': [
    ['Node', 'memory', 'memory'],
    ['Node', 'memfs', 'memfs, a volume of its own'],
    ['Node', 'node', 'node'],
    ['Node', 'overlay', 'overlay of memory over memory'],
    ['Node', 'mounts', 'mounts over memory'],
  ],
  'test/contract/shells.test.ts': [['Node', 'bash', 'bash']],
  'test/shells/bash/bash.browser.ts': [['Chromium', 'bash, Web Worker', 'bash in a Web Worker']],
  'test/backends/opfs/contract.browser.ts': [
    ['Chromium', 'OPFS packed, page over worker', 'OPFS packed, page over worker > the contract'],
    ['Chromium', 'OPFS packed, page', 'OPFS packed, page > the contract'],
    ['Chromium', 'OPFS files, page', 'OPFS files, page > the contract'],
    ['Chromium', 'directory handle, page', 'directory handle, page > the contract'],
  ],
}

/** The files that `npm run matrix` runs, which fill cells. */
export const filling = [
  ...Object.keys(suites),
  'test/runtimes/matrix.test.ts',
  'test/tools/',
  'test/audit/',
  'test/search/matches',
  'test/workspace/create-workspace.test',
  'test/call/resume.test',
]

/**
 * Collects the matrix from a run of vitest: the suites that are cells, and the results from other runtimes. A run of all files
 * fails if a cell is missing, below its floor, or different from `docs/runtimes.md`. With `MATRIX=write` it prints the table
 * and writes it into that page.
 */
export default function matrixReporter(): Reporter {
  let vitest: Vitest
  let whole = false
  return {
    onInit(started) {
      vitest = started
    },
    async onTestRunStart(specifications) {
      const all = await vitest.globTestSpecifications()
      whole = specifications.length === all.length && vitest.config.testNamePattern === undefined
    },
    onTestRunEnd(modules) {
      const writes = process.env.MATRIX === 'write'
      if (!whole && !writes) return
      const matrix = matrixOf(modules)
      const faults = faultsOfMatrix(matrix)
      const page = readFileSync(PAGE, 'utf8')
      const table = tableOf(matrix)
      if (writes) console.log(`\n${table}`)
      if (writes && faults.length === 0) writeFileSync(PAGE, matrixBlock.replace(page, table))
      if (!writes && shapeOf(matrixBlock.read(page)) !== shapeOf(table)) {
        faults.push(`docs/runtimes.md shows another table; npm run matrix updates it. Now it is:\n${table}`)
      }
      for (const fault of faults) console.error(`\nThe matrix: ${fault}`)
      if (faults.length > 0) process.exitCode = 1
    },
  }
}

/**
 * Returns the rows of a table without their counts, which grow. In `npm test`, Node alone runs all cases of each row, and so
 * shows which ones are skipped.
 */
function shapeOf(table: string): string {
  const rows = table.split('\n').filter((line) => line.startsWith('|'))
  const counts = /\d+( \(\w\))?/g
  const shown = (cell: string, column: number) =>
    (isLong || column <= NODE ? cell : cell.replace(/, skipped.*/, '')).trim()
  const cells = (row: string) => row.split('|').map(shown).join('|')
  return rows
    .map((row) =>
      cells(row)
        .replace(counts, 'N')
        .replace(/([ -])+/g, '$1'),
    )
    .join('\n')
}

/** The column of Node in a row that is split at its borders: after an empty text and the name. */
const NODE = 2

function matrixOf(modules: readonly TestModule[]): Matrix {
  const cells: Cell[] = []
  const leftOut: Record<string, string> = {}
  const tests: CaseResult[] = []
  for (const module of modules) {
    const file = relative(top, module.moduleId).replaceAll('\\', '/')
    const cases = [...module.children.allTests()]
    for (const [runtime, row, suite] of suites[file] ?? []) {
      const own = cases.filter(({ fullName }) => fullName.startsWith(`${suite} > `))
      if (own.length > 0) cells.push(cellOf(runtime, row, own.map(resultOf)))
    }
    if (everywhere.test(file)) tests.push(...cases.map(resultOf))
    for (const one of cases) {
      const meta = one.meta()
      cells.push(...(meta.cells ?? []))
      Object.assign(leftOut, meta.leftOut)
    }
  }
  if (tests.length > 0) cells.push(cellOf('Node', TESTS, tests))
  return { cells, leftOut }
}

function resultOf(one: TestCase): CaseResult {
  const result = one.result()
  const name = one.fullName
  if (result.state === 'passed') return { name, status: 'passed' }
  if (result.state === 'skipped') return { name, status: 'skipped', why: result.note ?? 'nobody said why' }
  return { name, status: 'failed', why: result.errors?.map(({ message }) => message).join('\n') ?? result.state }
}
