import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createTextLines, scanLines } from '../../src/patch/text-lines.ts'

const pieces = fc.array(
  fc.oneof(fc.constantFrom('\n', '\r\n', 'a', '\u000b', '\u008a', 'é', '\n\n\n\n', '𝕏'), fc.string()),
  {
    maxLength: 60,
  },
)

it('finds the same lines in bytes, at any alignment, as in text with one unit a byte', () => {
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
