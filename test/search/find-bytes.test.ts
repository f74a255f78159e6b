import * as fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  createFinder,
  findByte,
  findByteBackwards,
  finderStrategies,
  nativeSearch,
} from '../../src/search/find-bytes.ts'
import { times } from '../counts.ts'
import { loadAgain } from '../load-again.ts'
import { ownTime } from '../own-time.ts'

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text)

describe('nativeSearch', () => {
  const { indexOf, lastIndexOf } = {
    indexOf(this: Uint8Array, subject: Uint8Array | number, from: number): number {
      for (let at = from; at < this.length; at++) {
        const bytes = typeof subject === 'number' ? [subject] : [...subject]
        if (bytes.every((byte, i) => this[at + i] === byte)) return at
      }
      return -1
    },
    lastIndexOf(this: Uint8Array, action: number, from: number): number {
      return Uint8Array.prototype.lastIndexOf.call(this, action, from)
    },
  }
  const latin1Slice = () => ''

  it('returns a complete and correct native search', () => {
    expect(nativeSearch({ Buffer: { prototype: { latin1Slice, indexOf, lastIndexOf } } })).toEqual({
      indexOf,
      lastIndexOf,
    })
  })

  it.each<[string, object]>([
    ['Buffer is missing', {}],
    ['Buffer is not a class', { Buffer: {} }],
    ['Buffer has no latin1Slice', { Buffer: { prototype: { indexOf, lastIndexOf } } }],
    ['latin1Slice is not a function', { Buffer: { prototype: { indexOf, lastIndexOf, latin1Slice: 'yes' } } }],
    ['Buffer has no indexOf', { Buffer: { prototype: { latin1Slice, lastIndexOf } } }],
    ['Buffer has no lastIndexOf', { Buffer: { prototype: { latin1Slice, indexOf } } }],
    [
      'the search throws',
      { Buffer: { prototype: { latin1Slice, lastIndexOf, indexOf: () => decodeURIComponent('%') } } },
    ],
    ['reading Buffer throws', Object.defineProperty({}, 'Buffer', { get: () => decodeURIComponent('%') })],
    ['the search finds nothing', { Buffer: { prototype: { latin1Slice, lastIndexOf, indexOf: () => -1 } } }],
    [
      'the search finds no single bytes',
      {
        Buffer: {
          prototype: {
            latin1Slice,
            lastIndexOf,
            indexOf(this: Uint8Array, needle: Uint8Array | number, from: number) {
              return typeof needle === 'number' ? -1 : indexOf.call(this, needle, from)
            },
          },
        },
      },
    ],
    [
      'the search ignores the start offset for texts',
      {
        Buffer: {
          prototype: {
            latin1Slice,
            lastIndexOf,
            indexOf(this: Uint8Array, needle: Uint8Array | number, from: number) {
              return indexOf.call(this, needle, typeof needle === 'number' ? from : 0)
            },
          },
        },
      },
    ],
    [
      'the backward search always returns the same offset',
      { Buffer: { prototype: { latin1Slice, indexOf, lastIndexOf: () => 4 } } },
    ],
  ])('returns undefined if %s', (_, platform) => {
    expect(nativeSearch(platform)).toBeUndefined()
  })
})

describe('findByte without a native search', () => {
  afterEach(() => {
    vi.unstubAllGlobals()
  })

  it('finds the same offsets', async () => {
    vi.stubGlobal('Buffer', undefined)
    const without = await loadAgain<typeof import('../../src/search/find-bytes.ts')>('src/search/find-bytes.ts')
    const bytes = ascii('a needle, and a needle')
    expect([without.findByte(bytes, 0x6e, 3), without.findByteBackwards(bytes, 0x6e, 15)]).toEqual([11, 11])
    expect(without.createFinder(ascii('Needle'), true).find(bytes, 3)).toBe(16)
  })
})

describe('findByte and findByteBackwards', () => {
  it('find a byte from any offset', () => {
    const bytes = ascii('a needle, and a needle')
    const memory = new Uint8Array(40).fill(0x6e).subarray(3, 3 + bytes.length)
    memory.set(bytes)
    expect([0, 2, 3, 16, 17].map((from) => findByte(memory, 0x6e, from))).toEqual([2, 2, 11, 16, -1])
    expect([21, 16, 15, 2, 1].map((from) => findByteBackwards(memory, 0x6e, from))).toEqual([16, 16, 11, 2, -1])
    expect([findByte(memory, 0, 0), findByteBackwards(memory, 0, 21)]).toEqual([-1, -1])
  })
})

describe('each finder', () => {
  it('finds every offset that String.indexOf finds, at any alignment', () => {
    const letters = fc.constantFrom(...'aaabAB @`[{z\u007f')
    const string = (min: number, max: number) =>
      fc.array(letters, { minLength: min, maxLength: max }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(string(1, 7), string(0, 60), fc.nat(7), fc.boolean(), (needle, text, padding, ignoreCase) => {
        const memory = new Uint8Array(padding + text.length + 5).fill(0x61)
        const bytes = memory.subarray(padding, padding + text.length)
        bytes.set(ascii(text))
        const [where, what] = ignoreCase ? [text.toLowerCase(), needle.toLowerCase()] : [text, needle]
        const froms = Array.from({ length: text.length + 1 }, (_, from) => from)
        const expected = froms.map((from) => where.indexOf(what, from))
        for (const { find } of finderStrategies(ascii(needle), ignoreCase)) {
          expect(froms.map((from) => find(bytes, from))).toEqual(expected)
        }
      }),
      { numRuns: times(250, 1500) },
    )
  })

  it.each([
    ['q', 'q'],
    ['z', 'Z'],
    ['A@', 'a@'],
    ['a`', 'A`'],
    ['Z[', 'z['],
    ['{a}', '{A}'],
    ['ab', 'AB'],
    ['getU', 'GETu'],
    ['9-axz', '9-AXZ'],
    ['a needle', 'A NEEDLE'],
    ['the_long_needle', 'THE_LONG_needle'],
    ['ünï', 'üNï'],
  ])('finds %s at any offset, but not beyond the bounds of the bytes', (needle, inOtherCase) => {
    const wrong: unknown[] = []
    for (const ignoreCase of [false, true]) {
      const target = ascii(ignoreCase ? inOtherCase : needle)
      const size = target.length
      for (const [way, { find }] of finderStrategies(ascii(needle), ignoreCase).entries()) {
        for (let padding = 0; padding < 5; padding++) {
          for (const length of [0, size - 1, size, size + 3, size + 12]) {
            const check = (around: Uint8Array, from: number, expected: number) => {
              const match = find(around.subarray(padding, padding + length), from)
              if (match !== expected) wrong.push({ way, ignoreCase, padding, length, from, expected, found: match })
            }
            // The memory around contains more copies, some of which overlap either end.
            const memory = Uint8Array.from({ length: padding + length + 30 }, (_, at) => target[at % size] ?? 0)
            memory.fill(0x2e, padding, padding + length)
            memory.set(target.subarray(1, length + 1), padding)
            if (size > 1)
              memory.set(target.subarray(0, Math.min(size - 1, length)), padding + length - Math.min(size - 1, length))
            check(memory, 0, -1)
            for (let at = 0; at + size <= length; at++) {
              memory.fill(0x2e, padding, padding + length).set(target, padding + at)
              check(memory, 0, at)
              check(memory, at, at)
              check(memory, at + 1, -1)
            }
          }
        }
      }
    }
    expect(wrong).toEqual([])
  })

  it('finds every short text in every other short text', () => {
    const over = (length: number) =>
      Array.from({ length: 2 ** length }, (_, bits) =>
        [...Array(length).keys()].map((i) => 'ab'[(bits >> i) & 1]).join(''),
      )
    const texts = over(8).map((text) => ({ text, bytes: ascii(text) }))
    const wrong: unknown[] = []
    for (const needle of [1, 2, 3, 4, 5].flatMap(over)) {
      for (const [way, { find }] of finderStrategies(ascii(needle), false).entries()) {
        for (const { text, bytes } of texts) {
          const entry = find(bytes, 0)
          if (entry !== text.indexOf(needle)) wrong.push({ needle, way, text, found: entry })
        }
      }
    }
    expect(wrong).toEqual([])
  })

  it('finds the first of overlapping occurrences', () => {
    const text = 'a'.repeat(24)
    for (let length = 1; length < 9; length++) {
      for (const { find } of finderStrategies(ascii('a'.repeat(length)), false)) {
        const froms = Array.from({ length: 17 }, (_, from) => from)
        expect(froms.map((from) => find(ascii(text), from))).toEqual(
          froms.map((from) => text.indexOf('a'.repeat(length), from)),
        )
      }
    }
  })

  it('ignores case for letters only', () => {
    const wrong: unknown[] = []
    for (let byte = 0; byte < 256; byte++) {
      const isLetter = /[a-z]/i.test(String.fromCharCode(byte))
      for (const ignoreCase of [false, true]) {
        for (const [way, { find }] of finderStrategies(Uint8Array.of(0x71, byte), ignoreCase).entries()) {
          const matches = [byte, byte ^ 0x20].map((other) => find(Uint8Array.of(0x2e, 0x71, other, 0x2e), 0))
          if (matches.join() !== (ignoreCase && isLetter ? '1,1' : '1,-1'))
            wrong.push({ way, ignoreCase, byte, found: matches })
        }
      }
    }
    expect(wrong).toEqual([])
  })

  it('finds an occurrence at the offset where the linear finder takes over', () => {
    const needle = `${'@'.repeat(40)}e`
    const wrong: unknown[] = []
    for (const [way, { find }] of finderStrategies(ascii(needle), false).entries()) {
      for (let before = 0; before < 80; before++) {
        const result = find(ascii(`${'@'.repeat(before)}${needle}`), 0)
        if (result !== before) wrong.push({ way, before, found: result })
      }
    }
    expect(wrong).toEqual([])
  })

  it('finds an occurrence after many near misses', () => {
    const needle = `${'a'.repeat(200)}b`
    for (const ignoreCase of [false, true]) {
      const cased = ignoreCase ? needle.toUpperCase() : needle
      for (const { find } of finderStrategies(ascii(needle), ignoreCase)) {
        for (const between of ['', 'xyz', 'aax']) {
          const text = `${'a'.repeat(20_000)}${between}${cased}${between}${cased}`
          const first = text.indexOf(cased)
          expect(find(ascii(text), 0)).toBe(first)
          expect(find(ascii(text), first + 1)).toBe(text.indexOf(cased, first + 1))
          expect(find(ascii(text.slice(0, -1)), first + 1)).toBe(-1)
        }
      }
    }
  })

  it.each([
    `${'@'.repeat(40)}e`,
    `${`${'@'.repeat(9)}#`.repeat(3)}${'@'.repeat(9)}e`,
    `${'@#'.repeat(20)}@e@#`,
    `${'@@e'.repeat(12)}@@#@@e`,
    `${'Qq'.repeat(20)}e`,
    'abacabadabacabae'.repeat(2),
  ])('finds %s after many repetitions of its start', (needle) => {
    const wrong: unknown[] = []
    for (const end of [1, 3, needle.length >> 1, needle.length - 1]) {
      // Long enough for each finder to switch to the linear one.
      const unit = needle.slice(0, end)
      const text = `..${unit.repeat(Math.ceil(500 / end))}${needle}-${unit}${needle}`
      const places = [
        text.indexOf(needle),
        text.indexOf(needle, text.indexOf(needle) + 1),
        text.lastIndexOf(needle),
        -1,
      ]
      for (const ignoreCase of [false, true]) {
        const bytes = ascii(ignoreCase ? text.toUpperCase() : text)
        for (const [way, { find }] of finderStrategies(ascii(needle), ignoreCase).entries()) {
          const froms = [1, (places[0] as number) + 1, places[2] as number, (places[2] as number) + 1]
          const results = froms.map((from) => find(bytes, from))
          if (results.join() !== places.join()) wrong.push({ unit, way, ignoreCase, places, found: results })
        }
      }
    }
    expect(wrong).toEqual([])
  })

  it('sees changes in reused memory', () => {
    for (const { find } of finderStrategies(ascii('AB'), true)) {
      const bytes = ascii('....ab..')
      expect(find(bytes, 0)).toBe(4)
      bytes.set(ascii('ab......'))
      expect(find(bytes, 0)).toBe(0)
      expect(find(ascii('..aB'), 0)).toBe(2)
      expect(find(ascii(''), 0)).toBe(-1)
      expect(find(bytes, 0)).toBe(0)
    }
  })

  it('costs less for a rarer text, and createFinder chooses the cheapest', () => {
    const cheapest = (text: string, ignoreCase = false) => createFinder(ascii(text), ignoreCase).cost
    for (const [rarer, more] of [
      ['Q', 'e'],
      ['Qe', 'ee'],
      ['QQQQ', 'eeee'],
      ['teQ', 'tee'],
      ['requeue', 'e'],
    ] as const) {
      expect(cheapest(rarer)).toBeLessThan(cheapest(more))
      for (const text of [rarer, more]) {
        const costs = finderStrategies(ascii(text), false).map(({ cost }) => cost)
        expect(cheapest(text)).toBe(Math.min(...costs))
        expect(Math.min(...costs)).toBeGreaterThan(0)
      }
    }
    // Letters in either case are more frequent than those in one case.
    expect(cheapest('Queue')).toBeLessThanOrEqual(cheapest('Queue', true))
  })

  it.each([
    [`b${'a'.repeat(3000)}`, 'a'],
    [`${'a'.repeat(3000)}b`, 'a'],
    [`${'a'.repeat(1500)}b${'a'.repeat(1500)}`, 'a'],
    [`${'ab'.repeat(1500)}c`, 'ab'],
    [`q${'a'.repeat(2000)}b`, `q${'a'.repeat(1999)}`],
  ])('takes linear time for a needle that nearly matches everywhere (%#)', (needle, unit) => {
    const text = ascii(unit.repeat((2 << 20) / unit.length))
    for (const ignoreCase of [false, true]) {
      for (const { find } of finderStrategies(ascii(needle), ignoreCase)) {
        const started = ownTime()
        expect(find(text, 0)).toBe(-1)
        // Comparing at every offset would take seconds.
        expect(ownTime() - started).toBeLessThan(1000)
      }
    }
  })
})
