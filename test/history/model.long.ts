import { expect, it } from 'vitest'
import { type Place, playAgainstModel } from './model.ts'

const runs: Readonly<Record<Place, number>> = { memory: 1000, overlay: 1000, node: 200 }

for (const [directory, numRuns] of Object.entries(runs)) {
  it(`random calls, undos, rollbacks, forks and commits on ${directory} match a model of plain Maps`, async () => {
    const counts = await playAgainstModel(directory as Place, numRuns, 60)
    console.log(directory, counts)
    for (const label of ['undo ok', 'undo refused', 'rollback ok', 'rollback refused', 'commit ok', 'commit refused']) {
      expect(counts[label] ?? 0, label).toBeGreaterThan(numRuns / 10)
    }
  })
}
