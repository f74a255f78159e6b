import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLineMatcher } from '../../src/search/line-matcher.ts'
import { buildNfa, reverseNfa } from '../../src/search/nfa.ts'
import { createSimulation } from '../../src/search/simulation.ts'
import { parseRegex } from '../../src/search/syntax.ts'
import { times } from '../counts.ts'
import { patterns, texts } from './arbitraries.ts'
import { naiveSearch } from './reference.ts'

const encoder = new TextEncoder()
const tick = (): void => {}

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
          const found = forward.run(bytes, range, 0, bytes.length, { anywhere: true, stop: 'first' }, tick)
          const start = backward.run(bytes, range, 0, bytes.length, { anywhere: true, stop: 'last' }, tick)
          if (line === '') continue
          expect(found !== -1).toBe(expected !== undefined)
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
      { numRuns: Number(process.env.SEARCH_RUNS ?? times(40, 100)) },
    )
  })

  it.each(['[ab]*a[ab]{12}$', 'a[ab]{40}b', '\\b[ab]*a[ab]{15}\\b', '(?:a.?){0,3}b.{20}a$', '^(?:a|ba)*b[ab]{13}a'])(
    'takes over from an automaton without memory, with the same lines and starts: %s',
    (pattern) => {
      const text = randomLines(60_000)
      const roomy = createLineMatcher(parseRegex(pattern, false), 256 << 20)
      const cramped = createLineMatcher(parseRegex(pattern, false), 0)
      expect(linesOf(cramped, text)).toEqual(linesOf(roomy, text))
    },
  )
})

function linesOf(matcher: ReturnType<typeof createLineMatcher>, bytes: Uint8Array): string[] {
  const found: string[] = []
  for (let from = 0; from < bytes.length; ) {
    const at = matcher.scan(bytes, from, undefined)
    if (at === -1) break
    const lineStart = bytes.lastIndexOf(0x0a, at - 1) + 1
    const lineFeed = bytes.indexOf(0x0a, at)
    const lineEnd = lineFeed === -1 ? bytes.length : lineFeed
    const end = matcher.matchEnd(bytes, lineStart, lineEnd, undefined)
    found.push(`${lineStart}+${matcher.matchStart(bytes, lineStart, lineEnd, end, undefined) - lineStart}`)
    // A run that stopped found nothing up to where it did, and the next may begin there.
    let rest = ~lineStart
    while (rest < 0 && ~rest < lineEnd) rest = matcher.resume(bytes, ~rest, ~rest === lineStart, undefined)
    if (rest < 0 || rest > lineEnd) found.push('resume disagrees')
    from = lineEnd + 1
  }
  if (matcher.exists(bytes, 0, undefined) !== found.length > 0) found.push('exists disagrees')
  return found
}

/** Lines of `a` and `b` up to 200 long, the same each time. */
function randomLines(length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let seed = 7
  for (let i = 0; i < length; i++) {
    seed = (seed * 1103515245 + 12345) & 0x7fffffff
    bytes[i] = seed % 101 === 0 ? 0x0a : (seed >> 16) % 2 === 0 ? 0x61 : 0x62
  }
  return bytes
}
