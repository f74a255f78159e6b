import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { detectLineEnd } from '../../src/files/text/encoding.ts'
import { sliceLines } from '../../src/files/text/lines.ts'
import { replaceLines } from '../../src/tools/replace-range.ts'
import { bench } from './setup.ts'

async function replaced(stored: string, startLine: number, endLine: number, newText: string) {
  const { ok, text, sha } = await bench({ 'a.txt': stored })
  const answer = await ok('replace_range', {
    path: 'a.txt',
    startLine,
    endLine,
    newText,
    expectedSha256: await sha('a.txt'),
  })
  return { text: await text('a.txt'), answer }
}

describe('replace_range', () => {
  it('ends the new lines with CR in a file with CR line ends', async () => {
    expect((await replaced('a\rb\r', 1, 1, 'x\ny')).text).toBe('x\ry\r')
  })

  it.each([
    ['a\nb\nc\n', 2, 2, 'B', 'a\nB\nc\n', 'the line end is kept'],
    ['a\nb\nc\n', 2, 2, 'B\n', 'a\nB\nc\n', 'a final newline in the new text is not added twice'],
    ['a\nb\nc\n', 2, 3, 'x\ny', 'a\nx\ny\n', 'the final newline is kept'],
    ['a\nb\nc', 3, 3, 'x\n', 'a\nb\nx', 'no final newline is added'],
    ['a\nb\nc\n', 2, 1, 'x', 'a\nx\nb\nc\n', 'endLine = startLine - 1 inserts'],
    ['a\nb\nc\n', 1, 0, 'x', 'x\na\nb\nc\n', 'inserts at the top'],
    ['a\nb', 3, 2, 'c', 'a\nb\nc', 'inserts at the end'],
    ['a\nb\n', 3, 2, 'c', 'a\nb\nc\n', 'inserts after a final newline'],
    ['a\nb\nc\n', 2, 2, '', 'a\nc\n', 'empty text deletes'],
    ['a\nb\nc', 3, 3, '', 'a\nb', 'empty text adds no final newline'],
    ['a\nb\nc\n', 2, 3, '', 'a\n', 'empty text deletes at the end'],
    ['a\nb\n', 1, 2, '', '', 'empty text deletes everything'],
    ['', 1, 0, 'x\n', 'x\n', 'an empty file gets the text unchanged'],
    ['a\r\nb\r\n', 1, 1, 'x\ny', 'x\r\ny\r\nb\r\n', 'CRLF is kept'],
    ['a\r\nb\nc\n', 2, 2, 'x\ny', 'a\r\nx\ny\nc\n', 'a mixed file keeps the LF of the replaced line'],
    ['a\r\nb\nc\n', 1, 1, 'x\ny', 'x\r\ny\r\nb\nc\n', 'a mixed file keeps the CRLF of the replaced line'],
    ['a\n\n\nb\n', 2, 3, '\n', 'a\n\nb\n', 'a blank line is a line'],
  ])('%j: lines %i-%i by %j result in %j: %s', async (stored, startLine, endLine, newText, expected) => {
    const { text, answer } = await replaced(stored, startLine, endLine, newText)
    expect(text).toBe(expected)
    expect(answer.totalLines).toBe(expected === '' ? 0 : expected.replace(/\n$/, '').split('\n').length)
    // The result names the lines of the new text.
    const excerpt = sliceLines(text, answer.startLine, answer.endLine - answer.startLine + 1).content
    expect(excerpt.replace(/\r?\n$/, '').replaceAll('\r\n', '\n')).toBe(newText.replace(/\n$/, ''))
  })

  it('never merges lines, changes nothing outside the range and keeps the final newline', () => {
    const end = fc.constantFrom('\n', '\r\n')
    const line = fc.stringMatching(/^[a-cé]{0,4}$/)
    const text = fc
      .tuple(fc.array(fc.tuple(line, end), { maxLength: 6 }), fc.stringMatching(/^[a-c]{0,3}$/))
      .map(([lines, last]) => lines.map((parts) => parts.join('')).join('') + last)
    const seed = { numRuns: 3000 }
    fc.assert(
      fc.property(
        text,
        fc.nat(8),
        fc.nat(8),
        fc.array(line, { minLength: 1, maxLength: 3 }),
        (stored, from, count, lines) => {
          const total = sliceLines(stored, 1, 0).totalLines
          const startLine = 1 + (from % (total + 1))
          const range = sliceLines(stored, startLine, Math.min(count, total - startLine + 1))
          const newText = lines.join('\n')
          const result = replaceLines(stored, range, newText, detectLineEnd(stored)).text
          const linesIn = (part: string) => part.split(/\r?\n/)
          // Reference implementation on arrays of lines.
          const all = stored === '' ? [] : linesIn(stored.replace(/\r?\n$/, ''))
          const inserted = newText === '' ? [] : linesIn(newText.replace(/\n$/, ''))
          all.splice(startLine - 1, range.endLine - startLine + 1, ...inserted)
          const content = sliceLines(result, 1, Number.MAX_SAFE_INTEGER)
          const actual = content.content === '' ? [] : linesIn(content.content.replace(/\r?\n$/, ''))
          // Without a final newline, an empty last line cannot be distinguished from no line.
          const bare = stored !== '' && !stored.endsWith('\n')
          while (bare && all.at(-1) === '') all.pop()
          while (bare && actual.at(-1) === '') actual.pop()
          expect(actual).toEqual(stored === '' && newText === '' ? [] : all)
          expect(result.startsWith(stored.slice(0, range.startOffset).replace(/\r?\n$/, ''))).toBe(true)
          if (range.endOffset < stored.length) expect(result.endsWith(stored.slice(range.endOffset))).toBe(true)
          if (stored !== '' && result !== '') expect(result.endsWith('\n') && !bare).toBe(stored.endsWith('\n'))
        },
      ),
      seed,
    )
  })

  it('refuses ranges outside the file, with the number of lines', async () => {
    const { call, sha, snapshot } = await bench({ 'a.txt': 'a\nb\n' })
    const before = await snapshot()
    const expectedSha256 = await sha('a.txt')
    for (const [startLine, endLine] of [
      [4, 4],
      [4, 3],
      [2, 3],
      [2, 0],
      [3, 3],
    ]) {
      const answer = await call('replace_range', { path: 'a.txt', startLine, endLine, newText: 'x', expectedSha256 })
      expect(answer).toMatchObject({ code: 'INVALID_INPUT', totalLines: 2 })
    }
    expect(await call('replace_range', { path: 'a.txt', startLine: 1, endLine: 1, newText: 'x' })).toMatchObject({
      code: 'INVALID_INPUT',
    })
    expect(
      await call('replace_range', { path: 'a.txt', startLine: 1, endLine: 1, newText: 'a', expectedSha256 }),
    ).toMatchObject({ code: 'INVALID_INPUT' })
    expect(
      await call('replace_range', {
        path: 'a.txt',
        startLine: 1,
        endLine: 1,
        newText: 'x',
        expectedSha256: 'f'.repeat(64),
      }),
    ).toMatchObject({ code: 'WRITE_CONFLICT', currentSha256: expectedSha256 })
    expect(await snapshot()).toEqual(before)
  })

  it('counts lines as read_file does, and keeps secrets', async () => {
    const token = `ghp_${'a1B2'.repeat(10)}`
    const { ok, code, text, sha } = await bench({ 'a.txt': `a\nt ${token}\nb\n` })
    const expectedSha256 = await sha('a.txt')
    const { content } = await ok('read_file', { path: 'a.txt', startLine: 2, maxLines: 1 })
    expect(
      await code('replace_range', { path: 'a.txt', startLine: 2, endLine: 2, newText: content, expectedSha256 }),
    ).toBe('POLICY_DENIED_SECRET')
    await ok('replace_range', { path: 'a.txt', startLine: 3, endLine: 3, newText: 'c', expectedSha256 })
    expect(await text('a.txt')).toBe(`a\nt ${token}\nc\n`)
  })
})
