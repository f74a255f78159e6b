import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { readOperations, writeOperations } from './backend-operations.ts'
import { startAttack } from './link-race.ts'

const RUNS = Number(process.env.RUNS ?? 1_000_000)

describe(`links swapped in while each operation runs ${RUNS} times`, () => {
  const count = readOperations({} as never).length
  const names = [...readOperations({} as never), ...writeOperations({} as never)].map(({ name }) => name)
  for (const [i, name] of names.entries()) {
    it(name, async () => {
      const attack = await startAttack()
      try {
        mkdirSync(join(attack.base, 'state'))
        const backend = nodeBackend(attack.root, { stateDir: join(attack.base, 'state') })
        const operation = i < count ? readOperations(backend)[i] : writeOperations(backend)[i - count]
        if (operation === undefined) throw new Error('no such operation')
        expect(attack.control(1_000_000)).toBe(true)
        const tally = (await attack.run([operation], RUNS)).get(name)
        await backend.close()
        const end = await attack.end()
        console.log(name, tally, `${attack.swaps()} swaps`)
        expect(tally).toMatchObject({ runs: RUNS, escaped: 0, broken: [] })
        // The operation succeeded sometimes, and was disturbed by the attack sometimes.
        expect(tally?.succeeded).toBeGreaterThan(RUNS / 1000)
        if (!operation.refusesNothing) expect(tally?.refused).toBeGreaterThan(0)
        expect(end).toEqual({ outsideChanged: [], strays: [] })
      } finally {
        attack.dispose()
      }
    })
  }
})
