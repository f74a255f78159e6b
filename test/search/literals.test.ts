import { describe, expect, it } from 'vitest'
import { type Required, requiredTexts, wholeText } from '../../src/search/literals.ts'
import { parseRegex } from '../../src/search/syntax.ts'

/** For example `^cat|dog`: every match contains one of them, and starts with it. `~` marks texts in either case. */
function textOf(required: Required | undefined): string | undefined {
  if (required === undefined) return undefined
  const { texts, ignoreCase, leading } = required
  return `${leading ? '^' : ''}${ignoreCase ? '~' : ''}${texts.join('|')}`
}

/** Few and long texts have a low cost; texts with a favourite letter cost nothing. */
const priceOf =
  (favourite?: string) =>
  ({ texts }: Required): number =>
    texts.some((text) => favourite !== undefined && text.includes(favourite))
      ? 0
      : 1000 * texts.length - Math.min(...texts.map((text) => text.length))

describe('requiredTexts', () => {
  const a64 = 'a'.repeat(64)

  it.each<[pattern: string, expected: string | undefined, favourite?: string]>([
    ['needle', '^needle'],
    ['\\w+needle', 'needle'],
    ['needle\\w', '^needle'],
    ['^\\bneedle$', '^needle'],
    ['ab*cd', 'cd'],
    ['ab*cd', '^a', 'a'],
    ['a?b', 'b'],
    ['a{0}b', '^b'],
    ['(?:ab){2}c', '^ababc'],
    ['(?:a.){3}', '^a'],
    // Repeated as often as the minimum count, up to a limit.
    ['a+', '^a'],
    ['a{3}', '^aaa'],
    ['a{3,5}', '^a'],
    ['a{64}', `^${a64}`],
    ['a{65}', '^a'],
    ['a{64}b', `^${a64}`],
    ['a{64}b', 'b', 'b'],
    // Up to eight texts.
    ['[abc]x', '^ax|bx|cx'],
    ['[a-h]x', '^ax|bx|cx|dx|ex|fx|gx|hx'],
    ['[a-i]x', 'x'],
    ['[é中]', '^é|中'],
    ['\\p{Lu}', undefined],
    ['[ab][cd][ef]', '^ace|acf|ade|adf|bce|bcf|bde|bdf'],
    ['[ab][cd][ef][gh]', 'g|h'],
    ['[ab][cd][ef][gh]', '^ace|acf|ade|adf|bce|bcf|bde|bdf', 'a'],
    ['cat|dog', '^cat|dog'],
    ['cat|cat', '^cat'],
    ['aa|bb|cc|dd|ee|ff|gg|hh', '^aa|bb|cc|dd|ee|ff|gg|hh'],
    ['aa|bb|cc|dd|ee|ff|gg|hh|ii', undefined],
    ['a.|b', '^a|b'],
    ['.a|b', 'a|b'],
    ['cat|d*', undefined],
    // A match may be empty.
    ['cat|', undefined],
    ['(?:)', undefined],
    ['x(?:cat|)y', '^xcaty|xy'],
    // A text inside of a group leads only if the group does.
    ['(?:a+)y', '^a', 'a'],
    ['^(?:a+)y', '^a', 'a'],
    ['x(?:a+)y', 'a', 'a'],
    ['x*(?:a+)y', 'a', 'a'],
    ['(?:|x)(?:a+)y', 'a', 'a'],
    ['[^x](?:a+)y', 'a', 'a'],
    ['(?:a*b|c)d', 'b|c', 'c'],
    ['(?:a*b|c)d', 'd'],
    ['(?:cat|dog)+x', '^cat|dog', 'o'],
    // ASCII letters in either case are in lower case.
    ['(?i)Ab1', '^~ab1'],
    ['(?i)A', '^~a'],
    ['(?i)1', '^1'],
    ['(?i)@', '^@'],
    ['(?i)É', '^É|é'],
    ['(?i)中', '^中'],
    ['X(?i:Y)', '^~xy'],
    ['(?i:X)Y', '^~xy'],
    ['É(?i:A)Z', '^~Éaz'],
    ['AB|(?i:c)', '^~ab|c'],
    ['(?:(?i:ab)|C)d', '^~abd|cd'],
  ])('returns for %s %s', (pattern, expected, favourite) => {
    expect(textOf(requiredTexts(parseRegex(pattern, false), priceOf(favourite)))).toBe(expected)
  })

  it('returns the first of equal cost, which may lead', () => {
    for (const pattern of ['a.b', '(?:a+).b', 'a.b.c']) {
      expect(textOf(requiredTexts(parseRegex(pattern, false), () => 1))).toBe('^a')
    }
    expect(requiredTexts(parseRegex('a', false), () => Number.POSITIVE_INFINITY)).toBeUndefined()
  })
})

describe('wholeText', () => {
  it.each<[pattern: string, text: string | undefined, ignoreCase?: boolean]>([
    ['x', 'x', false],
    ['abc', 'abc', false],
    ['é中', 'é中', false],
    ['(?i)aBc', 'aBc', true],
    ['(?i)Z', 'Z', true],
    ['(?i)A1@', 'A1@', true],
    // Without letters, ignoreCase is false.
    ['(?i)1', '1', false],
    ['(?i)中', '中', false],
    ['(?i)\\x80', '\u0080', false],
    ['a(?i:1)', 'a1', false],
    ['(?i:1)a', '1a', false],
    ['a(?i:中)', 'a中', false],
    // Mixed case sensitivity, and letters beyond ASCII in either case, have no single text.
    ['a(?i:b)', undefined],
    ['(?i:a)b', undefined],
    ['(?i)é', undefined],
    ['(?i)aé', undefined],
    ['a(?i:é)', undefined],
    ['ab*', undefined],
    ['[ab]', undefined],
    ['^a', undefined],
    ['a|b', undefined],
    ['(?:)', undefined],
  ])('returns for %s %s', (pattern, text, ignoreCase) => {
    expect(wholeText(parseRegex(pattern, false))).toEqual(text === undefined ? undefined : { text, ignoreCase })
  })
})
