import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countLines, lineAt, numberLines, sliceLines } from '../../../src/files/text/lines.ts'

/** Lines with their ends, as the simplest reference. */
function naiveLines(text: string): string[] {
  const lines = text.split('\n').map((line) => `${line}\n`)
  const last = (lines.pop() as string).slice(0, -1)
  return last === '' ? lines : [...lines, last]
}

const text = fc.string({ unit: fc.constantFrom('a', 'bc', '\n', '\n', '\r\n', '\r', '😀', ' '), maxLength: 40 })

describe('lines', () => {
  it.each([
    ['', 0],
    ['a', 1],
    ['a\n', 1],
    ['a\nb', 2],
    ['\n', 1],
    ['\n\n', 2],
    ['a\r\nb\r\n', 2],
    ['a\rb', 1],
    ['\r', 1],
    ['a\u2028b\u0085c\fd', 1],
  ])('%j has %d lines', (input, count) => {
    expect(countLines(input)).toBe(count)
  })

  it('equal a naive split', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 20 }), (input, start, max) => {
        const lines = naiveLines(input)
        expect(countLines(input)).toBe(lines.length)
        const slice = sliceLines(input, start, max)
        const expected = lines.slice(start - 1, start - 1 + max)
        expect(slice.content).toBe(expected.join(''))
        expect(slice.content).toBe(input.slice(slice.startOffset, slice.endOffset))
        expect(slice.totalLines).toBe(lines.length)
        expect(slice.startLine).toBe(start)
        expect(slice.endLine).toBe(start + expected.length - 1)
        expect(numberLines(slice.content, start)).toBe(
          expected.map((line, i) => `${' '.repeat(6 - String(start + i).length)}${start + i} | ${line}`).join(''),
        )
      }),
    )
  })

  it('are found by offset', () => {
    fc.assert(
      fc.property(text, fc.nat(60), (input, offset) => {
        expect(lineAt(input, offset)).toBe(input.slice(0, offset).split('\n').length)
      }),
    )
  })

  it.each<[string, number, number, string, number, number]>([
    ['a\nb\nc\nd', 2, 2, 'b\nc\n', 3, 4],
    ['a\nb\nc\nd\n', 1, 1, 'a\n', 1, 4],
    ['a\nb\nc\nd', 4, 9, 'd', 4, 4],
    ['a\nb', 1, 2, 'a\nb', 2, 2],
    ['a\nb', 1, 0, '', 0, 2],
  ])(
    'of %j from line %d, at most %d, are %j up to %d of %d',
    (input, start, maxBytes, content, endLine, totalLines) => {
      expect(sliceLines(input, start, maxBytes)).toEqual({
        content,
        startLine: start,
        endLine,
        totalLines,
        startOffset: input.indexOf(content),
        endOffset: input.indexOf(content) + content.length,
      })
    },
  )

  it('after the end are empty', () => {
    expect(sliceLines('a\nb\n', 3, 10)).toEqual({
      content: '',
      startLine: 3,
      endLine: 2,
      totalLines: 2,
      startOffset: 4,
      endOffset: 4,
    })
    expect(sliceLines('', 1, 10)).toMatchObject({ content: '', endLine: 0, totalLines: 0 })
  })

  it('keep numbers of more than six digits complete', () => {
    expect(numberLines('a\nb\n', 999_999)).toBe('999999 | a\n1000000 | b\n')
  })
})
