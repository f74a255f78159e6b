import { describe, expect, it } from 'vitest'
import { contend } from './contention.ts'

describe.skipIf(process.platform === 'win32')('16 processes that expect one version', () => {
  it('have exactly one winner in each of 200 rounds', { timeout: 300_000 }, async () => {
    const started = performance.now()
    const report = await contend(16, 200)
    console.log('contention:', report, `${Math.round((performance.now() - started) / 200)} ms a round`)
    expect(report).toMatchObject({ rounds: 200, wrong: [], strays: [] })
  })

  it('have exactly one winner also when the holder of the lock is killed', { timeout: 300_000 }, async () => {
    const report = await contend(16, 30, { kill: true })
    console.log('contention with kills:', report)
    expect(report).toMatchObject({ rounds: 30, wrong: [], strays: [] })
    expect(report.holdersKilled).toBeGreaterThanOrEqual(10)
  })
})
