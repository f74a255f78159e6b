import { describe, expect, it } from 'vitest'
import { times } from '../counts.ts'
import { contend } from './contention.ts'

/** In `npm test`, half as many processes: each start costs more than its rounds. */
const PROCESSES = times(6, 16)

describe('processes that expect the same version', () => {
  it('have exactly one winner in each round', { timeout: 300_000 }, async () => {
    const rounds = times(3, 60)
    const started = performance.now()
    const report = await contend(PROCESSES, rounds)
    console.log('contention:', report, `${Math.round((performance.now() - started) / rounds)} ms a round`)
    expect(report).toMatchObject({ rounds, wrong: [], strays: [] })
  })

  it('have exactly one winner also when the holder of the lock is killed', { timeout: 300_000 }, async () => {
    const rounds = times(4, 15)
    const report = await contend(PROCESSES, rounds, { kill: true })
    console.log('contention with kills:', report)
    expect(report).toMatchObject({ rounds, wrong: [], strays: [] })
    expect(report.holdersKilled).toBeGreaterThanOrEqual(times(1, 5))
  })
})
