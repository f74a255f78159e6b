import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSha256Portable } from '../../src/files/sha256.ts'
import { createSha256 } from '../../src/files/version.ts'
import { occurrences } from '../../src/tools/occurrences.ts'
import { utf8Length } from '../../src/tools/utf8-length.ts'

describe('occurrences', () => {
  it('equal those of indexOf, in both ways of finding them', () => {
    const text = fc.stringMatching(/^[ab]{0,60}$/)
    fc.assert(
      fc.property(
        text,
        fc.stringMatching(/^[ab]{1,6}$/),
        fc.boolean(),
        fc.integer({ min: 1, max: 9 }),
        (text, wanted, overlapping, most) => {
          const expected: number[] = []
          for (
            let at = text.indexOf(wanted);
            at !== -1 && expected.length < most;
            at = text.indexOf(wanted, at + (overlapping ? 1 : wanted.length))
          )
            expected.push(at)
          expect(occurrences(text, wanted, { overlapping, most })).toEqual(expected)
          expect(occurrences(text, wanted, { overlapping, most, mostSteps: 0 })).toEqual(expected)
        },
      ),
      { numRuns: 2000 },
    )
  })
})

describe('a hash of parts', () => {
  it('equals that of the whole', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 8 }), (parts) => {
        const expected = createHash('sha256').update(Buffer.concat(parts)).digest('hex')
        for (const hash of [createSha256(), createSha256Portable()]) {
          for (const part of parts) hash.update(part)
          expect(hash.digest()).toBe(expected)
        }
      }),
      { numRuns: 1000 },
    )
  })
})

describe('utf8Length', () => {
  it('equals what is encoded', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(utf8Length(text)).toBe(Buffer.byteLength(text))
      }),
    )
  })
})
