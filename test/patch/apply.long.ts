import { afterAll, expect, it } from 'vitest'
import { compareWithGit } from './against-git.ts'
import { createGitBench } from './trees.ts'

const git = createGitBench()
afterAll(() => git.remove())

it('produces the same tree as git apply, 100,000 times', async () => {
  const { diffs, refused } = await compareWithGit({ git, seed: 7, diffs: 100_000, disk: 10 })
  console.log(`${diffs} diffs applied as git does, ${refused} patches that git refused of its own`)
  expect(diffs).toBeGreaterThanOrEqual(100_000)
})
