import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace } from '../../src/index.ts'
import { compileLabels } from '../../src/policy/compile-labels.ts'
import { compilePaths } from '../../src/policy/match.ts'
import { compilePolicy } from '../../src/policy/policy.ts'

/** Path patterns that no path can match, with a word of the reason. */
const impossible: readonly [pattern: string, reason: string][] = [
  ['src/[ab', 'write [[]'],
  ['src/[]', 'write [[]'],
  ['src/{a,b', 'write [{]'],
  ['{', 'write [{]'],
  [' private/**', 'space'],
  ['private/** ', 'space'],
  ['\tprivate', 'space'],
  ['private\n', 'space'],
  ['{ private/**,b}', 'space'],
  ['~', 'home'],
  ['~/private', 'home'],
  ['~root/**', 'home'],
  ['{~/private,b}', 'home'],
  ['$HOME/private', 'variables'],
  [`\${HOME}/private`, 'variables'],
  ['%USERPROFILE%/private', 'variables'],
  ['"private/**"', 'quotation'],
  ["'private/**'", 'quotation'],
  ['file:private/**', 'address'],
  ['file:///private', 'address'],
  ['artifact://run/x', 'address'],
  ['C:/private', 'drive'],
  ['c:private', 'drive'],
  ['src/a:b', 'colon'],
  ['**/x:*', 'colon'],
  ['private\\**', 'backslash'],
  ['src\\(app)', 'backslash'],
  ['\\\\server\\share', 'backslash'],
  ['***', '***'],
  ['***/x', '***'],
  ['a/****', '***'],
  ['/etc/**', 'absolute'],
  ['{/etc,b}', 'absolute'],
  ['a//b', 'empty name'],
  ['docs//', 'empty name'],
  ['../x', 'climbs'],
  ['a/../b', 'climbs'],
  ['a/..', 'climbs'],
  ['{..,a}/b', 'climbs'],
  ['a/\u202eb', 'bidirectional'],
  ['a/\u0007', 'control'],
  ['a/{b, c}.txt', 'space'],
  ['a /b', 'space'],
  ['a/$HOME/b', 'variables'],
  [`a/\${ROOT}/b`, 'variables'],
  ['a/%TEMP%/b', 'variables'],
  // Patterns of other languages, which match only strange names.
  ['a\u200bb', 'invisible'],
  ['\ufeffa', 'space'],
  ['a\u00a0b/**', 'invisible'],
  ['a/\uff0a', 'wide'],
  ['a/(b|c).txt', 'alternatives'],
  ['a/b.txt|a/c.txt', 'alternatives'],
  ['^a/.*', 'regular expression'],
  ['a/.+', 'regular expression'],
  ['(?i)a/**', 'regular expression'],
  ['# a/**', 'comment'],
  ['a/** # keys', 'comment'],
  ['<root>/a/**', 'placeholder'],
  ['a/b.txt,a/c.txt', 'comma'],
  ['*.py,*.ts', 'comma'],
]

/** Every field that holds path globs. */
const fields: readonly [name: string, policy: (pattern: string) => object][] = [
  ['allowedPaths[0]', (pattern) => ({ allowedPaths: [pattern] })],
  ['deniedPaths[1]', (pattern) => ({ deniedPaths: ['ok', pattern] })],
  ['readOnlyPaths[0]', (pattern) => ({ readOnlyPaths: [pattern] })],
  ['rules[0].paths[0]', (pattern) => ({ rules: [{ name: 'a', action: 'deny', paths: [pattern] }] })],
  ['rules[0].args.path[0]', (pattern) => ({ rules: [{ name: 'a', action: 'deny', args: { path: [pattern] } }] })],
  ['labels.sources[0].paths[0]', (pattern) => ({ labels: { sources: [{ label: 'internal', paths: [pattern] }] } })],
  [
    'labels.sinks[0].paths[0]',
    (pattern) => ({ labels: { sinks: [{ name: 'a', ceiling: 'public', paths: [pattern] }] } }),
  ],
]

const compile = (input: object) => compileLabels(compilePolicy({ preset: 'autonomous', ...input }).data.labels)

describe.each(fields)('a path pattern in %s', (name, policy) => {
  it.each([...impossible.map(([pattern]) => pattern), '!a', 'src/!(a)', 'a+(b)', '@(a)', '~a', '[z-a]', '{a'])(
    'that is refused comes with no advice that is refused as well: %j',
    (pattern) => {
      const error = (() => {
        try {
          compile(policy(pattern))
        } catch (refusal) {
          return refusal as Error
        }
        throw new Error('It is not refused')
      })()
      // No pattern of a policy has a backslash.
      expect(error.message.replaceAll(pattern, '')).not.toMatch(/\\[^u\\]/)
    },
  )

  it.each(impossible)('that can match nothing is refused: %j', (pattern, reason) => {
    expect(() => compile(policy(pattern))).toThrow(TypeError)
    expect(() => compile(policy(pattern))).toThrow(`"${name}"`)
    expect(() => compile(policy(pattern))).toThrow(reason)
  })
})

describe('a path pattern', () => {
  it.each([
    ...[
      'docs/',
      'docs',
      './docs',
      'docs/**',
      '**/docs',
      '*',
      '**',
      '.',
      'a b/c d',
      '~$*.docx',
      'a~',
      '**/*~',
      '$lib/**',
      '.*',
      'a/.*',
      '**/*.txt',
      '{a,**}/b',
      'Smith, John/**',
      'a,b',
      '[,]/a.b',
      'a#b',
      'Issue #3.md',
      'a-[^b]',
      '{{name}}/**',
      '$id.tsx',
      '(group)/**',
      'a\u200db',
      '?invisible/a?b.txt',
    ],
    ...['[[:alpha:]]*', '[id].tsx', '(app)/x', '@scope/x', '{a,b}/**', 'x{1..3}', '..foo', '...', "it's", 'a/%41'],
  ])('that can match is accepted: %j', (pattern) => {
    for (const [, policy] of fields) expect(() => compile(policy(pattern))).not.toThrow()
  })

  it.each(['an\u0303o/**', 'a\u00f1o', '**/a\u00f1o/*.md'])('covers a name in both normal forms: %j', (pattern) => {
    const paths = compilePaths([pattern], 'deniedPaths')
    expect(['a\u00f1o/b.md', 'an\u0303o/b.md', 'ano/b.md'].map(paths.matches)).toEqual([true, true, false])
    expect(['a\u00f1o', 'an\u0303o'].map(paths.mayMatchBelow)).toEqual([true, true])
  })

  it.each([
    ['[\u00e9].md', '\u00e9.md', true],
    ['[\u00e9].md', 'e.md', false],
    ['[e\u0301].md', '\u00e9.md', true],
    ['[\u00e0-\u00f6].md', 'e\u0301.md', true],
    ['caf?', 'cafe\u0301', true],
    ['caf?', 'cafe', true],
    ['*\u00e9*', 'xe\u0301y', true],
    ['{e,x}\u0301', '\u00e9', true],
    ['**/\u2126', 'a/\u03a9', true],
    ['\u03a9', '\u2126', true],
    ['\u212a', 'K', true],
    ['K/**', '\u212a/x', true],
    ['q\u0307\u0323', 'q\u0323\u0307', true],
    ['\u00e9e\u0301', '\u00e9\u00e9', true],
    ['\u1100\u1161?', '\uac00\u11a8', false],
    ['?', '\uac01'.normalize('NFD'), true],
  ])('is compared in the composed form: %j covers %j: %j', (pattern, name, isCovered) => {
    expect(compilePaths([pattern], 'allowedPaths').matches(name)).toBe(isCovered)
  })

  it('covers a name, its composed and its decomposed form, or none of them', () => {
    const letters = ['e', '\u00e9', '\u0301', '\u0323', '\u0307', '\u2126', '\u03a9', '\u212a', 'K', '\uac01', '\u11a8']
    const text = fc.array(fc.constantFrom(...letters, '\u0958', '\ufb2a', '/'), { minLength: 1, maxLength: 6 })
    const wild = fc.constantFrom(
      ...letters,
      '\u0958',
      '?',
      '*',
      '**',
      '/',
      '[\u00e9K]',
      '[!e]',
      '[e\u0301-\u00f6]',
      '{e,\u2126}',
    )
    const plain = (parts: readonly string[]) => parts.join('').split('/').filter(Boolean).join('/') || 'e'
    fc.assert(
      fc.property(text, fc.array(wild, { minLength: 1, maxLength: 5 }), (letters, parts) => {
        const [name, pattern] = [plain(letters), plain(parts)]
        fc.pre(!pattern.includes('***'))
        const covers = ['NFC', 'NFD', undefined].flatMap((form) => {
          const { matches, mayMatchBelow, coversBelow } = compilePaths([form ? pattern.normalize(form) : pattern], 'x')
          return [name, name.normalize('NFC'), name.normalize('NFD')].map((path) =>
            [matches(path), mayMatchBelow(path), coversBelow(path)].join(),
          )
        })
        expect(new Set(covers).size).toBe(1)
      }),
      { numRuns: 300 },
    )
  })

  it('with a character in brackets that is two in the composed form is refused', () => {
    expect(() => compilePaths(['[\u0958].md'], 'allowedPaths')).toThrow('Write alternatives')
  })

  it('that ends in / covers the directory and everything below it', () => {
    const policy = compilePolicy({ preset: 'autonomous', deniedPaths: ['docs/'] })
    const decide = (path: string) =>
      policy.evaluate({
        tool: 'read_file',
        input: {},
        accesses: [
          {
            permission: 'file:read',
            asked: path as never,
            path: path as never,
            classification: { kind: 'TEXT_DOC', readable: true, writable: true, redacted: false, reason: '' } as never,
            recursive: false,
          },
        ],
      }).decision
    expect([decide('docs/a.md'), decide('docs/a/b.md'), decide('docsx/a.md')]).toEqual(['deny', 'deny', 'allow'])
  })

  it.each([' memory', 'memory ', '~/memory', '~', 'notes/*.md', 'note?', '.git', '.git/x', './.GIT/x'])(
    'of the memory that cannot be a directory is refused: %j',
    (path) => {
      expect(() => compilePolicy({ memory: { path } })).toThrow('Policy field "memory.path" must ')
    },
  )

  it.each(impossible)('in the scope of a task that can match nothing is refused: %j', async (pattern, reason) => {
    const options = { backend: memory(), policy: 'autonomous' } as const
    const task = { text: 'x', scope: ['ok', pattern] }
    await expect(createWorkspace({ ...options, run: { task } })).rejects.toThrow(TypeError)
    const workspace = await createWorkspace(options)
    expect(() => workspace.run({ task })).toThrow('task.scope[1]')
    expect(() => workspace.run({ task })).toThrow(reason)
  })
})

describe('a host', () => {
  it.each([
    ...[' example.org', 'example.org ', 'https://example.org', 'example.org/path', 'user@example.org', 'a\\b'],
    ...['example.org:443', 'example.org:80', '::1', 'localhost:http', 'bücher.example', 'example.org?', '*.org#'],
    ...['.example.com', '..', 'a..b', 'a.x.', 'a.x.:8080', '*.', '{a,b}.x', '!a.com', '!(a|b)', 'a,b', '[a', '[a].x'],
    ...[`\${HOST}`, '$HOST', '%HOST%', 'x:0', 'x:08080', 'x:99999', 'x:*99999', '[::1]:99999', '[::0001]', '127.1'],
    ...['1.2.3.256', '010.0.0.1', '[g::1]', '"a"', 'xn--a'],
  ])('that no address can have is refused: %j', (host) => {
    expect(() => compile({ network: { hosts: ['ok', host] } })).toThrow('Policy field "network.hosts[1]"')
    expect(() => compile({ labels: { sinks: [{ name: 'a', ceiling: 'public', hosts: [host] }] } })).toThrow(
      'Policy field "labels.sinks[0].hosts[0]"',
    )
  })

  it.each([
    ...['example.org', '*.Example.org', 'localhost:8080', '127.0.0.1', '[::1]', '[::1]:8080', '*', '*:8080', 'a:*'],
    ...['***', '**.x', '[*]', '[2001:db8:*]:8080', '127.*', 'a_b.example', 'xn--*', '*-cdn.example.com', 'x:80*'],
  ])('that an address can have is accepted: %j', (host) => {
    expect(() => compile({ network: { hosts: [host] } })).not.toThrow()
  })
})
