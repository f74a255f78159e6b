import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findMatches } from '../../src/search/matches.ts'
import { compileQuery } from '../../src/search/query.ts'

const encoder = new TextEncoder()
const literal = (query: string) => compileQuery({ query, mode: 'literal', caseSensitive: true })
const find = (query: string, text: string, options: Partial<Parameters<typeof findMatches>[2]> = {}) =>
  findMatches(literal(query), encoder.encode(text), { contextLines: 0, maxMatches: 100, snippetUnits: 40, ...options })

describe('findMatches', () => {
  it('counts lines and columns of the decoded text', () => {
    const text = 'one\n\n😀é x\r\nx x\nlast x'
    expect(find('x', text).matches.map(({ line, column, snippet }) => [line, column, snippet])).toEqual([
      [3, 5, '😀é x'],
      [4, 1, 'x x'],
      [5, 6, 'last x'],
    ])
    expect(find('x', `\ufeffx`).matches).toEqual([{ line: 1, column: 1, snippet: 'x', before: [], after: [] }])
  })

  it('stops at maxMatches and reports truncated only then', () => {
    expect(find('x', 'x\nx\nx\n', { maxMatches: 2 })).toMatchObject({ truncated: true, matches: { length: 2 } })
    expect(find('x', 'x\nx\n', { maxMatches: 2 })).toMatchObject({ truncated: false, matches: { length: 2 } })
    expect(find('x', 'x\n', { maxMatches: 0 })).toEqual({ truncated: true, stopped: false, matches: [] })
    expect(find('y', 'x\n')).toEqual({ truncated: false, stopped: false, matches: [] })
  })

  it('returns each matching empty line once', () => {
    const query = compileQuery({ query: '^$', mode: 'regex', caseSensitive: true })
    const options = { contextLines: 0, maxMatches: 9, snippetUnits: 40 }
    const { matches } = findMatches(query, encoder.encode('a\n\n\nb\n\n'), options)
    expect(matches.map(({ line, column, snippet }) => [line, column, snippet])).toEqual([
      [2, 1, ''],
      [3, 1, ''],
      [5, 1, ''],
    ])
  })

  it('treats a byte order mark inside the text as a character', () => {
    const results = [{ line: 2, column: 2, snippet: '\ufeffx', before: ['a'], after: ['\ufeff'] }]
    expect(find('x', 'a\n\ufeffx\n\ufeff\n', { contextLines: 1 }).matches).toEqual(results)
  })

  it('searches for one match more than maxMatches', () => {
    const query = literal('x')
    let visited = 0
    const counting: typeof query = {
      ...query,
      eachLine: (bytes, visit) =>
        query.eachLine(bytes, (hit) => {
          visited += 1
          return visit(hit)
        }),
    }
    const options = { contextLines: 0, maxMatches: 2, snippetUnits: 40 }
    expect(findMatches(counting, encoder.encode('x\n'.repeat(9)), options)).toMatchObject({ truncated: true })
    expect(visited).toBe(3)
  })

  it('stops at the deadline and reports truncated', () => {
    const text = `x\n${'y\n'.repeat(200_000)}x\n`
    expect(find('x', text, { deadline: () => true })).toMatchObject({ truncated: true, matches: { length: 1 } })
  })

  it('returns up to contextLines lines around a match', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('', 'x', 'a', 'é😀', 'bx'), fc.constantFrom('\n', '\r\n')), { maxLength: 8 }),
        fc.constantFrom('', 'x', 'b'),
        fc.nat(3),
        (ended, last, contextLines) => {
          const lines = [...ended.map(([line]) => line), ...(last === '' ? [] : [last])]
          const expected = lines.flatMap((line, i) =>
            line.includes('x')
              ? [
                  {
                    line: i + 1,
                    column: line.indexOf('x') + 1,
                    snippet: line,
                    before: lines.slice(Math.max(0, i - contextLines), i),
                    after: lines.slice(i + 1, i + 1 + contextLines),
                  },
                ]
              : [],
          )
          expect(find('x', ended.flat().join('') + last, { contextLines }).matches).toEqual(expected)
        },
      ),
      { numRuns: 500 },
    )
  })

  it('cuts long lines around the match, never inside a character', () => {
    const filler = fc.array(fc.constantFrom('a', 'é', '中', '😀'), { maxLength: 80 }).map((chars) => chars.join(''))
    fc.assert(
      fc.property(
        filler,
        fc.constantFrom('x', 'xyz', 'x'.repeat(50)),
        filler,
        fc.integer({ min: 8, max: 60 }),
        (before, match, after, snippetUnits) => {
          const line = before + match + after
          const [entry] = find(match, `${line}\n${line}\n`, { snippetUnits, contextLines: 1 }).matches
          const { snippet, column, after: next } = entry as NonNullable<typeof entry>
          expect(column).toBe(before.length + 1)
          expect(snippet.length).toBeLessThanOrEqual(snippetUnits)
          expect(snippet).not.toContain('\ufffd')
          if (line.length <= snippetUnits) expect(snippet).toBe(line)
          else {
            expect(snippet.length).toBeGreaterThan(snippetUnits - 4)
            expect(line).toContain(snippet.replace(/^…|…$/g, ''))
            expect(snippet.startsWith('…') || line.startsWith(snippet.slice(0, -1))).toBe(true)
            expect(snippet).toContain(match.slice(0, snippetUnits - 3))
            expect(next[0]?.endsWith('…')).toBe(true)
            expect(line.startsWith((next[0] as string).slice(0, -1))).toBe(true)
          }
          expect((next[0] as string).length).toBeLessThanOrEqual(snippetUnits)
        },
      ),
      { numRuns: 500 },
    )
  })

  it.each([
    ['abcdefghijkx', 12, 'abcdefghijkx'],
    ['éééééx', 6, 'éééééx'],
    ['éééééx', 5, '…ééx'],
    // Room for six units between the ellipses; a third of the rest is before the match.
    ['aaaaaaaaxbbbbbbbb', 8, '…axbbbb…'],
    ['aaaaaaaaxyzbbbbbbbb', 8, '…axyzbb…'],
    ['aaaaxxxxxxxxbbbb', 8, '…xxxxxx…'],
    ['aaaa😀x😀bbbb', 8, '…x😀bbb…'],
    ['aaaa😀x😀bbbb', 12, '…a😀x😀bbbb'],
    ['中中中中x中中中中中', 8, '…中x中中中中…'],
    ['xbbbbbbbbbbbbbbb', 8, 'xbbbbb…'],
    ['aaaxbbbbbbbbbbbbbbb', 8, '…axbbbb…'],
    ['axbbbbbbbbbbbbbbb', 8, 'axbbbb…'],
    ['aaaaaaaaaaaaaaax', 8, '…aaaaax'],
    ['aaaaaaaaaaaaaxbb', 8, '…aaaxbb'],
    ['aaaa😀aaa😀aaaxbb', 8, '…aaaxbb'],
    ['aaaaaaaaaaaaxbbbb', 8, '…axbbbb'],
    ['aaaaaaaaaaaaxbbbbb', 8, '…axbbbb…'],
    // At least a part of the match is always shown.
    ['aaaaxbbbb', 4, '…xb…'],
    ['aaaaxbbbb', 3, '…x…'],
    ['aaaaxbbbb', 1, '…x…'],
  ])('cuts %s to %i units around the match', (line, snippetUnits, expected) => {
    const match = /x[xyz]*/.exec(line)?.[0] ?? ''
    expect(find(match, `a\n${line}\nb`, { snippetUnits }).matches.map(({ snippet }) => snippet)).toEqual([expected])
  })

  it.each([
    ['abcdefgh', 8, 'abcdefgh'],
    ['abcdefghi', 8, 'abcdefg…'],
    ['éééééééé', 8, 'éééééééé'],
    ['ééééééééé', 8, 'ééééééé…'],
    ['abcdef😀😀', 8, 'abcdef…'],
    ['ab', 1, '…'],
  ])('cuts %s around it to %i units', (line, snippetUnits, expected) => {
    const { matches } = find('x', `${line}\r\nx\r\n${line}`, { snippetUnits, contextLines: 1 })
    expect(matches).toEqual([{ line: 2, column: 1, snippet: 'x', before: [expected], after: [expected] }])
  })

  it.each<[contextLines: number, shown: string[]]>([
    [0, ['two x', 'four x', 'x']],
    [1, ['one\ntwo x\n\r', '\r\nfour x\r\nx', 'four x\r\nx\n']],
    [2, ['one\ntwo x\n\r\nfour x\r', 'two x\n\r\nfour x\r\nx\n', '\r\nfour x\r\nx\n']],
    [3, ['one\ntwo x\n\r\nfour x\r\nx', 'one\ntwo x\n\r\nfour x\r\nx\n', 'two x\n\r\nfour x\r\nx\n']],
  ])('calls mayShow with whole lines and %i lines of context', (contextLines, expected) => {
    for (const mark of ['', '\ufeff']) {
      const text = `${mark}one\ntwo x\n\r\nfour x\r\nx\n`
      const requests: string[] = []
      const mayShow = (answers: boolean[]) => (start: number, end: number) => {
        requests.push(new TextDecoder('utf-8', { ignoreBOM: true }).decode(encoder.encode(text).subarray(start, end)))
        return answers[requests.length - 1] ?? true
      }
      const all = find('x', text, { contextLines, mayShow: mayShow([]) })
      expect(requests).toEqual(expected)
      expect(all).toMatchObject({ stopped: false, truncated: false, matches: { length: 3 } })
      expect(all).toEqual(find('x', text, { contextLines }))
      requests.length = 0
      // No call follows the first refused match.
      expect(find('x', text, { contextLines, mayShow: mayShow([true, false]) })).toEqual({
        matches: all.matches.slice(0, 1),
        truncated: false,
        stopped: true,
      })
      expect(requests.length).toBe(2)
    }
  })

  it('decodes invalid UTF-8 to replacement characters', () => {
    const bytes = Uint8Array.of(0x61, 0xff, 0x78)
    const { matches } = findMatches(literal('x'), bytes, { contextLines: 0, maxMatches: 1, snippetUnits: 10 })
    expect(matches[0]?.snippet).toBe('a\ufffdx')
  })
})
