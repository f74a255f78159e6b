import { expect, it } from 'vitest'
import { killPatches } from './patch-kill.ts'

it('3,000 kills leave the tree of 20-file patches completely old or new, and no other files', async () => {
  const report = await killPatches(3000)
  console.log('kills of patches:', report)
  expect(report).toMatchObject({ kills: 3000, torn: [], lost: [], strays: [] })
  expect(report.insideCommit).toBeGreaterThanOrEqual(1500)
})
