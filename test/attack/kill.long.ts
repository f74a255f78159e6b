import { expect, it } from 'vitest'
import { killOften } from './kill.ts'

it('3,000 kills leave every file and every set completely old or new, and no other files', async () => {
  const report = await killOften(3000)
  console.log('kills:', report)
  expect(report).toMatchObject({ kills: 3000, torn: [], lost: [], strays: [] })
  expect(report.insideCommit).toBeGreaterThanOrEqual(1500)
})
