import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { ToolError } from '../../../src/errors.ts'
import {
  adaptLineEnds,
  decodeText,
  detectLineEnd,
  type Encoding,
  encodeText,
  type LineEnd,
  looksBinary,
} from '../../../src/files/text/encoding.ts'
import { parsePath } from '../../../src/paths/logical-path.ts'
import { concatBytes } from '../../../src/util/bytes.ts'
import { byteText, exactText, findNativeMethods, portableMethods } from '../../../src/util/native-bytes.ts'
import { anyCharacter } from '../../code-points.ts'
import { times } from '../../counts.ts'
import { loadAgain } from '../../load-again.ts'
import { ownTime } from '../../own-time.ts'

const path = parsePath('src/a.txt')
const bytesOf = (...parts: (number | string | Uint8Array)[]): Uint8Array =>
  Buffer.concat(parts.map((part) => (typeof part === 'number' ? Uint8Array.of(part) : Buffer.from(part))))

function refusal(bytes: Uint8Array): { code: string; offset: unknown; message: string } {
  try {
    decodeText(bytes, path)
  } catch (error) {
    expect(error).toBeInstanceOf(ToolError)
    const { code, details, message } = error as ToolError
    expect(details.path).toBe(path)
    return { code, offset: details.offset, message }
  }
  throw new Error('The bytes were not refused')
}

/** Well-formed text without NUL, with characters that are likely to cause errors. */
const anyText = fc.string({
  unit: fc.oneof(
    fc.constantFrom('\n', '\r\n', '\r', '\ufeff', '\ufffd', '\u{10ffff}', 'é', '\u0001', '\u001b'),
    anyCharacter.filter((char) => char !== '\0'),
    fc.constantFrom('a', 'line', ' '),
  ),
  maxLength: 60,
})

const utf16be = (text: string): Uint8Array => Buffer.from(text, 'utf16le').swap16()
const marks: Record<Encoding, Uint8Array> = {
  'utf-8': bytesOf(0xef, 0xbb, 0xbf),
  'utf-16le': bytesOf(0xff, 0xfe),
  'utf-16be': bytesOf(0xfe, 0xff),
}
/** Encodes with Node, as the reference. */
const nodeEncoded: Record<Encoding, (text: string) => Uint8Array> = {
  'utf-8': (text) => Buffer.from(text, 'utf8'),
  'utf-16le': (text) => Buffer.from(text, 'utf16le'),
  'utf-16be': utf16be,
}

describe('decodeText', () => {
  it.each(['utf-8', 'utf-16le', 'utf-16be'] as const)(
    'reads %s with a mark as Node wrote it, and writes it back',
    (encoding) => {
      fc.assert(
        fc.property(anyText, (text) => {
          const bytes = bytesOf(marks[encoding], nodeEncoded[encoding](text))
          const decoded = decodeText(bytes, path)
          expect(decoded).toMatchObject({ text, encoding, bom: true })
          expect(Buffer.from(encodeText(decoded.text, decoded)).equals(bytes)).toBe(true)
        }),
      )
    },
  )

  it('decodes UTF-8 without a BOM, and encodes it back', () => {
    fc.assert(
      fc.property(
        anyText.filter((text) => !text.startsWith('\ufeff')),
        (text) => {
          const decoded = decodeText(Buffer.from(text), path)
          expect(decoded).toMatchObject({ text, encoding: 'utf-8', bom: false })
          expect(Buffer.from(encodeText(decoded.text, decoded)).equals(Buffer.from(text))).toBe(true)
        },
      ),
    )
  })

  it('restores all bytes or refuses them, and refuses exactly invalid UTF-8', () => {
    const tricky = fc.array(
      fc.oneof(
        fc.constantFrom(
          0x61,
          0x0a,
          0xc2,
          0xc0,
          0xe0,
          0xed,
          0xf0,
          0xf4,
          0xf5,
          0x80,
          0x8f,
          0x90,
          0x9f,
          0xa0,
          0xbf,
          0xef,
          0xbb,
          0xff,
          0xfe,
        ),
        fc.integer({ min: 1, max: 255 }),
      ),
      { maxLength: 12 },
    )
    const strict = new TextDecoder('utf-8', { fatal: true })
    let refused = 0
    fc.assert(
      fc.property(tricky, (numbers) => {
        const bytes = Uint8Array.from(numbers)
        try {
          const decoded = decodeText(bytes, path)
          expect(encodeText(decoded.text, decoded)).toEqual(bytes)
        } catch (error) {
          refused += 1
          expect((error as ToolError).code).toBe('UNSUPPORTED_ENCODING')
          const offset = (error as ToolError).details.offset as number
          if (bytes[0] !== 0xff && bytes[0] !== 0xfe) {
            // The bytes before the offset are text. With one more byte, or all of the rest, they are not.
            expect(() => strict.decode(bytes.subarray(0, offset))).not.toThrow()
            expect(() => strict.decode(bytes)).toThrow()
            expect(() => strict.decode(bytes.subarray(0, offset + 1))).toThrow()
          }
        }
      }),
      { numRuns: times(350, 2000) },
    )
    expect(refused).toBeGreaterThan(times(20, 200))
  })

  it('keeps a second BOM as text', () => {
    const bytes = bytesOf(0xef, 0xbb, 0xbf, '\ufeffa')
    expect(decodeText(bytes, path)).toMatchObject({ bom: true, text: '\ufeffa' })
  })

  it('decodes the output of iconv', () => {
    const text = 'Grüße, мир 😀\r\nzweite\r\n'
    for (const [name, encoding] of [
      ['UTF-16LE', 'utf-16le'],
      ['UTF-16BE', 'utf-16be'],
    ] as const) {
      const bytes = bytesOf(marks[encoding], execFileSync('iconv', ['-f', 'UTF-8', '-t', name], { input: text }))
      expect(decodeText(bytes, path)).toEqual({ text, encoding, bom: true, eol: 'crlf' })
    }
    for (const name of [
      'ISO-8859-1',
      'WINDOWS-1252',
      'GB18030',
      'SHIFT-JIS',
      'UTF-32',
      'UTF-32LE',
      'UTF-32BE',
      'UTF-16LE',
      'UTF-16BE',
    ]) {
      const input = name.startsWith('UTF') ? text : name === 'SHIFT-JIS' || name === 'GB18030' ? '日本語' : 'Grüße'
      const { code } = refusal(execFileSync('iconv', ['-f', 'UTF-8', '-t', name], { input }))
      expect(code, name).toMatch(/^UNSUPPORTED_(ENCODING|BINARY)$/)
    }
  })

  it.each([
    ['Latin-1', bytesOf('caf', 0xe9, '\n'), 'UNSUPPORTED_ENCODING', 3],
    ['an overlong form', bytesOf('a', 0xc0, 0xaf), 'UNSUPPORTED_ENCODING', 1],
    ['a surrogate in UTF-8', bytesOf('ab', 0xed, 0xa0, 0x80), 'UNSUPPORTED_ENCODING', 2],
    ['beyond U+10FFFF', bytesOf(0xf4, 0x90, 0x80, 0x80), 'UNSUPPORTED_ENCODING', 0],
    ['a truncated sequence', bytesOf('€', 0xe2, 0x82), 'UNSUPPORTED_ENCODING', 3],
    ['invalid after a mark', bytesOf(0xef, 0xbb, 0xbf, 'a', 0xff), 'UNSUPPORTED_ENCODING', 4],
    ['UTF-16 with a lone high surrogate', bytesOf(0xff, 0xfe, 0x61, 0, 0x00, 0xd8, 0x61, 0), 'UNSUPPORTED_ENCODING', 4],
    ['UTF-16 with a lone low surrogate', bytesOf(0xfe, 0xff, 0xdc, 0x01), 'UNSUPPORTED_ENCODING', 2],
    ['UTF-16 with half a unit', bytesOf(0xff, 0xfe, 0x61, 0, 0x62), 'UNSUPPORTED_ENCODING', 4],
    ['UTF-16LE without a mark', Buffer.from('hello, world\n', 'utf16le'), 'UNSUPPORTED_ENCODING', 0],
    ['UTF-16BE without a mark', utf16be('hello, world\n'), 'UNSUPPORTED_ENCODING', 0],
    ['UTF-32LE', bytesOf(0xff, 0xfe, 0, 0, 0x61, 0, 0, 0), 'UNSUPPORTED_ENCODING', 0],
    ['UTF-32BE', bytesOf(0, 0, 0xfe, 0xff, 0, 0, 0, 0x61), 'UNSUPPORTED_ENCODING', 0],
    ['NUL', bytesOf('text\0text'), 'UNSUPPORTED_BINARY', undefined],
    ['NUL in UTF-16', bytesOf(0xff, 0xfe, 0x61, 0, 0, 0, 0x62, 0), 'UNSUPPORTED_BINARY', undefined],
    ['a PNG', bytesOf(0x89, 'PNG\r\n', 0x1a, '\n', 0, 0, 0, 13), 'UNSUPPORTED_BINARY', undefined],
  ])('refuses %s', (_, bytes, code, offset) => {
    const refused = refusal(bytes)
    expect(refused).toMatchObject({ code, offset })
    expect(refused.message).toMatch(/^Cannot read "src\/a\.txt" as text: it is /)
  })

  it.each<[string, number]>([
    ['7f ff', 1],
    ['80', 0],
    ['80 80 80 80 ff', 0],
    ['61 fe', 1],
    ['61 ff', 1],
    ['fe 61', 0],
    ['ff 61', 0],
    ['c1 80', 0],
    ['c2 7f', 0],
    ['c2 c0', 0],
    ['c2 80 ff', 2],
    ['df bf ff', 2],
    ['e0 9f 80', 0],
    ['e0 a0 80 ff', 3],
    ['e1 80', 0],
    ['e1 7f 80', 0],
    ['e1 c0 80', 0],
    ['e1 80 7f', 0],
    ['e1 80 c0', 0],
    ['e1 80 80 ff', 3],
    ['ed 9f bf ff', 3],
    ['ed a0 80', 0],
    ['ee 80 80 ff', 3],
    ['ef bf bf ff', 3],
    ['f0 8f bf bf', 0],
    ['f0 90 80 80 ff', 4],
    ['f1 80 80', 0],
    ['f1 80 c0 80', 0],
    ['f1 80 80 c0', 0],
    ['f3 bf bf bf ff', 4],
    ['f4 8f bf bf ff', 4],
    ['f4 90 80 80', 0],
    ['f5 80 80 80', 0],
  ])('names the first byte of %s that is not UTF-8', (hex, offset) => {
    const bytes = Buffer.from(hex.replaceAll(' ', ''), 'hex')
    expect(refusal(bytes)).toMatchObject({
      offset,
      message: `Cannot read "src/a.txt" as text: it is not UTF-8 (byte ${offset})`,
    })
    expect(refusal(bytesOf('€', bytes, 'more')).offset).toBe(offset + 3)
  })

  it.each<[string, Uint8Array]>([
    ['is UTF-32 (byte 0)', bytesOf(0xff, 0xfe, 0, 0)],
    ['is UTF-32 (byte 0)', bytesOf(0, 0, 0xfe, 0xff)],
    ['is UTF-16 without a byte order mark (byte 0)', bytesOf('a', 0, 'b', 0, 'c', 0)],
    ['is UTF-16 without a byte order mark (byte 0)', bytesOf('a', 0, 'b', 0, 'cde', 0)],
    ['is UTF-16 without a byte order mark (byte 0)', bytesOf(0, 'a', 0, 'b', 0, 'c', 'd', 'e')],
    [
      'is UTF-16 without a byte order mark (byte 0)',
      bytesOf(Buffer.from('a'.repeat(4000), 'utf16le'), utf16be('a'.repeat(100))),
    ],
    ['is UTF-16 with an odd number of bytes (byte 4)', bytesOf(0xfe, 0xff, 0, 'a', 0)],
    ['is not well-formed UTF-16 (byte 4)', bytesOf(0xff, 0xfe, 'a', 0, 0, 0xdc)],
    ['is binary', bytesOf('a', 0, 'b', 0, 'c', 0, 'd')],
    ['is binary', bytesOf('a', 0, 'b', 0, 0, 'c')],
    ['is binary', bytesOf('a', 0, 'b', 0, 'cdef')],
    ['is binary', bytesOf(0xef, 0xbb, 0xbf, 0, 'a', 0, 'b', 0)],
    ['is binary', bytesOf(0, 0, 0xfe, 'a')],
    ['is binary', bytesOf(0, 0, 'a', 0xff)],
    ['is binary', bytesOf(0, 'a', 0xfe, 0xff)],
    ['is binary', bytesOf('a', 0, 0xfe, 0xff)],
  ])('refuses a text that %s', (why, bytes) => {
    expect(refusal(bytes).message).toBe(`Cannot read "src/a.txt" as text: it ${why}`)
  })

  it.each<[string, string, Encoding, Uint8Array]>([
    ['a letter close to a mark', '\ufefd', 'utf-8', bytesOf(0xef, 0xbb, 0xbd)],
    ['another', '\uff3f', 'utf-8', bytesOf(0xef, 0xbc, 0xbf)],
    ['a mark alone', '', 'utf-8', bytesOf(0xef, 0xbb, 0xbf)],
    ['a mark of UTF-16 alone', '', 'utf-16le', bytesOf(0xff, 0xfe)],
    ['U+0100 after a mark', '\u0100', 'utf-16le', bytesOf(0xff, 0xfe, 0, 1)],
    ['U+0001 after a mark', '\u0001', 'utf-16le', bytesOf(0xff, 0xfe, 1, 0)],
    ['NUL bytes of two units', 'a\u0100', 'utf-16le', bytesOf(0xff, 0xfe, 'a', 0, 0, 1)],
  ])('reads %s', (_, text, encoding, bytes) => {
    expect(decodeText(bytes, path)).toMatchObject({ text, encoding })
  })

  it('decodes UTF-16 longer than the limit on arguments', () => {
    const text = 'ab😀\n'.repeat(100_000)
    expect(decodeText(bytesOf(marks['utf-16le'], Buffer.from(text, 'utf16le')), path).text).toBe(text)
  })
})

describe('encodeText', () => {
  it.each(['a\ud800', '\udc00', '\ud800\ud800\udc00', 'ok\udbff ok'])('refuses the lone surrogate in %j', (text) => {
    for (const encoding of ['utf-8', 'utf-16le', 'utf-16be'] as const) {
      expect(() => encodeText(text, { encoding, bom: true })).toThrow(
        expect.objectContaining({ code: 'INVALID_INPUT' }),
      )
    }
  })

  it.each<[string, number]>([
    ['😀a\ud800', 3],
    ['\ud7ff\ud800', 1],
    ['\ue000\udfff', 1],
    ['\ud800\udc00\udbff', 2],
    ['\udbff\udfff\udfff', 2],
    ['\ud800\udbff\udc00', 0],
    ['\ud800\ue000', 0],
    ['\udc00\udc00', 0],
  ])('names the position of the lone surrogate in %j', (text, offset) => {
    expect(() => encodeText(text, { encoding: 'utf-8', bom: false })).toThrow(
      expect.objectContaining({
        code: 'INVALID_INPUT',
        message: `Cannot encode text: lone surrogate at offset ${offset}`,
        details: { offset },
      }),
    )
  })

  it('encodes UTF-16 without a BOM', () => {
    expect([...encodeText('aЖ', { encoding: 'utf-16le', bom: false })]).toEqual([0x61, 0, 0x16, 0x04])
    expect([...encodeText('aЖ', { encoding: 'utf-16be', bom: false })]).toEqual([0, 0x61, 0x04, 0x16])
  })
})

describe('looksBinary', () => {
  it('checks the same bytes as git', () => {
    const late = new Uint8Array(9000).fill(0x61)
    late[8000] = 0
    expect(looksBinary(late)).toBe(false)
    late[7999] = 0
    expect(looksBinary(late)).toBe(true)
  })

  it('checks as many bytes of UTF-16', () => {
    const units = Buffer.from(`\ufeff${'a'.repeat(4500)}`, 'utf16le')
    units[8000] = 0
    expect(looksBinary(units)).toBe(false)
    units[7998] = 0
    expect(looksBinary(units)).toBe(true)
  })

  it.each([
    ['nothing', bytesOf(), false],
    ['text', bytesOf('hello\n'), false],
    ['escapes', bytesOf('\x1b[31mred\x01'), false],
    ['UTF-16LE with a mark', bytesOf(0xff, 0xfe, 'a', 0, '\n', 0), false],
    ['UTF-16BE with a mark', bytesOf(0xfe, 0xff, 0, 'a', 0, '\n'), false],
    ['UTF-16 with a NUL unit', bytesOf(0xff, 0xfe, 'a', 0, 0, 0), true],
    ['UTF-16BE with a NUL unit', bytesOf(0xfe, 0xff, 0, 0, 0, 'a'), true],
    ['UTF-16 with NUL bytes of two units', bytesOf(0xff, 0xfe, 'a', 0, 0, 1, 0, 1), false],
    ['UTF-16 that ends with half a NUL unit', bytesOf(0xff, 0xfe, 'a', 0, 0), false],
    ['a NUL', bytesOf(0), true],
  ])('%s', (_, bytes, expected) => {
    expect(looksBinary(bytes)).toBe(expected)
  })
})

describe('line ends', () => {
  it.each([
    ['', 'none'],
    ['a', 'none'],
    ['a\nb', 'lf'],
    ['a\r\nb\r\n', 'crlf'],
    ['a\rb', 'cr'],
    ['\r\r', 'cr'],
    ['a\r\nb\n', 'mixed'],
    ['a\nb\r\n', 'mixed'],
    ['a\rb\n', 'mixed'],
    ['a\r\r\n', 'mixed'],
    ['\n\r', 'mixed'],
  ] as const)('of %j are %s', (text, eol) => {
    expect(detectLineEnd(text)).toBe(eol)
  })

  it('equal those of a regular expression', () => {
    const names: Record<string, LineEnd> = { '\n': 'lf', '\r\n': 'crlf', '\r': 'cr' }
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', '\n', '\r', '\r\n') }), (text) => {
        const kinds = new Set(text.match(/\r\n|\r|\n/g))
        const [only] = kinds
        const expected = kinds.size > 1 ? 'mixed' : only === undefined ? 'none' : names[only]
        expect(detectLineEnd(text)).toBe(expected)
      }),
    )
  })

  it.each([
    ['a\nb', 'crlf', 'a\r\nb'],
    ['a\r\nb\n', 'crlf', 'a\r\nb\r\n'],
    ['a\nb', 'cr', 'a\rb'],
    ['a\r\nb\n', 'cr', 'a\r\nb\r'],
    ['a\nb', 'lf', 'a\nb'],
    ['a\r\nb', 'lf', 'a\r\nb'],
    ['a\nb', 'mixed', 'a\nb'],
    ['a\nb', 'none', 'a\nb'],
    ['a\rb', 'crlf', 'a\rb'],
  ] as const)('adapt %j to %s', (text, eol, expected) => {
    expect(adaptLineEnds(text, eol)).toBe(expected)
  })

  it('are found in linear time', () => {
    // Each text has one kind of line end except at its very end, so the search cannot stop early.
    for (const [unit, end] of [
      ['\r', '\n'],
      ['\n', '\r'],
      ['a\r\n', '\r'],
      ['\r', ''],
    ] as const) {
      const started = ownTime()
      detectLineEnd(unit.repeat(1_000_000) + end)
      expect(ownTime() - started).toBeLessThan(1000)
    }
  })
})

describe('without Node', () => {
  it('well-formed text is encoded on platforms without isWellFormed', () => {
    const own = Object.getOwnPropertyDescriptor(String.prototype, 'isWellFormed')
    Object.defineProperty(String.prototype, 'isWellFormed', { value: undefined, configurable: true })
    try {
      const format = { encoding: 'utf-8', bom: false } as const
      expect([...encodeText('a𝕏é', format)]).toEqual([...bytesOf('a𝕏é')])
      expect(() => encodeText('a\ud835', format)).toThrow('lone surrogate at offset 1')
      expect(() => encodeText('a𝕏\udd4f', format)).toThrow('lone surrogate at offset 3')
    } finally {
      if (own === undefined) Reflect.deleteProperty(String.prototype, 'isWellFormed')
      else Object.defineProperty(String.prototype, 'isWellFormed', own)
    }
  })

  it('bytes are searched with the same results', () => {
    const bytes = Uint8Array.from({ length: 9000 }, (_, i) => (i * 7) & 0xff)
    expect(exactText(bytes)).toBe(Buffer.from(bytes).toString('latin1'))
    expect(byteText(bytes)).toBe(exactText(bytes))
    expect(exactText(bytesOf())).toBe('')
    expect(portableMethods.latin1Slice.call(bytesOf('xabcd'), 1, 4)).toBe('abc')
    const indexOf = (byte: number, from: number) => portableMethods.indexOf.call(bytesOf('abca'), byte, from)
    expect([indexOf(0x61, 0), indexOf(0x61, 1), indexOf(0x61, 4), indexOf(0x78, 0)]).toEqual([0, 3, -1, -1])
  })

  const { latin1Slice, indexOf } = Buffer.prototype as unknown as typeof portableMethods
  it.each<[string, Parameters<typeof findNativeMethods>[0]]>([
    ['no Buffer', undefined],
    ['a Buffer without these methods', { prototype: {} }],
    ['a Buffer without indexOf', { prototype: { latin1Slice } }],
    ['a Buffer that decodes other text', { prototype: { latin1Slice: () => 'ab', indexOf } }],
    ['a Buffer that finds nothing', { prototype: { latin1Slice, indexOf: () => -1 } }],
    ['a Buffer that throws', { prototype: { latin1Slice: () => decodeURIComponent('%'), indexOf } }],
  ])('%s has no usable native methods', (_, buffer) => {
    expect(findNativeMethods(buffer)).toBeUndefined()
    expect(findNativeMethods(Buffer as unknown as typeof buffer)).toEqual({ latin1Slice, indexOf })
  })

  it('concatBytes copies into new memory', () => {
    const parts = [bytesOf('ab'), bytesOf(), bytesOf('c')]
    expect([...concatBytes(parts)]).toEqual([...bytesOf('abc')])
    expect(concatBytes(parts.slice(0, 1))).not.toBe(parts[0])
    expect(concatBytes([])).toHaveLength(0)
  })

  afterEach(() => {
    vi.unstubAllGlobals()
  })

  it.each<[string, unknown]>([
    ['no Buffer', undefined],
    ['a Buffer that throws', { prototype: { latin1Slice: () => decodeURIComponent('%') } }],
    ['a Buffer that cannot search other bytes', { prototype: { latin1Slice: () => '', indexOf: () => -1 } }],
  ])('%s', async (_, buffer) => {
    const nodes = Buffer
    vi.stubGlobal('Buffer', buffer)
    const { indexOfByte, latin1 } =
      await loadAgain<typeof import('../../../src/util/native-bytes.ts')>('src/util/native-bytes.ts')
    vi.stubGlobal('Buffer', nodes)
    expect(indexOfByte(bytesOf('ab', 0, 'c'), 0)).toBe(2)
    expect(indexOfByte(bytesOf('abc'), 0)).toBe(-1)
    expect(latin1(bytesOf('xabcd'), 1, 4)).toBe('abc')
    const all = latin1(Uint8Array.from({ length: 256 }, (_, i) => i))
    expect(all.length).toBe(256)
    for (let i = 0; i < 256; i++)
      expect(all.charCodeAt(i) < 128 ? all.charCodeAt(i) : i >= 128).toBe(i < 128 ? i : true)
  })
})
