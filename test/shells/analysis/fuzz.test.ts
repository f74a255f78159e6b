import { expect, it } from 'vitest'
import { fuzz } from './fuzz.ts'

it('lets no line pass that starts what is forbidden, by real bash and dash', { timeout: 120_000 }, async () => {
  const result = await fuzz(600, 20_261_121, 60)
  expect(result.escaped).toEqual([])
  expect(result.passed).toBeGreaterThan(60)
  expect(result.startedHarmless).toBeGreaterThan(8)
  // The generator does hide commands that shells start, and the record sees them.
  expect(result.wouldHaveStarted).toBeGreaterThan(result.sampled / 5)
})
