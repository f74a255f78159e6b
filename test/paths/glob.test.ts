import fc from 'fast-check'
import picomatch from 'picomatch'
import { describe, expect, it } from 'vitest'
import { ToolError } from '../../src/errors.ts'
import { compileGlob, compileGlobs } from '../../src/paths/glob.ts'
import { quote } from '../../src/paths/logical-path.ts'
import { times } from '../counts.ts'
import { ownTime } from '../own-time.ts'

const matches = (pattern: string, path: string) => compileGlob(pattern).matches(path)

/**
 * picomatch as the oracle, with the option that makes `[!a]` a negation. In picomatch, `dir/**` covers `dir` unless there is a
 * star before the slash (`d*` for `dir`). Here it always does.
 */
function oracle(pattern: string): (path: string) => boolean {
  // The shortcuts of picomatch differ from its grammar: `*.*` does not match "a.", but `b*.*` matches "ba.".
  const options = { dot: true, posix: true, fastpaths: false }
  const whole = picomatch(pattern, options)
  const stem = pattern.replace(/(\/\*\*)+$/, '')
  if (stem === pattern || stem === '**') return whole
  const itself = picomatch(stem, options)
  return (path) => whole(path) || itself(path)
}

describe('compileGlob', () => {
  it.each([
    ['**', '', true],
    ['**', 'a/b', true],
    ['*', 'a', true],
    ['*', '.a', true],
    ['*', '', false],
    ['*', 'a/b', false],
    ['**/*', '', false],
    ['**/x', 'x', true],
    ['**/x', 'a/b/x', true],
    ['**/x', 'ax', false],
    ['**/x', 'x/a', false],
    ['dir/**', 'dir', true],
    ['dir/**', 'dir/a/b', true],
    ['dir/**', 'dirs', false],
    ['dir/', 'dir', true],
    ['dir/', 'dir/a/b', true],
    ['dir/', 'a/dir', false],
    ['**/dir/', 'a/dir/b', true],
    ['**/dir/**', 'dir', true],
    ['**/dir/**', 'a/dir/b/c', true],
    ['**/dir/**', 'a/dirt/b', false],
    ['.', '', true],
    ['.', 'a', false],
    ['./a', 'a', true],
    ['a//b/./c', 'a/b/c', true],
    ['a/**/b', 'a/b', true],
    ['a/**/b', 'a/x/y/b', true],
    ['a/**/b', 'ab', false],
    ['a/**/**/b', 'a/b', true],
    ['src/**/*.ts', 'src/a.ts', true],
    ['src/**/*.ts', 'src/.ts', true],
    ['src/**/*.ts', 'src/a/b/c.ts', true],
    ['src/**/*.ts', 'src.ts', false],
    ['src/**/*.ts', 'lib/src/a.ts', false],
    ['**/*.d.ts', 'a/b.d.ts', true],
    ['**/*.d.ts', 'a/b.ts', false],
    ['*.ts', 'a/b.ts', false],
    ['a*c', 'ac', true],
    ['a*c', 'abbc', true],
    ['a?c', 'abc', true],
    ['a?c', 'ac', false],
    ['a?c', 'a/c', false],
    ['**.js', 'a.js', true],
    ['**.js', 'b/a.js', false],
    ['a/***', 'a/b', true],
    ['a/***', 'a/b/c', false],
    ['{a,b}', 'a', true],
    ['{a,b}', 'c', false],
    ['{a,b/c}/d', 'b/c/d', true],
    ['{a,{b,c}x}y', 'cxy', true],
    ['a{,b}', 'a', true],
    ['{a}', '{a}', true],
    ['{a}', 'a', false],
    ['{}', '{}', true],
    ['a,b}', 'a,b}', true],
    ['f{1..3}', 'f2', true],
    ['f{1..3}', 'f4', false],
    ['f{9..11}', 'f10', true],
    ['f{08..10}', 'f09', true],
    ['f{08..10}', 'f9', false],
    ['f{-1..1}', 'f-1', true],
    ['f{3..1}', 'f2', true],
    ['f{1..9..4}', 'f5', true],
    ['f{1..9..4}', 'f6', false],
    ['f{a..c}', 'fb', true],
    ['f{1..c}', 'f{1..c}', true],
    ['[abc]', 'b', true],
    ['[a-c]', 'b', true],
    ['[a-c]', 'd', false],
    ['[!a-c]', 'd', true],
    ['[^a-c]', 'b', false],
    ['[!a-c]x', '/x', false],
    ['[]a]', ']', true],
    ['[a-]', '-', true],
    ['[[:digit:]]x', '5x', true],
    ['[[:digit:]]x', 'ax', false],
    ['a]', 'a]', true],
    ['[{,}]', '{', true],
    ['[id].tsx', '[id].tsx', true],
    ['[id].tsx', 'i.tsx', true],
    ['[id].tsx', 'x.tsx', false],
    ['app/[id]/*.tsx', 'app/[id]/page.tsx', true],
    ['**/[...slug]/*.tsx', 'app/[...slug]/page.tsx', true],
    ['**/[[...slug]]/*', 'app/[[...slug]]/page.tsx', true],
    ['*[ab]*]', '[ab]', true],
    ['[a-z].tsx', '[a-z].tsx', true],
    ['(group)/*.ts', '(group)/a.ts', true],
    ['a|b', 'a|b', true],
    ['a+b@c', 'a+b@c', true],
    ['a!b', 'a!b', true],
    ['\\!a', '!a', true],
    ['\\*', '*', true],
    ['\\*', 'a', false],
    ['\\{a,b\\}', '{a,b}', true],
    ['\\[a\\]', '[a]', true],
    ['[\\]]', ']', true],
    ['"a"', '"a"', true],
    ['?', '😀', true],
    ['?', 'é', true],
    ['[😀-😎]', '😃', true],
    ['*?', '😀', true],
    ['???', '😀', false],
    ['?', '\u{10000}', true],
    ['?', '\u{10ffff}', true],
    ['?x', '\uffffx', true],
    ['*é*', 'caféx', true],
    ['*a*', 'a', true],
    ['*a*b', 'b', false],
    ['*a*b', 'xab', true],
    ['\x02?', 'ab', false],
    ['[A-C]', 'b', false],
    ['[a-a]', 'a', true],
    ['[a-c]*', '[a-c]x', false],
    ['[\uffffa]', 'a', true],
    ['[\x80]', '\x80', true],
    ['**/*.ts', 'a.ts', true],
    ['**/*.ts', 'd/a.ts', true],
    ['**/*.ts', 'a.tsx', false],
    ['**/*.ts', 'ts', false],
    ['**/*.ts', 'x.ts/a', false],
    ['**/*-a', 'b/c-a', true],
    ['**/*', 'a/b', true],
    ['src/**/*', 'src', false],
    ['src/**/*', 'src/a', true],
    ['a/**/**', 'a', true],
    ['a/**/', 'a', true],
    ['a/b/**/**', 'a/b', true],
    ['a*/**', 'ab', true],
    ['a*/**', 'ab/c', true],
    ['**/a/*.ts', 'b/c.ts', false],
    ['**/a/*.ts', 'b/a/c.ts', true],
    ['**/a/b', 'c/b', false],
    ['src/**/x', 'lib/x', false],
    ['src/**/x', 'src/x', true],
    ['*/b/**', 'x/y/b/z', false],
    ['**/b/*', 'b', false],
    ['**/b/*', 'b/c/d', false],
    ['**/a/x/**', 'a/y', false],
    ['**/dir/**', 'a/dir', true],
    ['a-C:/x', 'a-C:/x', true],
    ['_a://x', '_a:/x', true],
    ['[a-b]*', '[a-b]*', false],
    ['./[a-b]', '[a-b]', true],
    ['[a-b]//c', '[a-b]/c', true],
    ['[a-b]/./c', '[a-b]/c', true],
    ['[!ab]?', '[!ab]x', false],
    ['[a-c]?', '[a-c]x', false],
    ['[[:digit:]]?', '[[:digit:]]x', false],
    ['[\\]]?', '[\\]]x', false],
    ['{1..1000}', '1000', true],
    ['{a}*', '{a}b', true],
    ['{a}*', 'b', false],
    ['{a}*', '{ab', false],
    ['{b,[a]}*', 'ax', true],
    ['{a,b}x}*', 'ax}y', true],
    ['a}*', 'a}b', true],
    ['{a,b}}*', 'a}c', true],
    ['\\{a,b}*', '{a,b}c', true],
    ['{a\\},b}*', 'a}c', true],
    ['{[}],b}*', '}x', true],
    ['{x1..3}*', '{x1..3}y', true],
    ['{1..3x}*', '{1..3x}y', true],
    ['{1..c}*', '{1..c}x', true],
    ['f{1..30..10}', 'f11', true],
    ['f{1..30..10}', 'f2', false],
    ['f{1..9..4}', 'f13', false],
    ['f{1..100}', 'f1', true],
    ['f{01..100}', 'f001', true],
    ['f{-1..1}', 'f0', true],
    ['f{-01..1}', 'f-01', true],
    ['*[ab]', 'xc', false],
    ['*[ab]', 'xb', true],
    ['__proto__', '__proto__', true],
    ['**/constructor', 'a/toString', false],
  ])('%s on %s: %s', (pattern, path, expected) => {
    expect(matches(pattern, path)).toBe(expected)
  })

  it('folds case only with caseInsensitive, in literals, brackets and directories', () => {
    const cases: [string, string][] = [
      ['**/.ENV', 'a/.env'],
      ['Src/**', 'sRC/a'],
      ['*.PEM', 'a.pem'],
      ['[A-C]x', 'bX'],
      ['[a-c]x', 'BX'],
      ['[A-B].tsx', '[a-b].TSX'],
      ['[Xb]?', '[xB]y'],
      ['**/É*', 'a/éa'],
      ['**/ſecret', 'SECRET'],
      ['**/\u212Aey', 'key'],
    ]
    for (const [pattern, path] of cases) {
      expect(matches(pattern, path), pattern).toBe(false)
      expect(compileGlob(pattern, { caseInsensitive: true }).matches(path), pattern).toBe(true)
    }
    expect(compileGlob('[!a]', { caseInsensitive: true }).matches('A')).toBe(false)
    expect(compileGlob('Src/**', { caseInsensitive: true }).mayMatchBelow('sRC')).toBe(true)
  })

  it.each([
    ['', 'empty'],
    ['  ', 'empty'],
    ['/etc/passwd', 'absolute'],
    ['/**', 'absolute'],
    ['{/etc,a}/x', 'absolute'],
    ['C:/x', 'absolute'],
    ['C:\\x', 'absolute'],
    ['file:///x', 'absolute'],
    ['../x', 'climbs'],
    ['a/../b', 'climbs'],
    ['a/..', 'climbs'],
    ['a/{..,b}/c', 'climbs'],
    ['src\\app', 'backslash'],
    ['src\\.env', 'backslash'],
    ['a\\\\b', 'backslash'],
    ['a\\/b', 'backslash'],
    ['a\\', 'backslash'],
    ['!a', 'negation'],
    ['!(a)', 'negation'],
    ['+(a|aa)+(a|aa)', 'extended'],
    ['*(a)', 'extended'],
    ['x?(a)', 'extended'],
    ['@(a|b).js', 'extended'],
    ['a!(b)', 'extended'],
    ['[z-a]', 'range'],
    ['a\0b', 'NUL'],
    ['a'.repeat(4097), 'longer'],
    ['{a,b}'.repeat(10), 'alternatives'],
    ['{1..1001}', 'alternatives'],
    ['{1..999999999}', 'alternatives'],
    ['{1..40}{1..40}', 'alternatives'],
    [`{${'a,'.repeat(1000)}b}`.replaceAll('a', 'xy'), 'alternatives'],
    [`${'{a,'.repeat(33)}b${'}'.repeat(33)}`, 'nested'],
    [`${'x'.repeat(3000)}{a,b}{a,b}{a,b}{a,b}{a,b}`, 'characters'],
    [`{${'x'.repeat(2000)},${'y'.repeat(2000)}}{1..40}`, 'characters'],
    [`${'x'.repeat(2047)}{10..41}`, 'characters'],
  ])('refuses %j', (pattern, why) => {
    let caught: unknown
    try {
      compileGlob(pattern)
    } catch (error) {
      caught = error
    }
    expect(caught).toBeInstanceOf(ToolError)
    const error = caught as ToolError
    expect(error.code).toBe('INVALID_PATTERN')
    expect(error.message).toContain(why)
    expect(error.message.length).toBeLessThan(400)
    expect(error.details.hint).toMatch(/[a-z]/)
  })

  it.each([
    [' ', 'it is empty', 'Use ** for everything.'],
    ['/a', 'it is absolute', 'Globs are relative to the workspace root: omit the leading part.'],
    ['c:/a', 'it is absolute', 'Globs are relative to the workspace root: omit the leading part.'],
    ['a/..', 'it climbs with ..', 'Globs are relative to the workspace root and never leave it.'],
    [
      'a\\b',
      'a backslash escapes nothing there',
      'Use / between names; a backslash only makes a special character plain.',
    ],
    [
      '!a',
      'negation with ! is not supported',
      'Use an exclude or deny glob instead, or ? in place of ! for a name that starts with it.',
    ],
    ['a+(b)', 'extended globs such as +(a|b) are not supported', 'Use {a,b} for alternatives, or ? for a parenthesis.'],
    ['[z-a]', 'it has a range from high to low', 'Write the lower end of the range first.'],
    ['a\0b', 'it contains NUL', 'Remove it.'],
    ['{1..1001}', 'its braces expand to more than 1000 alternatives', 'Use fewer alternatives, or * instead.'],
  ])('gives a reason and a hint for %j', (pattern, why, hint) => {
    expect(() => compileGlob(pattern)).toThrow(
      expect.objectContaining({
        code: 'INVALID_PATTERN',
        message: `Cannot use glob ${quote(pattern)}: ${why}`,
        details: { hint },
      }),
    )
  })

  it('refuses a glob over 4,096 characters', () => {
    expect(() => compileGlob('a'.repeat(4097))).toThrow('it is longer than 4096 characters')
    expect(() => compileGlob('a'.repeat(4097))).toThrow(
      expect.objectContaining({ details: { hint: 'Use several shorter globs.' } }),
    )
    expect(() => compileGlob(`${'{a,'.repeat(33)}b${'}'.repeat(33)}`)).toThrow(
      'its braces are nested more than 32 deep',
    )
    expect(() => compileGlob(`${'x'.repeat(2047)}{10..41}`)).toThrow('its braces expand to more than 65536 characters')
  })

  it.each([
    ['a'.repeat(4096), 'a'.repeat(4096)],
    [`${'{a,'.repeat(32)}b${'}'.repeat(32)}`, 'b'],
    [`${'x'.repeat(2046)}{10..41}`, `${'x'.repeat(2046)}41`],
  ])('accepts %.20s, which is exactly at the limits', (pattern, path) => {
    expect(matches(pattern, path)).toBe(true)
  })

  it('agrees with picomatch on generated patterns and paths', () => {
    let positive = 0
    const letter = fc.constantFrom('a', 'b', 'c', '.', '-')
    const name = fc.string({ unit: letter, minLength: 1, maxLength: 4 }).filter((text) => !/^\.+$/.test(text))
    const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'))
    const piece = fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom('a', 'b', 'c', '-', 'a.b') },
      { weight: 4, arbitrary: fc.constantFrom('*', '?', '.') },
      { weight: 2, arbitrary: fc.constantFrom('[ab]', '[a-b]', '[!a]', '[^bc]', '[!a-b]') },
      { weight: 2, arbitrary: fc.constantFrom('{a,b}', '{b,ab,c}', '{a..c}', '{a,b.c}', '\\*', '\\[', '\\{') },
    )
    const part = fc.oneof(
      { weight: 2, arbitrary: fc.constantFrom('**', '*') },
      {
        weight: 5,
        arbitrary: fc
          .array(piece, { minLength: 1, maxLength: 4 })
          .map((pieces) => pieces.join('').replace(/\*+/g, '*'))
          // A name of dots only is the directory or its parent, which picomatch leaves to its caller.
          .filter((text) => !/^\.+$/.test(text)),
      },
    )
    const pattern = fc
      .array(part, { minLength: 1, maxLength: 4 })
      .map((parts) => parts.join('/'))
      // Next to a range, picomatch does not escape a dot, which then matches any character.
      .filter((glob) => !glob.includes('{a..c}') || !glob.replaceAll('{a..c}', '').includes('.'))
    fc.assert(
      fc.property(pattern, fc.array(path, { minLength: 5, maxLength: 20 }), (glob, paths) => {
        const compiled = compileGlob(glob)
        const theirs = oracle(glob)
        for (const path of paths) {
          if (theirs(path)) positive += 1
          expect([path, compiled.matches(path)]).toEqual([path, theirs(path)])
        }
      }),
      { numRuns: times(500, 3000) },
    )
    expect(positive).toBeGreaterThan(times(100, 1000))
  })

  it('agrees with picomatch on paths made from the pattern', () => {
    // The other test rarely matches long patterns. Here each path is derived from the pattern.
    const pieces: [string, string[]][] = [
      ['*', ['', 'a', 'bcb', '.x']],
      ['?', ['a', '.', '-']],
      ['[ab]', ['a', 'b', 'c']],
      ['[!a]', ['b', 'a', '.']],
      ['{a,bc}', ['a', 'bc', 'b']],
      ['ab', ['ab', 'a']],
      ['.c', ['.c', 'c']],
    ]
    const piece = fc
      .constantFrom(...pieces)
      .chain(([source, readings]) => fc.tuple(fc.constant(source), fc.constantFrom(...readings)))
    const name = fc
      .array(piece, { minLength: 1, maxLength: 5 })
      .filter((list) => list.every(([source], i) => source !== '*' || list[i - 1]?.[0] !== '*'))
      .map((list) => [list.map(([source]) => source).join(''), list.map(([, reading]) => reading).join('')] as const)
      .filter(([source, reading]) => reading !== '' && !/^\.+$/.test(reading) && source !== '**')
    const stars = fc.constantFrom(['**', ''] as const, ['**', 'q'] as const, ['**', 'q/r'] as const)
    const both = fc
      .array(fc.oneof({ weight: 3, arbitrary: name }, { weight: 1, arbitrary: stars }), { minLength: 1, maxLength: 5 })
      // Patterns with too many alternatives are refused.
      .filter((list) => list.map(([source]) => source.split('{').length - 1).reduce((sum, n) => sum + n, 0) < 10)
    fc.assert(
      fc.property(both, (list) => {
        const glob = list.map(([source]) => source).join('/')
        const path = list
          .map(([, reading]) => reading)
          .filter((reading) => reading !== '')
          .join('/')
        fc.pre(path !== '')
        expect(compileGlob(glob).matches(path)).toBe(oracle(glob)(path))
      }),
      { numRuns: times(500, 3000) },
    )
  })

  it('mayMatchBelow is never false if something below matches', () => {
    const name = fc.constantFrom('a', 'b', 'ab', '.c', 'x.ts')
    const part = fc.oneof(name, fc.constantFrom('**', '*', '?', '[ab]', '{a,b}', '{a,a/b}', '*.ts', 'a*'))
    const pattern = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'))
    const path = fc.array(name, { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(fc.array(pattern, { minLength: 1, maxLength: 3 }), path, (globs, names) => {
        const glob = compileGlobs(globs)
        if (!glob.matches(names.join('/'))) return
        for (let depth = 0; depth < names.length; depth++) {
          expect(glob.mayMatchBelow(names.slice(0, depth).join('/'))).toBe(true)
        }
      }),
      { numRuns: times(700, 5000) },
    )
  })

  it('mayMatchBelow is false if nothing can match', () => {
    expect(compileGlob('src/*.ts').mayMatchBelow('src')).toBe(true)
    expect(compileGlob('src/*.ts').mayMatchBelow('src/a')).toBe(false)
    expect(compileGlob('src/*.ts').mayMatchBelow('lib')).toBe(false)
    expect(compileGlob('src/**').mayMatchBelow('')).toBe(true)
    expect(compileGlob('src/**').mayMatchBelow('src/a/b')).toBe(true)
    expect(compileGlob('src/**').mayMatchBelow('srcs')).toBe(false)
    expect(compileGlob('a/b/c').mayMatchBelow('a/b')).toBe(true)
    expect(compileGlob('a/b/c').mayMatchBelow('a/b/c')).toBe(false)
    expect(compileGlob('*').mayMatchBelow('a')).toBe(false)
    expect(compileGlob('[ab]/x/**/y').mayMatchBelow('a/x/q/r')).toBe(true)
    expect(compileGlob('[ab]/x/**/y').mayMatchBelow('c')).toBe(false)
    expect(compileGlobs([]).mayMatchBelow('')).toBe(false)
    for (const directory of ['', 'src', 'src/a']) expect(compileGlob('src/**/*.ts').mayMatchBelow(directory)).toBe(true)
    for (const directory of ['lib', 'srcs', 's'])
      expect(compileGlob('src/**/*.ts').mayMatchBelow(directory)).toBe(false)
    for (const everywhere of ['**/x', '**/x/**', '**/*.ts', '**/a/*', '**'])
      expect(compileGlob(everywhere).mayMatchBelow('y/z')).toBe(true)
    for (const directory of ['', 'a']) expect(compileGlob('a/b/c').mayMatchBelow(directory)).toBe(true)
    expect(compileGlob('.').mayMatchBelow('')).toBe(false)
    expect(compileGlob('*/b').mayMatchBelow('a/b/c')).toBe(false)
    expect(compileGlob('*/b').mayMatchBelow('')).toBe(true)
    expect(compileGlob('?/b').mayMatchBelow('')).toBe(true)
    const two = compileGlobs(['[ab]/x', '[cd]/y'])
    expect(['', 'a', 'd', 'e', 'a/x'].map(two.mayMatchBelow)).toEqual([true, true, true, false, false])
  })
})

describe('compileGlobs', () => {
  it('matches if any of its globs matches', () => {
    const name = fc.constantFrom('a', 'b', 'ab', '.c', 'x.ts', 'y.d.ts')
    const part = fc.oneof(name, fc.constantFrom('**', '*', '?', '[ab]', '*.ts', '*.d.ts', 'a*', '*b'))
    const pattern = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'))
    const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'))
    fc.assert(
      fc.property(
        fc.array(pattern, { maxLength: 30 }),
        fc.array(path, { minLength: 1, maxLength: 10 }),
        (globs, paths) => {
          const many = compileGlobs(globs)
          const singles = globs.map(oracle)
          for (const path of paths)
            expect([path, many.matches(path)]).toEqual([path, singles.some((single) => single(path))])
        },
      ),
      { numRuns: times(350, 2000) },
    )
  })

  it('matches nothing without globs', () => {
    expect(compileGlobs([]).matches('')).toBe(false)
    expect(compileGlobs([]).matches('a')).toBe(false)
  })

  it('mayMatchBelow considers each glob', () => {
    const two = compileGlobs(['a/**', 'b/**'])
    expect(['a/x', 'b/x', 'c/x'].map(two.matches)).toEqual([true, true, false])
  })

  it('names the invalid glob', () => {
    expect(() => compileGlobs(['a', '../b'])).toThrow('../b')
  })
})

describe('hostile globs', () => {
  const long = 'a'.repeat(255)
  const deep = Array.from({ length: 2000 }, () => 'a').join('/')
  const hostile: [string, string][] = [
    [`${'*a'.repeat(2000)}b`, long],
    [`${'*a'.repeat(100)}[ab]c`, long],
    [`${'*a'.repeat(60)}*[bc]`, long],
    ['*'.repeat(4000), long],
    [`${'**/'.repeat(1300)}x`, deep],
    [`${'**/a/'.repeat(800)}x`, deep],
    [`${'**/*a*/'.repeat(500)}x`, deep],
    ['['.repeat(4096), long],
    [`${'['.repeat(2000)}/${']'.repeat(2000)}`, long],
    [`${'[a]'.repeat(85)}*[bc]`, long],
    [`*${'[a]*'.repeat(80)}b`, long],
    [`${'[\\]'.repeat(1300)}`, long],
    ['{'.repeat(4096), long],
    [`${'{a,'.repeat(900)}b${'}'.repeat(900)}`, long],
    [`${'{'.repeat(2000)}a,b${'}'.repeat(2000)}`, long],
    ['{,}'.repeat(9), long],
    [`{${'*a*a*a*a*b,'.repeat(300)}x}`, long],
    [`${'?'.repeat(4000)}`, long],
    ['\\*'.repeat(2000), long],
  ]

  it('take little time to compile and match, or are refused', () => {
    for (const [pattern, path] of hostile) {
      const start = ownTime()
      try {
        const glob = compileGlob(pattern)
        for (let i = 0; i < 20; i++) glob.matches(path)
        glob.mayMatchBelow(path)
      } catch (error) {
        expect(error).toBeInstanceOf(ToolError)
      }
      // Backtracking would take years. The limit only has to distinguish the two on a busy machine.
      expect(ownTime() - start, pattern.slice(0, 30)).toBeLessThan(1000)
    }
  })
})

describe('unusual globs', () => {
  it.each([
    // Brackets inside of braces.
    ['{a[[],b}', ['a[', 'b'], ['a', 'a,b']],
    ['{[,]a,b}', [',a', 'b'], ['[', 'a']],
    // Escapes and ranges within brackets.
    ['[a-\\z]', ['q', 'z'], ['-', '\\', 'A']],
    ['[\\]x]', [']', 'x'], ['\\']],
    ['[\\-a]', ['-', 'a'], ['b']],
    ['[😀-😂]x', ['😁x'], ['x', 'ax', 'éx', 'Ａx']],
    // A bracket expression that also matches its own text, next to tokens without a fixed width.
    ['*[ab]?', ['xa1', 'x[ab]1', '[ab]😀', 'a😀', 'x[ab]'], ['x[a', 'a', 'b', 'xc1']],
    ['[ab]*c?', ['[ab]cc', '[ab]xc1', 'acx'], ['[ab]c', '[ac]c1']],
    ['[ab]?*', ['[ab]undefined'], ['[ab]']],
    ['[ab]?', ['[ab]x', '[ab]\uffff'], ['[ab]xy']],
    ['?[😀]', ['a😀', 'a[😀]', '😀😀', '[😀'], ['😀', '😀a']],
  ] as const)('%s', (pattern, yes, no) => {
    const { matches } = compileGlob(pattern)
    for (const name of yes) expect([name, matches(name)]).toEqual([name, true])
    for (const name of no) expect([name, matches(name)]).toEqual([name, false])
  })

  describe('a [ or { that does not close', () => {
    const starts = ['', 'a', 'src/', '*', '**/', '[ab]', '{a,b}']
    const unclosed = ['[', '[a', '[a-', '[!', '[]', '[]*', '[a/b]', '[[:nope:]]', '{', '{*', '{a', '{a,b', '{1..3']
    const hidden = ['{a\\}*', '{[}]*', '{[a,b/],c}*', '{a[,b}', '{[[:nope:]],b}', '{{a,b}', '[[]{', '{a}{']
    const globs = starts.flatMap((start) => [...unclosed, ...hidden].map((end) => `${start}${end}`))

    it.each(globs)('is refused: %s', (glob) => {
      expect(() => compileGlob(glob)).toThrow(
        expect.objectContaining({
          code: 'INVALID_PATTERN',
          details: { hint: expect.stringMatching(/^Close .* or write \[[[{]\] for the character\.$/) },
        }),
      )
    })

    it.each(['[', '{', '[ab', '{a,b', 'a[]', '{1..3', '[a/b]', '(src)', ']', '}', 'a]b}'])(
      'is a character between brackets: a file named %s is matched',
      (path) => {
        expect(compileGlob(path.replace(/[[{]/g, '[$&]')).matches(path)).toBe(true)
      },
    )

    it.each(['(src)/**', '[id].tsx', '[...slug]/a', '[[...slug]]', '{a}', '{}', ']', '}', '{1..3}', '[[:alpha:]]*'])(
      'is not in %s',
      (glob) => {
        expect(() => compileGlob(glob)).not.toThrow()
      },
    )
  })

  it.each(['[a-', '[a-\\', '[\\', '{[]a-\\/x,b}', '{[]\\/x,b}'])(
    '%s never closes, and is text or refused',
    (pattern) => {
      try {
        expect(compileGlob(pattern).matches(pattern)).toBe(true)
      } catch (error) {
        expect(error).toBeInstanceOf(ToolError)
      }
    },
  )

  it.each([
    ['[Ab]x', ['ax', 'BX', '[AB]X'], ['cx']],
    ['[!a]x', ['bx'], ['ax', 'AX']],
    ['straße', ['STRAßE', 'Straße'], ['strasse']],
    ['İx', ['İX'], ['ix', 'i\u0307x']],
    ['[i]x', ['İX', 'IX'], ['jx']],
    ['[!i]x', ['jx'], ['İX', 'IX']],
    ['ᾈx', ['ᾀX'], ['ἈΙX']],
  ] as const)('%s in any letter case', (pattern, yes, no) => {
    const { matches } = compileGlob(pattern, { caseInsensitive: true })
    for (const name of yes) expect([name, matches(name)]).toEqual([name, true])
    for (const name of no) expect([name, matches(name)]).toEqual([name, false])
  })

  it('match in many directories', () => {
    const { matches } = compileGlobs(Array.from({ length: 20 }, (_, i) => `d${i}/e/**`))
    for (const path of ['d7/e/f', 'd19/e/f/g', 'd0/e']) expect([path, matches(path)]).toEqual([path, true])
    for (const path of ['d7', 'd7/f/e', 'd20/e/f', 'x/d7/e', '']) expect([path, matches(path)]).toEqual([path, false])
  })
})
