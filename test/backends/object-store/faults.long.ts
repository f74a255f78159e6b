import { describe, expect, it } from 'vitest'
import { cutOnce, cutSweep, fourWriters, fragmentedObjects, seedObjects } from '../../edge/object-store-faults.ts'

describe('object store with faults', () => {
  it('has the old or the new tree after each of 2,000 cuts, and leaks nothing beyond the sweep', async () => {
    const seeded = await seedObjects()
    const outcomes = { old: 0, new: 0 }
    for (let seed = 1; seed <= 2000; seed++) outcomes[await cutOnce(seed, seeded)] += 1
    expect(outcomes.old + outcomes.new).toBe(2000)
    expect(outcomes.old).toBeGreaterThan(200)
  })

  it('has the same files after each of 500 sweeps that are cut off beside a writer', async () => {
    const seeded = await fragmentedObjects()
    for (let seed = 1; seed <= 500; seed++) await cutSweep(seed, seeded)
  })

  it('loses no acknowledged write of four writers in 20 runs', async () => {
    for (let seed = 1; seed <= 20; seed++) await fourWriters(seed, 25)
  })
})
