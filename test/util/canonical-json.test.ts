import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../../src/util/canonical-json.ts'
import { times } from '../counts.ts'

/** Returns a copy with the keys in another order. */
function shuffled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffled)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, shuffled(item)]),
  )
}

describe('canonicalJson', () => {
  it('returns JSON that is equal for equal data in any order of keys', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        const text = canonicalJson(value)
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
        expect(canonicalJson(shuffled(value))).toBe(text)
        expect(canonicalJson(JSON.parse(text))).toBe(text)
      }),
      { numRuns: times(100, 500) },
    )
  })

  it('sorts by UTF-16 units, keys that look like numbers too, and keeps __proto__', () => {
    expect(canonicalJson(JSON.parse('{"9":1,"10":2,"__proto__":3,"a":4,"B":5}'))).toBe(
      '{"10":2,"9":1,"B":5,"__proto__":3,"a":4}',
    )
  })

  it('omits what JSON omits', () => {
    expect(canonicalJson({ a: undefined, b: () => 1, c: [undefined, Number.NaN] })).toBe('{"c":[null,null]}')
    expect(canonicalJson(undefined)).toBe('null')
  })

  it('escapes like JSON', () => {
    for (const text of ['"', '\\', '\n', '\u0000', '\ud800', '\u2028', 'é', 'x'.repeat(300)]) {
      expect(canonicalJson(text)).toBe(JSON.stringify(text))
    }
  })
})
