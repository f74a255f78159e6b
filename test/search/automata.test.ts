import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { alphabetOf } from '../../src/search/alphabet.ts'
import { DEAD, Dfa, STOP, UNKNOWN } from '../../src/search/dfa.ts'
import { NOT_KNOWN, runBackward, runForward, runFour, runToFirstStart, runToLastEnd } from '../../src/search/dfa-run.ts'
import { buildNfa, reverseNfa } from '../../src/search/nfa.ts'
import { parseRegex } from '../../src/search/syntax.ts'
import { type ByteSequence, utf8Sequences } from '../../src/search/utf8.ts'
import { isWordByte } from '../../src/search/word-byte.ts'
import { times } from '../counts.ts'
import { type FoundLine, naiveSearch } from './reference.ts'

const encoder = new TextEncoder()

const hex = (sequences: readonly ByteSequence[]): string[] =>
  sequences.map((sequence) =>
    sequence.map(([lo, hi]) => (lo === hi ? lo.toString(16) : `${lo.toString(16)}-${hi.toString(16)}`)).join(' '),
  )

describe('utf8Sequences', () => {
  it('returns all well-formed byte sequences of the Unicode Standard', () => {
    expect(hex(utf8Sequences([0, 0x10ffff]))).toEqual([
      '0-7f',
      'c2-df 80-bf',
      'e0 a0-bf 80-bf',
      'e1-ec 80-bf 80-bf',
      'ed 80-9f 80-bf',
      'ee-ef 80-bf 80-bf',
      'f0 90-bf 80-bf 80-bf',
      'f1-f3 80-bf 80-bf 80-bf',
      'f4 80-8f 80-bf 80-bf',
    ])
  })

  it.each<readonly [set: readonly number[], sequences: readonly string[]]>([
    [[], []],
    [[0x41, 0x41], ['41']],
    [[0x30, 0x5a], ['30-5a']],
    [[0x31, 0x7f], ['31-7f']],
    [
      [0x7f, 0x80],
      ['7f', 'c2 80'],
    ],
    [
      [0x7ff, 0x800],
      ['df bf', 'e0 a0 80'],
    ],
    [
      [0xffff, 0x10000],
      ['ef bf bf', 'f0 90 80 80'],
    ],
    [[0x10ffff, 0x10ffff], ['f4 8f bf bf']],
    [
      [0xe9, 0x17f],
      ['c3 a9-bf', 'c4-c5 80-bf'],
    ],
    [
      [0xc0, 0x105],
      ['c3 80-bf', 'c4 80-85'],
    ],
    [[0x1000, 0x1fff], ['e1 80-bf 80-bf']],
    [
      [0x4e00, 0x9fa5],
      ['e4 b8-bf 80-bf', 'e5-e8 80-bf 80-bf', 'e9 80-bd 80-bf', 'e9 be 80-a5'],
    ],
    [
      [0x1f600, 0x1f64f],
      ['f0 9f 98 80-bf', 'f0 9f 99 80-8f'],
    ],
    [
      [0xd7ff, 0xe000],
      ['ed 9f bf', 'ee 80 80'],
    ],
    [[0xd7ff, 0xd800], ['ed 9f bf']],
    [[0xdfff, 0xe000], ['ee 80 80']],
    [[0xd7fe, 0xd7ff], ['ed 9f be-bf']],
    [[0xe000, 0xe001], ['ee 80 80-81']],
  ])('encodes %j', (set, sequences) => {
    expect(hex(utf8Sequences(set))).toEqual(sequences)
  })

  it('expands to the output of TextEncoder for each character, in order', () => {
    const border = fc.constantFrom(0, 0x7f, 0x80, 0x7ff, 0x800, 0xfff, 0x1000, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x3ffff)
    fc.assert(
      fc.property(border, fc.nat(0x3ff), fc.nat(0x17f), (near, before, size) => {
        const lo = Math.max(0, near - before)
        const hi = lo + size
        const expected: string[] = []
        for (let point = lo; point <= hi; point++) {
          if (point < 0xd800 || point > 0xdfff) {
            expected.push([...new TextEncoder().encode(String.fromCodePoint(point))].join())
          }
        }
        expect(utf8Sequences([lo, hi]).flatMap(expanded)).toEqual(expected)
      }),
      { numRuns: times(20, 60) },
    )
  })
})

describe('alphabetOf', () => {
  const chars = (flags: Uint8Array) =>
    [...flags.keys()].filter((i) => flags[i] === 1).map((i) => String.fromCharCode(i))
  const of = (pattern: string, ignoreCase = false) => {
    const { anywhere, edges } = alphabetOf(parseRegex(pattern, ignoreCase))
    return [anywhere, ...edges.map(({ characters }) => characters)].map((flags) => chars(flags).join(''))
  }
  const assertsOf = (pattern: string) =>
    alphabetOf(parseRegex(pattern, false)).edges.map(({ asserts }) => [...asserts].join())

  it.each<readonly [pattern: string, anywhere: string, first: string, last: string]>([
    ['abc', 'abc', 'a', 'c'],
    ['', '', '', ''],
    ['é', '', '', ''],
    ['aéb', 'ab', 'a', 'b'],
    ['[a-cx]y[0-9]', '0123456789abcxy', 'abcx', '0123456789'],
    ['[~-é]!', '!~\u007f', '~\u007f', '!'],
    ['(?:ab|cd|)ef', 'abcdef', 'ace', 'f'],
    ['ef(?:ab|cd|)', 'abcdef', 'e', 'bdf'],
    ['(?:ab|cd)ef', 'abcdef', 'ac', 'f'],
    ['a?b*c+d', 'abcd', 'abc', 'd'],
    ['ab{0}c', 'ac', 'a', 'c'],
    ['b{0}ac', 'ac', 'a', 'c'],
    ['x{2,3}y{0,2}z', 'xyz', 'x', 'z'],
    ['(?:a?){2}bc', 'abc', 'ab', 'c'],
    ['(?:a?b?){1,2}', 'ab', 'ab', 'ab'],
    ['^ab$', 'ab', 'a', 'b'],
    ['a\\bb\\Bc', 'abc', 'a', 'c'],
    ['(?:\\b|a)b', 'ab', 'ab', 'b'],
  ])('lists the characters of %j', (pattern, ...characters) => {
    expect(of(pattern)).toEqual(characters)
  })

  it.each<readonly [pattern: string, first: string, last: string]>([
    ['^ab$', 'lineStart', 'lineEnd'],
    ['a\\bb\\Bc', '', ''],
    ['(?:\\b|a)b', 'word', ''],
    ['(?:^){0}a', '', ''],
    ['a?\\bb?', 'word', 'word'],
    ['a\\b(?:b*|\\B)', '', 'notWord,word'],
  ])('lists what %j asserts at its edges', (pattern, ...asserts) => {
    expect(assertsOf(pattern)).toEqual(asserts)
  })

  it('contains both cases of letters when case is ignored', () => {
    expect(of('aBc', true)).toEqual(['ABCabc', 'Aa', 'Cc'])
    expect(of('[a-b]!', true)).toEqual(['!ABab', 'ABab', '!'])
  })

  it('contains no ASCII letters for a letter beyond ASCII in either case', () => {
    expect(of('é', true)).toEqual(['', '', ''])
  })

  it('covers ASCII only', () => {
    expect(of('[^a]')[0]).toHaveLength(126)
    expect(of('\\p{L}')[0]).toHaveLength(52)
  })
})

describe('buildNfa', () => {
  const states = (pattern: string) => buildNfa(parseRegex(pattern, false)).states.length

  it('builds the minimal number of states for a set', () => {
    expect(states('[\\x{80}-\\x{10ffff}]')).toBe(9)
    expect(states('[^\\n]')).toBe(9)
    expect(states('[a-z0-9]')).toBe(2)
    expect(states('é|é')).toBe(6)
    expect(states('[éèê]')).toBe(3)
    expect(states('[àéî]')).toBe(3)
    // C2 and C3 share a target and an edge.
    const twice = buildNfa(parseRegex('[\\x{80}-\\x{8f}\\x{c0}-\\x{cf}]', false)).states
    expect(twice).toHaveLength(3)
    expect(twice[2]).toEqual({ type: 'byte', edges: [{ lo: 0xc2, hi: 0xc3, to: 1 }] })
  })

  it.each([
    ['(?:){5}', 1],
    ['(?:){0,5}a', 2],
    ['(?:)+a', 3],
    ['a{3}', 4],
    ['a{0,2}', 5],
    ['a*', 3],
    ['a+', 3],
    ['a{3,}', 5],
    ['a{1,3}', 6],
    ['(?:a|b|c)', 5],
    ['^a$', 4],
  ])('builds for %s %i states', (pattern, count) => {
    expect(states(pattern)).toBe(count)
  })

  it('refuses a pattern with too many states, with a hint', () => {
    expect(states('(?:a{1000}){19}a{999}')).toBe(20_000)
    expect(() => states('(?:a{1000}){20}')).toThrow(
      expect.objectContaining({
        code: 'INVALID_PATTERN',
        message: 'Cannot search: the pattern needs more than 20000 states',
        details: { hint: 'Lower the counts of its quantifiers, especially of nested ones.' },
      }),
    )
  })

  it('distinguishes a case-sensitive letter from a case-insensitive one', () => {
    const letters = ['a', 'A', 'b', 'B', 'c', 'C', 'd', 'D']
    for (const letter of letters) {
      for (const ignoreCase of [true, false]) {
        const dfa = new Dfa(buildNfa(parseRegex(letter, ignoreCase)), 'first')
        const matches = letters.filter((text) => places(dfa, encoder.encode(text), true, false).length > 0)
        expect(matches).toEqual(letters.filter((text) => new RegExp(letter, ignoreCase ? 'i' : '').test(text)))
      }
    }
  })

  it('is reversed into an automaton with one entry and one match state', () => {
    const turned = (pattern: string) => reverseNfa(buildNfa(parseRegex(pattern, false)))
    // The original states, plus one for each state entered by bytes or on a condition, and one for the end.
    expect(turned('ab').states).toHaveLength(3 + 2 + 1)
    expect(turned('^a').states).toHaveLength(3 + 2 + 1)
    expect(turned('a|b').states).toHaveLength(4 + 1 + 1)
    const reversed = turned('^(?:ab|é)+\\b')
    expect(reversed.states.filter(({ type }) => type === 'match')).toHaveLength(1)
    expect(reversed.states.filter((state) => state.type === 'split' && state.condition === 'edgeAhead')).toHaveLength(1)
    expect(reversed.states.filter((state) => state.type === 'split' && state.condition === 'word')).toHaveLength(1)
  })
})

describe('Dfa', () => {
  it('puts bytes that no state distinguishes into one column', () => {
    const columns = (pattern: string) => new Dfa(buildNfa(parseRegex(pattern, false)), 'lines').endColumn
    // LF, CR, each letter, and the ranges between them.
    expect(columns('a')).toBe(7)
    expect(columns('[a-z]')).toBe(7)
    expect(columns('\\x{00}')).toBe(6)
    expect(columns('ab')).toBe(8)
    // A word condition also needs columns for word characters and continuation bytes.
    expect(columns('\\b')).toBe(5 + 8 + 2)
    expect(columns('a$')).toBe(7)
  })

  it('drops all states when they exceed the memory, and continues with the current one', () => {
    const nfa = buildNfa(parseRegex('[ab]*a[ab]{9}c', false))
    const cramped = new Dfa(nfa, 'lines', 0)
    const roomy = new Dfa(nfa, 'lines')
    expect([roomy.built, roomy.drops, cramped.built, cramped.drops]).toEqual([0, 0, 0, 0])
    const fromAll = (dfa: Dfa) =>
      [true, false].flatMap((atEdge) =>
        [true, false].map((besideWord) => places(dfa, encoder.encode('bbabababbbabc'), atEdge, besideWord)),
      )
    expect(fromAll(cramped)).toEqual([[13], [13], [13], [13]])
    expect(fromAll(roomy)).toEqual([[13], [13], [13], [13]])
    let [a, b] = [cramped.start(true, false), roomy.start(true, false)]
    const stride = cramped.endColumn + 1
    let seed = 1
    let [maximum, since] = [0, 0]
    const differs: number[] = []
    for (let at = 0; at < 1000; at++) {
      seed = (seed * 1103515245 + 12345) & 0x7fffffff
      const byte = at % 100 === 99 ? 0x63 : (seed >> 16) % 2 === 0 ? 0x61 : 0x62
      const drops = cramped.drops
      const column = cramped.columns[byte] as number
      const [nextA, nextB] = [cramped.compute(a, column), look(roomy, b, column)]
      if (nextA < 0 !== nextB < 0) differs.push(at)
      if (cramped.drops > drops) since = cramped.built - 2
      maximum = Math.max(maximum, cramped.built - since)
      a = nextA < 0 ? cramped.start(true, false) : nextA
      b = nextB < 0 ? roomy.start(true, false) : nextB
    }
    expect(differs).toEqual([])
    expect(fromAll(cramped)).toEqual(fromAll(roomy))
    expect(maximum).toBeLessThan(30)
    expect(cramped.drops).toBeGreaterThan(10)
    expect(cramped.drops).toBeLessThan(1000 / 10)
    expect(cramped.table.length).toBeLessThanOrEqual(stride * 64)
    expect([roomy.drops, roomy.built > 100, roomy.built < 1000]).toEqual([0, true, true])
  })

  it('has room for at least 64 rows', () => {
    const letters = 'bdfhjlnprtvxzBDFHJLNPRTVXZ'
    const dfa = new Dfa(buildNfa(parseRegex(`^(?:${[...letters].join('|')})a{200}`, false)), 'lines', 0)
    let cursor = dfa.compute(dfa.start(true, false), dfa.columns[0x62] as number)
    const dropped: number[] = []
    for (let at = 0; at < 190; at++) {
      const drops = dfa.drops
      cursor = dfa.compute(cursor, dfa.columns[0x61] as number)
      if (dfa.drops > drops) dropped.push(at)
    }
    expect(dropped).toEqual([62, 125, 188])
    expect(dfa.table.length).toBe(128 * (dfa.endColumn + 1))
  })

  it('drops few but large states too', () => {
    const nfa = buildNfa(parseRegex('^(?:a?){600}b', false))
    for (const [memory, drops] of [
      [0, 100],
      [1 << 17, 3],
      [8 << 20, 0],
    ] as const) {
      const dfa = new Dfa(nfa, 'lines', memory)
      let cursor = dfa.start(true, false)
      for (let at = 0; at < 100; at++) cursor = dfa.compute(cursor, dfa.columns[0x61] as number)
      expect([memory, dfa.drops]).toEqual([memory, drops])
    }
  })

  it('isWordByte accepts ASCII word characters only', () => {
    for (let byte = -1; byte < 256; byte++) {
      expect(isWordByte(byte)).toBe(byte >= 0 && byte < 128 && /\w/.test(String.fromCharCode(byte)))
    }
  })
})

describe('Dfa finds what RegExp finds', () => {
  const lines =
    ',a,ab,aab,abcd,a b,foo,a foo,xfoo,_a,Z z,é,éa,aé,a中,--,a\rb,\r,b\r,x{,G@,`g,/0:,bababab,\u00a0a,a\x00b,\x00'.split(
      ',',
    )
  const patterns = String.raw`
    a a|ab ab|a a* a*? a+?b? a*b (?:a|ab)(?:c|bcd) (?:a|ab)(?:bcd|c)? b.*a b.*?a (?:ab)*$ (?:a|b){2,3}? (?:a|b){2,3}
    ^ $ ^$ ^a a$ ^a+$ a$|^b (?:^|b)a a(?:$|b) \b \B \ba a\b \Ba a\B foo\b \bfoo\b \bfoo|a\b (?:\b|a)b (?:^|\b)(?:a|-)
    é \Bé é\b é\B \bé \B.\B . .. [^a] \w+ \W \d|Z \s a??b? (?:a?b)??a [@-\[\x60-{/:]\b.
    \r \r$ .\r \r. a\r?b \b\r \B\r \r\b \r\B b$ \W$ \B$ ^\B \b$|^\b x\B.
    \b^a \B^ $^ ^\ba a\b$ \b(?:^|-)a (?:$|-)\b a$\b \b\b.\b\B a^b a(?:^|b) .^ a$b (?:a|$)b x?^ a\x00b .\b\x00 \x00$ ^\x00|\x00\b (?:a|\b)\W (?:\b|a)*b (?:a*)*b (?:^|a*)+$ (?:\b-?)*a (?:)*a (?:)+ a(?:)*b (?:){2,}b (?:)*?$ 中 a中$ 中|é c|\b^a`
    .trim()
    .split(/\s+/)
  const ends = [
    ['', '\n'],
    ['', '\r\n'],
    ['x-\n', ''],
    ['x-\r\n', '\n'],
    ['\n', '\r\n-x'],
  ]

  it.each(patterns)('%s', (pattern) => {
    const nfa = buildNfa(parseRegex(pattern, false))
    const reversed = reverseNfa(nfa)
    const theirs = new RegExp(pattern, 'su')
    const tail = new RegExp(pattern, 'gsu')
    const size = (text: string) => encoder.encode(text).length
    const expected: unknown[] = []
    const requests: ((dfas: Dfas) => unknown)[] = []
    for (const line of lines) {
      const bytes = encoder.encode(line)
      const ended = encoder.encode(`${line}\r\nab-é`)
      const entry = firstOn(line, theirs)
      if (entry === undefined) {
        expected.push([line, []])
        requests.push(({ first }) => [line, places(first, bytes, true, false)])
      } else {
        const from = size(line.slice(0, entry.column - 1))
        const to = from + size(entry.match)
        const behind = bytes.subarray(0, to).toReversed()
        expected.push([line, from, to])
        requests.push(({ first, longest }) => {
          const back = places(longest, behind, to === bytes.length, isWordByte(bytes[to] ?? 0))
          return [line, to - (back.at(-1) ?? -1), places(first, bytes, true, false).at(-1)]
        })
      }
      for (let start = 0; start <= line.length; start++) {
        const at = size(line.slice(0, start))
        tail.lastIndex = start
        const isFound = tail.test(line)
        expected.push([line, start, isFound, isFound])
        requests.push(({ rest }) => [
          line,
          start,
          ...[bytes, ended].map((all) => isFoundBelow(rest, all, at, bytes.length)),
        ])
      }
      for (const [before, after] of ends) {
        const text = `${before}${line}${after}`
        const all = encoder.encode(text)
        expected.push([text, naiveSearch(text, theirs).length > 0])
        requests.push(({ whole }) => [text, text !== '' && places(whole, all, true, false).length > 0])
      }
    }
    for (const memory of [0, 8 << 20]) {
      const dfas = {
        first: new Dfa(nfa, 'first', memory),
        longest: new Dfa(reversed, 'longest', memory),
        rest: new Dfa(nfa, 'rest', memory),
        whole: new Dfa(nfa, 'lines', memory),
      }
      expect(requests.map((ask) => ask(dfas))).toEqual(expected)
    }
  })
})

type Dfas = Readonly<Record<'first' | 'longest' | 'rest' | 'whole', Dfa>>

describe('a run of a DFA ends as soon as the result is certain', () => {
  /** The number of table look-ups of a run over a line and its end. */
  const looks = (dfa: Dfa, text: string, besideWord = false): number => {
    const bytes = encoder.encode(text)
    let cursor = dfa.start(!besideWord, besideWord)
    for (let at = 0; at < bytes.length; at++) {
      const next = look(dfa, cursor, dfa.columns[bytes[at] as number] as number)
      cursor = next < 0 && next !== STOP ? ~next : next
      if (next === STOP || cursor === DEAD) return at + 1
    }
    return bytes.length + 1
  }
  const nfa = (pattern: string) => buildNfa(parseRegex(pattern, false))

  it.each([
    ['a+b', 'aac----', 3],
    ['a+b', '-------', 1],
    ['a{3}b', 'aaaab----', 6],
    ['ab|cd', 'acab----', 5],
    ['\\bfoo', 'fo-foo', 3],
    ['a.*b', 'a------', 8],
    ['a\\r?b', 'a\r--', 3],
  ])('goal rest: %s in %j', (pattern, text, count) => {
    expect(looks(new Dfa(nfa(pattern), 'rest'), text)).toBe(count)
  })

  it.each([
    ['ab', 'ab-----', 3],
    ['ab?', '-ab----', 4],
    ['ab|abcd', 'abcd---', 3],
    ['abcd|ab', 'abc----', 4],
    ['a+', 'aaa-aaa', 4],
    ['^a', '-aaaaaa', 1],
    ['a', '-------', 8],
  ])('goal first: %s in %j', (pattern, text, count) => {
    expect(looks(new Dfa(nfa(pattern), 'first'), text)).toBe(count)
  })

  it.each([
    ['ab', 'ba-----', 3],
    ['a+', 'aaa-aaa', 4],
    ['b', '-------', 1],
  ])('goal longest: %s in %j, read backwards', (pattern, text, count) => {
    expect(looks(new Dfa(reverseNfa(nfa(pattern)), 'longest'), text)).toBe(count)
  })
})

describe('loops over a DFA table', () => {
  const nfa = buildNfa(parseRegex('b(?:a|c{2,})*d?|x$', false))
  const lines = ',a,bacca,abacd,bacda,acx,ax-,xacb,bcc,aaaabccccccd,caax,-------,bd'.split(',')

  const others = ['[ac]+', '[ac]+?b|ac*$', 'd??a*', '^b?a'].map((pattern) => buildNfa(parseRegex(pattern, false)))
  const both = [nfa, ...others].flatMap((nfa) => lines.map((line) => [line, nfa] as const))

  it.each(both)('run to the last end and the first start when the table is complete: %j', (line, nfa) => {
    const bytes = encoder.encode(`-${line}-`)
    const from = 1
    const to = bytes.length - 1
    const first = new Dfa(nfa, 'first')
    const begin = first.start(true, false)
    const end = () => runToLastEnd(first.table, first.columns, first.endColumn, bytes, from, to, begin)
    expect(NOT_KNOWN).toBeLessThan(-1)
    expect(end()).toBe(NOT_KNOWN)
    const ends = places(first, bytes.subarray(from, to), true, false)
    expect(end()).toBe(ends.length > 0 ? from + (ends.at(-1) as number) : -1)

    const longest = new Dfa(reverseNfa(nfa), 'longest')
    const beginBack = longest.start(true, false)
    const start = () => runToFirstStart(longest.table, longest.columns, longest.endColumn, bytes, to, from, beginBack)
    expect(start()).toBe(NOT_KNOWN)
    const starts = places(longest, bytes.subarray(from, to).toReversed(), true, false)
    expect(start()).toBe(to - (starts.at(-1) ?? 0))
  })

  it('return NOT_KNOWN for entries that are not computed, including the end of a line', () => {
    const first = new Dfa(nfa, 'first')
    const longest = new Dfa(reverseNfa(nfa), 'longest')
    places(first, encoder.encode('bcccca'), true, false)
    places(longest, encoder.encode('acccc'), true, false)
    const end = (text: string) => {
      const bytes = encoder.encode(text)
      return runToLastEnd(first.table, first.columns, first.endColumn, bytes, 0, bytes.length, first.start(true, false))
    }
    const start = (text: string) => {
      const bytes = encoder.encode(text)
      const begin = longest.start(true, false)
      return runToFirstStart(longest.table, longest.columns, longest.endColumn, bytes, bytes.length, 0, begin)
    }
    expect([end('bc'), end('bcccc'), end('bccccx'), end('bcccca')]).toEqual([NOT_KNOWN, NOT_KNOWN, NOT_KNOWN, 6])
    expect([start('ca'), start('bccccca'), start('cccca')]).toEqual([NOT_KNOWN, NOT_KNOWN, 5])
  })

  const bytes = encoder.encode('aacaca-accaca--aaaccacaa-ccb-caac')
  const bounds = [
    [0, bytes.length],
    [3, 9],
    [4, 4],
    [28, bytes.length],
  ] as const

  it.each(bounds)('stop where the table holds no cursor, from %i to %i', (from, to) => {
    const dfa = new Dfa(nfa, 'lines')
    const { columns } = dfa
    const begin = dfa.start(true, false)
    const cursors = Int32Array.of(begin, 0, 0, 0)
    expect(runForward(dfa.table, columns, bytes, from, to, cursors)).toBe(from)
    expect(cursors[0]).toBe(begin)
    places(dfa, encoder.encode('aac-aa'), true, false)
    const next = (cursor: number, at: number) => dfa.table[cursor + (columns[bytes[at] as number] as number)] as number
    let cursor = begin
    let at = from
    for (; at < to && next(cursor, at) >= 0; at++) cursor = next(cursor, at)
    expect(runForward(dfa.table, columns, bytes, from, to, cursors)).toBe(at)
    expect(cursors[0]).toBe(cursor)

    cursors[0] = cursor = begin
    for (at = to - 1; at >= from && next(cursor, at) >= 0; at--) cursor = next(cursor, at)
    expect(runBackward(dfa.table, columns, bytes, to - 1, from, cursors)).toBe(at)
    expect(cursors[0]).toBe(cursor)
  })

  it.each([
    [[0, 1, 2, 3], 20],
    [[0, 7, 15, 0], 4],
    [[24, 0, 0, 0], 9],
    [[0, 24, 0, 0], 9],
    [[0, 0, 24, 0], 9],
    [[0, 0, 0, 24], 9],
    [[0, 0, 0, 0], 0],
  ] as const)('run in parallel like single runs, from %j for %i steps', (from, steps) => {
    const dfa = new Dfa(nfa, 'lines')
    // Has the entries before the first `b`, and the start of each run.
    places(dfa, bytes.subarray(0, 27), true, false)
    const begins = ['', 'a', 'c', '-'].map((text) => {
      const cursors = Int32Array.of(dfa.start(true, false))
      runForward(dfa.table, dfa.columns, encoder.encode(text), 0, text.length, cursors)
      return cursors[0] as number
    })
    const cursors = Int32Array.from(begins)
    const alone = (to: number) =>
      from.map((at, i) => {
        const cursor = Int32Array.of(begins[i] as number)
        return [runForward(dfa.table, dfa.columns, bytes, at, at + to, cursor) - at, cursor[0]]
      })
    const actual = runFour(dfa.table, dfa.columns, bytes, from, steps, cursors)
    expect(actual).toBe(Math.min(...alone(steps).map(([count]) => count as number)))
    expect([...cursors]).toEqual(alone(actual).map(([, cursor]) => cursor))
  })
})

/** The first match on one line; a carriage return at its end belongs to the line. */
function firstOn(line: string, pattern: RegExp): FoundLine | undefined {
  return naiveSearch(line === '' || line.endsWith('\r') ? `${line}\r\n` : line, pattern)[0]
}

function look(dfa: Dfa, cursor: number, column: number): number {
  const previous = dfa.table[cursor + column] as number
  return previous === UNKNOWN ? dfa.compute(cursor, column) : previous
}

/** The offsets at which a match ends, according to a run over these bytes and the end of the line. */
function places(dfa: Dfa, bytes: Uint8Array, atEdge: boolean, besideWord: boolean): number[] {
  const results: number[] = []
  let cursor = dfa.start(atEdge, besideWord)
  for (let at = 0; at <= bytes.length; at++) {
    // A final line feed is not followed by another line.
    if (at === bytes.length && bytes[at - 1] === 0x0a) break
    const column = at === bytes.length ? dfa.endColumn : (dfa.columns[bytes[at] as number] as number)
    const next = look(dfa, cursor, column)
    if (next === STOP) break
    if (next < 0) results.push(at)
    cursor = next < 0 ? ~next : next
    if (cursor === DEAD) break
  }
  return results
}

/** Whether runs over the rest of a line find a match. After a run without one, the next begins where it stopped. */
function isFoundBelow(dfa: Dfa, bytes: Uint8Array, from: number, lineEnd: number): boolean {
  for (let begin = from; begin <= lineEnd; begin++) {
    let cursor = dfa.start(begin === 0, begin > 0 && isWordByte(bytes[begin - 1] as number))
    for (; cursor !== DEAD; begin++) {
      const column = begin < bytes.length ? (dfa.columns[bytes[begin] as number] as number) : dfa.endColumn
      const next = look(dfa, cursor, column)
      if (next === STOP) break
      if (next < 0) return true
      cursor = next
    }
  }
  return false
}

/** All byte sequences that match a sequence of ranges, in order. */
function expanded(sequence: ByteSequence): string[] {
  let lines: number[][] = [[]]
  for (const [lo, hi] of sequence) {
    lines = lines.flatMap((bytes) => Array.from({ length: hi - lo + 1 }, (_, i) => [...bytes, lo + i]))
  }
  return lines.map((bytes) => bytes.join())
}
