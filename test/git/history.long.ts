import { join } from 'node:path'
import { expect, it } from 'vitest'
import { diffHistory } from './history.ts'

/** The complete history of the repository at `WARDSPACE_REPOSITORY`, by default of this repository. */
it('the diff of every commit reproduces its tree', async () => {
  const repository = process.env.WARDSPACE_REPOSITORY ?? join(import.meta.dirname, '../..')
  const result = await diffHistory(repository, Number(process.env.WARDSPACE_STEP ?? 1))
  console.log(JSON.stringify(result))
  expect(result.wrong).toEqual([])
  expect(result.exact).toBeGreaterThan(0)
})
