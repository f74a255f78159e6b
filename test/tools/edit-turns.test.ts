import { clearInterval, setInterval } from 'node:timers'
import { expect, it } from 'vitest'
import { times } from '../counts.ts'
import { bench } from './setup.ts'

// Not in workerd: its clock stands still during a call, so nothing can tell how long the call has taken.
it('lets the event loop turn between the edits of one call', async () => {
  const { ok } = await bench({ 'a.txt': 'abcd efgh\n'.repeat(100_000) + 'x'.repeat(200) })
  let turns = 0
  const timer = setInterval(() => (turns += 1), 1)
  const edits = Array.from({ length: times(70, 200) }, () => ({ oldText: 'x'.repeat(200), newText: 'x'.repeat(200) }))
  await ok('edit_file', { path: 'a.txt', edits: [...edits, { oldText: 'x'.repeat(200), newText: 'y' }] })
  clearInterval(timer)
  expect(turns).toBeGreaterThan(3)
})
