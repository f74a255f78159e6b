import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { times } from '../counts.ts'
import { readOperations, writeOperations } from './backend-operations.ts'
import { startAttack, sumOf } from './link-race.ts'

describe.skipIf(process.platform !== 'linux')('links swapped in while the backend works', () => {
  it('never lead outside, where realpath-then-open does', { timeout: 240_000 }, async () => {
    const attack = await startAttack()
    try {
      // Without an attack that works, the rest shows nothing.
      expect(attack.control(1_000_000)).toBe(true)
      mkdirSync(join(attack.base, 'state'))
      const backend = nodeBackend(attack.root, { stateDir: join(attack.base, 'state') })
      const reads = readOperations(backend)
      const writes = writeOperations(backend)
      const readTallies = await attack.run(reads, times(1000, 3000))
      const writeTallies = await attack.run(writes, 450)
      const read = sumOf(readTallies)
      const written = sumOf(writeTallies)
      expect(read.runs + written.runs).toBeGreaterThanOrEqual(times(12_000, 28_000))
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
      expect({ escaped: written.escaped, broken: written.broken }).toEqual({ escaped: 0, broken: [] })
      expect(outsideChanged).toEqual([])
      expect(strays).toEqual([])
      // Both happened: the attack was there, and the work went on.
      for (const { succeeded, refused, runs } of [read, written]) {
        expect(succeeded).toBeGreaterThan(runs / 20)
        expect(refused).toBeGreaterThan(runs / 100)
      }
      for (const [name, { succeeded }] of [...readTallies, ...writeTallies])
        expect([name, succeeded > 8]).toEqual([name, true])
      console.log('link race:', { swaps: attack.swaps(), read, written })
    } finally {
      attack.dispose()
    }
  })
})
