import { describe, expect, it } from 'vitest'
import { times } from '../counts.ts'
import { killPatches } from './patch-kill.ts'

describe('a process killed while it applies patches of 20 files', () => {
  it('leaves the tree completely old or new, and no other files', {
    timeout: 300_000,
  }, async () => {
    const kills = times(2, 24)
    const report = await killPatches(kills, 300)
    console.log('kills of patches:', report)
    expect(report).toMatchObject({ torn: [], lost: [], strays: [] })
    expect(report.kills).toBeGreaterThanOrEqual(kills)
    expect(report.insideCommit).toBeGreaterThanOrEqual(kills / 2)
    for (const subject of [report.withJournal, report.wholeNew, report.wholeOld]) expect(subject).toBeGreaterThan(0)
  })
})
