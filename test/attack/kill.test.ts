import { describe, expect, it } from 'vitest'
import { times } from '../counts.ts'
import { killOften } from './kill.ts'

// The tree contains a link, and creating links on Windows needs a privilege.
describe.skipIf(process.platform === 'win32')('a process killed during a commit', () => {
  it('leaves every file and every set completely old or new, and no other files', { timeout: 300_000 }, async () => {
    const kills = times(4, 50)
    const report = await killOften(kills, 500)
    console.log('kills:', report)
    expect(report).toMatchObject({ torn: [], lost: [], strays: [] })
    expect(report.kills).toBeGreaterThanOrEqual(kills)
    expect(report.insideCommit).toBeGreaterThanOrEqual(kills / 2)
  })
})
