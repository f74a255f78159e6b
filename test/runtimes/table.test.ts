import { describe, expect, it } from 'vitest'
import type { Cell } from './cell.ts'
import { floors } from './floors.ts'
import { matrixBlock } from './matrix-page.ts'
import { differenceOf, faultsOf, faultsOfMatrix, tableOf } from './table.ts'

const cells: Cell[] = Object.entries(floors).flatMap(([runtime, rows]) =>
  Object.entries(rows).map(([row, passed]) => ({
    runtime,
    row,
    passed,
    failed: [],
    skipped: { 'the backend does not declare links': 3 },
  })),
)
const leftOut = { 'test/x.test.ts': 'needs node:fs' }

describe('the matrix', () => {
  it('reports no fault for cells at their floors', () => {
    expect(faultsOfMatrix({ cells, leftOut })).toEqual([])
  })

  it('reports a failure, a lost case, an unexplained skip, and an unexpected cell', () => {
    const cell = cells.find(({ runtime, row }) => runtime === 'Deno' && row === 'node') as Cell
    expect(faultsOf({ ...cell, failed: ['one'] })).toEqual(['Deno, node: one'])
    expect(faultsOf({ ...cell, passed: cell.passed - 1 })).toHaveLength(1)
    expect(faultsOf({ ...cell, skipped: { 'it was inconvenient': 1 } })).toHaveLength(1)
    expect(faultsOf({ ...cell, row: 'another' })).toHaveLength(1)
  })

  it.each(cells.map((cell) => [cell.runtime, cell.row, cell] as const))(
    'reports that %s, %s is missing',
    (_, __, cell) => {
      expect(faultsOfMatrix({ cells: cells.filter((one) => one !== cell), leftOut })).toHaveLength(1)
    },
  )

  it('shows all cells, reasons and excluded tests', () => {
    const table = tableOf({ cells, leftOut })
    expect(table.split('\n').filter((line) => line.startsWith('| node'))).toHaveLength(1)
    expect(table).toContain('103 passed, skipped 3 (a)')
    expect(table).toContain('(a) the backend does not declare links')
    expect(table).toContain('`test/x.test.ts`: needs node:fs')
    const page = matrixBlock.replace(
      '# x\n<!-- matrix: written by npm run matrix -->\nold\n<!-- /matrix -->\nend\n',
      table,
    )
    expect(matrixBlock.read(page)).toBe(table)
    expect(page.endsWith('\nend\n')).toBe(true)
  })

  it('shows the first difference of two stories', () => {
    expect(differenceOf('a\nb', 'a\nb')).toBe('')
    expect(differenceOf('a\nbc', 'a\nbd')).toMatch(/^line 2:\n {2}bc\n {2}bd$/)
    expect(differenceOf('a', 'a\nb')).not.toBe('')
  })
})
