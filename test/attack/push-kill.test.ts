import { expect, it } from 'vitest'
import { isLong, times } from '../counts.ts'
import { killPushes } from './push-kill.ts'

it('a process killed while it pushes leaves both repositories before or after the push, and loses nothing', {
  timeout: 3_600_000,
}, async () => {
  const kills = times(2, 300)
  const report = await killPushes(kills)
  console.log('kills of pushes:', report)
  expect(report).toMatchObject({ kills, broken: [], lost: [] })
  // A few kills can all be beside a push.
  const least = isLong ? kills / 20 : 0
  for (const count of [report.done, report.undone]) expect(count).toBeGreaterThanOrEqual(least)
})
