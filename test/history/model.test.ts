import { expect, it } from 'vitest'
import { isLong, times } from '../counts.ts'
import { type Place, playAgainstModel } from './model.ts'

const runs: Readonly<Record<Place, number>> = { memory: times(4, 40), overlay: times(4, 40), node: times(3, 30) }

for (const [directory, numRuns] of Object.entries(runs)) {
  it(`random calls, undos, rollbacks, forks and commits on ${directory} match a model of plain Maps`, async () => {
    const labels = ['undo ok', 'undo refused', 'rollback ok', 'rollback exactly', 'fork ok', 'commit ok', 'write ok']
    const missing = new Set(labels)
    // Each case occurs at random. One that is missing five times indicates a defect.
    for (let seed = 1; seed <= 5 && missing.size > 0; seed++) {
      const counts = await playAgainstModel(directory as Place, numRuns, 40, isLong ? undefined : seed)
      for (const label of labels) if ((counts[label] ?? 0) > 0) missing.delete(label)
    }
    expect([...missing]).toEqual([])
  })
}
