import * as fc from 'fast-check'

const characters = [
  'a',
  'b',
  'c',
  'A',
  'B',
  'Z',
  '0',
  '9',
  '_',
  ' ',
  '.',
  '-',
  '=',
  'é',
  'É',
  'ß',
  'Σ',
  'ς',
  '中',
  '😀',
  '\u00a0',
  '\t',
  '\r',
] // prettier-ignore

const line = fc.array(fc.constantFrom(...characters), { maxLength: 12 }).map((chars) => chars.join(''))

/** Texts with mixed line ends and empty lines, with and without a final line end. */
export const texts = fc
  .tuple(fc.array(fc.tuple(line, fc.constantFrom('\n', '\n', '\r\n')), { maxLength: 8 }), line)
  .map(([lines, last]) => lines.flat().join('') + last)

const escaped = (char: string): string => (/[\\^$.*+?()[\]{}|/]/.test(char) ? `\\${char}` : char)
const classEscapes = ['\\d', '\\w', '\\s', '\\D', '\\W', '\\S', '\\p{L}', '\\P{L}', '\\p{Lu}', '\\p{Script=Greek}']

const classes = fc
  .tuple(
    fc.boolean(),
    fc.array(
      fc.oneof(
        fc.constantFrom(...characters).map((char) => (char === '-' ? '\\-' : escaped(char))),
        fc.constantFrom('a-c', 'A-Z', '0-9', 'À-ÿ', '一-龥', '\\u{1F600}-\\u{1F64F}', ...classEscapes),
      ),
      { minLength: 1, maxLength: 3 },
    ),
  )
  .map(([negated, items]) => `[${negated ? '^' : ''}${items.join('')}]`)

const quantifiers = fc.constantFrom('*', '+', '?', '{2}', '{1,}', '{0,2}', '{2,3}', '*?', '+?', '??', '{1,2}?')
const assertions = ['^', '$', '\\b', '\\B']

/** Patterns that use all of the syntax that means the same in a RegExp with the flags `su`. */
export const patterns = fc.letrec<{ pattern: string; atom: string }>((tie) => ({
  atom: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 6, arbitrary: fc.constantFrom(...characters).map(escaped) },
    { weight: 2, arbitrary: fc.constantFrom('.', ...classEscapes) },
    { weight: 2, arbitrary: classes },
    { weight: 2, arbitrary: fc.constantFrom(...assertions) },
    { weight: 1, arbitrary: fc.constantFrom('ab', 'abc', '\\x61', '\\u0062', '\\u{e9}', '\\ud83d\\ude00') },
    { weight: 3, arbitrary: tie('pattern').map((inner) => `(?:${inner})`) },
    { weight: 1, arbitrary: tie('pattern').map((inner) => `(${inner})`) },
  ),
  pattern: fc
    .array(
      fc.array(fc.tuple(tie('atom'), fc.option(quantifiers, { freq: 2, nil: '' })), { minLength: 1, maxLength: 4 }),
      { minLength: 1, maxLength: 3 },
    )
    .map((options) => options.map((parts) => parts.map(repeated).join('')).join('|')),
})).pattern

function repeated([atom, count]: [string, string]): string {
  return assertions.includes(atom) ? atom : atom + count
}
