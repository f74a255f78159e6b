import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { naiveSearch, ourSearch } from './reference.ts'

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
]

/** Texts with all line ends, empty lines, and with or without a last one. */
const texts = fc
  .array(
    fc.tuple(
      fc.array(fc.constantFrom(...characters), { maxLength: 12 }).map((chars) => chars.join('')),
      fc.constantFrom('\n', '\n', '\r\n'),
    ),
    { maxLength: 8 },
  )
  .chain((lines) => fc.boolean().map((last) => lines.flat().join('') + (last ? 'ab' : '')))

const escaped = (char: string): string => (/[\\^$.*+?()[\]{}|/]/.test(char) ? `\\${char}` : char)
const classEscapes = ['\\d', '\\w', '\\s', '\\D', '\\W', '\\S', '\\p{L}', '\\P{L}', '\\p{Lu}', '\\p{Script=Greek}']

const classes = fc
  .tuple(
    fc.boolean(),
    fc.array(
      fc.oneof(
        fc
          .constantFrom(...characters.filter((char) => char !== '\r'))
          .map((char) => (char === '-' ? '\\-' : escaped(char))),
        fc.constantFrom('a-c', 'A-Z', '0-9', 'À-ÿ', '一-龥', '\\u{1F600}-\\u{1F64F}', ...classEscapes),
      ),
      { minLength: 1, maxLength: 3 },
    ),
  )
  .map(([negated, items]) => `[${negated ? '^' : ''}${items.join('')}]`)

const quantifiers = fc.constantFrom('*', '+', '?', '{2}', '{1,}', '{0,2}', '{2,3}', '*?', '+?', '??', '{1,2}?')

/** Patterns of the whole syntax that a RegExp with the `u` flag reads in the same way. */
const patterns = fc.letrec<{ pattern: string; atom: string }>((tie) => ({
  atom: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 6, arbitrary: fc.constantFrom(...characters).map(escaped) },
    { weight: 2, arbitrary: fc.constantFrom('.', ...classEscapes) },
    { weight: 2, arbitrary: classes },
    { weight: 2, arbitrary: fc.constantFrom('^', '$', '\\b', '\\B') },
    { weight: 1, arbitrary: fc.constantFrom('ab', 'abc', '\\x61', '\\u0062', '\\u{e9}', '\\ud83d\\ude00') },
    { weight: 3, arbitrary: tie('pattern').map((inner) => `(?:${inner})`) },
    { weight: 1, arbitrary: tie('pattern').map((inner) => `(${inner})`) },
  ),
  pattern: fc
    .array(
      fc.array(fc.tuple(tie('atom'), fc.option(quantifiers, { freq: 2, nil: '' })), { minLength: 1, maxLength: 4 }),
      { minLength: 1, maxLength: 3 },
    )
    .map((options) =>
      options
        .map((parts) =>
          parts.map(([atom, count]) => (/^(?:\^|\$|\\b|\\B)$/i.test(atom) ? atom : atom + count)).join(''),
        )
        .join('|'),
    ),
})).pattern

describe('compileQuery', () => {
  it('finds what RegExp finds on each line, at the same column', () => {
    fc.assert(
      fc.property(patterns, texts, fc.boolean(), (pattern, text, caseSensitive) => {
        const reference = new RegExp(pattern, caseSensitive ? 'su' : 'isu')
        // Where a part that may be empty repeats, engines differ in where a match ends; all agree on where it starts.
        const strip = ({ line, column, text: found }: { line: number; column: number; text: string }) => ({
          line,
          column,
          found,
        })
        expect(ourSearch(text, { query: pattern, mode: 'regex', caseSensitive }).map(strip)).toEqual(
          naiveSearch(text, reference).map(strip),
        )
      }),
      { numRuns: Number(process.env.RUNS ?? 4000) },
    )
  })
})
