import { expect, it } from 'vitest'
import { isLong, times } from '../counts.ts'
import { killMerges } from './merge-kill.ts'

it('a process killed while it merges loses nothing, and leaves no half of a merge', {
  timeout: 3_600_000,
}, async () => {
  const kills = times(2, 600)
  const report = await killMerges(kills)
  console.log('kills of merges:', report)
  expect(report).toMatchObject({ kills, torn: [], lost: [], strays: [] })
  // A few kills can all be beside a merge.
  const least = isLong ? kills / 10 : 0
  for (const count of [report.insideMerge, report.insideCommit, report.pending]) {
    expect(count).toBeGreaterThanOrEqual(least)
  }
})
