import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { classifyPath } from '../../src/files/classify/index.ts'
import type { LogicalPath, Path } from '../../src/paths/logical-path.ts'
import type { GuardedAccess } from '../../src/policy/access.ts'
import { compileArgument } from '../../src/policy/arguments.ts'
import { compilePaths, compileTexts, permissionMask } from '../../src/policy/match.ts'
import { permissions } from '../../src/policy/permissions.ts'
import { compilePolicy } from '../../src/policy/policy.ts'
import { times } from '../counts.ts'
import { ownTime } from '../own-time.ts'
import { globs, paths } from './generate.ts'
import { anyGlob } from './reference.ts'

describe('compilePaths', () => {
  it('agrees with picomatch, and matches everything below a name without * and ?', () => {
    fc.assert(
      fc.property(fc.array(globs, { minLength: 1, maxLength: 4 }), paths, (patterns, path) => {
        const expected = anyGlob(patterns, path)
        expect(compilePaths(patterns, 'x').matches(path)).toBe(expected)
      }),
      { numRuns: times(250, 1500) },
    )
  })

  it('coversBelow and mayMatchBelow agree with matches', () => {
    fc.assert(
      fc.property(fc.array(globs, { minLength: 1, maxLength: 3 }), paths, (patterns, path) => {
        const set = compilePaths(patterns, 'x')
        for (let above = path as string; above !== ''; ) {
          above = above.slice(0, Math.max(0, above.lastIndexOf('/')))
          if (set.coversBelow(above)) expect(set.matches(path)).toBe(true)
          if (set.matches(path)) expect(set.mayMatchBelow(above)).toBe(true)
        }
      }),
      { numRuns: times(250, 1500) },
    )
  })

  it.each([
    ...['(admin)', '@internal', 'c++', "it's", 'a,b', '{{name}}', '[id]', '[...all]', 'a b'].map((name) => [
      name,
      name,
    ]),
    ...[
      ['[[]id]', '[id]'],
      ['a[*]', 'a*'],
      ['{private,other}', 'private'],
      ['{other/*,private}', 'private'],
    ],
    ...[
      ['{a/other,a/private}', 'a/private'],
      ['x{y,private}', 'xprivate'],
      ['[pq]rivate', 'private'],
    ],
  ] as [string, string][])(
    'covers what is below a directory, as a pattern without * and ?: %s',
    (pattern, directory) => {
      for (const above of ['', 'app/', '**/']) {
        const { matches } = compilePaths([`${above}${pattern}`], 'x')
        const place = `${above}${directory}`.replace('**', 'p')
        for (const path of [place, `${place}/a.ts`, `${place}/b/c.ts`]) expect(matches(path), path).toBe(true)
        expect(matches(`${place}2/a.ts`)).toBe(false)
      }
    },
  )

  it('covers whole directories', () => {
    expect(compilePaths(['src'], 'x').coversBelow('src/app')).toBe(true)
    expect(compilePaths(['src/**'], 'x').coversBelow('src')).toBe(true)
    expect(compilePaths(['src/'], 'x').coversBelow('src')).toBe(true)
    expect(compilePaths(['**/private/**'], 'x').coversBelow('a/private/b')).toBe(true)
    expect(compilePaths(['**'], 'x').coversBelow('')).toBe(true)
    expect(compilePaths(['src/**'], 'x').coversBelow('src2')).toBe(false)
    expect(compilePaths(['src/*.ts'], 'x').coversBelow('src')).toBe(false)
    expect(compilePaths(['src/**'], 'x').coversBelow('a/src')).toBe(false)
    expect(compilePaths(['**/**'], 'x').coversBelow('a')).toBe(true)
    expect(compilePaths(['*/**'], 'x').coversBelow('')).toBe(false)
    expect(compilePaths(['*/a/**'], 'x').coversBelow('b/c/a')).toBe(false)
    expect(compilePaths(['b*/a/**'], 'x').coversBelow('c/a')).toBe(false)
    const two = compilePaths(['**/a/**', '**/b/**'], 'x')
    expect(['a', 'c/a', 'b/c', 'c/d', 'ca'].map(two.coversBelow)).toEqual([true, true, true, false, false])
  })

  it.each([
    ...['**', '**/**', '*', '**/*', 'a', 'a/**', '*/a', 'a*/b', 'src/*.ts', '*.min.js', 'docs/?*', '**/a/b?', 'b.*'],
    ...['src/[ab].ts', 'src/{a,b}.ts', '{src,docs}/**', 'src/**/a.ts', 'a/*/b', 'src/a', '?', '*.'],
  ])('matches the same paths as picomatch for any plain text in it: %s', (pattern) => {
    const names = [
      ...['a', 'a/b', 'a/b/c', 'x/a', 'x/a/b', 'ab/b/c', 'src/a.ts', 'src/c.ts', 'src/x/a.ts', 'min.js'],
      ...['a.min.js', 'docs/x', 'docs', 'x/a/b1', 'src/a/b', 'b.c', 'a.', 'xa'],
    ]
    const [one, two] = [compilePaths([pattern], 'x'), compilePaths([pattern, 'zz/*.md'], 'x')]
    const expected = names.filter((name) => anyGlob([pattern], name))
    expect(names.filter(one.matches)).toEqual(expected)
    expect(names.filter(two.matches)).toEqual(expected)
    expect(two.matches('zz/a.md')).toBe(true)
    expect(one.matches('')).toBe(['**', '**/**'].includes(pattern))
  })

  it('ignores dots between slashes, and treats a trailing slash as everything below', () => {
    const matches = (pattern: string, path: string) => compilePaths([pattern], 'x').matches(path)
    expect([matches('.', 'a'), matches('./*', 'a'), matches('src/./a', 'src/a'), matches('src/.', 'src')]).toEqual([
      ...[true, true, true, true],
    ])
    expect([matches('src/', 'src'), matches('src/', 'src/a'), matches('src/', 'src2')]).toEqual([true, true, false])
  })
})

describe('compileTexts', () => {
  const pieces = fc.array(fc.constantFrom('a', 'b', 'ab', '/', '.', '*', '**', '(', '+', '\n', 'aab'), { maxLength: 8 })

  it('agrees with a regular expression', () => {
    fc.assert(
      fc.property(pieces, pieces, (pattern, text) => {
        const source = pattern
          .join('')
          .split('*')
          .map((piece) => piece.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&'))
        const expected = new RegExp(`^${source.join('[^]*')}$`, 'u').test(text.join(''))
        expect(compileTexts([pattern.join('')], 'x')(text.join(''))).toBe(expected)
      }),
      { numRuns: times(500, 3000) },
    )
  })

  it('finds long literal parts', () => {
    const piece = 'abcabcabcabcabcabd'
    expect(compileTexts([`*${piece}*`], 'x')(`abcabc${piece}x`)).toBe(true)
    expect(compileTexts([`*${piece}*${piece}`], 'x')(`${piece.repeat(2)}`)).toBe(true)
    expect(compileTexts([`*${piece}*${piece}`], 'x')(piece)).toBe(false)
  })

  it('finds long literal parts that overlap with themselves', () => {
    for (let seed = 0; seed < 24; seed++) {
      const letter = (i: number) => 'aab'.charAt((seed * 7 + i * i + (i >> (seed % 3))) % 3)
      const long = Array.from({ length: 17 + (seed % 5) }, (_, i) => letter(i)).join('')
      for (const part of [0, 9, 16]) {
        const text = `${long.slice(0, part)}${long.slice(0, part)}b${long.slice(0, 16)}${long}a`
        expect(compileTexts([`*${long}*`], 'x')(text)).toBe(true)
        const end = text.indexOf(long) + long.length
        expect(compileTexts([`*${long}*`], 'x')(text.slice(0, end))).toBe(true)
        expect(compileTexts([`*${long}*`], 'x')(text.slice(0, end - 1))).toBe(false)
        // The next part may start at the end of this one, but no earlier.
        expect(compileTexts([`*${long}*${text.slice(end)}`], 'x')(text)).toBe(true)
        expect(compileTexts([`*${long}*${text.slice(end - 1)}`], 'x')(text)).toBe(false)
      }
    }
  })

  it('finds any long literal part', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 17, maxLength: 24 }),
        fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 300 }),
        (long, text) => {
          expect(compileTexts([`*${long}*`], 'x')(text)).toBe(text.includes(long))
        },
      ),
    )
  })

  it.each<[string, string, boolean]>([
    ['ab*ba', 'aba', false],
    ['ab*ba', 'abba', true],
    ['a*b', 'ac', false],
    ['a*b', 'xab', false],
    ['a*bc*c', 'abc', false],
    ['***', '', true],
    ['a**b', 'ab', true],
    ['a\\', 'a\\', true],
    ['a\\', 'a', false],
    ['a\\bc', 'abc', true],
    // Long literal parts of which the text repeatedly contains only the beginning.
    ['*abaabaabaaabbaaaa*', 'abaabaabaaabbaaabaabaaabbaaabaaabbaaaaabbaaaa', false],
    ['*bababababaabbbbbb*', 'baababababaabbbbbbbabababab', false],
    ['*abaaaabbbaabbabbb*', 'bbbaabbabbbaaaabbbaabbabbbbaabbabbb', false],
  ])('%s matches %s: %s', (pattern, text, expected) => {
    expect(compileTexts(['other', pattern, 'x*y'], 'x')(text)).toBe(expected)
  })

  it('accepts patterns of 4,096 characters and refuses longer ones', () => {
    expect(compileTexts(['a'.repeat(4096)], 'x')('a'.repeat(4096))).toBe(true)
    expect(() => compileTexts(['b', 'a'.repeat(4097)], 'x')).toThrow(
      new TypeError('Policy field "x[1]" is longer than 4096 characters'),
    )
  })

  it('matches an escaped star literally', () => {
    const test = compileTexts(['a\\*b\\\\'], 'x')
    expect([test('a*b\\'), test('axb\\')]).toEqual([true, false])
  })
})

describe('permissionMask', () => {
  const maskOf = (...patterns: string[]) => {
    const mask = permissionMask(patterns, 'x')
    return permissions.filter((_, index) => (mask & (1 << index)) !== 0)
  }

  it('matches permissions by their parts', () => {
    expect(maskOf('*')).toEqual([...permissions])
    expect(maskOf('file:write:*')).toEqual(['file:write:create', 'file:write:replace'])
    expect(maskOf('*:read')).toEqual(['file:read', 'memory:read'])
    expect(maskOf('file:*:create')).toEqual(['file:write:create'])
    expect(maskOf('command:*', 'file:read')).toEqual(['file:read', 'command:run', 'command:background'])
    expect(maskOf('file:*')).toEqual(permissions.filter((permission) => permission.startsWith('file:')))
  })
})

describe('hostile patterns', () => {
  const hostile = [
    '*a'.repeat(100).concat('b'),
    '**/'.repeat(200).concat('x'),
    `${'*'.repeat(1000)}x`,
    `${'[a-'.repeat(50)}`,
    `${'?*'.repeat(200)}z`,
    `**/${'a*'.repeat(60)}b/**/${'a*'.repeat(60)}c`,
  ]
  const path = `${'a'.repeat(250)}/${'a'.repeat(250)}/${'a'.repeat(250)}` as LogicalPath
  const access = {
    permission: 'file:read',
    asked: path,
    path: path as Path,
    classification: classifyPath(path),
    recursive: false,
  } as GuardedAccess

  it.each(hostile)('%#: take little time in every field, or are refused', (pattern) => {
    const started = ownTime()
    const fields = [
      { allowedPaths: [pattern] },
      { deniedPaths: [pattern] },
      { readOnlyPaths: [pattern] },
      ...['paths', 'tools', 'permissions', 'commands', 'risk'].map((field) => ({
        rules: [{ name: 'r', action: 'deny', [field]: [pattern] }],
      })),
      { rules: [{ name: 'r', action: 'deny', args: { path: [pattern], command: [pattern] } }] },
    ]
    for (const policy of fields) {
      try {
        const compiled = compilePolicy({ preset: 'autonomous', ...policy })
        const input = { path, command: 'a'.repeat(100_000) }
        compiled.evaluate({ tool: 'a'.repeat(1000), input, accesses: [access], task: { risk: 'a'.repeat(10_000) } })
        compiled.mayContainAllowed('x', 'file:read', path)
      } catch (error) {
        expect(error).toBeInstanceOf(TypeError)
      }
    }
    expect(ownTime() - started).toBeLessThan(1000)
  })

  it('take linear time for a long text', () => {
    const test = compileTexts([`*${'a'.repeat(2000)}b*${'a'.repeat(2000)}c`], 'x')
    const cost = (length: number) => {
      const text = `${'a'.repeat(length)}c`
      const started = ownTime()
      test(text)
      return ownTime() - started
    }
    cost(1_000_000)
    expect(cost(1_000_000)).toBeLessThan(500)
  })
})

describe('compileArgument', () => {
  it('compares a path in normalized form, and an invalid path as it is', () => {
    const test = compileArgument('path', ['src/**'], 'x')
    expect(test({ path: './src//a.ts' }, 'every')).toBe(true)
    expect(test({ path: '../src/a.ts' }, 'every')).toBe(false)
    expect(compileArgument('path', ['*'], 'x')({ path: '/etc' }, 'some')).toBe(false)
    expect(test({ path: [] }, 'some')).toBe(false)
    expect(test({}, 'some')).toBe(false)
    expect(test({ path: null }, 'some')).toBe(false)
    expect(test({ path: [null, { deep: ['src/b'] }] }, 'every')).toBe(true)
  })

  it.each(['path', 'to', 'from', 'cwd', 'paths'])('treats %s as a path', (name) => {
    expect(compileArgument(name, ['src/**'], 'x')({ [name]: './src//a/../b' }, 'every')).toBe(true)
    expect(compileArgument(`${name}s of`, ['src/*'], 'x')({ [`${name}s of`]: './src/a' }, 'every')).toBe(false)
  })

  it('compares only strings, numbers and booleans', () => {
    const test = compileArgument('value', ['true', '3', 'a*'], 'x')
    expect([true, 3, 'ab', ['ab'], { b: true }].map((value) => test({ value }, 'some'))).toEqual(Array(5).fill(true))
    const none = compileArgument('value', ['*'], 'x')
    expect([undefined, null, [], {}, () => 'a', Symbol('a')].map((value) => none({ value }, 'some'))).toEqual(
      Array(6).fill(false),
    )
  })
})
