import { describe, expect, it } from 'vitest'
import { killPatches } from './patch-kill.ts'

describe.skipIf(process.platform === 'win32')('a process killed while it applies patches of 20 files', () => {
  it('leaves the whole tree old or new, and nothing else, 24 times', {
    timeout: 300_000,
  }, async () => {
    const report = await killPatches(24, 300)
    console.log('kills of patches:', report)
    expect(report).toMatchObject({ torn: [], lost: [], strays: [] })
    expect(report.kills).toBeGreaterThanOrEqual(24)
    expect(report.insideCommit).toBeGreaterThanOrEqual(12)
    for (const what of [report.withJournal, report.wholeNew, report.wholeOld]) expect(what).toBeGreaterThan(0)
  })
})
