import { describe, expect, it } from 'vitest'
import { killOften } from './kill.ts'

describe.skipIf(process.platform === 'win32')('a process killed while it commits', () => {
  it('leaves every file and every set old or new, and nothing else, 50 times', { timeout: 300_000 }, async () => {
    const report = await killOften(50, 500)
    console.log('kills:', report)
    expect(report).toMatchObject({ torn: [], lost: [], strays: [] })
    expect(report.kills).toBeGreaterThanOrEqual(50)
    expect(report.insideCommit).toBeGreaterThanOrEqual(25)
  })
})
