import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Matrix, runMatrix } from './matrix.ts'
import { tableInReadme } from './readme.ts'
import { faultsOf, tableOf } from './table.ts'

describe('the same contract, tests and calls in every runtime', () => {
  let matrix: Matrix
  beforeAll(async () => {
    matrix = await runMatrix()
  }, 600_000)

  it('has no cell that fails, lost cases, or skips for any reason but a declared lack; every story is the same', () => {
    expect(faultsOf(matrix)).toEqual([])
  })

  it('is what the README shows, but for how many cases there are by now', () => {
    const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8')
    const shape = (table: string) => table.replace(/\d+/g, 'N').replace(/[ -]+/g, ' ')
    expect(shape(tableInReadme(readme)), 'run `npm run matrix` to update it').toBe(shape(tableOf(matrix)))
  })

  it('would see a failure, a lost case, a silent skip, a missing cell and a story that differs', () => {
    const spoil = (change: (cell: Matrix['cells'][number]) => object | undefined) => ({
      ...matrix,
      cells: matrix.cells.flatMap((cell) => {
        if (cell.runtime !== 'Deno' || cell.row !== 'node') return [cell]
        const changed = change(cell)
        return changed === undefined ? [] : [{ ...cell, ...changed }]
      }),
    })
    for (const spoiled of [
      spoil(() => ({ failed: ['one'] })),
      spoil(({ passed }) => ({ passed: passed - 1 })),
      spoil(() => ({ skipped: { 'it was inconvenient': 1 } })),
      spoil(() => undefined),
      { ...matrix, stories: { ...matrix.stories, 'Bun, memory': 'another' } },
    ]) {
      expect(faultsOf(spoiled)).toHaveLength(1)
    }
  })
})
