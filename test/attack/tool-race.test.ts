import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { createWorkspace } from '../../src/index.ts'
import { times } from '../counts.ts'
import { INSIDE, startAttack, sumOf } from './link-race.ts'
import { toolOperations } from './tool-operations.ts'

const READS = Number(process.env.RUNS ?? times(30, 3000))
const WRITES = Math.max(times(25, 500), Math.ceil(READS / 6))

// Other platforms check paths before and after an operation: docs/threat-model.md describes the remaining window.
describe.skipIf(process.platform !== 'linux')('links swapped in during calls of tools', () => {
  it('never lead outside with any tool', { timeout: 3_600_000 }, async () => {
    const attack = await startAttack()
    try {
      expect(attack.control(1_000_000)).toBe(true)
      mkdirSync(join(attack.base, 'state'))
      const backend = nodeBackend(attack.root, { stateDir: join(attack.base, 'state') })
      const unlimited = Number.MAX_SAFE_INTEGER
      const limits = { callsPerMinute: unlimited, bytesWrittenPerRun: unlimited }
      const workspace = await createWorkspace({ backend, policy: 'autonomous', limits, audit: { append: () => {} } })
      const { reads, writes } = toolOperations(workspace)
      const tallies = new Map([...(await attack.run(reads, READS)), ...(await attack.run(writes, WRITES))])
      // No operation may reach a file that exists outside only. Of the others, few tries may all meet a link.
      // A move or deletion may have taken the file away, so a tool, which cannot reach outside either, makes it before each try.
      const file = { path: 'dir/file.txt', content: INSIDE, mode: 'CREATE_NEW' } as const
      const unlucky = [...reads, ...writes]
        .filter(({ name }) => !name.includes('outside only') && tallies.get(name)?.succeeded === 0)
        .map(({ name, run }) => ({
          name: `${name}, again`,
          run: () => workspace.call('write_file', file).then(run),
        }))
      const again = await attack.run(unlucky, 20 * WRITES, 1)
      for (const [name, tally] of again) tallies.set(name, tally)
      expect(attack.control(1_000_000)).toBe(true)
      await workspace.close()
      const { outsideChanged, strays } = await attack.end()
      const { escaped, broken, runs, succeeded, refused } = sumOf(tallies)
      expect({ escaped, broken, outsideChanged, strays }).toEqual({
        escaped: 0,
        broken: [],
        outsideChanged: [],
        strays: [],
      })
      expect(refused).toBeGreaterThan(runs / 200)
      expect(succeeded).toBeGreaterThan(runs / 20)
      expect([...again].filter(([, { succeeded }]) => succeeded === 0).map(([name]) => name)).toEqual([])
      console.log('tool race:', { swaps: attack.swaps(), runs, succeeded, refused, escaped })
    } finally {
      attack.dispose()
    }
  })
})
