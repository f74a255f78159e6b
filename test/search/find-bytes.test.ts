import * as fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { times } from '../counts.ts'
import { ownTime } from '../own-time.ts'

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text)

afterEach(() => {
  vi.unstubAllGlobals()
  vi.resetModules()
})

describe('a Buffer that is none of Node', () => {
  it.each<[string, unknown]>([
    ['throws', { prototype: { latin1Slice: () => '', indexOf: () => decodeURIComponent('%') } }],
    ['finds elsewhere', { prototype: { latin1Slice: () => '', indexOf: () => 0 } }],
    ['has other methods', { prototype: { indexOf: () => 3 } }],
  ])('%s', async (_, buffer) => {
    vi.stubGlobal('Buffer', buffer)
    vi.resetModules()
    const { createFinder, findByte, findByteBackwards } = await import('../../src/search/find-bytes.ts')
    vi.unstubAllGlobals()
    const bytes = ascii('a needle, and a needle')
    expect([findByte(bytes, 0x6e, 3), findByteBackwards(bytes, 0x6e, 21), findByte(bytes, 0, 0)]).toEqual([11, 16, -1])
    expect(createFinder(ascii('needle'), false).find(bytes, 3)).toBe(16)
  })
})

describe.each([
  ['on a platform with Buffer', true],
  ['on a platform without', false],
])('createFinder %s', (_, hasBuffer) => {
  const load = async () => {
    if (!hasBuffer) vi.stubGlobal('Buffer', undefined)
    vi.resetModules()
    return import('../../src/search/find-bytes.ts')
  }

  it('finds every place that String.indexOf finds, at any alignment', async () => {
    const { createFinder } = await load()
    const letters = fc.constantFrom(...'aaabAB @`[{z\u007f')
    const string = (min: number, max: number) =>
      fc.array(letters, { minLength: min, maxLength: max }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(string(1, 7), string(0, 60), fc.nat(7), fc.boolean(), (needle, text, padding, ignoreCase) => {
        const memory = new Uint8Array(padding + text.length + 5).fill(0x61)
        const bytes = memory.subarray(padding, padding + text.length)
        bytes.set(ascii(text))
        const { find } = createFinder(ascii(needle), ignoreCase)
        const [where, what] = ignoreCase ? [text.toLowerCase(), needle.toLowerCase()] : [text, needle]
        for (let from = 0; from <= text.length; from++) expect(find(bytes, from)).toBe(where.indexOf(what, from))
      }),
      { numRuns: times(500, 1500) },
    )
  })

  it('finds what comes behind much that nearly is it', async () => {
    const { createFinder } = await load()
    const needle = `${'a'.repeat(200)}b`
    for (const ignoreCase of [false, true]) {
      const { find } = createFinder(ascii(needle), ignoreCase)
      const cased = ignoreCase ? needle.toUpperCase() : needle
      for (const between of ['', 'xyz', 'aax']) {
        const text = `${'a'.repeat(20_000)}${between}${cased}${between}${cased}`
        const first = text.indexOf(cased)
        expect(find(ascii(text), 0)).toBe(first)
        expect(find(ascii(text), first + 1)).toBe(text.indexOf(cased, first + 1))
        expect(find(ascii(text.slice(0, -1)), first + 1)).toBe(-1)
      }
    }
  })

  it('sees what changed in memory that is used again', async () => {
    const { createFinder } = await load()
    const bytes = ascii('....ab..')
    const { find } = createFinder(ascii('AB'), true)
    expect(find(bytes, 0)).toBe(4)
    bytes.set(ascii('ab......'))
    expect(find(bytes, 0)).toBe(0)
  })

  it.each([
    [`b${'a'.repeat(3000)}`, 'a'],
    [`${'a'.repeat(3000)}b`, 'a'],
    [`${'a'.repeat(1500)}b${'a'.repeat(1500)}`, 'a'],
    [`${'ab'.repeat(1500)}c`, 'ab'],
    [`q${'a'.repeat(2000)}b`, `q${'a'.repeat(1999)}`],
  ])('takes linear time for a needle that nearly matches everywhere (%#)', async (needle, unit) => {
    const { createFinder } = await load()
    const text = ascii(unit.repeat((2 << 20) / unit.length))
    for (const ignoreCase of [false, true]) {
      const started = ownTime()
      expect(createFinder(ascii(needle), ignoreCase).find(text, 0)).toBe(-1)
      // Comparing at every place would take some seconds.
      expect(ownTime() - started).toBeLessThan(1000)
    }
  })
})
