import { expect, it } from 'vitest'
import { type Place, playAgainstModel } from './model.ts'

const runs: Readonly<Record<Place, number>> = { memory: 1000, overlay: 1000, node: 200 }

for (const [place, numRuns] of Object.entries(runs)) {
  it(`random calls, undos, rollbacks, forks and commits on ${place} match a model of plain Maps`, async () => {
    const counts = await playAgainstModel(place as Place, numRuns, 60)
    console.log(place, counts)
    for (const what of ['undo ok', 'undo refused', 'rollback ok', 'rollback refused', 'commit ok', 'commit refused']) {
      expect(counts[what] ?? 0, what).toBeGreaterThan(numRuns / 10)
    }
  })
}
