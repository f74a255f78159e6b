import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type IgnoreScope, ignoreScope, isIgnored, parseIgnore } from '../../src/paths/ignore.ts'
import { times } from '../counts.ts'
import { ownTime } from '../own-time.ts'
import { writeFiles } from '../write-files.ts'

/** Ignore files by path, and the entries to test. A directory ends with `/`. */
interface Case {
  readonly files: Readonly<Record<string, string>>
  readonly entries: readonly string[]
}

/** Returns the ignored entries of each case according to git. Each case has its own directory. */
function askGit(cases: readonly Case[], config: readonly string[] = []): string[][] {
  const root = mkdtempSync(join(tmpdir(), 'wardspace-ignore-'))
  const requests: string[] = []
  for (const [i, { files, entries }] of cases.entries()) {
    const directory = cases.length === 1 ? '' : `case${i}`
    for (const entry of entries) {
      if (entry.endsWith('/')) mkdirSync(join(root, directory, entry), { recursive: true })
      requests.push(join(directory, entry.replace(/\/$/, '')))
    }
    writeFiles(join(root, directory), files)
  }
  const environment = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' }
  execFileSync('git', ['init', '-q'], { cwd: root, env: environment })
  let output = ''
  try {
    output = execFileSync('git', [...config, 'check-ignore', '--no-index', '--stdin', '-z'], {
      cwd: root,
      env: environment,
      input: requests.join('\0'),
      maxBuffer: 1 << 28,
      stdio: ['pipe', 'pipe', 'ignore'],
    }).toString()
  } catch (error) {
    if ((error as { status?: number }).status !== 1) throw error
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
  const ignored = new Set(output.split('\0'))
  return cases.map(({ entries }, i) =>
    entries.filter((entry) => ignored.has(join(cases.length === 1 ? '' : `case${i}`, entry.replace(/\/$/, '')))),
  )
}

/** Returns the ignored entries according to this implementation, from the root down as in a walk. */
function askOurs({ files, entries }: Case, options = {}): string[] {
  const scopeIn = (directory: string): IgnoreScope | undefined => {
    const outer = directory === '' ? undefined : scopeIn(parent(directory))
    const text = files[directory === '' ? '.gitignore' : `${directory}/.gitignore`]
    return text === undefined ? outer : ignoreScope(outer, directory, parseIgnore(text, options))
  }
  const judge = (path: string, isDirectory: boolean): boolean =>
    (path.includes('/') && judge(parent(path), true)) || isIgnored(scopeIn(parent(path)), path, isDirectory)
  return entries.filter((entry) => judge(entry.replace(/\/$/, ''), entry.endsWith('/')))
}

/** Results of git for many cases at once. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

function parent(path: string): string {
  const slash = path.lastIndexOf('/')
  return slash === -1 ? '' : path.slice(0, slash)
}

const names = [
  'a',
  'b',
  'ab',
  'foo',
  'bar',
  'x.ts',
  'y.d.ts',
  '.env',
  '.a',
  'A',
  '#a',
  '!a',
  'a b',
  'c ',
  '[a]',
  '*',
  'a-b',
  'é',
  '日本',
]
const name = fc.constantFrom(...names)
const entry = fc
  .tuple(fc.array(name, { minLength: 1, maxLength: 4 }), fc.boolean())
  .map(([parts, isDirectory]) => parts.join('/') + (isDirectory ? '/' : ''))

/** Entries without conflicts: a directory of one entry is not a file in another. */
const entries = fc.array(entry, { minLength: 5, maxLength: 25 }).map((list) => {
  const directories = new Set<string>()
  for (const item of list) {
    const path = item.replace(/\/$/, '')
    for (let above = parent(path); above !== ''; above = parent(above)) directories.add(above)
    if (item.endsWith('/')) directories.add(path)
  }
  const files = list.filter((item) => !item.endsWith('/') && !directories.has(item))
  return [...[...directories].map((path) => `${path}/`), ...new Set(files)]
})

const piece = fc.oneof(
  { weight: 8, arbitrary: name },
  { weight: 5, arbitrary: fc.constantFrom('*', '**', '?', '*.ts', 'a*', '*b', 'f*', '***', '*.*') },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '[ab]',
      '[!a]',
      '[^b]',
      '[a-f]*',
      '[[:alpha:]]',
      '[[:punct:]a]*',
      '[]a]',
      '[a',
      '[\\]a]',
      '[z-a]',
      '[é]',
      '[--b]',
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '\\a',
      '\\*',
      '\\[a\\]',
      '\\#a',
      '\\!a',
      'c\\ ',
      'a\\ b',
      '??',
      '?*',
      '\\',
      'a\\',
      '[[:foo:]]',
      '[[:alpha:',
      '[[:a]',
      '\\A',
      '[A]',
      '[!A-C]',
      '[Z-a]',
      '[[:upper:]]',
      '[[:ALPHA:]]',
    ),
  },
)
const rule = fc
  .record({
    negated: fc.constantFrom('', '', '', '!'),
    start: fc.constantFrom('', '', '', '/', '**/', '//'),
    parts: fc.array(
      fc.array(piece, { minLength: 1, maxLength: 2 }).map((pieces) => pieces.join('')),
      { minLength: 1, maxLength: 3 },
    ),
    end: fc.constantFrom('', '', '', '/', '/**', '/*', ' ', '  ', '\t', '\r', '//', ' \\ ', '/ '),
  })
  .map(({ negated, start, parts, end }) => negated + start + parts.join('/') + end)
const line = fc.oneof(
  { weight: 12, arbitrary: rule },
  {
    weight: 1,
    arbitrary: fc.constantFrom('', '#a', '# x', ' ', '!', '/', '!/', '\\', '**', '/**', '**/', '*/', ' a', '\r'),
  },
)
const text = fc
  .tuple(fc.array(line, { minLength: 1, maxLength: 6 }), fc.constantFrom('', '\n', '\r\n'))
  .map(([lines, end]) => lines.join('\n') + end)

const anyCase: fc.Arbitrary<Case> = fc
  .tuple(entries, text, fc.array(fc.tuple(fc.nat(), text), { maxLength: 3 }))
  .map(([list, root, nested]) => {
    const directories = list.filter((item) => item.endsWith('/'))
    const files: Record<string, string> = { '.gitignore': root }
    if (directories.length > 0)
      for (const [i, more] of nested) files[`${directories[i % directories.length]}.gitignore`] = more
    return { files, entries: list }
  })

describe('parseIgnore', () => {
  it('agrees with git on generated files and trees', () => {
    let judged = 0
    let ignored = 0
    fc.assert(
      fc.property(fc.array(anyCase, { minLength: times(60, 100), maxLength: 200, size: 'max' }), (cases) => {
        const theirs = askGit(cases)
        for (const [i, one] of cases.entries()) {
          judged += one.entries.length
          ignored += theirs[i]?.length ?? 0
          expect({ ...one, ignored: askOurs(one) }).toEqual({ ...one, ignored: theirs[i] })
        }
      }),
      { numRuns: times(1, 3) },
    )
    expect(judged).toBeGreaterThan(times(300, 2000))
    expect(ignored).toBeGreaterThan(times(20, 400))
  })

  it('agrees with git if letter case is ignored', () => {
    fc.assert(
      fc.property(fc.array(anyCase, { minLength: 2, maxLength: times(30, 60), size: 'max' }), (cases) => {
        const theirs = askGit(cases, ['-c', 'core.ignoreCase=true'])
        for (const [i, one] of cases.entries()) {
          expect({ ...one, ignored: askOurs(one, { caseInsensitive: true }) }).toEqual({ ...one, ignored: theirs[i] })
        }
      }),
      { numRuns: times(2, 4) },
    )
  })

  const tree = [
    'a',
    'b/',
    'b/a',
    'b/c/',
    'b/c/a',
    'b/c/x.ts',
    'foobar/',
    'foobar/x.ts',
    'foo/',
    'foo/bar',
    '#a',
    '!a',
    'c ',
    'x.ts',
    'é',
    'b/é',
    'y.d.ts',
    'z\uFEFFq',
    'zq',
  ]
  const rows: [what: string, files: Record<string, string>][] = [
    ['a plain name', { '.gitignore': 'a' }],
    ['an anchored name', { '.gitignore': '/a' }],
    ['an anchored name of more than a letter', { '.gitignore': '/x.ts\n/foo' }],
    ['a path', { '.gitignore': 'b/a' }],
    ['a directory', { '.gitignore': 'a/\nc/' }],
    ['negation', { '.gitignore': '*\n!b\n!b/*\n!x.ts' }],
    ['nothing below an ignored directory can be included again', { '.gitignore': 'b\n!b/a\n!a' }],
    ['nested files before outer ones', { '.gitignore': 'a', 'b/.gitignore': '!a', 'b/c/.gitignore': '/a' }],
    ['globstars', { '.gitignore': '**/a\nb/**/x.ts\nfoo**/bar\n/**/c' }],
    ['a globstar after text', { '.gitignore': '*\n!foo**\n!*/\nb/foo**' }],
    ['comments and escapes', { '.gitignore': '# a\n\\#a\n\\!a' }],
    ['trailing spaces', { '.gitignore': 'c\\ \na   \n' }],
    ['CRLF', { '.gitignore': 'a\r\nb/c\r\n' }],
    ['a byte order mark', { '.gitignore': '\uFEFFa\n' }],
    ['no final newline', { '.gitignore': 'x.ts\na' }],
    ['NUL', { '.gitignore': 'a\0b\nx.ts' }],
    ['bytes, not characters', { '.gitignore': '?\n' }],
    ['two slashes', { '.gitignore': 'b//a\na//\n//a' }],
    ['malformed brackets', { '.gitignore': '[a\n[[:foo:]]\n[z-a]\nx.t[s' }],
  ]
  for (const written of [
    ...[
      '*.ts',
      '!*.ts',
      'x.ts\n!*.ts',
      '*.ts\n!x.ts',
      '*\n!*.ts',
      '*.ts/',
      '*.d.ts',
      'a\na/',
      'a/\n!a',
      'b/\n!b/',
      'a\n!a\na',
    ],
    ...[
      'b/a\n!a',
      '!a\nb/a',
      '/a\n!a',
      '*/a\n!b/a',
      'fo*\n!foobar',
      'f*r\n!foo*',
      'x.ts\n!b/c/*',
      '*.ts\n!b/c/x.ts\nx*',
    ],
    ...[
      '**/a*',
      '***/a',
      '**/**',
      '**/**/a',
      '**/c/*',
      '**/fo',
      '**/f',
      '**/x.ts/y',
      '***/**',
      '**/a**',
      '**/b/a',
      '/**/bar',
    ],
    ...[
      '/b/c/[ax]*',
      'b/?/a',
      'b/[!c]*',
      'b?a',
      'b[/]a',
      'b[!x]a',
      'b*a',
      'b/c/x?ts',
      'b/**/',
      'foo/**',
      'b/**\\/a',
      '**\\/a',
    ],
    ...[
      'b/**x.ts',
      'b/c**/a',
      '**foo/bar',
      'foo/b**',
      'b/\\c/a',
      '\\b/c',
      '/\\a',
      '/*/c',
      '*/*/a',
      'b/*/',
      '/?',
      'b/c/a?',
      '/b\\',
    ],
    ...[
      'foo**',
      '**foo**',
      'f**',
      '**',
      '***',
      '/**',
      '/*',
      'b/c/',
      'foo?',
      '/foo*/x.ts',
      'b/?',
      'b/??',
      '/??',
      'b/*/*.ts',
    ],
    ...[
      'z\uFEFFq',
      '*\uFEFFq',
      '\\z\uFEFFq',
      'z[!a]q',
      '*\\\uFEFFq',
      'b/*é',
      '/[^a]',
      'b/**/c/**/a',
      'b/*?',
      '/b/[a',
      'b/c/**a',
    ],
    ...['*b**/a', '?**/a', '*\n!b\n!b/**', '/b?a', '/b[!x]a', '/b*a', '/b/?', 'b/c?a'],
  ])
    rows.push([JSON.stringify(written), { '.gitignore': written }])
  rows.push(['what an outer file says', { '.gitignore': 'x.ts', 'b/.gitignore': 'a', 'b/c/.gitignore': '!a' }])
  const treeCases = rows.map(([, files]) => ({ files, entries: tree }))
  const onTrees = once(() => askGit(treeCases))
  it.each(rows.map(([label], i) => [label, i] as const))('agrees with git on %s', (_, i) => {
    expect(askOurs(treeCases[i] as Case)).toEqual(onTrees()[i])
  })

  const letters = ['a', 'A', 'b', 'B', 'aB', 'z', 'Z', '_', '1', 'é', 'É', 'Dir/', 'Dir/Ab', 'dir/b/', 'dir/b/A']
  const spellings = [
    ...['a', 'A', '/A', 'dir/aB', 'DIR', '*B', 'A*', 'D?R', 'DIR/?b', 'dir/*/a', '**/A', 'DI**/B'],
    ...['\\a', '\\A', '\\aB', 'a\\b', 'a\\B', 'A\\b', '*\\b', '*\\B', '/\\A', 'd*/\\A*', 'dir/\\Ab', 'dir/\\aB'],
    ...['[a]', '[A]', '[\\a]', '[\\A]', '[!a]', '[!A]', '[aA]', '[^\\A]', '[AB]*', '/[A]', 'dir/[A]b', 'dir/[!A]b'],
    ...[
      '[a-b]',
      '[A-B]',
      '[\\A-\\B]',
      '[!A-B]',
      '[A-A]',
      '[Z-a]',
      '[z-A]',
      '[A-z]',
      '[@-[]',
      '[A-é]',
      '[Y-é]',
      '[1-A]',
    ],
    ...['[[:upper:]]', '[[:lower:]]', '[![:upper:]]', '[[:UPPER:]]', '[[:alpha:]]', '[[:xdigit:]]', 'É', '[É]*', '\\É'],
  ]
  const sets = [
    'alnum',
    'alpha',
    'blank',
    'cntrl',
    'digit',
    'graph',
    'lower',
    'print',
    'punct',
    'space',
    'upper',
    'xdigit',
  ]
  const brackets = [
    ...sets.flatMap((set) => [`[[:${set}:]]`, `[![:${set}:]_]`]),
    ...['[!a]', '[^a]', '[!!]', '[!]a]', '[]a]', '[]-a]', '[a-]', '[-a]', '[--0]', '[+--]', '[a-c-e]', '[[:digit:]-z]'],
    ...[
      '[\\]a]',
      '[a\\-z]',
      '[X-\\]]',
      '[[-a]',
      '[[a]',
      '[a[]',
      '[:alpha:]',
      '[a:digit:]',
      '[[xdigit:]',
      '[][:alpha:]]',
    ],
    ...[
      '[[:]',
      '[[:]]',
      '[[::]]',
      '[[:ab]',
      '[[:alpha]',
      '[[:nope:]]',
      '[[:alpha:',
      '[]',
      '[!]',
      '[a-',
      '[a-\\',
      '[\\',
      '[a',
    ],
  ]
  const characters = Array.from({ length: 127 }, (_, i) => String.fromCharCode(i + 1)).filter((c) => !'./'.includes(c))
  const bracketCases = brackets.map((bracket) => ({
    files: { '.gitignore': bracket },
    entries: [...characters, bracket],
  }))
  const onCharacters = once(() => askGit(bracketCases))
  it.each(brackets.map((bracket, i) => [bracket, i] as const))(
    'agrees with git on %s, character by character',
    (_, i) => {
      const one = bracketCases[i] as Case
      expect(askOurs(one)).toEqual(onCharacters()[i])
      expect(askOurs(one, { caseInsensitive: true })).toEqual(inAnyCase()[letterCases.length + i])
    },
  )

  const letterCases = spellings.map((spelling) => ({ files: { '.gitignore': spelling }, entries: letters }))
  const inAnyCase = once(() => askGit([...letterCases, ...bracketCases], ['-c', 'core.ignoreCase=true']))
  it.each(spellings.map((spelling, i) => [spelling, i] as const))(
    'agrees with git on %s if letter case is ignored',
    (_, i) => {
      expect(askOurs(letterCases[i] as Case, { caseInsensitive: true })).toEqual(inAnyCase()[i])
    },
  )

  it('is empty without rules', () => {
    for (const nothing of ['', '\n\n', '# x\n', ' \n', '!\n', '/\n', '\uFEFF'])
      expect(parseIgnore(nothing).isEmpty, JSON.stringify(nothing)).toBe(true)
    expect(ignoreScope(undefined, '', parseIgnore(''))).toBeUndefined()
    expect(isIgnored(undefined, 'a', false)).toBe(false)
    expect(parseIgnore('a'.repeat(4097)).isEmpty).toBe(true)
    expect(parseIgnore('a'.repeat(4096)).isEmpty).toBe(false)
  })

  it('distinguishes ignored, included and unmatched entries', () => {
    const lookup = parseIgnore('*.ts\n!x.ts\n!b/\na\\').within('')
    expect(['y.ts', 'x.ts', 'b', 'a', 'aundefined'].map((name) => lookup(name, false))).toEqual([
      'ignored',
      'included',
      undefined,
      undefined,
      undefined,
    ])
    expect(lookup('b', true)).toBe('included')
  })

  it('takes little time for any file', () => {
    const long = 'a'.repeat(255)
    const deep = Array.from({ length: 500 }, () => 'aaa').join('/')
    for (const hostile of [
      `${'*a'.repeat(2000)}b`,
      `${'**/'.repeat(1300)}b`,
      `/${'**/a*'.repeat(800)}[bc]`,
      '['.repeat(100_000),
      ' '.repeat(1_000_000),
      '\\ '.repeat(500_000),
      '\n'.repeat(500_000),
      '*a*a*a*b*[c]\n'.repeat(40_000),
      `${Array.from({ length: 40_000 }, (_, i) => `name${i}\n*.e${i}\n/dir/n${i}`).join('\n')}`,
    ]) {
      const start = ownTime()
      const scope = ignoreScope(undefined, '', parseIgnore(hostile))
      for (let i = 0; i < 5; i++) {
        isIgnored(scope, long, false)
        isIgnored(scope, deep, false)
      }
      // Backtracking would not end. The limit only has to distinguish the two on a busy machine.
      expect(ownTime() - start, hostile.slice(0, 20)).toBeLessThan(1500)
    }
  })
})

it('counts wildcard rules of names and paths together, without plain rules', () => {
  const names = Array.from({ length: 500 }, (_, i) => `a*x${i}y*c`)
  const paths = Array.from({ length: 500 }, (_, i) => `d/a*x${i}y*c`)
  const plain = Array.from({ length: 400 }, (_, i) => `plain${i}\n/d/plain${i}\n*.e${i}`)
  const ignored = (rules: readonly string[]) => {
    const scope = ignoreScope(undefined, '', parseIgnore(rules.join('\n')))
    const entries = ['ax499yc', 'latex', 'plain399', 'x.e399', 'd/ax499yc', 'd/latex', 'd/late2x']
    return entries.filter((entry) => isIgnored(scope, entry, false))
  }
  const late = ['d/late*x', 'late*x']
  expect(ignored([...plain, ...names, ...paths, ...late])).toEqual(['ax499yc', 'plain399', 'x.e399', 'd/ax499yc'])
  expect(ignored([...plain, ...late])).toEqual(['latex', 'plain399', 'x.e399', 'd/latex', 'd/late2x'])
})

it('skips wildcard rules after the first thousand, but no plain rule', () => {
  const wildcards = Array.from({ length: 1002 }, (_, i) => `a*x${i}y*c`)
  const text = [...wildcards, 'plain', '*.ext'].join('\n')
  const entries = ['ax0yc', 'ax999yc', 'ax1000yc', 'ax1001yc', 'plain', 'x.ext', 'other']
  expect(askOurs({ files: { '.gitignore': text }, entries })).toEqual(['ax0yc', 'ax999yc', 'plain', 'x.ext'])
})
