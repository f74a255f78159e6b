import fc from 'fast-check'

/**
 * A character of any code point except surrogates: the unit `binary` of fast-check, which fills a table of a million characters
 * in each process.
 */
export const anyCharacter = fc.nat({ max: 0x10_f7_ff }).map(
  (index) => String.fromCodePoint(index < 0xd8_00 ? index : index + 0x8_00),
  (character) => {
    const point = typeof character === 'string' ? (character.codePointAt(0) ?? -1) : -1
    if (point < 0 || String.fromCodePoint(point) !== character || (point >= 0xd8_00 && point < 0xe0_00))
      throw new Error('Not one character')
    return point < 0xd8_00 ? point : point - 0x8_00
  },
)
