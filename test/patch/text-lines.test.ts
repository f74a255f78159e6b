import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createTextLines, scanLines } from '../../src/patch/text-lines.ts'

const pieces = fc.array(
  fc.oneof(fc.constantFrom('\n', '\r\n', 'a', '\u000b', '\u008a', 'é', '\n\n\n\n', '𝕏'), fc.string()),
  {
    maxLength: 60,
  },
)

it('finds the same lines in bytes, at any alignment, as in text with one unit per byte', () => {
  fc.assert(
    fc.property(pieces, fc.nat(7), (parts, offset) => {
      const encoded = new TextEncoder().encode(parts.join(''))
      const bytes = new Uint8Array(encoded.length + offset).subarray(offset)
      bytes.set(encoded)
      const text = String.fromCharCode(...bytes)
      const { starts, count, isAscii } = scanLines(bytes)
      const lines = createTextLines(text)
      expect(count).toBe(lines.count)
      for (let line = 0; line <= count; line++) expect(starts[line]).toBe(lines.start(line))
      expect(isAscii).toBe(!bytes.some((byte) => byte > 127))
    }),
    { numRuns: 500 },
  )
})

it('finds many lines, and those after the last whole word', () => {
  for (const text of ['\n'.repeat(300), 'abcd\nx', 'abcd\n\n\n', `${'x\n'.repeat(100)}y`]) {
    const ends = [...text.matchAll(/\n/g)].map(({ index }) => index + 1)
    const starts = [0, ...ends, ...(text.endsWith('\n') ? [] : [text.length])]
    const lines = createTextLines(text)
    const scanned = scanLines(new TextEncoder().encode(text))
    expect(starts.map((_, line) => lines.start(line))).toEqual(starts)
    expect([...scanned.starts.subarray(0, scanned.count + 1)]).toEqual(starts)
  }
})

it.each([
  [[0x7f], true],
  [[0x80], false],
  [[0x7f, 0x61, 0x61, 0x61, 0x61, 0x61, 0x61, 0x61, 0x61], true],
  [[0x80, 0x61, 0x61, 0x61, 0x61, 0x61, 0x61, 0x61, 0x61], false],
])('detects ASCII in the bytes before the first aligned word: %j', (bytes, isAscii) => {
  expect(scanLines(Uint8Array.from([0, ...bytes]).subarray(1)).isAscii).toBe(isAscii)
})

it.each([
  ['a\nb\n', ['a\n', 'b\n'], 0, true],
  ['a\nb\n', ['b\n'], 1, true],
  ['a\nb\n', ['a\n'], 1, false],
  // Only complete lines match, and only existing ones.
  ['a\nb\n', ['a'], 0, false],
  ['a\nb\n', ['b\n', ''], 1, false],
  ['a\nb\n', [''], 3, false],
  ['', [''], 0, false],
  ['a\nb\n', [], 2, true],
  ['a\nb\n', [], -1, false],
] as const)('%j has the lines %j from line %i on: %j', (text, run, line, isThere) => {
  expect(createTextLines(text).match(run, line)).toBe(isThere)
})
