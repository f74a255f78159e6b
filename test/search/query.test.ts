import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ToolError } from '../../src/errors.ts'
import { includes, toCodePoints } from '../../src/search/code-points.ts'
import { foldCase } from '../../src/search/fold.ts'
import { compileQuery } from '../../src/search/query.ts'
import { type Node, parseRegex } from '../../src/search/syntax.ts'
import { utf8Sequences } from '../../src/search/utf8.ts'
import { times } from '../counts.ts'
import { patterns, texts } from './arbitraries.ts'
import { type FoundLine, naiveSearch, ourSearch } from './reference.ts'

const RUNS = Number(process.env.SEARCH_RUNS ?? times(12, 500))

describe('compileQuery', () => {
  it('finds what RegExp finds on each line, at the same column', () => {
    fc.assert(
      fc.property(patterns, texts, fc.boolean(), (pattern, text, caseSensitive) => {
        const reference = new RegExp(pattern, caseSensitive ? 'su' : 'isu')
        fc.pre(hasFewStates(pattern, caseSensitive))
        // If a part that may be empty repeats, engines disagree about the end of a match, but agree about its start.
        expect(ourSearch(text, { query: pattern, mode: 'regex', caseSensitive }).map(place)).toEqual(
          naiveSearch(text, reference).map(place),
        )
      }),
      { numRuns: RUNS },
    )
  })

  it('ends a match where RegExp does, unless parts that may be empty repeat', () => {
    fc.assert(
      fc.property(patterns, texts, (pattern, text) => {
        fc.pre(hasFewStates(pattern, true) && !repeatsNothing(parseRegex(pattern, false)))
        expect(ourSearch(text, { query: pattern, mode: 'regex', caseSensitive: true })).toEqual(
          naiveSearch(text, new RegExp(pattern, 'su')),
        )
      }),
      { numRuns: RUNS },
    )
  })

  it('finds literals exactly, case-sensitive or not', () => {
    const pieces = fc.constantFrom(
      'a',
      'A',
      'b',
      'B',
      'ab',
      'K',
      'k',
      '.',
      '*',
      '[',
      '{',
      '@',
      '`',
      ' ',
      'é',
      'É',
      'σ',
      'Σ',
      '😀',
      '\r',
    )
    const joined = (max: number) => fc.array(pieces, { minLength: 1, maxLength: max }).map((parts) => parts.join(''))
    const lines = fc.array(fc.tuple(joined(12), fc.constantFrom('\n', '\r\n')), { maxLength: 5 })
    fc.assert(
      fc.property(joined(5), lines, joined(6), fc.boolean(), (query, first, last, caseSensitive) => {
        const text = `${first.flat().join('')}${last}`
        const pattern = new RegExp(query.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'), caseSensitive ? 'u' : 'iu')
        expect(ourSearch(text, { query, mode: 'literal', caseSensitive })).toEqual(naiveSearch(text, pattern))
      }),
      { numRuns: RUNS },
    )
  })

  it('finds the same lines for every position of the required text in the pattern', () => {
    const words = fc.constantFrom('needle', 'NEEDLE', 'pin', 'x', ' ', '=>', 'pinx', 'needlepin', 'q9', '{')
    const text = fc
      .array(fc.oneof(words, fc.constantFrom('\n', '\r\n', 'a', '12')), { maxLength: 60 })
      .map((parts) => parts.join(''))
    const shapes = fc.constantFrom(
      'needle\\s*=>',
      '\\w+needle',
      'needle.*pin',
      '(?:needle|pin|q9)\\d+',
      '(?:needle|pin)+x',
      '\\bpin\\b',
      '^needle',
      'pin$',
      '=>\\s*\\{',
      '[np]in',
      'n[eE]{2}dle',
      '(?:pin){2}',
      '(?:pin){1,3}q9',
      'q9?x',
      'pin|',
      '(?:=>)*x',
      '(?:a|needle)pin',
      '\\s+pin.?\\d',
      '^.*q9',
      'q9.*$',
      '\\Bpin',
      'pinx?needle',
    ) // prettier-ignore
    fc.assert(
      fc.property(shapes, text, fc.boolean(), (pattern, content, caseSensitive) => {
        expect(ourSearch(content, { query: pattern, mode: 'regex', caseSensitive })).toEqual(
          naiveSearch(content, new RegExp(pattern, caseSensitive ? 'su' : 'isu')),
        )
      }),
      { numRuns: RUNS },
    )
  })

  it('skips a byte order mark, and treats a lone carriage return as a character', () => {
    expect(ourSearch('\ufeffab\n', { query: '^a', mode: 'regex', caseSensitive: true }).length).toBe(1)
    expect(
      ourSearch('a\rb\r\nc\r', { query: '.+', mode: 'regex', caseSensitive: true }).map(({ match }) => match),
    ).toEqual(['a\rb', 'c\r'])
    expect(
      ourSearch('a\r\r\n', { query: '\\r$', mode: 'regex', caseSensitive: true }).map(({ column }) => column),
    ).toEqual([2])
    expect(ourSearch('a\r\n', { query: '\r', mode: 'literal', caseSensitive: true })).toEqual([])
  })

  it.each(['\ufec0', '\uf03f', '\uceff'])(
    'treats %j at the start as a character, though it begins or ends like a byte order mark',
    (char) => {
      for (const mode of ['literal', 'regex'] as const) {
        expect(ourSearch(`${char}a\n`, { query: char, mode, caseSensitive: true })).toEqual([
          { line: 1, column: 1, text: `${char}a`, match: char },
        ])
      }
      expect(ourSearch(`${char}a\n`, { query: '^a', mode: 'regex', caseSensitive: true })).toEqual([])
    },
  )

  it.each([0, 95, 96, 97, 300])('returns the bounds of a line whose ends are %d bytes away', (length) => {
    const rest = 'y'.repeat(length)
    const queries = [
      ['x', 'literal'],
      ['x\\b', 'regex'],
      ['y?[xw]', 'regex'],
    ] as const
    const befores = ['', '\ufeff', `${rest}\r\n`, '\ufeffz\n']
    const afters = ['', '\r\n', `\n${rest}`]
    for (const before of befores) {
      for (const after of afters) {
        const text = `${rest}x${length === 0 ? '' : `.${rest}`}`
        for (const [query, mode] of queries) {
          const matches = ourSearch(`${before}${text}${after}`, { query, mode, caseSensitive: true })
          expect(matches.map(({ line, text }) => ({ line, text }))).toEqual([{ line: before.split('\n').length, text }])
        }
      }
    }
  })

  it('folds ASCII letters among themselves only, and other letters by Unicode', () => {
    const find = (text: string, query: string) => ourSearch(text, { query, mode: 'regex', caseSensitive: false }).length
    expect(find('K', 'k')).toBe(1)
    expect(find('\u212a', 'k')).toBe(0)
    expect(find('Az\nZa', 'a[Z]')).toBe(1)
    expect(find('\u017f', '[a-z]')).toBe(0)
    expect(find('ẞ', 'ß')).toBe(1)
    expect(find('ς', 'Σ')).toBe(1)
    expect(find('\u1fd3', '\u0390')).toBe(1)
  })

  it.each<[string, (char: string, i: number) => boolean]>([
    ['upper case', (char) => char.toLowerCase() !== char],
    ['every third', (_, i) => i % 3 === 0],
  ])('folds letters beyond ASCII like RegExp: %s', (_, isMember) => {
    const all = Array.from({ length: 0x1ff80 }, (_, i) => String.fromCodePoint(0x80 + i))
    const cased = all.filter((char) => char.toLowerCase() !== char || char.toUpperCase() !== char)
    const members = cased.filter(isMember).join('')
    const expected = new RegExp(`[${members}]`, 'iu')
    const pairs = Array.from(members, (char) => char.codePointAt(0) ?? 0).flatMap((point) => [point, point])
    const folded = foldCase(toCodePoints(pairs))
    expect(all.filter((char) => includes(folded, char.codePointAt(0) ?? 0) !== expected.test(char))).toEqual([])
    expect(folded[0]).toBeGreaterThanOrEqual(0x80)
  })

  it('accepts flags, groups, names, POSIX classes and braces', () => {
    const find = (text: string, query: string) =>
      ourSearch(text, { query, mode: 'regex', caseSensitive: true }).map(({ match }) => match)
    expect(find('ABC', '(?i)b')).toEqual(['B'])
    expect(find('aB\nAB', 'a(?i)b')).toEqual(['aB'])
    expect(find('aB\nAB', '(?i:A)B')).toEqual(['aB', 'AB'])
    expect(find('aB\nab', '(?i)a(?-i:b)')).toEqual(['ab'])
    expect(find('ab', '(?<name>a)(?P<other>b)')).toEqual(['ab'])
    expect(find('f(x) {', '\\) {$')).toEqual([') {'])
    expect(find('a{1}', 'a\\{1}')).toEqual(['a{1}'])
    expect(find('x{,2}', 'x{,2}')).toEqual(['x{,2}'])
    expect(find('é9', '[[:digit:]]')).toEqual(['9'])
    expect(find('a-z', '[[:^alpha:]]')).toEqual(['-'])
    expect(find('Ω', '\\p{Greek}')).toEqual(['Ω'])
    expect(find('aΩ', '\\pL+')).toEqual(['aΩ'])
    expect(find('a/b', 'a\\/b')).toEqual(['a/b'])
    expect(find('tab\there', '[^\\n]+')).toEqual(['tab\there'])
  })

  it.each([
    ['', '', 'empty'],
    ['(a)\\1', 'position 4', 'Back-references'],
    ['(?<x>a)\\k<x>', 'position 8', 'Back-references'],
    ['(?P=x)', 'position 1', 'Back-references'],
    ['a(?=b)', 'position 2', 'Look-ahead'],
    ['a(?!b)', 'position 2', 'Look-ahead'],
    ['(?<=a)b', 'position 1', 'Look-ahead'],
    ['(?<!a)b', 'position 1', 'Look-ahead'],
    ['(?>a)', 'position 1', 'possessive'],
    ['a++', 'position 3', 'possessive'],
    ['a{2}+', 'position 5', 'possessive'],
    ['a**', 'quantifier repeats a quantifier', ''],
    ['*a', 'position 1', 'Escape'],
    ['a|+', 'position 3', 'Escape'],
    ['{2}', 'position 1', 'Escape'],
    ['(a', 'position 1', 'Escape'],
    ['a)', 'position 2', 'Escape'],
    ['[a', 'position 1', 'Escape'],
    ['[b-a]', 'out of order', ''],
    ['[a-\\d]', 'range ends in a class', ''],
    ['a{3,2}', 'out of order', ''],
    ['a{99999}', 'exceeds', ''],
    ['^*', 'repeats an assertion', ''],
    ['a\\nb', 'position 2', 'never spans lines'],
    ['a\nb', 'position 2', 'never spans lines'],
    ['[\\n]', 'line break', 'never spans lines'],
    ['\\q', 'unknown escape', ''],
    ['\\', 'backslash', ''],
    ['\\x4', 'incomplete', ''],
    ['\\u{110000}', 'invalid code point', ''],
    ['\\ud800', 'invalid code point', ''],
    ['\ud800', 'surrogate', ''],
    ['\\p{Nonsense}', 'property', ''],
    ['\\p{L', 'property', ''],
    ['\\p{__proto__}', 'property', ''],
    ['\\Astart', '\\A', '^'],
    ['\\01', 'octal', ''],
    ['(?x)a', 'unknown kind of group', ''],
    ['(?)', 'unknown kind of group', ''],
    ['(?<1>a)', 'unknown kind of group', ''],
    ['(?:(?:a{1000}){1000}){1000}', 'states', 'counts'],
    ['(?:\\p{L}{1000}){2}', 'states', 'counts'],
    [`${'('.repeat(300)}a${')'.repeat(300)}`, 'nest', ''],
    ['a'.repeat(5000), 'longer', ''],
  ])('refuses %j', (query, message, hint) => {
    let error: unknown
    try {
      compileQuery({ query, mode: 'regex', caseSensitive: true })
    } catch (thrown) {
      error = thrown
    }
    expect(error).toBeInstanceOf(ToolError)
    const { code, message: actual, details } = error as ToolError
    expect(code).toBe('INVALID_PATTERN')
    expect(actual).toContain(message)
    expect(`${actual} ${details.hint ?? ''}`).toContain(hint)
  })

  it('repeats an empty part any number of times at no cost', () => {
    expect(
      ourSearch('ab', { query: '(?:(?:(?:){9999}){9999}){9999}b', mode: 'regex', caseSensitive: true }).length,
    ).toBe(1)
  })

  it.each(['a\nb', '', '\ud800', '\n'])('refuses the literal %j', (query) => {
    expect(() => compileQuery({ query, mode: 'literal', caseSensitive: true })).toThrow(ToolError)
  })

  it('throws no error other than INVALID_PATTERN', () => {
    const symbols = fc.constantFrom(...'ab()[]{}|*+?^$.\\,-1:<=!PpuxdwbnkiLé😀', '(?', '\\p{', '[^', '(?<', '\ud800')
    fc.assert(
      fc.property(
        fc.array(symbols, { maxLength: 12 }).map((parts) => parts.join('')),
        fc.boolean(),
        (query, caseSensitive) => {
          try {
            compileQuery({ query, mode: 'regex', caseSensitive }).mayMatch(new TextEncoder().encode('ab\n(1)'))
          } catch (error) {
            expect(error).toBeInstanceOf(ToolError)
            expect((error as ToolError).code).toBe('INVALID_PATTERN')
          }
        },
      ),
      { numRuns: RUNS },
    )
  })

  it('matches nothing in bytes that are not UTF-8, and continues after them', () => {
    const bytes = Uint8Array.of(0xff, 0x0a, 0x80, 0x61, 0x0a, 0xc3, 0x0a, 0xe2, 0x28, 0xa1)
    const starts: number[] = []
    compileQuery({ query: '[^\\n]', mode: 'regex', caseSensitive: true }).eachLine(bytes, ({ matchStart }) => {
      starts.push(matchStart)
      return true
    })
    expect(starts).toEqual([3, 8])
  })
})

function place({ line, column, text }: FoundLine): Omit<FoundLine, 'match'> {
  return { line, column, text }
}

/** Whether a pattern is within the limit of its size, which nested counts can exceed. */
function hasFewStates(query: string, caseSensitive: boolean): boolean {
  try {
    compileQuery({ query, mode: 'regex', caseSensitive })
    return true
  } catch (error) {
    if (error instanceof ToolError && /needs more than \d+ states/.test(error.message)) return false
    throw error
  }
}

/** Whether a part that may match the empty text is repeated. */
function repeatsNothing(node: Node): boolean {
  if (node.type === 'concat') return node.parts.some(repeatsNothing)
  if (node.type === 'alternate') return node.options.some(repeatsNothing)
  return node.type === 'repeat' && (canBeEmpty(node.node) || repeatsNothing(node.node))
}

function canBeEmpty(node: Node): boolean {
  if (node.type === 'concat') return node.parts.every(canBeEmpty)
  if (node.type === 'alternate') return node.options.some(canBeEmpty)
  if (node.type === 'repeat') return node.min === 0 || canBeEmpty(node.node)
  return node.type === 'empty' || node.type === 'assert'
}

const ONE_LINE =
  'A match never spans lines: search for one of the lines, and use contextLines to see the lines around it.'
const NO_LOOKAROUND =
  'Look-ahead and look-behind are not supported (search takes linear time): match the surrounding text too.'
const NO_BACKREFERENCE = 'Back-references are not supported (search takes linear time): write out the alternatives.'
const NO_ATOMIC = 'Atomic groups and possessive quantifiers are not supported or needed: search never backtracks.'
const GROUPS = 'Supported are (…), (?:…), (?<name>…), (?i) and (?i:…).'
const EDGES = 'Use ^ for the start of a line and $ for its end.'
const PROPERTIES = 'Write it as \\p{L} or \\p{Script=Greek}.'
const itself = (char: string) => `Escape it as \\${char} to match the character.`

describe('deadline of a query', () => {
  const line = `${'x'.repeat(50)} needle7 HELLOOO\n`
  const bytes = new TextEncoder().encode(line.repeat(5000))
  const queries: readonly (readonly [query: string, mode: 'literal' | 'regex'])[] = [
    ['needle', 'literal'],
    ['needle\\d', 'regex'],
    ['\\w+ needle', 'regex'],
    ['[A-Z]{7}', 'regex'],
    ['needle|HELLO', 'regex'],
    ['\\w', 'regex'],
    ['.*', 'regex'],
    ['$', 'regex'],
  ]

  it.each(queries)('is checked about every 64 KB if every line matches: %s', (query, mode) => {
    const compiled = compileQuery({ query, mode, caseSensitive: true })
    let request = 0
    const visited = (deadline?: () => boolean) => {
      let lines = 0
      compiled.eachLine(
        bytes,
        () => {
          lines += 1
          return true
        },
        deadline,
      )
      return lines
    }
    expect(visited()).toBe(5000)
    expect(visited(() => ++request < 0)).toBe(5000)
    expect(request).toBeGreaterThan(2)
    expect(request).toBeLessThan(bytes.length / 65_536 + 6)
    expect(visited(() => true)).toBeLessThan(1200)
    // The interval includes its bounds.
    request = 0
    visited(() => ++request === 3)
    expect(request).toBe(3)
  })

  it.each(queries)('is not checked after the visitor returns false: %s', (query, mode) => {
    let visited = 0
    compileQuery({ query, mode, caseSensitive: true }).eachLine(bytes, () => ++visited < 2)
    expect(visited).toBe(2)
  })

  it.each(['x.*y', '\\w+ y', '(?:a|x)+ y', '(?:a|b)*c$', '[a-z ]+y', ' .*y'])(
    'may pass anywhere in a long line, and is not checked again: %s',
    (query) => {
      const compiled = compileQuery({ query, mode: 'regex', caseSensitive: true })
      const line = new TextEncoder().encode(`${'x'.repeat(300_000)} y${'x'.repeat(200_000)} yc\n`)
      for (let last = 1; last < 30; last++) {
        let question = 0
        let count = 0
        compiled.eachLine(
          line,
          (hit) => {
            count += hit.matchEnd - hit.matchStart
            return true
          },
          () => ++question >= last,
        )
        expect(question).toBeLessThanOrEqual(last)
        if (question < last) {
          expect(count).toBeGreaterThan(0)
          return
        }
      }
      throw new Error('asked too often')
    },
  )

  it.each([
    ['\\w+ing', ' ing\n'.repeat(60_000)],
    ['needle\\d', 'needle '.repeat(50_000)],
    ['needle\\d', 'needle \n'.repeat(50_000)],
    ['\\d needle', 'x needle\n'.repeat(50_000)],
  ])('makes mayMatch return true if it passes before a match is found: %s', (query, text) => {
    const compiled = compileQuery({ query, mode: 'regex', caseSensitive: true })
    const bytes = new TextEncoder().encode(text)
    expect(compiled.mayMatch(bytes)).toBe(false)
    expect(compiled.mayMatch(bytes, () => false)).toBe(false)
    expect(compiled.mayMatch(bytes, () => true)).toBe(true)
  })
})

describe('last line of a long text', () => {
  // The text is searched in four parts in parallel; the last one is the shortest here.
  const before = `y\n${'y'.repeat(700)}\ny\n${'y'.repeat(600)}\n`

  it.each(['x+', '^x+$', '(?:x|z)+$', '\\w*x'])('matches without a line end too: %s', (query) => {
    for (const end of ['', '\n', '\r\n']) {
      const results = ourSearch(`${before}xx${end}`, { query, mode: 'regex', caseSensitive: true })
      expect(results.map(({ line, match }) => [line, match])).toEqual([[5, 'xx']])
    }
    expect(ourSearch(before, { query, mode: 'regex', caseSensitive: true })).toEqual([])
    expect(ourSearch('', { query: '$', mode: 'regex', caseSensitive: true })).toEqual([])
    expect(ourSearch('y\n', { query: '^x*$', mode: 'regex', caseSensitive: true })).toEqual([])
    expect(ourSearch(before, { query: '^x*$', mode: 'regex', caseSensitive: true })).toEqual([])
  })
})

describe('line after other lines', () => {
  it.each<
    readonly [query: string, text: string, found: readonly (readonly [line: number, column: number, match: string])[]]
  >([
    [
      '\\w+\\b',
      'ab cd\n  ef gh\n ij',
      [
        [1, 1, 'ab'],
        [2, 3, 'ef'],
        [3, 2, 'ij'],
      ],
    ],
    [
      '(?:ab|b)$',
      'ab\nxab\nb\nab b\nbc',
      [
        [1, 1, 'ab'],
        [2, 2, 'ab'],
        [3, 1, 'b'],
        [4, 4, 'b'],
      ],
    ],
    [
      '[ab]+\\b',
      'abc ab\nab\nabc ba c',
      [
        [1, 5, 'ab'],
        [2, 1, 'ab'],
        [3, 5, 'ba'],
      ],
    ],
    [
      '[ab]+\\B',
      'ab\nabc\nc abc',
      [
        [1, 1, 'a'],
        [2, 1, 'ab'],
        [3, 3, 'ab'],
      ],
    ],
    [
      '\\B[ab]',
      'ab\nb ab\ncb\na b',
      [
        [1, 2, 'b'],
        [2, 4, 'b'],
        [3, 2, 'b'],
      ],
    ],
    [
      '^[ab]+',
      'ab\ncab\nab c',
      [
        [1, 1, 'ab'],
        [3, 1, 'ab'],
      ],
    ],
    [
      '\\bneedle\\b',
      'xneedle\n needle\nneedle\nneedles\nx needle.',
      [
        [2, 2, 'needle'],
        [3, 1, 'needle'],
        [5, 3, 'needle'],
      ],
    ],
    [
      '\\Bneedle',
      'needle\nxneedle\n needle\nneedle xneedle',
      [
        [2, 2, 'needle'],
        [4, 9, 'needle'],
      ],
    ],
    [
      '^needle',
      ' needle\nneedle\nneedleneedle',
      [
        [2, 1, 'needle'],
        [3, 1, 'needle'],
      ],
    ],
    [
      'needle$',
      'needle \nneedle\r\nneedle needle',
      [
        [2, 1, 'needle'],
        [3, 8, 'needle'],
      ],
    ],
    [
      '\\w+=$',
      'ab=\r\nab= \n cd=',
      [
        [1, 1, 'ab='],
        [3, 2, 'cd='],
      ],
    ],
  ])('%j in %j', (query, text, expected) => {
    expect(
      ourSearch(text, { query, mode: 'regex', caseSensitive: true }).map(({ line, column, match }) => [
        line,
        column,
        match,
      ]),
    ).toEqual(expected)
  })
})

describe('literal query', () => {
  const find = (query: string, text: string, caseSensitive = true) =>
    ourSearch(text, { query, mode: 'literal', caseSensitive }).map(({ line, column }) => [line, column])

  it.each<readonly [query: string, text: string, exact: readonly number[][], folded: readonly number[][]]>([
    [
      'Ab',
      'ab\nAb',
      [[2, 1]],
      [
        [1, 1],
        [2, 1],
      ],
    ],
    ['a.', 'ab\na.', [[2, 1]], [[2, 1]]],
    // The carriage return of a line end is not part of the line.
    ['x\r', 'a\nb\n', [], []],
    ['a\r', 'a\rb\n', [[1, 1]], [[1, 1]]],
    ['a\r', 'a\r\nba\rb', [[2, 2]], [[2, 2]]],
    ['a\r', 'a\r\n', [], []],
    ['\u00c9', '\u00e9', [], [[1, 1]]],
  ])('%j in %j', (query, text, exact, folded) => {
    expect(find(query, text)).toEqual(exact)
    expect(find(query, text, false)).toEqual(folded)
  })
})

describe('refusal of a pattern: reason, position and hint', () => {
  const refusals: readonly (readonly [query: string, why: string, position: number, hint?: string])[] = [
    ['a)', 'unmatched ")"', 2, itself(')')],
    ['*a', '"*" has nothing to repeat', 1, itself('*')],
    ['(+a)', '"+" has nothing to repeat', 2, itself('+')],
    ['a|?', '"?" has nothing to repeat', 3, itself('?')],
    ['{2}', '"{" has nothing to repeat', 1, itself('{')],
    ['a\nb', 'the pattern contains a line break', 2, ONE_LINE],
    ['a\\nb', 'the pattern contains a line break', 2, ONE_LINE],
    ['[\\n]', 'the pattern contains a line break', 1, ONE_LINE],
    ['a\ud800', 'the pattern contains a lone surrogate', 2],
    ['a\udfff', 'the pattern contains a lone surrogate', 2],
    ['a{3,2}', 'quantifier counts are out of order', 2],
    ['a{10001}', 'a quantifier count exceeds 10000', 2],
    ['a{10001,}', 'a quantifier count exceeds 10000', 2],
    ['a{1,10001}', 'a quantifier count exceeds 10000', 2],
    ['^*', 'a quantifier repeats an assertion', 1],
    ['a\\b+', 'a quantifier repeats an assertion', 2],
    ['(?:a)++', 'a possessive quantifier', 7, NO_ATOMIC],
    ['a?+', 'a possessive quantifier', 3, NO_ATOMIC],
    ['a**', 'a quantifier repeats a quantifier', 3, 'Put the repeated part in a group: (?:…).'],
    ['a+?*', 'a quantifier repeats a quantifier', 4, 'Put the repeated part in a group: (?:…).'],
    ['a+?+', 'a quantifier repeats a quantifier', 4, 'Put the repeated part in a group: (?:…).'],
    ['a+??', 'a quantifier repeats a quantifier', 4, 'Put the repeated part in a group: (?:…).'],
    ['a{2}{3}', 'a quantifier repeats a quantifier', 5, 'Put the repeated part in a group: (?:…).'],
    [`${'('.repeat(201)}a${')'.repeat(201)}`, 'groups nest deeper than 200', 201],
    ['(a', 'a group is never closed', 1, itself('(')],
    ['a(?=b)', 'look-around', 2, NO_LOOKAROUND],
    ['a(?!b)', 'look-around', 2, NO_LOOKAROUND],
    ['abcd(?=b)', 'look-around', 5, NO_LOOKAROUND],
    ['a(??=b)', 'an unknown kind of group', 2, GROUPS],
    ['a(?<=b)', 'look-around', 2, NO_LOOKAROUND],
    ['a(?<!b)', 'look-around', 2, NO_LOOKAROUND],
    ['a(?>b)', 'an atomic group', 2, NO_ATOMIC],
    ['a(?P=b)', 'a back-reference', 2, NO_BACKREFERENCE],
    ['a(?P>b)', 'an unknown kind of group', 2, GROUPS],
    ['a(?#b)', 'an unknown kind of group', 2, GROUPS],
    ['a(?)', 'an unknown kind of group', 2, GROUPS],
    ['a(?<1>b)', 'an unknown kind of group', 2, GROUPS],
    ['a(?<n.>b)', 'an unknown kind of group', 2, GROUPS],
    ['a(?x:b)', 'an unknown kind of group', 2, GROUPS],
    ['a(?i-:b)', 'an unknown kind of group', 2, GROUPS],
    ['a(?i-u:b)', 'an unknown kind of group', 2, GROUPS],
    ['a\\1', 'a back-reference', 2, NO_BACKREFERENCE],
    ['a\\9', 'a back-reference', 2, NO_BACKREFERENCE],
    ['a\\k', 'a back-reference', 2, NO_BACKREFERENCE],
    ...['A', 'z', 'Z', 'G'].map((letter) => [`a\\${letter}`, `\\${letter}`, 2, EDGES] as const),
    ['a\\', 'the pattern ends in a backslash', 2, itself('\\')],
    ['a\\01', 'an octal escape', 2, 'Write the character as \\x{…}.'],
    ['a\\c', '\\c without a letter', 2],
    ['a\\c1', '\\c without a letter', 2],
    ['a\\q', 'the unknown escape \\q', 2, 'Only letters with a special meaning can be escaped.'],
    ['a\\\u00e9', 'the unknown escape \\\u00e9', 2, 'Only letters with a special meaning can be escaped.'],
    ['a\\x4', 'an incomplete \\x escape', 2, 'Write \\x with 2 hexadecimal digits, or \\x{…}.'],
    ['a\\x{}', 'an incomplete \\x escape', 2, 'Write \\x with 2 hexadecimal digits, or \\x{…}.'],
    ['a\\x{41', 'an incomplete \\x escape', 2, 'Write \\x with 2 hexadecimal digits, or \\x{…}.'],
    ['a\\u123', 'an incomplete \\u escape', 2, 'Write \\u with 4 hexadecimal digits, or \\u{…}.'],
    ['a\\U1234567', 'an incomplete \\U escape', 2, 'Write \\U with 8 hexadecimal digits, or \\U{…}.'],
    ['a\\u{110000}', 'an escape for an invalid code point', 2],
    ['a\\ud800', 'an escape for an invalid code point', 2],
    ['a\\udfff', 'an escape for an invalid code point', 2],
    ['a\\ud800\\u0041', 'an escape for an invalid code point', 2],
    ['a\\u0041\\udc00', 'an escape for an invalid code point', 8],
    ['a\\udc00\\udc00', 'an escape for an invalid code point', 2],
    ['a\\p', 'an incomplete Unicode property', 2, PROPERTIES],
    ['a\\p{L', 'an incomplete Unicode property', 2, PROPERTIES],
    ['a\\P{Nope}', 'an unknown Unicode property', 2, PROPERTIES],
    ['a\\p{L.}', 'an unknown Unicode property', 2, PROPERTIES],
    ['a[', 'a class is never closed', 2, itself('[')],
    ['a[]', 'a class is never closed', 2, itself('[')],
    ['a[b-', 'a class is never closed', 2, itself('[')],
    ['a[b-\\d]', 'a range ends in a class', 3, 'Escape the hyphen as \\-.'],
    ['a[xc-b]', 'a range is out of order', 4],
  ]
  for (const [query, why, position, hint] of refusals) {
    it(JSON.stringify(query).slice(0, 40), () => {
      expect(() => compileQuery({ query, mode: 'regex', caseSensitive: true })).toThrow(
        expect.objectContaining({
          code: 'INVALID_PATTERN',
          message: `Cannot search: ${why} at position ${position}`,
          details: hint === undefined ? { position } : { position, hint },
        }),
      )
    })
  }

  it.each<readonly [query: string, why: string, details: object]>([
    ['', 'the query is empty', {}],
    ['a'.repeat(4097), 'the query is longer than 4096 UTF-16 units', {}],
    ['a\nb', 'the query contains a line break at position 2', { position: 2, hint: ONE_LINE }],
    ['a\ud800', 'the query contains a lone surrogate at position 2', { position: 2 }],
  ])('refuses the literal %j', (query, why, details) => {
    expect(() => compileQuery({ query, mode: 'literal', caseSensitive: true })).toThrow(
      expect.objectContaining({ code: 'INVALID_PATTERN', message: `Cannot search: ${why}`, details }),
    )
  })

  it('accepts patterns at each limit', () => {
    const find = (query: string, text: string) => ourSearch(text, { query, mode: 'regex', caseSensitive: true }).length
    expect(find('a'.repeat(4096), 'a'.repeat(4096))).toBe(1)
    expect(find(`${'('.repeat(200)}a${')'.repeat(200)}(a)`, 'aa')).toBe(1)
    expect(() => compileQuery({ query: 'a{10000}', mode: 'regex', caseSensitive: true })).not.toThrow()

    const properties = 'Lt Lm Me Nd Nl No Pc Pd Ps Pe Pi Pf Sm Sc Sk Zs'.split(' ').map((name) => `\\p{${name}}`)
    expect(find(`[${properties.join('')}${properties.join('')}]`, '+')).toBe(1)
    for (const one of ['\\p{Zl}', '\\P{Nd}', '(?i:\\p{Nd})']) {
      const query = `a${properties.join('')}${one}`
      expect(() => find(query, '')).toThrow(
        expect.objectContaining({
          code: 'INVALID_PATTERN',
          message: `Cannot search: more than 16 different Unicode properties at position ${query.lastIndexOf('\\') + 1}`,
          details: expect.objectContaining({ hint: 'Use a broader one, such as \\p{L}.' }),
        }),
      )
    }
  })
})

describe('class matches the same characters as in RegExp', () => {
  const characters = [...Array(0x250).keys(), 0x1680, 0x2000, 0x200a, 0x200b, 0x2028, 0x2029, 0x202f, 0x205f, 0x212a]
    .concat(0x3000, 0x390, 0x3b1, 0x3c2, 0xfeff, 0x1f600)
    .filter((codePoint) => codePoint !== 0x0a)
    .map((codePoint) => String.fromCodePoint(codePoint))
  const lines = characters.map((char) => `${char};\n`).join('')
  const matching = (query: string, caseSensitive = true) =>
    ourSearch(lines, { query: `^(?:${query});`, mode: 'regex', caseSensitive }).map(
      ({ line }) => characters[line - 1] ?? '',
    )

  const posix: Readonly<Record<string, string>> = {
    alnum: '0-9A-Za-z',
    alpha: 'A-Za-z',
    ascii: '\\0-\\x7f',
    blank: '\\t ',
    cntrl: '\\0-\\x1f\\x7f',
    digit: '0-9',
    graph: '!-~',
    lower: 'a-z',
    print: ' -~',
    punct: '!-\\/:-@\\[-`{-~',
    space: '\\t-\\r ',
    upper: 'A-Z',
    word: '\\w',
    xdigit: '0-9A-Fa-f',
  }

  it.each<readonly [ours: string, theirs: string]>([
    ...['\\d', '\\D', '\\w', '\\W', '\\s', '\\S', '.', '[^\\n]', '[^a]', '[a-c]', '[a\\-c]', '[a-]', '[-a]'].map(
      (same) => [same, same] as const,
    ),
    ...['[\\d-x]', '[\\w\\s]', '[^\\d\\s]', '[\\x41-\\u0043]', '[\\0\\t\\v\\f\\r]', '[\\^a]', '[a^]'].map(
      (same) => [same, same.replace('d-x', 'd\\-x')] as const,
    ),
    ...[
      '\\t',
      '\\v',
      '\\f',
      '\\r',
      '\\0',
      '\\cA',
      '\\cz',
      '\\x41',
      '\\u00e9',
      '\\u{1F600}',
      '\\ud83d\\ude00',
      '\\uD83D\\uDE00',
    ].map((same) => [same, same] as const),
    ...Object.entries(posix).flatMap(
      ([name, set]) =>
        [
          [`[[:${name}:]]`, `[${set}]`],
          [`[[:^${name}:]]`, `[^${set}]`],
        ] as const,
    ),
    ...[...'!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~ '].map(
      (char) => [`\\${char}`, `\\x${char.charCodeAt(0).toString(16)}`] as const,
    ),
    ['[]a]', '[\\]a]'],
    ['[^]a]', '[^\\]a]'],
    ['[\\b]', '\\x08'],
    ['[\\na]', 'a'],
    ['[[a]', '[\\[a]'],
    ['[[:a]', '[\\[:a]'],
    ['[[:nope:]a]', '(?!)'],
    ['[^\\w\\W]', '(?!)'],
    ['[[:digit:][:upper:]x]', '[0-9A-Zx]'],
    ['}', '\\}'],
    [']', '\\]'],
    ['{', '\\{'],
    ['\\U0001F600', '\\u{1F600}'],
    ['\\x{e9}', '\u00e9'],
    ['\\pL', '\\p{L}'],
    ['\\PL', '\\P{L}'],
    ['\\p{Greek}', '\\p{Script=Greek}'],
    ['\\P{Script=Greek}', '\\P{Script=Greek}'],
  ])('%s', (ours, theirs) => {
    const target = new RegExp(`^(?:${theirs})$`, 'su')
    // No class contains a line break.
    expect(matching(ours)).toEqual(characters.filter((char) => target.test(char)))
  })

  it.each<readonly [ours: string, theirs: string]>([
    // Sets with a name stay unchanged; characters and ranges get both cases.
    ['[a-c]', '[a-cA-C]'],
    ['[^a-c]', '[^a-cA-C]'],
    ['[X-Z\\d]', '[X-Zx-z\\d]'],
    ['\\w', '\\w'],
    ['\\W', '\\W'],
    ['[\\W]', '\\W'],
    ['[[:upper:]]', '[A-Za-z]'],
    ['[[:^upper:]]', '[^]'],
    ['k', '[kK]'],
    ['@', '@'],
    ['`', '`'],
    ['[', '\\['],
    ['\u00e9', '[\u00e9\u00c9]'],
    ['\\xe9', '[\u00e9\u00c9]'],
    ['(?-i:a)', 'a'],
    ['(?-i)a', 'a'],
    ['(?i-i:a)', 'a'],
    ['(?:(?-i)a|b)|c', '[abcC]'],
    ['(?m-s:a)', '[aA]'],
  ])('%s, ignoring case', (ours, theirs) => {
    const requested = new RegExp(`^(?:${theirs.replace(/^\[$/, '\\[')})$`, 's')
    const plain = characters.filter((char) => char.length === 1)
    expect(matching(ours === '[' ? '\\[' : ours, false).filter((char) => char.length === 1)).toEqual(
      plain.filter((char) => requested.test(char)),
    )
  })

  it.each<readonly [query: string, text: string, found: readonly string[]]>([
    ['a{', 'a{', ['a{']],
    ['a{2', 'a{2', ['a{2']],
    ['a{x}', 'a{x}', ['a{x}']],
    ['a{,2}', 'a{,2}', ['a{,2}']],
    ['a{2}', 'a\naaa', ['aa']],
    ['a{2,}', 'a\naaa', ['aaa']],
    ['a{1,2}', 'aaa', ['aa']],
    ['a{12}', `${'a'.repeat(11)}\n${'a'.repeat(13)}`, ['a'.repeat(12)]],
    ['a{1,12}', 'a'.repeat(13), ['a'.repeat(12)]],
    ['a{2}?b', 'aab', ['aab']],
    ['a+?', 'aaa', ['a']],
    ['a??b', 'ab', ['ab']],
    ['a*?b', 'aab', ['aab']],
    ['(?<name>a)(?P<o_1$>b)(?<\u00e9>c)', 'abc', ['abc']],
    ['(?ims:A)(?u)b(?s-im:c)', 'Abc\nabc\nABc\nabC', ['Abc', 'abc']],
    ['(?i)a(?-i)b', 'Ab\nAB', ['Ab']],
    ['(?:(?i)a)b', 'Ab\nAB', ['Ab']],
    ['(^)*a', 'ba', ['a']],
    ['(?:\\b)+a', 'ba\na', ['a']],
    ['xa*b', 'xb\nxab', ['xb', 'xab']],
    ['a*{', 'aa{', ['aa{']],
    ['a+{x}', 'aa{x}', ['aa{x}']],
    ['[a-a]', 'b\na', ['a']],
    ['a|[\\p{Cs}]', 'a\nb', ['a']],
    ['\uffffab', '\uffffab\n\uffffb', ['\uffffab']],
    ['\\ud800\\udc00', '\u{10000}\n\ud7ff', ['\u{10000}']],
    ['\\udbff\\udfff|\\u{10ffff}', '\u{10ffff}', ['\u{10ffff}']],
    ['\\u{10ffff}', '\u{10ffff}', ['\u{10ffff}']],
    ['(^)a', 'ba\na', ['a']],
    ['(a|b|)c', 'xc', ['c']],
    ['|a', 'b', ['']],
    ['\\d@$', '1@\n2@\nx@\n3@', ['1@', '2@', '3@']],
    ['needle\\d', 'needle\rneedle7', ['needle7']],
    // The rest of the text contains only one of the required texts, or none.
    ['needle|HELLO', ' needle\nyy\n needle\nHELLO\nzz\n', ['needle', 'needle', 'HELLO']],
    ['\\w*needle|HELLO', ' needle\nyy\nHELLO\nx needle\nHELLO\nzz\n', ['needle', 'HELLO', 'needle', 'HELLO']],
    ['\\w*needle|\\w*HELLO', 'needle\n', ['needle']],
    ['ab.*c|a', 'abxx\nabxx\nabxc\nabxx', ['a', 'a', 'abxc', 'a']],
    ['\ud83d\ude00+', 'x\ud83d\ude00\ud83d\ude00', ['\ud83d\ude00\ud83d\ude00']],
  ])('%j finds in %j the expected lines', (query, text, expected) => {
    expect(ourSearch(text, { query, mode: 'regex', caseSensitive: true }).map(({ match }) => match)).toEqual(expected)
  })
})

describe('pattern syntax', () => {
  const matchesOf = (query: string, text: string, caseSensitive = true): string[] =>
    ourSearch(text, { query, mode: 'regex', caseSensitive }).map((line: FoundLine) => JSON.stringify(line))

  it.each([
    // An empty part repeated, and a part repeated zero times.
    ['xa{0}b', ['xb'], ['xab']],
    ['(?:)*a', ['a'], ['b']],
    ['(?:)+a', ['a'], ['b']],
    ['(?:){2,5}a', ['a'], ['b']],
    ['(?:){3}a', ['a'], ['b']],
    // Escapes.
    ['a\\0b', ['a\0b'], ['a0b']],
    ['\\cA', ['\u0001'], ['A', 'cA']],
    ['a\\ b', ['a b'], ['ab']],
    ['\\x41\\u0042\\U00000043', ['ABC'], ['abc']],
    ['\\U{1F600}', ['😀'], ['😁']],
    ['[\\b]', ['\b'], ['b']],
    ['[[:alpha:]]', ['x'], ['1']],
    ['[[:nope:]]', [':]', 'n]'], ['x']],
    // Properties, including one of unassigned planes.
    ['\\p{Cn}', ['\u{50000}', '\u{ffff}'], ['a']],
    ['\\p{Greek}', ['λ'], ['a']],
    ['\\p{Script=Greek}', ['λ'], ['a']],
  ] as const)('%j', (query, yes, no) => {
    for (const text of yes) expect([text, matchesOf(query, text).length]).toEqual([text, 1])
    for (const text of no) expect([text, matchesOf(query, text).length]).toEqual([text, 0])
  })

  it('a class with a name ignores case when the query does', () => {
    expect(matchesOf('[[:^upper:]]', 'A', false)).toHaveLength(1)
    expect(matchesOf('[[:upper:]]', 'a', false)).toHaveLength(1)
    expect(matchesOf('[[:digit:]]', 'a', false)).toHaveLength(0)
  })

  it.each(['\\c', '\\c1', '\\01', '\\p{Nope=Nothing}', '\\p{Nope}', '\\u12', 'a\\'])('refuses %j', (query) => {
    expect(() => compileQuery({ query, mode: 'regex', caseSensitive: true })).toThrow(ToolError)
  })

  it('surrogates match nothing', () => {
    expect(utf8Sequences([0xd800, 0xdfff])).toEqual([])
    expect(utf8Sequences([0xd700, 0xe000])).toEqual(utf8Sequences([0xd700, 0xd7ff, 0xe000, 0xe000]))
  })

  it('works with more characters and properties than the caches hold', () => {
    const text = Array.from({ length: 1100 }, (_, i) => String.fromCodePoint(0x4e00 + i)).join('')
    expect(matchesOf(`${text}?`, text)).toHaveLength(1)
    expect(matchesOf(`${text}x?`, text.slice(1))).toHaveLength(0)
    const long = 'a'.repeat(300)
    expect(matchesOf(`${long}(?:b|c)${long}`, `${long}c${long}`)).toHaveLength(1)
  })

  it('errors thrown by a visitor propagate unchanged', () => {
    const query = compileQuery({ query: 'a|b', mode: 'regex', caseSensitive: true })
    const error = new Error('enough')
    const visit = () => {
      throw error
    }
    expect(() => query.eachLine(new TextEncoder().encode('a\n'), visit)).toThrow(error)
  })

  it.each(['\\w+ing', 'needle', '(?:a|b)*c$', '[a-z]+\\d', 'x.*y', 'é+', '\\bneedle\\b.*z'])(
    '%j stops at the deadline, for lines of any length',
    (query) => {
      const compiled = compileQuery({ query, mode: 'regex', caseSensitive: true })
      for (const line of ['a needle in b\n', `${'ab needle '.repeat(30_000)}\n`]) {
        const bytes = new TextEncoder().encode(line.repeat(Math.ceil(300_000 / line.length)))
        let calls = 0
        const visited: number[] = []
        compiled.eachLine(
          bytes,
          (hit) => {
            visited.push(hit.lineStart + hit.matchStart + hit.matchEnd)
            return true
          },
          () => ++calls > 0,
        )
        // It checks at intervals, and stops as soon as the deadline has passed.
        expect(calls).toBeLessThanOrEqual(1)
        expect(compiled.mayMatch(bytes, () => true) || !compiled.mayMatch(bytes)).toBe(true)
      }
    },
  )
})
