import { posix } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ToolError } from '../../src/errors.ts'
import {
  addAncestors,
  ancestorsOf,
  childOf,
  display,
  isWithin,
  type LogicalPath,
  nameOf,
  nearestFinder,
  parentOf,
  parsePath,
  quote,
} from '../../src/paths/logical-path.ts'
import { isAtOrBelow } from '../../src/paths/physical.ts'
import { anyCharacter } from '../code-points.ts'
import { times } from '../counts.ts'
import { ownTime } from '../own-time.ts'

/** Returns the path, or undefined if it is refused. Any error but PATH_REJECTED fails the test. */
function guard(input: string): LogicalPath | undefined {
  try {
    return parsePath(input)
  } catch (error) {
    if (error instanceof ToolError && error.code === 'PATH_REJECTED') return undefined
    throw error
  }
}

const names = fc.constantFrom(
  'a',
  'b',
  'src',
  '..foo',
  '...',
  '....',
  '.a',
  '. .',
  'a..',
  'a.',
  ' a',
  '~',
  '$HOME',
  '%2e%2e',
  '%2f',
)
const climbs = fc.constantFrom('..', '.', '', '..', '.')
const lookAlikes = fc.constantFrom(
  '．．',
  '․․',
  '‥',
  '／',
  '＼',
  '∕',
  '⁄',
  '⧵',
  '%2e%2e%2f',
  '..%2f',
  '&#46;&#46;',
  '\u200b..',
  '..\ufeff',
  '\u00a0',
)
const devices = fc.constantFrom(
  'CON',
  'nul',
  'COM1.txt',
  'aux',
  'C:',
  'c:x',
  '\\\\?\\',
  '//server',
  '\\\\.\\',
  'file:',
  'a::$DATA',
  'a:b',
)
const secrets = fc.constantFrom('.git', '.GIT', 'git~1', '.env', '.env ', '.env.', '.ssh', '__proto__', 'constructor')
const odd = fc.constantFrom(
  '\0',
  '\n',
  '\r',
  '\t',
  '\x1b',
  '\x7f',
  '\x85',
  '\\',
  ':',
  '\ud800',
  '\udc00',
  '😀',
  '\u202e',
  '\u2066',
  '\u200f',
  '\u061c',
  'é',
  'e\u0301',
)
const long = fc.constantFrom(
  'x'.repeat(255),
  'x'.repeat(256),
  'é'.repeat(127),
  'é'.repeat(128),
  '日'.repeat(85),
  '日'.repeat(86),
  '😀'.repeat(64),
)
const part = fc.oneof(
  { weight: 6, arbitrary: names },
  { weight: 5, arbitrary: climbs },
  { weight: 2, arbitrary: lookAlikes },
  { weight: 1, arbitrary: devices },
  { weight: 2, arbitrary: secrets },
  { weight: 1, arbitrary: odd },
  { weight: 1, arbitrary: long },
  { weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 6 }) },
)
const weird = fc
  .tuple(
    fc.constantFrom('', '', '', '', '/', './', '../', '\\'),
    fc.array(part, { maxLength: 12 }),
    fc.constantFrom('', '', '/', '/.', '/..', '//'),
  )
  .map(([start, parts, end]) => start + parts.join('/') + end)
const anything = fc.oneof({ weight: 4, arbitrary: weird }, { weight: 1, arbitrary: fc.string({ unit: anyCharacter }) })
/** Inputs that are mostly valid and mostly need normalization. */
const tame = fc
  .tuple(
    fc.array(
      fc.oneof({ weight: 3, arbitrary: names }, { weight: 2, arbitrary: climbs }, { weight: 1, arbitrary: lookAlikes }),
      { minLength: 1, maxLength: 10 },
    ),
  )
  .map(([parts]) => parts.join('/'))

const runs = { numRuns: times(1500, 10_000) }

describe('parsePath', () => {
  it('refuses a string or returns a path below the root', () => {
    let accepted = 0
    fc.assert(
      fc.property(anything, (input) => {
        const path = guard(input)
        if (path === undefined) return
        accepted += 1
        const resolved = posix.resolve('/work/root', path)
        expect(resolved === '/work/root' || resolved.startsWith('/work/root/')).toBe(true)
        expect(resolved).toBe(path === '' ? '/work/root' : `/work/root/${path}`)
        expect(path).not.toMatch(/[\\:\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/)
        expect(path).toBe(path.replace(/\p{Cs}/gu, '?'))
        if (path === '') return
        for (const name of path.split('/')) {
          expect(['', '.', '..']).not.toContain(name)
          expect(new TextEncoder().encode(name).length).toBeLessThanOrEqual(255)
        }
        expect(new TextEncoder().encode(path).length).toBeLessThanOrEqual(4095)
      }),
      runs,
    )
    expect(accepted).toBeGreaterThan(times(30, 500))
  })

  it('agrees with posix.normalize on accepted paths', () => {
    let resolved = 0
    fc.assert(
      fc.property(fc.oneof(tame, anything), (input) => {
        const path = guard(input)
        if (path === undefined) return
        const theirs = posix.normalize(input).replace(/\/$/, '')
        if (theirs !== input) resolved += 1
        expect(display(path)).toBe(theirs)
      }),
      runs,
    )
    expect(resolved).toBeGreaterThan(times(30, 500))
  })

  it('agrees with a reference implementation of the rules', () => {
    const wrong = /[\\:\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u
    const bytes = (text: string) => new TextEncoder().encode(text).length
    fc.assert(
      fc.property(fc.oneof(tame, anything), (input) => {
        let depth = 0
        let climbed = false
        for (const name of input.split('/')) {
          if (name === '..') depth -= 1
          else if (name !== '' && name !== '.') depth += 1
          climbed ||= depth < 0
        }
        const refused =
          input.trim() === '' ||
          (posix.normalize(input) !== '.' && posix.normalize(input).replace(/\/$/, '').trim() === '') ||
          input.startsWith('/') ||
          input !== input.replace(/\p{Cs}/gu, '?') ||
          wrong.test(input) ||
          climbed ||
          bytes(input) > 4095 ||
          input.split('/').some((name) => bytes(name) > 255)
        expect(guard(input) === undefined).toBe(refused)
      }),
      runs,
    )
  })

  it('is idempotent', () => {
    fc.assert(
      fc.property(fc.oneof(tame, anything), (input) => {
        const path = guard(input)
        if (path !== undefined) expect(parsePath(display(path))).toBe(path)
      }),
      runs,
    )
  })

  it('neither decodes, expands, trims nor folds a name', () => {
    for (const name of [
      '%2e%2e',
      '%2f',
      '&#46;',
      '~',
      '~root',
      '$HOME',
      '..foo',
      '...',
      '[id].tsx',
      '__proto__',
      'a ',
      ' a',
      'a.',
      'CON',
      'É',
      'E\u0301',
      '．．',
      '‥',
      '／',
      '＼',
      '-rf',
      '*',
      '"',
      "'",
      '`x`',
      '\u200b',
      '\u200d',
      'x\u202f',
      '\u206a',
      '\ufeffx',
      '\u{10000}',
      '\u{103ff}',
      '\u{10ffff}',
    ]) {
      expect(parsePath(name)).toBe(name)
      expect(parsePath(`a/${name}/b`)).toBe(`a/${name}/b`)
    }
  })

  it.each([
    ['', 'empty'],
    [' ', 'empty'],
    ['\u00a0\u3000', 'empty'],
    ['./ ', 'empty'],
    ['a/../ ', 'empty'],
    [' /.', 'empty'],
    ['\t\n', 'empty'],
    ['/', 'absolute'],
    ['/etc/passwd', 'absolute'],
    ['//server/share', 'absolute'],
    ['..', 'climbs'],
    ['../root/a', 'climbs'],
    ['a/../..', 'climbs'],
    ['a/../../root/a', 'climbs'],
    ['./../a', 'climbs'],
    ['a\\b', 'backslash'],
    ['..\\a', 'backslash'],
    ['\\\\?\\C:\\a', 'backslash'],
    ['C:', 'colon'],
    ['C:/a', 'colon'],
    ['file:///etc/passwd', 'colon'],
    ['a:stream', 'colon'],
    ['a\0b', 'control'],
    ['a\nb', 'control'],
    ['a\x7fb', 'control'],
    ['a\x9fb', 'control'],
    ['a\x80b', 'control'],
    ['a\u202eb', 'bidirectional'],
    ['a\u200eb', 'bidirectional'],
    ['a\u200fb', 'bidirectional'],
    ['a\u202ab', 'bidirectional'],
    ['a\u2066b', 'bidirectional'],
    ['a\u2069b', 'bidirectional'],
    ['a\u2067b', 'bidirectional'],
    ['a\u061cb', 'bidirectional'],
    ['\ud800', 'well-formed'],
    ['a\udc00b', 'well-formed'],
    ['\ud800/\udc00', 'well-formed'],
    ['\udc00\ud800', 'well-formed'],
    ['\udc00\udc00', 'well-formed'],
    ['a\udfffb', 'well-formed'],
    ['\ud800a', 'well-formed'],
    ['\ud800\uffff', 'well-formed'],
    ['\u0800'.repeat(86), '255'],
    [`${Array.from({ length: 16 }, () => `${'x'.repeat(253)}é`).join('/')}/`, '4095'],
    [`${'é'.repeat(128)}/a`, '255'],
    [`${'日'.repeat(86)}`, '255'],
    [`${'😀'.repeat(64)}`, '255'],
    [
      Array.from({ length: 16 }, () => 'x'.repeat(255))
        .join('/')
        .concat('/'),
      '4095',
    ],
    [
      Array.from({ length: 9 }, () => '日'.repeat(85))
        .concat('x'.repeat(255))
        .concat(Array.from({ length: 7 }, () => '日'.repeat(85)))
        .join('/'),
      '4095',
    ],
  ])('refuses %.30j', (input, why) => {
    let caught: unknown
    try {
      parsePath(input)
    } catch (error) {
      caught = error
    }
    expect(caught).toBeInstanceOf(ToolError)
    expect((caught as ToolError).code).toBe('PATH_REJECTED')
    expect((caught as ToolError).message).toContain(why)
    expect((caught as ToolError).message.length).toBeLessThan(2000)
    expect((caught as ToolError).message).not.toMatch(/[\p{Cc}\p{Cs}\u061c\u202e\u2067]/u)
  })

  it('accepts names and paths of exactly the limits', () => {
    for (const name of ['x'.repeat(255), `${'é'.repeat(127)}x`, '日'.repeat(85), `${'😀'.repeat(63)}xxx`])
      expect(parsePath(name)).toBe(name)
    const path = Array.from({ length: 16 }, () => 'x'.repeat(255)).join('/')
    expect(path).toHaveLength(4095)
    expect(parsePath(path)).toBe(path)
  })

  it('takes no longer for a million characters than for the maximum length', () => {
    const million = 1_000_000
    const start = ownTime()
    for (const input of [
      'a'.repeat(million),
      '../'.repeat(million / 3),
      './'.repeat(million / 2),
      ' '.repeat(million),
      '/'.repeat(million),
      '\ud800'.repeat(million),
      '\u202e'.repeat(million),
      'a/'.repeat(million / 2),
    ]) {
      expect(guard(input)).toBeUndefined()
    }
    expect(ownTime() - start).toBeLessThan(500)
  })
})

describe('parentOf, nameOf and isWithin', () => {
  const path = tame.map(guard).filter((parsed) => parsed !== undefined)

  it('agree with node:path/posix', () => {
    fc.assert(
      fc.property(path, (sample) => {
        const parent = posix.dirname(sample)
        expect(parentOf(sample)).toBe(parent === '.' ? '' : parent)
        expect(nameOf(sample)).toBe(posix.basename(sample))
        if (sample !== '') expect(childOf(parentOf(sample), nameOf(sample))).toBe(sample)
        const above = ancestorsOf(sample)
        expect(above).toEqual(
          above.map((_, i) =>
            sample
              .split('/')
              .slice(0, -1 - i)
              .join('/'),
          ),
        )
        expect(above).toHaveLength(Math.max(0, sample.split('/').length - 1))
      }),
      { numRuns: times(500, 3000) },
    )
  })

  it('isWithin agrees with relative', () => {
    const short = fc
      .array(fc.constantFrom('a', 'b', 'ab'), { maxLength: 4 })
      .map((list) => list.join('/') as LogicalPath)
    fc.assert(
      fc.property(short, short, (sample, directory) => {
        expect(isWithin(sample, directory)).toBe(!posix.relative(`/${directory}`, `/${sample}`).startsWith('..'))
      }),
      { numRuns: times(500, 3000) },
    )
  })
})

describe('quote', () => {
  it('is bounded, on one line, and escapes deceptive characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 400 }), (text) => {
        const quoted = quote(text)
        expect(quoted).toMatch(/^".*"$/su)
        expect(quoted.slice(1, -1)).not.toMatch(/["\p{Cc}\p{Cf}\p{Cs}]/u)
        expect(quoted.length).toBeLessThanOrEqual(203 * 10)
      }),
      { numRuns: times(500, 3000) },
    )
    expect(quote('x'.repeat(200))).toBe(`"${'x'.repeat(200)}"`)
    expect(quote('x'.repeat(201))).toBe(`"${'x'.repeat(200)}…"`)
    expect(quote('a"b\u202e\n')).toBe('"a\\u{22}b\\u{202e}\\u{a}"')
  })
})

describe('isAtOrBelow', () => {
  it.each([
    ['/a/b', '/a', true],
    ['/a', '/a', true],
    ['/ab', '/a', false],
    ['/a', '/a/b', false],
    ['/a', '/', true],
    ['/', '/', true],
    ['/', '/a', false],
    ['C:\\a\\b', 'C:\\a', true],
    ['C:\\a', 'C:\\', true],
    ['C:\\ab', 'C:\\a', false],
    ['D:\\a', 'C:\\', false],
    ['\\\\host\\share\\a', '\\\\host\\share\\', true],
  ])('%s at or in %s: %s', (location, around, expected) => {
    expect(isAtOrBelow(location, around, location.includes('\\') ? '\\' : '/')).toBe(expected)
  })
})

describe('chains of directories', () => {
  const chain = Array.from({ length: 2000 }, (_, i) => parsePath(`${'d/'.repeat(i)}d`))

  it('are added to a set once for all paths that share them', () => {
    let lookups = 0
    class Counted extends Set<LogicalPath> {
      override has(path: LogicalPath): boolean {
        lookups += 1
        return super.has(path)
      }
    }
    const directories = new Counted()
    for (const path of chain) addAncestors(directories, path)
    expect([...directories].sort()).toEqual(chain.slice(0, -1))
    expect(lookups).toBeLessThan(2 * chain.length)
  })

  it('are searched for the nearest path that passes, each path once', () => {
    let tests = 0
    const found = chain[700] as LogicalPath
    const nearest = nearestFinder<LogicalPath>((path) => {
      tests += 1
      return path === found || path === 'other'
    })
    for (const path of [...chain].reverse()) {
      expect(nearest(path)).toBe(path.length < found.length ? undefined : found)
    }
    expect(nearest(parsePath('other/a'))).toBe('other')
    expect(tests).toBe(chain.length + 2)
  })
})
