import { expect, it } from 'vitest'
import { type Place, playAgainstModel } from './model.ts'

const runs: Readonly<Record<Place, number>> = { memory: 40, overlay: 40, node: 20 }

for (const [place, numRuns] of Object.entries(runs)) {
  it(`random calls, undos, rollbacks, forks and commits on ${place} do what they do to plain Maps`, async () => {
    const counts = await playAgainstModel(place as Place, numRuns, 40)
    for (const what of [
      'undo ok',
      'undo refused',
      'rollback ok',
      'rollback exactly',
      'fork ok',
      'commit ok',
      'write ok',
    ]) {
      expect(counts[what] ?? 0, what).toBeGreaterThan(numRuns / 20)
    }
  })
}
