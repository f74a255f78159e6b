import { afterAll, expect, it } from 'vitest'
import { compareWithGit } from './against-git.ts'
import { createGitBench } from './trees.ts'

const git = createGitBench()
afterAll(() => git.remove())

it('gives the tree that git apply gives, for diffs between generated trees', async () => {
  const { diffs, refused } = await compareWithGit({ git, seed: 1, diffs: 1000, disk: 10 })
  expect(diffs).toBeGreaterThanOrEqual(1000)
  expect(refused).toBeLessThan(5)
})
