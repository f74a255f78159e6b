import { join } from 'node:path'
import { expect, it } from 'vitest'
import { times } from '../counts.ts'
import { diffHistory } from './history.ts'

it('the diffs of some commits of this repository reproduce their trees', async () => {
  const result = await diffHistory(join(import.meta.dirname, '../..'), 1, times(1, 8))
  expect(result.wrong).toEqual([])
  expect(result.exact + result.masked + result.leftOut).toBe(result.commits)
})
