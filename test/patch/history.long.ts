import { join } from 'node:path'
import { expect, it } from 'vitest'
import { replayHistory } from './history.ts'

/** Another repository may be named: HISTORY_OF=/path npm run test:long -- test/patch/history.long.ts */
const repository = process.env.HISTORY_OF ?? join(import.meta.dirname, '../..')

it("turns each parent's tree into its commit's tree, for the whole history", async () => {
  const figures = await replayHistory(repository, 1_000_000)
  console.log(figures)
  expect(figures.wrong).toEqual([])
})
