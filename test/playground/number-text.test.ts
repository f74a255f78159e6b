import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { numberText, parseNumber } from '../../playground/session/number-text.ts'

const whole = { min: 1, isWhole: true }
const money = { min: 0, isMoney: true }

describe('a number that is typed', () => {
  it.each([
    ['$5', money, 5],
    ['5 dollars', money, 5],
    [' 0.50 ', money, 0.5],
    ['.5', money, 0.5],
    ['0.125', money, 0.125],
    ['1.1250', money, 1.125],
    ['100k', whole, 100_000],
    ['1M', whole, 1_000_000],
    ['1.5k', whole, 1_500],
    ['1.0002k', money, 1000.2],
    ['100 000', whole, 100_000],
    ['1_000', whole, 1_000],
    ['1,000,000', whole, 1_000_000],
    ['200', whole, 200],
  ] as const)('%s is taken', (text, kind, number) => {
    expect(parseNumber(text, kind)).toEqual({ number })
  })

  it.each([
    ['0,50', money, 'It is not clear what 0,50 means'],
    ['1.000', whole, 'It is not clear what 1.000 means'],
    ['1,000', whole, 'It is not clear what 1,000 means'],
    ['1.000.000', whole, 'It is not clear what'],
    ['1.000k', whole, 'It is not clear what'],
    ['-1', money, 'Enter 0 or more.'],
    ['0', whole, 'Enter 1 or more.'],
    ['2.5', whole, 'Enter a whole number.'],
    ['abc', whole, 'abc is not a number.'],
    ['$5', whole, '$5 is not a number.'],
    ['5 euros', money, '5 euros is not a number.'],
    ['1 00', whole, '1 00 is not a number.'],
    ['0x10', whole, '0x10 is not a number.'],
    ['Infinity', money, 'Infinity is not a number.'],
    ['.', money, '. is not a number.'],
    ['', money, 'Enter a number.'],
  ] as const)('%s is refused with a sentence', (text, kind, wrong) => {
    expect(parseNumber(text, kind)).toEqual({ wrong: expect.stringContaining(wrong) })
  })

  it('is within what its field takes, or refused, whatever is typed', () => {
    const characters = fc.constantFrom(...'0123456789.,kM$-+e _xa')
    fc.assert(
      fc.property(fc.string({ unit: characters, maxLength: 12 }), fc.constantFrom(whole, money), (text, kind) => {
        const read = parseNumber(text, kind)
        if ('wrong' in read) {
          expect(read.wrong).toMatch(/\.$/)
          return
        }
        expect(read.number).toBeGreaterThanOrEqual(kind.min)
        expect(Number.isFinite(read.number)).toBe(true)
        if (kind === whole) expect(Number.isSafeInteger(read.number)).toBe(true)
        // Its digits are those that were typed.
        const digits = (one: string) =>
          one
            .replace(/e.*/, '')
            .replaceAll(/\D/g, '')
            .replaceAll(/^0+|0+$/g, '')
        if (!/e/.test(text)) expect(digits(numberText(read.number))).toBe(digits(text))
      }),
      { numRuns: 5_000 },
    )
  })

  it('is written so that it is read as the same one', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.double({ min: 0, max: 1e20, noNaN: true }),
          fc.nat().map((cents) => cents / 1_000),
        ),
        (number) => {
          expect(parseNumber(numberText(number), money)).toEqual({ number })
        },
      ),
      { numRuns: 5_000 },
    )
  })
})
