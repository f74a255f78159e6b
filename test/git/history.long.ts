import { join } from 'node:path'
import { expect, it } from 'vitest'
import { diffHistory } from './history.ts'

/** The whole history of a repository: `WARDSPACE_REPOSITORY=/path/to/one`, or this one. */
it('the diff of every commit gives back its tree', async () => {
  const repository = process.env.WARDSPACE_REPOSITORY ?? join(import.meta.dirname, '../..')
  const result = await diffHistory(repository, Number(process.env.WARDSPACE_STEP ?? 1))
  console.log(JSON.stringify(result))
  expect(result.wrong).toEqual([])
  expect(result.exact).toBeGreaterThan(0)
})
