import { describe, expect, it } from 'vitest'
import { cutOnce, fourWriters, seedObjects } from '../../edge/object-store-faults.ts'

/** Samples. `faults.long.ts` runs the whole counts. */
describe('object store with faults', () => {
  it('has the old or the new tree after a commit that is cut off, and leaks nothing beyond the sweep', async () => {
    const seeded = await seedObjects()
    const outcomes = { old: 0, new: 0 }
    for (let seed = 1; seed <= 15; seed++) outcomes[await cutOnce(seed, seeded)] += 1
    expect(outcomes.old).toBeGreaterThan(0)
    expect(outcomes.new).toBeGreaterThan(0)
  })

  it('loses no acknowledged write of four writers beside each other', async () => {
    const { acknowledged } = await fourWriters(1, 10)
    expect(acknowledged).toBeGreaterThan(0)
  })
})
