import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ByteRun, createRunFinder, requiredRun } from '../../src/search/byte-runs.ts'
import { parseRegex } from '../../src/search/syntax.ts'
import { times } from '../counts.ts'
import { patterns, texts } from './arbitraries.ts'
import { naiveSearch, ourSearch } from './reference.ts'

const RUNS = Number(process.env.SEARCH_RUNS ?? times(120, 300))

/** Everything that may be chosen. */
function offered(pattern: string): ByteRun[] {
  const runs: ByteRun[] = []
  requiredRun(parseRegex(pattern, false), (run) => runs.push(run))
  return runs
}

/** As many bytes of the alphabet side by side. */
function asPattern({ alphabet, length }: ByteRun): RegExp {
  const bytes = [...alphabet.keys()].filter((byte) => alphabet[byte] === 1)
  return new RegExp(`[${bytes.map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')}]{${length}}`)
}

describe('requiredRun', () => {
  it('offers only what is in every match that RegExp finds', () => {
    let checked = 0
    fc.assert(
      fc.property(patterns, texts, (pattern, text) => {
        const found = naiveSearch(text, new RegExp(pattern, 'su'))
        const runs = found.length === 0 ? [] : offered(pattern)
        for (const { match } of found) {
          const bytes = Buffer.from(match)
          for (const run of runs) {
            checked += 1
            expect(bytes.toString('latin1')).toMatch(asPattern(run))
            if (run.leading) expect(run.alphabet[bytes[0] as number]).toBe(1)
          }
        }
      }),
      { numRuns: 2 * RUNS },
    )
    expect(checked).toBeGreaterThan(RUNS / 2)
  })

  it.each([
    ['[A-Z]{12,}', 12, true],
    ['\\b\\d{3}-\\d{4}\\b', 8, true],
    ['(?:\\d{1,3}\\.){3}', 6, true],
    ['x?[0-9]{4}', 4, false],
    ['(?:ab|abc)d', 3, true],
  ])('knows what %s is made of', (pattern, length, leading) => {
    expect(
      offered(pattern)
        .map((run) => [run.length, run.leading])
        .sort(),
    ).toContainEqual([length, leading])
  })

  it.each(['a*', '^$', '\\b', '(?:)', 'a?b?'])('has nothing for %s, which may match the empty text', (pattern) => {
    expect(offered(pattern)).toEqual([])
  })
})

describe('createRunFinder', () => {
  it('finds the place that RegExp finds, from anywhere', () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[ab.]{0,80}$/),
        fc.integer({ min: 1, max: 6 }),
        fc.nat(80),
        (text, length, from) => {
          const [run] = offered(`[ab]{${length}}`)
          const expected = new RegExp(`[ab]{${length}}`).exec(text.slice(from))
          expect(createRunFinder(run as ByteRun).find(Buffer.from(text), from)).toBe(
            expected === null ? -1 : Math.min(from, text.length) + expected.index,
          )
        },
      ),
      { numRuns: RUNS },
    )
  })
})

describe('a search by runs', () => {
  const pieces = fc.constantFrom(
    '1234',
    '56',
    '7',
    '-',
    '.',
    'ABC',
    'D',
    'EFGHIJ',
    'é',
    ' ',
    '_',
    '\n',
    '\r\n',
    'x'.repeat(300),
  )
  const long = fc.array(pieces, { maxLength: 120 }).map((parts) => parts.join(''))
  it.each([
    '[A-Z]{7,}',
    '\\b\\d{3}-\\d{4}\\b',
    '\\d{5,}-?$',
    '^[A-Z]{6}\\d',
    'x?[0-9]{6}',
    '(?:\\d{1,3}\\.){2}\\d',
    '[A-Z]{4}\\d{4}|\\d{4}[A-Z]{4}',
    '[A-Z]+?[0-9]{5}',
    '\\B[A-Z0-9]{9}\\B',
  ])('%s finds the lines and columns that RegExp finds', (pattern) => {
    fc.assert(
      fc.property(long, (text) => {
        expect(ourSearch(text, { query: pattern, mode: 'regex', caseSensitive: true })).toEqual(
          naiveSearch(text, new RegExp(pattern, 'su')),
        )
      }),
      { numRuns: RUNS / 3 },
    )
  })
})
