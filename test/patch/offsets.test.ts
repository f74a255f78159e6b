import { afterAll, expect, it } from 'vitest'
import { times } from '../counts.ts'
import { patchInMemory } from './against-git.ts'
import { createGitBench, edited, type FileTree, plainTree, randomFrom } from './trees.ts'

const git = createGitBench()
afterAll(() => git.remove())

/** A file with few different lines, so that a hunk matches at many positions. */
function repetitive(random: () => number): Buffer {
  const kinds = 2 + Math.floor(random() * 8)
  const lines = Array.from({ length: Math.floor(random() * 40) }, () => `${Math.floor(random() * kinds)}\n`)
  return Buffer.from(lines.join('') + (random() < 0.3 ? 'end' : ''))
}

it('places or refuses hunks on a changed file as git apply does', async () => {
  const match = { equal: 0, refused: 0, stricter: 0 }
  for (const [batch, context] of [3, 1, 0, 2].entries()) {
    const random = randomFrom(100 + batch)
    const from: FileTree = new Map()
    const to: FileTree = new Map()
    for (let i = 0; i < times(25, 100); i++) {
      const file = { bytes: repetitive(random), executable: false }
      from.set(`f${i}`, file)
      to.set(`f${i}`, edited(random, edited(random, file)))
    }
    const sections = git
      .diff(from, to, [`-U${context}`])
      .toString('utf8')
      .split(/^(?=diff --git )/m)
    for (const section of sections) {
      const name = /^diff --git a\/(\S+)/.exec(section)?.[1]
      if (name === undefined) continue
      const original = from.get(name)
      if (original === undefined) continue
      const present: FileTree = new Map([[name, random() < 0.5 ? original : edited(random, original)]])
      const expected = git.apply(present, Buffer.from(section))
      const { answer, tree } = await patchInMemory(present, section)
      if (expected === undefined) {
        expect([section, answer.ok]).toEqual([section, false])
        expect(plainTree(tree)).toEqual(plainTree(present))
        match.refused += 1
      } else if (answer.ok) {
        expect(plainTree(tree)).toEqual(plainTree(expected))
        match.equal += 1
      } else {
        // git adds lines without context at the end of the file, and joins lines if a newline is missing.
        expect(`${answer.why}`).toMatch(/no context|newline|its lines are not in the file|must match/)
        expect(section).toMatch(/^@@ -\d+,0|No newline/m)
        match.stricter += 1
      }
    }
  }
  expect(match.equal).toBeGreaterThan(times(25, 100))
  expect(match.refused).toBeGreaterThan(times(10, 50))
  expect(match.stricter).toBeLessThan(40)
})
