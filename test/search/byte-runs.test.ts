import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ByteRun, costOfRun, createRunFinder, rarityOfRun, requiredRun } from '../../src/search/byte-runs.ts'
import { parseRegex } from '../../src/search/syntax.ts'
import { times } from '../counts.ts'
import { patterns, texts } from './arbitraries.ts'
import { naiveSearch, ourSearch } from './reference.ts'

const RUNS = Number(process.env.SEARCH_RUNS ?? times(40, 300))

/** All runs that `requiredRun` offers to its callback. */
function offered(pattern: string): ByteRun[] {
  const runs: ByteRun[] = []
  requiredRun(parseRegex(pattern, false), (run) => runs.push(run))
  return runs
}

/** For example `ab*2^`: two consecutive bytes, each `a` or `b`, with which every match starts. */
function describeRun({ alphabet, length, leading }: ByteRun): string {
  const bytes = [...alphabet.keys()].filter((byte) => alphabet[byte] === 1)
  const ranges = bytes.flatMap((byte) => {
    if (bytes.includes(byte - 1)) return []
    const end = alphabet.indexOf(0, byte)
    const last = end === -1 ? 255 : end - 1
    return last === byte ? `${byte}` : `${byte}-${last}`
  })
  const isText = bytes.length <= 6 && bytes.every((byte) => byte < 0x80)
  return `${isText ? String.fromCharCode(...bytes) : ranges.join()}*${length}${leading ? '^' : ''}`
}

/** A RegExp that matches the run: `length` consecutive bytes of the alphabet. */
function asPattern({ alphabet, length }: ByteRun): RegExp {
  const bytes = [...alphabet.keys()].filter((byte) => alphabet[byte] === 1)
  return new RegExp(`[${bytes.map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')}]{${length}}`)
}

describe('requiredRun', () => {
  it('offers only runs that every match of RegExp contains', () => {
    let checked = 0
    fc.assert(
      fc.property(patterns, texts, (pattern, text) => {
        const matches = naiveSearch(text, new RegExp(pattern, 'su'))
        const runs = matches.length === 0 ? [] : offered(pattern)
        for (const { match } of matches) {
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
    // Far below the average of the random cases.
    expect(checked).toBeGreaterThan(RUNS / 10)
  })

  it.each([
    ['[A-Z]{12,}', 12, true],
    ['\\b\\d{3}-\\d{4}\\b', 8, true],
    ['(?:\\d{1,3}\\.){3}', 6, true],
    ['x?[0-9]{4}', 4, false],
    ['(?:ab|abc)d', 3, true],
  ])('returns alphabet and length for %s', (pattern, length, leading) => {
    expect(
      offered(pattern)
        .map((run) => [run.length, run.leading])
        .sort(),
    ).toContainEqual([length, leading])
  })

  it.each([
    ['ab', ['ab*2^', 'a*1^', 'b*1']],
    ['a|bc', ['abc*1^']],
    ['(?:ab|c)?d', ['abcd*1^', 'd*1']],
    ['[a-c]{3}', ['abc*3^', 'abc*1^']],
    ['a{2,}', ['a*2^', 'a*1^']],
    ['(?:a{2}b)+c', ['abc*4^', 'ab*3^', 'a*2^', 'a*1^', 'b*1', 'c*1']],
    ['(?:ab){2,3}', ['ab*4^', 'ab*2^', 'a*1^', 'b*1']],
    ['x*ab', ['abx*2^', 'ax*1^', 'a*1', 'ab*2', 'b*1']],
    ['(?:a|b*)c', ['abc*1^', 'c*1']],
    ['^\\ba', ['a*1^']],
    ['(?:)a', ['a*1^']],
    ['a{0}b', ['b*1^']],
    ['(?i)k', ['Kk*1^']],
    ['a{256}', ['a*256^', 'a*1^']],
    ['a{300}', ['a*256^', 'a*1^']],
    ['a{200}b{200}', ['ab*256^', 'a*200^', 'a*1^', 'b*200', 'b*1']],
    ['[\\x00-\\x7e]', ['0-9,11-126*1^']],
    ['[\\x00-\\x7f]', ['0-9,11-127*1^']],
    ['[\\x7e-\\x80]', ['126-255*1^']],
    ['[^a]', ['0-9,11-96,98-255*1^']],
    ['[aé]', ['97,128-255*1^']],
    ['\\x{80}', ['128-255*2^']],
    ['[中文]x', ['120,128-255*3^', '128-255*2^', 'x*1']],
  ])('offers all runs of %s', (pattern, expected) => {
    expect([...new Set(offered(pattern).map(describeRun))]).toEqual(expected)
  })

  it('offers the first parts of a long pattern', () => {
    const letters = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ']
    const single = offered(letters.join(''))
      .filter(({ length }) => length === 1)
      .map(describeRun)
    expect(single).toEqual(letters.slice(0, 48).map((letter, i) => `${letter}*1${i === 0 ? '^' : ''}`))
  })

  it('returns the cheapest run, the first of equal cost', () => {
    const best = (pattern: string, costOf: (run: ByteRun) => number) => {
      const run = requiredRun(parseRegex(pattern, false), costOf)
      return run === undefined ? undefined : describeRun(run)
    }
    expect(best('ab', ({ length }) => -length)).toBe('ab*2^')
    expect(best('ab', ({ length }) => length)).toBe('a*1^')
    expect(best('ab', ({ alphabet }) => alphabet[0x61] as number)).toBe('b*1')
    expect(best('ab', () => Number.POSITIVE_INFINITY)).toBeUndefined()
    expect(best('a*', () => 1)).toBeUndefined()
  })

  it.each(['a*', '^$', '\\b', '(?:)', 'a?b?'])(
    'returns undefined for %s, which may match the empty text',
    (pattern) => {
      expect(offered(pattern)).toEqual([])
    },
  )
})

describe('createRunFinder', () => {
  it.each([
    ['ab', 2, [0, -1]],
    ['.a', 2, [-1]],
    ['.ab', 2, [1, 1, -1]],
    ['a.b', 2, [-1, -1]],
    ['a.ab.', 2, [2, 2, 2, -1]],
    ['.ba.aba', 3, [4, 4, 4, 4, 4, -1, -1]],
    ['ab.ab.abab', 4, [6, 6, 6, 6, 6, 6, 6, -1]],
    ['..aa', 1, [2, 2, 2, 3, -1]],
    ['', 1, [-1]],
  ])('finds in %j a run of %i', (text, length, expected) => {
    const [run] = offered(`[ab]{${length}}`)
    const { find } = createRunFinder(run as ByteRun)
    expect(expected.map((_, from) => find(Buffer.from(text), from))).toEqual(expected)
  })

  it('finds the offset that RegExp finds, from any offset', () => {
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

describe('cost of a run', () => {
  const run = (bytes: string, length: number): ByteRun => {
    const alphabet = new Uint8Array(256)
    for (const byte of Buffer.from(bytes, 'latin1')) alphabet[byte] = 1
    return { alphabet, length, leading: true }
  }

  it('is lower for longer runs and for rarer bytes', () => {
    for (const [cheap, dear] of [
      [run('Q', 4), run('Q', 2)],
      [run('Q', 4), run('e', 4)],
      [run('Q', 4), run('QZ', 4)],
      [run('Q', 4), run('Q\xe9', 4)],
    ] as const) {
      expect(costOfRun(cheap)).toBeLessThan(costOfRun(dear))
      expect(rarityOfRun(cheap)).toBeLessThan(rarityOfRun(dear))
      expect(createRunFinder(cheap).cost).toBe(costOfRun(cheap))
    }
    expect(costOfRun(run('Q', 300))).toBeGreaterThan(0)
    // A run of arbitrary bytes can start almost anywhere.
    const any = run(String.fromCharCode(...Array(256).keys()), 2)
    expect(rarityOfRun(any)).toBeGreaterThan(0.9)
    expect(rarityOfRun(any)).toBeLessThan(1)
  })
})

describe('search by runs', () => {
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
      { numRuns: Math.ceil(RUNS / 3) },
    )
  })
})
