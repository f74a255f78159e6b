import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { times } from '../counts.ts'
import { readOperations, writeOperations } from './backend-operations.ts'
import { startAttack, sumOf } from './link-race.ts'

// Other platforms check paths before and after an operation: docs/threat-model.md describes the remaining window.
describe.skipIf(process.platform !== 'linux')('links swapped in during operations of the backend', () => {
  it('never lead outside, although realpath followed by open does', { timeout: 240_000 }, async () => {
    const attack = await startAttack()
    try {
      // The attack must succeed against the control, or the rest of the test proves nothing.
      expect(attack.control(1_000_000)).toBe(true)
      mkdirSync(join(attack.base, 'state'))
      const backend = nodeBackend(attack.root, { stateDir: join(attack.base, 'state') })
      const reads = readOperations(backend)
      const writes = writeOperations(backend)
      const readTallies = await attack.run(reads, times(120, 3000))
      const writeTallies = await attack.run(writes, times(70, 450))
      const read = sumOf(readTallies)
      const writeTotals = sumOf(writeTallies)
      expect(read.runs + writeTotals.runs).toBeGreaterThanOrEqual(times(1_500, 28_000))
      expect(attack.control(1_000_000)).toBe(true)
      await backend.close()
      const { outsideChanged, strays } = await attack.end()
      expect({ ...read, succeeded: 0, refused: 0, runs: 0 }).toEqual({
        runs: 0,
        succeeded: 0,
        refused: 0,
        escaped: 0,
        broken: [],
      })
      expect({ escaped: writeTotals.escaped, broken: writeTotals.broken }).toEqual({ escaped: 0, broken: [] })
      expect(outsideChanged).toEqual([])
      expect(strays).toEqual([])
      // Operations succeeded, and were disturbed by the attack.
      for (const { succeeded, refused, runs } of [read, writeTotals]) {
        expect(succeeded).toBeGreaterThan(runs / 20)
        expect(refused).toBeGreaterThan(runs / 100)
      }
      for (const [name, { succeeded }] of [...readTallies, ...writeTallies])
        expect([name, succeeded > times(2, 8)]).toEqual([name, true])
      console.log('link race:', { swaps: attack.swaps(), read, written: writeTotals })
    } finally {
      attack.dispose()
    }
  })
})
