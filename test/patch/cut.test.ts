import { afterAll, describe, expect, it } from 'vitest'
import { truncatePatchText } from '../../src/tools/shared/truncate-patch.ts'
import { times } from '../counts.ts'
import { changeTree, createGitBench, generateTree, randomFrom } from './trees.ts'

describe('a truncated diff', () => {
  const git = createGitBench()
  afterAll(() => git.remove())

  it('can be applied, grows with its limit, and is the start of the complete diff', () => {
    const random = randomFrom(17)
    let cuts = 0
    for (let from = generateTree(random, 20), round = 0; round < times(4, 8); round++) {
      const to = changeTree(random, from)
      const patch = git.diff(from, to, ['--no-renames', ...(round % 2 === 0 ? [] : ['-U1'])])
      const text = patch.toString('utf8')
      let previous = 0
      for (let share = 1; share <= 10; share++) {
        const cut = truncatePatchText(text, Math.ceil((Buffer.byteLength(text) * share) / 10))
        expect(text.startsWith(cut)).toBe(true)
        expect(cut.length).toBeGreaterThanOrEqual(previous)
        previous = cut.length
        if (cut === '' || cut === text) continue
        cuts += 1
        expect(git.apply(from, Buffer.from(cut))).toBeDefined()
      }
      expect(previous).toBe(text.length)
      from = to
    }
    expect(cuts).toBeGreaterThan(times(10, 20))
  })
})
