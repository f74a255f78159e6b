import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { editScript } from '../../src/patch/edit-script.ts'
import { mergeLines } from '../../src/patch/merge-lines.ts'
import { times } from '../counts.ts'
import { outputOf, runProgram } from '../run-program.ts'

let scratch = ''
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'wardspace-merge-'))
})
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' }
const names = { ours: 'ours', theirs: 'theirs' }

/** Lines of few kinds, so that several shortest scripts exist: words, blank lines, braces and line ends of two kinds. */
const lineOf = (kinds: number) =>
  fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: 0, max: kinds }).map((n) => `line ${n}\n`) },
    { weight: 2, arbitrary: fc.constantFrom('\n', '}\n', '  }\n', '\t--\n') },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: kinds }).map((n) => `line ${n}\r\n`) },
  )

interface Splice {
  readonly at: number
  readonly removed: number
  readonly added: readonly string[]
}

function edited(lines: readonly string[], splices: readonly Splice[], endsOpen: boolean): string {
  const result = [...lines]
  for (const { at, removed, added } of splices) result.splice(at % (result.length + 1), removed, ...added)
  const text = result.join('')
  return endsOpen ? text.replace(/\r?\n$/, '') : text
}

const texts = fc.integer({ min: 0, max: 14 }).chain((kinds) => {
  const line = lineOf(kinds)
  const splice = fc.record({
    at: fc.nat({ max: 60 }),
    removed: fc.nat({ max: 3 }),
    added: fc.array(line, { maxLength: 3 }),
  })
  const side = fc.tuple(fc.array(splice, { maxLength: 7 }), fc.integer({ min: 0, max: 8 }))
  return fc
    .tuple(fc.array(line, { maxLength: 60 }), side, side, fc.integer({ min: 0, max: 8 }))
    .map(([lines, ours, theirs, open]) => ({
      base: edited(lines, [], open === 0),
      ours: edited(lines, ours[0], ours[1] === 0),
      theirs: edited(lines, theirs[0], theirs[1] === 0),
    }))
})

/** Runs git on three files in the scratch directory. */
function gitOn(words: readonly string[], files: Readonly<Record<string, string>>) {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(scratch, name), text)
  const { status, stdout } = runProgram('git', words, { cwd: scratch, env })
  return { status, stdout: stdout.toString() }
}

describe('editScript', () => {
  it('finds the edits that git finds without its indent heuristic', () => {
    const words = ['diff', '--no-index', '--no-indent-heuristic', '-U0', 'base', 'ours']
    fc.assert(
      fc.property(texts, ({ base, ours }) => {
        const { stdout } = gitOn(words, { base, ours })
        const hunks = [...stdout.matchAll(/^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/gm)].map(
          ([, oldStart, oldLines = '1', newStart, newLines = '1']) =>
            [oldStart, oldLines, newStart, newLines].map(Number),
        )
        const edits = editScript(base, ours).map(({ oldLine, oldLines, newLine, newLines }) => [
          ...[oldLine + (oldLines === 0 ? 0 : 1), oldLines, newLine + (newLines === 0 ? 0 : 1), newLines],
        ])
        expect(edits).toEqual(hunks)
      }),
      { numRuns: times(30, 10_000) },
    )
  })
})

describe('mergeLines', () => {
  it('gives the text and the number of conflicts of git merge-file', () => {
    let conflicting = 0
    const count = times(75, 10_000)
    fc.assert(
      fc.property(texts, ({ base, ours, theirs }) => {
        const { stdout, status } = gitOn(['merge-file', '-p', 'ours', 'base', 'theirs'], { base, ours, theirs })
        const merged = mergeLines(base, ours, theirs, names)
        expect(merged.text).toBe(stdout)
        expect(merged.conflicts.length).toBe(status)
        if (status !== 0) conflicting += 1
      }),
      { numRuns: count },
    )
    expect(conflicting).toBeGreaterThan(count / 4)
    expect(conflicting).toBeLessThan(count)
  })

  it('names the line of each marker, and both sides as they stand there', () => {
    fc.assert(
      fc.property(texts, ({ base, ours, theirs }) => {
        const { text, conflicts } = mergeLines(base, ours, theirs, names)
        const lines = text.split('\n')
        for (const conflict of conflicts) {
          expect(lines[conflict.line - 1]).toMatch(/^<<<<<<< ours\r?$/)
          expect(ours).toContain(conflict.ours)
          expect(theirs).toContain(conflict.theirs)
          expect(base).toContain(conflict.base)
        }
      }),
      { numRuns: times(30, 2_000) },
    )
  })

  it('takes texts with many edits in time that grows with their length', () => {
    const base = Array.from({ length: 20_000 }, (_, i) => `line ${i}\n`)
    const ours = base.map((line, i) => (i % 7 === 0 ? `our ${line}` : line)).join('')
    const theirs = base.map((line, i) => (i % 7 === 3 ? `their ${line}` : line)).join('')
    const merged = mergeLines(base.join(''), ours, theirs, names)
    expect(merged.conflicts).toEqual([])
    writeFileSync(join(scratch, 'base'), base.join(''))
    writeFileSync(join(scratch, 'ours'), ours)
    writeFileSync(join(scratch, 'theirs'), theirs)
    const git = outputOf('git', ['merge-file', '-p', 'ours', 'base', 'theirs'], { cwd: scratch, env })
    expect(merged.text).toBe(git.toString())
  })
})
