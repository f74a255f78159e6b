import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { frequencyOf } from '../../src/search/byte-frequency.ts'
import { countOf, includes, negate, propertySet, subtract, toCodePoints } from '../../src/search/code-points.ts'

const LAST = 0x10ffff

describe('code point sets', () => {
  it.each([
    [[], []],
    [
      [5, 6, 1, 2],
      [1, 2, 5, 6],
    ],
    [
      [1, 2, 3, 4],
      [1, 4],
    ],
    [
      [1, 2, 4, 5],
      [1, 2, 4, 5],
    ],
    [
      [1, 9, 3, 4, 9, 10],
      [1, 10],
    ],
    [
      [7, 7, 7, 7, 0, 0],
      [0, 0, 7, 7],
    ],
  ])('toCodePoints turns %j into %j', (pairs, set) => {
    expect(toCodePoints(pairs)).toEqual(set)
  })

  it.each([
    [[], [0, LAST]],
    [[0, LAST], []],
    [
      [0, 4],
      [5, LAST],
    ],
    [
      [1, 4, 6, 6],
      [0, 0, 5, 5, 7, LAST],
    ],
    [
      [9, LAST],
      [0, 8],
    ],
    [
      [9, LAST - 1],
      [0, 8, LAST, LAST],
    ],
  ])('negate turns %j into %j', (set, rest) => {
    expect(negate(set)).toEqual(rest)
    expect(negate(rest)).toEqual(set)
  })

  it('behaves like a Set', () => {
    const ranges = fc
      .array(fc.tuple(fc.nat(30), fc.nat(4)), { maxLength: 6 })
      .map((all) => all.flatMap(([lo, more]) => [lo, lo + more]))
    const members = (pairs: readonly number[]) =>
      new Set(
        pairs.flatMap((lo, i) =>
          i % 2 === 0 ? [...Array((pairs[i + 1] ?? 0) - lo + 1).keys()].map((k) => lo + k) : [],
        ),
      )
    fc.assert(
      fc.property(ranges, ranges, (first, second) => {
        const [a, b] = [members(first), members(second)]
        const set = toCodePoints(first)
        const difference = subtract(set, toCodePoints(second))
        expect(countOf(set)).toBe(a.size)
        const points = [...Array(40).keys()]
        expect(points.filter((point) => includes(set, point))).toEqual(points.filter((point) => a.has(point)))
        expect(points.filter((point) => includes(difference, point))).toEqual(
          points.filter((point) => a.has(point) && !b.has(point)),
        )
        expect(toCodePoints(set)).toEqual(set)
        expect(countOf(difference)).toBe([...a].filter((point) => !b.has(point)).length)
      }),
      { numRuns: 100 },
    )
  })
})

describe('propertySet', () => {
  const isSurrogate = (point: number) => point >= 0xd800 && point <= 0xdfff
  // The bounds of each block of 4,096 code points, and a sample of all code points.
  const samples = Array.from({ length: 17 * 16 + 1 }, (_, i) => [i * 0x1000 - 1, i * 0x1000]).flat()
  for (let point = 0; point <= LAST; point += 59) samples.push(point)

  it.each([
    ['L', 'L'],
    ['Cn', 'Cn'],
    ['Co', 'Co'],
    ['Any', 'Any'],
    ['Greek', 'Script=Greek'],
    ['sc=Grek', 'Script=Greek'],
    ['Noncharacter_Code_Point', 'Noncharacter_Code_Point'],
  ])('%s contains the same characters as in RegExp', (name, theirs) => {
    const set = propertySet(name) ?? []
    const one = new RegExp(`^\\p{${theirs}}$`, 'u')
    const points = [...samples, ...set.flatMap((edge) => [edge - 1, edge, edge + 1])].filter(
      (point) => point >= 0 && point <= LAST && !isSurrogate(point),
    )
    expect(points.filter((point) => includes(set, point) !== one.test(String.fromCodePoint(point)))).toEqual([])
    expect(toCodePoints(set)).toEqual(set)
    expect([0xd800, 0xdbff, 0xdc00, 0xdfff].filter((point) => includes(set, point))).toEqual([])
  })

  it.each([
    '',
    'Nope',
    'Script=Nope',
    'Script=',
    'L=',
    '=L',
    'L}',
    'L}|\\p{Lu',
    'L}|.|\\p{Lu',
    'Script=Greek=Greek',
    '^L',
    'L ',
  ])('returns undefined for %j', (name) => {
    expect(propertySet(name)).toBeUndefined()
  })

  it('caches a set until others replace it', () => {
    const letters = propertySet('L')
    expect(propertySet('L')).toBe(letters)
    const scripts = 'Adlm Ahom Arab Armn Avst Bali Bamu Bass Batk Beng Bhks Bopo Brah Brai Bugi Buhd'.split(' ')
    for (const script of scripts) expect(propertySet(script)?.length).toBeGreaterThan(1)
    const again = propertySet('L')
    expect(again).toEqual(letters)
    expect(again).not.toBe(letters)
  })
})

describe('frequencyOf', () => {
  it('gives every byte a share of a million', () => {
    const shares = Array.from({ length: 256 }, (_, byte) => frequencyOf(byte))
    expect(Math.min(...shares)).toBeGreaterThan(0)
    const all = shares.reduce((sum, share) => sum + share, 0)
    expect(all).toBeGreaterThan(900_000)
    expect(all).toBeLessThanOrEqual(1_000_000)
    // No share is so large that the factors used in estimates make it exceed 1.
    expect(Math.max(...shares)).toBeLessThan(200_000)
    const of = (char: string) => frequencyOf(char.charCodeAt(0))
    for (const [common, rare] of ['ez', 'aA', ' ~', '.|', 'tq', '\n\r', ',\u007f'].map((pair) => [...pair])) {
      expect(of(common ?? '')).toBeGreaterThan(of(rare ?? ''))
    }
    // Bytes beyond ASCII have equal shares.
    expect(new Set(shares.slice(128))).toEqual(new Set([256]))
  })
})
