import { join } from 'node:path'
import { expect, it } from 'vitest'
import { isLong, times } from '../counts.ts'
import { replayHistory } from './history.ts'

it.runIf(isLong)(
  "apply_patch turns each parent's tree into its commit's tree, for the newest commits of this repository",
  async () => {
    const figures = await replayHistory(join(import.meta.dirname, '../..'), times(4, 40))
    expect(figures.wrong).toEqual([])
    // A copy of the files without the repository has no history to replay.
    expect(figures.equal + figures.leftOut).toBe(figures.commits)
  },
)
