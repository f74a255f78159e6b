import { describe, expect, it } from 'vitest'
import { Dfa } from '../../src/search/dfa.ts'
import { buildNfa } from '../../src/search/nfa.ts'
import { compileQuery } from '../../src/search/query.ts'
import { parseRegex } from '../../src/search/syntax.ts'
import { ownTime } from '../own-time.ts'

const SIZE = 4 << 20
const repeated = (unit: string, size = SIZE): Uint8Array => {
  const one = new TextEncoder().encode(unit)
  const bytes = new Uint8Array(Math.floor(size / one.length) * one.length)
  bytes.set(one)
  for (let filled = one.length; filled < bytes.length; filled *= 2) bytes.copyWithin(filled, 0, filled)
  return bytes
}
const ended = (bytes: Uint8Array): Uint8Array => {
  bytes[bytes.length - 1] = 0x21
  return bytes
}
let seed = 1
const randomBytes = new Uint8Array(SIZE).map(() => {
  seed = (seed * 1103515245 + 12345) & 0x7fffffff
  return (seed >> 16) % 2 === 0 ? 0x61 : 0x62
})
const random = (size: number): Uint8Array => randomBytes.slice(0, size)

describe('a hostile pattern on a hostile line of 4 MB', () => {
  it.each([
    ['(a+)+$', ended(repeated('a')), false],
    ['(.*)*x', repeated('a'), false],
    ['(.*)*$', repeated('a'), true],
    ['\\w+\\s*=>\\s*\\{$', repeated('a'), false],
    ['\\w+\\s*=>\\s*\\{$', repeated('a => '), false],
    ['(?:a?){30}a{30}', repeated('a'), true],
    ['(?:a?){500}a{500}b', repeated('a'), false],
    ['(a|b|ab)*c', random(SIZE), false],
    ['(x+x+)+y', repeated('x'), false],
    ['(\\w|\\d|_)+!$', repeated('a'), false],
    ['\\b(\\w+\\s?)+$', ended(repeated('word ')), false],
    ['foo.*x', repeated('foo'), false],
    ['[ab]*a[ab]{14}$', random(SIZE), true],
    ['[ab]*a[ab]{14}$', ended(random(SIZE)), false],
    ['[ab]*a[ab]{30}$', ended(random(SIZE)), false],
    ['\\b[ab]*a[ab]{25}\\b', ended(random(SIZE)), true],
    ['a[ab]{100}c', random(SIZE), false],
    ['(?:\\p{L}+\\s*)+\\d', repeated('é'), false],
    ['(?i)(?:[a-z]+)*[0-9]', repeated('aB'), false],
  ])('takes less than a second: %s', (query, bytes, expected) => {
    const compiled = compileQuery({ query, mode: 'regex', caseSensitive: true })
    const started = ownTime()
    let match = 0
    compiled.eachLine(bytes, () => {
      match += 1
      return true
    })
    const elapsed = ownTime() - started
    expect(match > 0).toBe(expected)
    // Takes one second on an idle machine; this machine may be busy.
    expect(elapsed).toBeLessThan(3000)
  })

  it('stops at its deadline at any position', () => {
    for (const query of ['[ab]*a[ab]{3000}c?$', 'a{2}[ab]{900}.{900}c', '(a|b)+c', 'ab+c', 'z']) {
      const compiled = compileQuery({ query, mode: 'regex', caseSensitive: true })
      const bytes = random(SIZE)
      const until = ownTime() + 50
      const started = ownTime()
      compiled.eachLine(
        bytes,
        () => true,
        () => ownTime() > until,
      )
      expect(ownTime() - started).toBeLessThan(1500)
    }
  })

  it('makes mayMatch return true if the deadline passes first', () => {
    const compiled = compileQuery({ query: '(a|b)+c', mode: 'regex', caseSensitive: true })
    expect(compiled.mayMatch(random(SIZE), () => true)).toBe(true)
    expect(compiled.mayMatch(random(SIZE))).toBe(false)
  })
})

describe('Dfa', () => {
  it.each(['(a+)+$', '(.*)*x', '\\w+\\s*=>\\s*\\{$', '(?:a?){30}a{30}b', '(a|b|ab)*c', '\\b(\\w+\\s?)+$'])(
    'creates no more states for twice the text: %s',
    (pattern) => {
      const stateCounts = [1000, 2000, 64_000].map((size) => statesMade(pattern, repeated('a => b', size)))
      expect(stateCounts[1]).toBe(stateCounts[0])
      expect(stateCounts[2]).toBe(stateCounts[0])
    },
  )

  it('creates at most one state per byte, and drops them to stay within its memory', () => {
    const dfa = new Dfa(buildNfa(parseRegex('[ab]*a[ab]{30}c', false)), 'lines', 1 << 16)
    const bytes = random(50_000)
    let cursor = dfa.start(true, false)
    for (const byte of bytes) cursor = dfa.compute(cursor, dfa.columns[byte] as number)
    expect(dfa.built).toBeLessThanOrEqual(bytes.length + dfa.drops + 1)
    expect(dfa.drops).toBeGreaterThan(10)
    expect(dfa.table.byteLength).toBeLessThan(1 << 18)
  })
})

function statesMade(pattern: string, bytes: Uint8Array): number {
  const dfa = new Dfa(buildNfa(parseRegex(pattern, false)), 'first')
  let cursor = dfa.start(true, false)
  for (const byte of bytes) {
    const column = dfa.columns[byte] as number
    const previous = dfa.table[cursor + column] as number
    const next = previous < 0 ? dfa.compute(cursor, column) : previous
    cursor = next < 0 ? dfa.start(true, false) : next
  }
  return dfa.built
}
