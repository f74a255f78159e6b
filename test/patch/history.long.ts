import { join } from 'node:path'
import { expect, it } from 'vitest'
import { replayHistory } from './history.ts'

/** Another repository, and how many of its newest commits: HISTORY_OF=/path HISTORY_MOST=500 npm run test:long */
const repository = process.env.HISTORY_OF ?? join(import.meta.dirname, '../..')

it("turns each parent's tree into its commit's tree, for the whole history", async () => {
  const figures = await replayHistory(repository, Number(process.env.HISTORY_MOST ?? 1_000_000))
  console.log(figures)
  expect(figures.wrong).toEqual([])
})
