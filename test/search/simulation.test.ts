import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { deadlineReached } from '../../src/search/deadline.ts'
import { LineMatcher } from '../../src/search/line-matcher.ts'
import { buildNfa, reverseNfa } from '../../src/search/nfa.ts'
import { createSimulation } from '../../src/search/simulation.ts'
import { parseRegex } from '../../src/search/syntax.ts'
import { times } from '../counts.ts'
import { patterns, texts } from './arbitraries.ts'
import { naiveSearch } from './reference.ts'

const encoder = new TextEncoder()
const tick = (): void => {}
const HERE_LAST = { anywhere: false, stop: 'last' } as const

describe('createSimulation', () => {
  it('finds what RegExp finds on a line, forwards and backwards', () => {
    fc.assert(
      fc.property(patterns, texts, (pattern, text) => {
        const nfa = buildNfa(parseRegex(pattern, false))
        const forward = createSimulation(nfa, false)
        const backward = createSimulation(reverseNfa(nfa), true)
        fc.pre(forward !== undefined && backward !== undefined)
        if (forward === undefined || backward === undefined) return
        for (const line of text.split('\n').slice(0, 3)) {
          const bytes = encoder.encode(line)
          const range = { lineStart: 0, lineEnd: bytes.length }
          const [expected] = naiveSearch(line, new RegExp(pattern, 'su'))
          const entry = forward.run(bytes, range, 0, bytes.length, { anywhere: true, stop: 'first' }, tick)
          const start = backward.run(bytes, range, 0, bytes.length, { anywhere: true, stop: 'last' }, tick)
          if (line === '') continue
          expect(entry !== -1).toBe(expected !== undefined)
          if (expected === undefined) {
            expect(start).toBe(-1)
            continue
          }
          expect(start).toBe(encoder.encode(line.slice(0, expected.column - 1)).length)
          const end = forward.run(bytes, range, start, bytes.length, { anywhere: false, stop: 'last' }, tick)
          expect(end - start).toBeGreaterThanOrEqual(encoder.encode(expected.match).length)
          expect(backward.run(bytes, range, 0, end, { anywhere: false, stop: 'last' }, tick)).toBe(start)
        }
      }),
      { numRuns: Number(process.env.SEARCH_RUNS ?? times(5, 100)) },
    )
  })

  // Wide enough for several words of bits, with every kind of move: up, down, near, far, single and shared.
  it.each([
    ['a{9}\\b(?:-{60}|b{60})', `${'a'.repeat(9)}${'-'.repeat(70)}`],
    ['(?:-{40}|b{40})\\b(?:a{33}|é{20})', `${'-'.repeat(40)}${'a'.repeat(33)}${'b'.repeat(40)}${'é'.repeat(20)}`],
    ['\\b(?:[ab]{70}|c{40}-)\\B', `-${'ab'.repeat(36)}c `],
    ['\\b(?:[ab]{70}|c{40}-)\\B', `a-${'c'.repeat(41)}-${'c'.repeat(40)}-+`],
    ['(?:a(?:a(?:a(?:a(?:a(?:a(?:a|c)?)?)?)?)?)?|-{70})?b', `bc${'a'.repeat(9)}bcab`],
    ['(?:a{35}b|c)*d$', `${'a'.repeat(30)}${`${'a'.repeat(35)}bc`.repeat(2)}d`],
    ['^(?:a{40}|b)(?:c|b{33}c)+', `b${'b'.repeat(33)}cc-${'a'.repeat(40)}c`],
    ['^(?:a{40}|b)(?:c|b{33}c)+$', `${'a'.repeat(40)}${'b'.repeat(33)}c`],
    ['(?:ab|cd?|efg|ghij|ijklm|k{7}){12}', `ab${'abcdefgghijijklmkkkkkkkccabcd'.repeat(2)}`],
    ['[^\\x00-\\x7f]{20}x{30}\\B', `é中😀${'é中😀'.repeat(7)}${'x'.repeat(31)}`],
    ['(?:\\B[é-]){31}$', `aé-${'é-'.repeat(17)}`],
    ['(?:^|\\b|-)(?:a\\b-|b\\B-){33}(?:$|a)', `${'a-'.repeat(40)}`],
    ['(?:a(?:x{70})?c){2}', `-acac-a${'x'.repeat(70)}cac`],
    ['a(?:x{70})?c', `x-ac${'x'.repeat(70)}c`],
    ['é|中😀', 'x-é中-中😀'],
    ['a{32}|b{31}|c{33}', `${'a'.repeat(31)}${'b'.repeat(30)}${'c'.repeat(35)}`],
    ['a{64}', 'a'.repeat(63)],
    ['\\B', 'é中À-À'],
    ['a+|[d-f]', 'bcghb'],
    ['^a|b$', 'b\0a\0b\0'],
    ['(?:[ab]{31}c){2}', `${'ab'.repeat(16)}c${'b'.repeat(31)}c`],
  ])('finds it with many states: %s', (pattern, line) => {
    const nfa = buildNfa(parseRegex(pattern, false))
    const forward = createSimulation(nfa, false)
    const backward = createSimulation(reverseNfa(nfa), true)
    const bytes = encoder.encode(line)
    const range = { lineStart: 0, lineEnd: bytes.length }
    const all = matchesIn(line, pattern)
    const ends = (from: number) => all.filter(([start]) => start === from).map(([, end]) => end)
    const starts = (to: number) => all.filter(([, end]) => end === to).map(([start]) => start)
    const anyFirst = { anywhere: true, stop: 'first' } as const
    const anyLast = { anywhere: true, stop: 'last' } as const
    for (let at = 0; at <= bytes.length; at += 1 + (at % 5)) {
      const after = all.filter(([start]) => start >= at)
      const before = all.filter(([, end]) => end <= at)
      const first = forward?.run(bytes, range, at, bytes.length, anyFirst, tick)
      expect(first).toBe(after.length > 0 ? Math.min(...after.map(([, end]) => end)) : -1)
      const last = forward?.run(bytes, range, at, bytes.length, anyLast, tick)
      expect(last).toBe(Math.max(-1, ...after.map(([, end]) => end)))
      expect(forward?.run(bytes, range, at, bytes.length, HERE_LAST, tick)).toBe(Math.max(-1, ...ends(at)))
      const leftmost = backward?.run(bytes, range, 0, at, anyLast, tick)
      expect(leftmost).toBe(before.length > 0 ? Math.min(...before.map(([start]) => start)) : -1)
      const rightmost = backward?.run(bytes, range, 0, at, anyFirst, tick)
      expect(rightmost).toBe(Math.max(-1, ...before.map(([start]) => start)))
      const longest = starts(at)
      const from = backward?.run(bytes, range, 0, at, HERE_LAST, tick)
      expect(from).toBe(longest.length > 0 ? Math.min(...longest) : -1)
    }
  })

  it.each([
    ['few states', '[ab]*c', 'ab'.repeat(10_000), 4],
    ['many conditions', `(?:${'\\b|'.repeat(1000)}-)(?:\\b){6000}c`, 'a-'.repeat(20), 39],
    ['moves to all later states', '(?:a?){300}c', 'a'.repeat(60), 59],
    ['words of bits that are shifted together', '[ab]{9000}c', 'ab'.repeat(1000), 12],
  ])('ticks in proportion to the work for a byte: %s', (_, pattern, line, least) => {
    const bytes = encoder.encode(line)
    const range = { lineStart: 0, lineEnd: bytes.length }
    const simulation = createSimulation(buildNfa(parseRegex(pattern, false)), false)
    let request = 0
    expect(simulation?.run(bytes, range, 0, bytes.length, { anywhere: true, stop: 'last' }, () => request++)).toBe(-1)
    expect(request).toBeGreaterThanOrEqual(least)
    expect(request).toBeLessThanOrEqual(4 * least)
  })

  it('is undefined if the moves of one byte exceed the limit', () => {
    const root = parseRegex(`^(?:${'a|'.repeat(1900)}a)(?:x?){9000}y`, false)
    expect(createSimulation(buildNfa(root), false)).toBeUndefined()
  })

  it.each(['[ab]*a[ab]{12}$', 'a[ab]{40}b', '\\b[ab]*a[ab]{15}\\b', '(?:a.?){0,3}b.{20}a$', '^(?:a|ba)*b[ab]{13}a'])(
    'takes over from a DFA without memory, with the same lines and starts: %s',
    (pattern) => {
      const text = randomLines(60_000)
      const roomy = new LineMatcher(parseRegex(pattern, false), 256 << 20)
      const cramped = new LineMatcher(parseRegex(pattern, false), 0)
      expect(linesOf(cramped, text)).toEqual(linesOf(roomy, text))
    },
  )
})

describe.each(['^x+$', '\\bx+$', '^x+\\b'])('LineMatcher.exists: %s', (pattern) => {
  const lines = Array.from({ length: 60 }, (_, i) => `y${'x'.repeat(5 + ((i * 7) % 40))}`)
  /** The result of a new matcher, which must give it again with a warm table. */
  const existsFrom = (from: number, all: readonly string[]) => {
    const matcher = new LineMatcher(parseRegex(pattern, false))
    const bytes = encoder.encode(all.join('\n'))
    const result = matcher.exists(bytes, from, undefined)
    expect(matcher.exists(bytes, from, undefined)).toBe(result)
    return result
  }
  const exists = (...all: readonly string[]) => existsFrom(0, all)

  it('finds a matching line at any position, and reports none if no line matches', () => {
    expect(exists(...lines)).toBe(false)
    expect(exists(...lines, '')).toBe(false)
    for (let i = 0; i < lines.length; i++) {
      const results = lines.with(i, 'xxx')
      expect(exists(...results)).toBe(true)
      expect(exists(...results.slice(0, i), ...lines.slice(i))).toBe(false)
      // The search may begin after the matching line.
      const behind = results.slice(0, i + 1).join('\n').length + 1
      if (i + 1 < lines.length) expect(existsFrom(behind, results)).toBe(false)
      expect(existsFrom(behind - 4, results)).toBe(true)
    }
  })

  it.each([
    ['y'.repeat(2000), 'xx'],
    ['xx', 'y'.repeat(2000)],
    ['y', 'y'.repeat(700), 'y', 'y'.repeat(600), 'xx'],
    ['y', 'xx', 'y'.repeat(1300), 'y'],
    ['y'.repeat(600), 'y'.repeat(600), 'y'.repeat(600), 'xx', 'yy'],
    ['y'.repeat(300), 'y'.repeat(300), 'y'.repeat(300), 'xx', 'y'.repeat(300)],
  ])('finds a match among long lines', (...all) => {
    expect(exists(...all)).toBe(true)
    expect(exists(...all, '')).toBe(true)
    expect(exists(...all.map((line) => (line === 'xx' ? 'xy' : line)))).toBe(false)
  })
})

describe('LineMatcher finds the bounds of the leftmost match, with a cold and a warm table', () => {
  const lines = ['']
  for (let i = 0; i < 85; i++) lines.push(...[...'ab-'].map((char) => `${lines[i]}${char}`))

  it.each([
    ...['^ab|b', '^a.*b', 'a$|b', '\\ba', '\\Ba', 'a\\b', 'a\\B', '\\b-|b', '^$|-b'],
    // Elsewhere, a longer match could end here.
    ...['aab$|b', 'aab\\b|b', 'aab\\B|b', 'a-\\b|-', 'a-\\B|-', '^aab|b', '\\baab|b', '\\Baab|b', 'ab.*a|b'],
  ])('%s', (pattern) => {
    const reference = new RegExp(pattern)
    const matcher = new LineMatcher(parseRegex(pattern, false))
    const entries = (line: string) => {
      const bytes = encoder.encode(line)
      const end = matcher.matchEnd(bytes, 0, bytes.length, undefined)
      let rest = -1
      while (rest < 0 && ~rest < bytes.length) rest = matcher.resume(bytes, ~rest, rest === -1, undefined)
      if (rest < 0) expect(~rest).toBe(bytes.length)
      const start = end === -1 ? -1 : matcher.matchStart(bytes, 0, bytes.length, end, undefined)
      return [line, start, end, line === '' || rest >= 0]
    }
    const target = lines.map((line) => {
      const match = reference.exec(line)
      return [
        line,
        match?.index ?? -1,
        match === null ? -1 : match.index + match[0].length,
        line === '' || match !== null,
      ]
    })
    expect(lines.map(entries)).toEqual(target)
    expect(lines.map(entries)).toEqual(target)
    expect(lines.toReversed().map(entries)).toEqual(target.toReversed())
  })
})

describe('deadline of LineMatcher', () => {
  const yes = () => true
  /** Each method, called for bytes of one line. */
  const waysOf = (pattern: string, bytes: Uint8Array, deadline: (() => boolean) | undefined) => {
    const matcher = new LineMatcher(parseRegex(pattern, false))
    const end = bytes.length
    return {
      exists: () => matcher.exists(bytes, 0, deadline),
      scan: () => matcher.scan(bytes, 0, deadline),
      resume: () => matcher.resume(bytes, 0, true, deadline),
      matchEnd: () => matcher.matchEnd(bytes, 0, end, deadline),
      matchStart: () => matcher.matchStart(bytes, 0, end, end, deadline),
    }
  }

  it.each([1, 255, 256, 500, 1 << 16])('is not checked for %d bytes that need one run', (length) => {
    const line = new Uint8Array(length).fill(0x78)
    const { exists, scan, resume, matchEnd, matchStart } = waysOf('^x+$', line, yes)
    if (length < 512) expect(exists()).toBe(true)
    expect([scan(), resume(), matchEnd(), matchStart()]).toEqual([length, length, length, 0])
  })

  it.each(['exists', 'scan', 'resume', 'matchEnd', 'matchStart'] as const)('is checked in longer lines: %s', (way) => {
    const line = new Uint8Array((1 << 16) + 10).fill(0x78)
    let question = 0
    const result = waysOf('^x+$', line, () => ++question < 0)[way]()
    expect(question).toBe(1)
    expect(waysOf('^x+$', line, undefined)[way]()).toBe(result)
    expect(thrownBy(waysOf('^x+$', line, yes)[way])).toBe(deadlineReached)
  })

  it('is checked in each of four parallel runs', () => {
    const lines = encoder.encode('y\n'.repeat(400))
    const matcher = new LineMatcher(parseRegex('^x+$', false))
    expect(matcher.exists(lines, 0, () => false)).toBe(false)
    expect(thrownBy(() => matcher.exists(lines, 0, yes))).toBe(deadlineReached)
  })

  it('is checked for every 128 computed transitions', () => {
    const line = randomLines(3000).filter((byte) => byte !== 0x0a)
    const matcher = new LineMatcher(parseRegex('[ab]*a[ab]{12}c', false))
    let questions = 0
    expect(matcher.scan(line, 0, () => ++questions < 0)).toBe(-1)
    expect(questions).toBeGreaterThan(5)
    expect(questions).toBeLessThanOrEqual(line.length / 128)
    const another = new LineMatcher(parseRegex('[ab]*a[ab]{12}c', false))
    expect(thrownBy(() => another.scan(line, 0, yes))).toBe(deadlineReached)
    // No more are computed after simulation has taken over.
    const cramped = new LineMatcher(parseRegex('[ab]*a[ab]{12}c', false), 0)
    questions = 0
    expect(cramped.scan(line, 0, () => ++questions < 0)).toBe(-1)
    expect(questions).toBeLessThan(3)
  })
})

describe('LineMatcher without memory', () => {
  const text = randomLines(12_000).map((byte, i) => (i % 29 === 0 && byte !== 0x0a ? 0x20 : byte))
  const patterns = ['[ab]*a[ab]{12}c?$', '\\b[ab]*a[ab]{12}\\b', '^(?:a|b)*b[ab]{13}a']
  /** A matcher that has switched to simulation, and one that never does. */
  const both = (pattern: string) => {
    const cramped = new LineMatcher(parseRegex(pattern, false), 0)
    linesOf(cramped, text)
    // A DFA would not check the deadline for so few bytes.
    expect(thrownBy(() => cramped.scan(new Uint8Array(20_000).fill(0x63), 0, () => true))).toBe(deadlineReached)
    return { cramped, roomy: new LineMatcher(parseRegex(pattern, false), 256 << 20) }
  }

  it.each(patterns)('resumes anywhere in a line, and reports where nothing matches: %s', (pattern) => {
    const { cramped, roomy } = both(pattern)
    for (let lineStart = 0; lineStart < 3000; ) {
      const lineEnd = text.indexOf(0x0a, lineStart)
      for (let from = lineStart; from < lineEnd; from += 3) {
        const atLineStart = from === lineStart
        let rest = ~from
        // A run that stops without a match rules out one before that offset; the next begins there.
        while (rest < 0 && ~rest < lineEnd) rest = roomy.resume(text, ~rest, ~rest === lineStart, undefined)
        const isMatch = rest >= 0
        const at = cramped.resume(text, from, atLineStart, undefined)
        expect(at >= 0).toBe(isMatch)
        if (!isMatch) expect(~at).toBe(lineEnd + 1)
      }
      const end = roomy.matchEnd(text, lineStart, lineEnd, undefined)
      expect(cramped.matchEnd(text, lineStart, lineEnd, undefined) === -1).toBe(end === -1)
      if (end !== -1) {
        const start = roomy.matchStart(text, lineStart, lineEnd, end, undefined)
        expect(cramped.matchStart(text, lineStart, lineEnd, end, undefined)).toBe(start)
      }
      lineStart = lineEnd + 1
    }
    const last = encoder.encode('cc\r\nc')
    expect([0, 1, 4].map((from) => ~cramped.resume(last, from, from !== 1, undefined))).toEqual([4, 4, 5])
  })

  it('finds empty lines, but none after the last line end', () => {
    const cramped = new LineMatcher(parseRegex('^(?:[ab]*a[ab]{12}c)?$', false), 0)
    linesOf(cramped, text)
    const scan = (lines: string) => cramped.scan(encoder.encode(lines), 0, undefined)
    expect([scan('c\n'), scan('c\n\n'), scan('cc\n\nc'), scan('\nc'), scan('cc\nc')]).toEqual([-1, 2, 3, 0, -1])
    const exists = (lines: string) => cramped.exists(encoder.encode(lines), 0, undefined)
    expect([exists('c\n'), exists('c\n\n'), exists('c\n\nc')]).toEqual([false, true, true])
  })

  it('checks the deadline during simulation', () => {
    const { cramped } = both('[ab]*a[ab]{12}c?$')
    const line = new Uint8Array(20_000).fill(0x63)
    expect(cramped.scan(line, 0, undefined)).toBe(-1)
    const runs: (() => unknown)[] = [
      () => cramped.scan(line, 0, () => true),
      () => cramped.resume(line, 0, true, () => true),
      () => cramped.matchEnd(line, 0, line.length, () => true),
    ]
    for (const run of runs) expect(thrownBy(run)).toBe(deadlineReached)
  })

  it('keeps its DFA when states are created slowly', () => {
    const lines = (last: string) => encoder.encode(`${`a${'b'.repeat(100)}`.repeat(80)}${last}\n`.repeat(8))
    for (const [query, expected] of [
      ['^(?:ab*){80}c', true],
      ['^(?:ab*){80}d', false],
    ] as const) {
      const cramped = new LineMatcher(parseRegex(query, false), 0)
      expect(cramped.exists(lines('c'), 0, undefined)).toBe(expected)
      expect(cramped.scan(lines('c'), 0, undefined) !== -1).toBe(expected)
      // A simulation would check the deadline.
      expect(cramped.scan(new Uint8Array(20_000).fill(0x65), 0, () => true)).toBe(-1)
    }
  })

  it('restarts a part of the text whose states were dropped', () => {
    const line = (as: number, last: string) => `${`a${'b'.repeat(100)}`.repeat(as)}${last}\n`
    const exists = (...lines: readonly string[]) =>
      new LineMatcher(parseRegex('^\\b(?:ab*){80}c', false), 0).exists(encoder.encode(lines.join('')), 0, undefined)
    // The last of the four parts is the shortest; the states are dropped in the remainder of the first.
    const others = [line(79, 'c'), `${'d'.repeat(8000)}\n`, line(80, 'd'), `${'d'.repeat(8)}\n`] as const
    expect(exists(...others)).toBe(false)
    expect(exists(...others.with(2, line(80, 'c')))).toBe(true)
    expect(exists(...others.with(2, `${'d'.repeat(7000)}\n${line(80, 'c')}`))).toBe(true)
    expect(exists(...others.with(1, line(80, 'c')))).toBe(true)
  })

  it('keeps its DFA when a simulation would take too much memory', () => {
    const root = parseRegex('(?:a?){1500}b', false)
    expect(createSimulation(buildNfa(root), false)).toBeUndefined()
    const matcher = new LineMatcher(root, 0)
    expect(matcher.exists(encoder.encode('aaaa\naaab\n'), 0, undefined)).toBe(true)
    expect(matcher.scan(encoder.encode('aac\na'), 0, undefined)).toBe(-1)
  })

  it('keeps its DFA when only the backward simulation would take too much memory', () => {
    const root = parseRegex('(?:b?){350}(?:[ACEGIKMOQSUWYacegikmoqsuwy]?){120}z', false)
    const nfa = buildNfa(root)
    expect(createSimulation(nfa, false)).toBeDefined()
    expect(createSimulation(reverseNfa(nfa), true)).toBeUndefined()
    const matcher = new LineMatcher(root, 0)
    const line = 'b'.repeat(40)
    const bytes = encoder.encode(`${line}\n${line}az\n`)
    expect(matcher.exists(bytes, 0, undefined)).toBe(true)
    expect(matcher.matchEnd(bytes, 41, 83, undefined)).toBe(83)
    expect(matcher.matchStart(bytes, 41, 83, 83, undefined)).toBe(41)
    expect(matcher.scan(encoder.encode(`${line}\n${line}a\n`), 0, undefined)).toBe(-1)
  })
})

/** Start and end, in bytes, of every match of a pattern in a line: RegExp tested on each pair of offsets. */
function matchesIn(line: string, pattern: string): (readonly [number, number])[] {
  const places = [0]
  for (const char of line) places.push((places.at(-1) as number) + encoder.encode(char).length)
  const last = places.length - 1
  const matches: (readonly [number, number])[] = []
  for (let end = 0; end <= last; end++) {
    const ending = `(?:${pattern})(?=.{${last - end}}$)`
    if (!new RegExp(ending, 'su').test(line)) continue
    for (let start = 0; start <= end; start++) {
      if (new RegExp(`(?<=^.{${start}})${ending}`, 'su').test(line)) {
        matches.push([places[start] as number, places[end] as number])
      }
    }
  }
  return matches
}

function thrownBy(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  return undefined
}

function linesOf(matcher: LineMatcher, bytes: Uint8Array): string[] {
  const matches: string[] = []
  for (let from = 0; from < bytes.length; ) {
    const at = matcher.scan(bytes, from, undefined)
    if (at === -1) break
    const lineStart = bytes.lastIndexOf(0x0a, at - 1) + 1
    const lineFeed = bytes.indexOf(0x0a, at)
    const lineEnd = lineFeed === -1 ? bytes.length : lineFeed
    const end = matcher.matchEnd(bytes, lineStart, lineEnd, undefined)
    matches.push(`${lineStart}+${matcher.matchStart(bytes, lineStart, lineEnd, end, undefined) - lineStart}`)
    // A run that stops without a match rules out one before that offset; the next begins there.
    let rest = ~lineStart
    while (rest < 0 && ~rest < lineEnd) rest = matcher.resume(bytes, ~rest, ~rest === lineStart, undefined)
    if (rest < 0 || rest > lineEnd) matches.push('resume disagrees')
    from = lineEnd + 1
  }
  if (matcher.exists(bytes, 0, undefined) !== matches.length > 0) matches.push('exists disagrees')
  return matches
}

/** Deterministic lines of `a` and `b`, up to 200 long. */
function randomLines(length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let seed = 7
  for (let i = 0; i < length; i++) {
    seed = (seed * 1103515245 + 12345) & 0x7fffffff
    bytes[i] = seed % 101 === 0 ? 0x0a : (seed >> 16) % 2 === 0 ? 0x61 : 0x62
  }
  return bytes
}
