import { join } from 'node:path'
import { expect, it } from 'vitest'
import { replayHistory } from './history.ts'

/** For the newest commits of another repository: `HISTORY_OF=/path HISTORY_MOST=500 npm run test:long` */
const repository = process.env.HISTORY_OF ?? join(import.meta.dirname, '../..')

it("apply_patch turns each parent's tree into its commit's tree, for the complete history", async () => {
  const figures = await replayHistory(repository, Number(process.env.HISTORY_MOST ?? 1_000_000))
  console.log(figures)
  expect(figures.wrong).toEqual([])
})
