import { afterAll, expect, it } from 'vitest'
import { times } from '../counts.ts'
import { compareWithGit } from './against-git.ts'
import { createGitBench } from './trees.ts'

const git = createGitBench()
afterAll(() => git.remove())

it('produces the same tree as git apply, for diffs between generated trees', async () => {
  const least = times(200, 1000)
  const { diffs, refused } = await compareWithGit({ git, seed: 1, diffs: least, disk: 10 })
  expect(diffs).toBeGreaterThanOrEqual(least)
  expect(refused).toBeLessThan(5)
})
