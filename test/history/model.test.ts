import { expect, it } from 'vitest'
import { times } from '../counts.ts'
import { type Place, playAgainstModel } from './model.ts'

const runs: Readonly<Record<Place, number>> = { memory: times(15, 40), overlay: times(15, 40), node: times(12, 30) }

for (const [directory, numRuns] of Object.entries(runs)) {
  it(`random calls, undos, rollbacks, forks and commits on ${directory} match a model of plain Maps`, async () => {
    const counts = await playAgainstModel(directory as Place, numRuns, 40)
    for (const label of [
      'undo ok',
      'undo refused',
      'rollback ok',
      'rollback exactly',
      'fork ok',
      'commit ok',
      'write ok',
    ]) {
      // Each case occurs at random, often enough that a missing one indicates a defect.
      expect(counts[label] ?? 0, label).toBeGreaterThan(0)
    }
  })
}
