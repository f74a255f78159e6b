import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Path } from '../../../src/paths/logical-path.ts'
import { type RiskyChange, riskFlags, riskMeanings, risksOf } from '../../../src/policy/risk/index.ts'
import { publicApiOf } from '../../../src/policy/risk/public-api.ts'
import { removesTests } from '../../../src/policy/risk/tests.ts'
import { languageOf, tokensOf } from '../../../src/policy/risk/tokens.ts'
import { riskVerdict } from '../../../src/policy/risk-verdict.ts'
import type { EntryState } from '../../../src/storage/backend.ts'
import { declarations, marks, programs } from './declarations.ts'
import { fixtures } from './fixtures.ts'

function state(text: string | null): EntryState {
  return text === null ? null : { type: 'file', bytes: new TextEncoder().encode(text) }
}

function change(path: string, before: string | null, after: string | null): RiskyChange {
  return { change: { path: path as Path, to: state(after) }, before: state(before) }
}

describe('a risk', () => {
  it.each(fixtures)('$flag, $language: $what → $raised', ({ flag, path, before, after, raised }) => {
    const flags = risksOf([change(path, before, after)]).map((risk) => risk.flag)
    expect(flags.includes(flag)).toBe(raised)
  })

  it('has a yes and a no for every flag, in every language that it claims', () => {
    const languages = ['TypeScript', 'JavaScript', 'Python', 'Go', 'Rust', 'Java'] as const
    for (const flag of riskFlags) {
      for (const language of flag === 'deletesFile' ? (['any'] as const) : languages) {
        for (const raised of [true, false]) {
          const some = fixtures.some((one) => one.flag === flag && one.language === language && one.raised === raised)
          expect(some, `${flag} ${language} ${raised}`).toBe(true)
        }
      }
    }
  })

  it('means what the documentation says', () => {
    const table = readFileSync(join(import.meta.dirname, '../../../docs/policy.md'), 'utf8')
    const rows = [...table.matchAll(/^\| `(\w+)` +\| (\S.*\S) +\|$/gm)].map(([, flag, meaning]) => [flag, meaning])
    const documented = rows.filter(([flag]) => Object.hasOwn(riskMeanings, String(flag)))
    expect(Object.fromEntries(documented)).toEqual(riskMeanings)
  })

  it('names the path that raises it', () => {
    const changes = [change('package.json', '{}', '{"a":1}'), change('a.txt', 'a', null), change('b.txt', null, 'b')]
    expect(risksOf(changes)).toEqual([
      { flag: 'touchesBuildFile', path: 'package.json' },
      { flag: 'deletesFile', path: 'a.txt' },
    ])
  })

  it('is not that a file moved, but that a test moved to where no test is', () => {
    const moved = (path: string, to: string) =>
      risksOf([change(path, "it('a')\n", null), change(to, null, "it('a')\n")]).map(({ flag }) => flag)
    expect(moved('a.txt', 'b.txt')).toEqual([])
    expect(moved('a.test.ts', 'b.test.ts')).toEqual([])
    expect(moved('a.test.ts', 'a.test.ts.off')).toEqual(['deletesOrSkipsTests'])
  })

  it('is told of links as of files', () => {
    const link = (target: string) => ({ type: 'link' as const, target })
    const gone = { change: { path: 'a' as Path, to: null }, before: link('x') }
    const flags = (to: EntryState) =>
      risksOf([gone, { change: { path: 'b' as Path, to }, before: null }]).map((one) => one.flag)
    expect(flags(link('x'))).toEqual([])
    expect(flags(link('y'))).toEqual(['deletesFile'])
    const retargeted = { change: { path: 'a.ts' as Path, to: link('y') }, before: link('x') }
    expect(risksOf([retargeted])).toEqual([{ flag: 'changesPublicApi', path: 'a.ts' }])
    // What is no longer there and never was takes nothing away.
    const never = { change: { path: 'c' as Path, to: null }, before: null }
    expect(risksOf([never, { change: { path: 'd' as Path, to: link('x') }, before: null }])).toEqual([])
  })

  it('is taken for one where a text cannot be looked through', () => {
    const flags = (path: string, before: EntryState, after: EntryState, headOf?: number) =>
      risksOf([{ change: { path: path as Path, to: after }, before, ...(headOf === undefined ? {} : { headOf }) }]).map(
        ({ flag }) => flag,
      )
    const binary: EntryState = { type: 'file', bytes: Uint8Array.of(0, 1, 2) }
    const long = state(`${'x\n'.repeat(200_000)}`)
    expect(flags('a.ts', binary, state('const a = 1\n'))).toEqual(['changesPublicApi'])
    expect(flags('a.ts', state('const a = 1\n'), long)).toEqual(['changesPublicApi'])
    expect(flags('a.ts', state('const a = 1\n'), state('const a = 1\n'), 500_000)).toEqual(['changesPublicApi'])
    expect(flags('a.test.ts', binary, state("it('a')\n"))).toEqual(['deletesOrSkipsTests'])
    expect(flags('a.test.ts', state("it('a')\n"), binary)).toEqual(['deletesOrSkipsTests'])
    expect(flags('a.ts', state('export const a = 1\n'), state('export const a = 1\n'))).toEqual([])
    expect(flags('a.txt', binary, state('a\n'))).toEqual([])
    expect(flags('src/a.rs', binary, null)).toEqual(['deletesFile', 'changesPublicApi'])
    // A new file takes nothing away.
    expect(flags('a.ts', null, binary)).toEqual([])
    expect(flags('a.test.ts', null, binary)).toEqual([])
    // 256 KiB are looked through.
    expect(flags('a.ts', state('const a = 1\n'), state('x\n'.repeat(131_072)))).toEqual([])
    expect(flags('a.ts', state('const a = 1\n'), state(`${'x\n'.repeat(131_072)}y`))).toEqual(['changesPublicApi'])
  })

  it('is taken for one where a text is nested deeper than is followed', () => {
    const nested = (depth: number, end: string) =>
      `public class A ${'{ int a; public class B '.repeat(depth)}${end}${'}'.repeat(depth)}`
    const asked = (depth: number) => risksOf([change('A.java', nested(depth, ''), nested(depth, ' '))])
    expect(asked(500)).toEqual([])
    expect(asked(501)).toEqual([{ flag: 'changesPublicApi', path: 'A.java' }])
    const open = 'public class B { '.repeat(15_000)
    expect(risksOf([change('A.java', open, `${open} `)])).toEqual([{ flag: 'changesPublicApi', path: 'A.java' }])
  })

  it('is none of what only directories are', () => {
    const directory = { change: { path: 'auth' as Path, to: { type: 'directory' as const } }, before: null }
    expect(risksOf([directory])).toEqual([])
    const gone = { change: { path: 'auth' as Path, to: null }, before: { type: 'directory' as const } }
    expect(risksOf([gone])).toEqual([])
  })

  it('is what somebody else knows of a path', () => {
    const changes = [change('a.txt', 'a', 'b'), change('b.txt', 'a', 'b')]
    expect(risksOf(changes, (path) => path === 'b.txt')).toEqual([
      { flag: 'touchesSecuritySensitivePath', path: 'b.txt' },
    ])
  })

  it('is not that a file moved and changed, where the change says from where', () => {
    const to = { change: { path: 'b.txt' as Path, to: state('b'), from: 'a.txt' as Path }, before: null }
    expect(risksOf([change('a.txt', 'a', null), to])).toEqual([])
    expect(risksOf([change('c.txt', 'a', null), to])).toEqual([{ flag: 'deletesFile', path: 'c.txt' }])
  })

  it('is asked about by its flag and path, with every other one', () => {
    const risks = [
      { flag: 'deletesFile', path: 'a' },
      { flag: 'touchesBuildFile', path: 'b' },
    ] as const
    expect(riskVerdict(risks[0], risks)).toEqual({
      decision: 'ask',
      reason: 'Policy asks about "a": deletesFile',
      path: 'a',
      rules: [
        { name: 'requireApprovalIf deletesFile', action: 'ask', source: 'risk', path: 'a' },
        { name: 'requireApprovalIf touchesBuildFile', action: 'ask', source: 'risk', path: 'b' },
      ],
    })
  })
})

describe('reading programs', () => {
  it.each(declarations)('finds what is exported, %s %s: %s', (language, path, _, text, api) => {
    expect(publicApiOf(text, language, path)).toEqual(api)
  })

  it.each(programs)('%s: %j has the tokens %j', (language, text, tokens) => {
    const shown = tokensOf(text, language).map((one) => (one.kind === 'string' ? `‹${one.text}›` : one.text))
    expect(shown.join(' ')).toBe(tokens)
  })

  it.each(marks)('%s: knows a %s by what stands for it', (language, what, texts) => {
    const expected = { case: [true, false], check: [true, false], skip: [false, true], nothing: [false, false] }[what]
    for (const text of texts) {
      const found = [removesTests(text, '', language), removesTests('', text, language)]
      // What skips a test may be one, too.
      const [lost, skips] = what === 'skip' ? [false, found[1]] : [found[0], what === 'nothing' && found[1]]
      expect([text, lost, skips]).toEqual([text, ...expected])
      expect(removesTests(text, text, language)).toBe(false)
      expect(removesTests(`${text}\n${text}`, text, language)).toBe(found[0])
    }
  })

  it('tells where a token stands, whether it is the first of its line, and how far its group reaches', () => {
    const program = 'a b\n  c /* d\n */ e\n"f\\\ng" h `i\nj` k'
    expect(tokensOf(program, 'javascript').map(({ text, column, first }) => [text, column, first])).toEqual([
      ['a', 0, true],
      ['b', 2, false],
      ['c', 2, true],
      ['e', 4, true],
      ['"f\\\ng"', 0, true],
      ['h', 3, false],
      ['`i\nj`', 5, false],
      ['k', 3, false],
    ])
    expect(tokensOf('a \\\nb\n', 'python').map(({ column, first }) => [column, first])).toEqual([
      [0, true],
      [0, false],
    ])
    const spans = (text: string) => tokensOf(text, 'javascript').map(({ span }) => span)
    expect(spans('a(b[c]{d})e')).toEqual([1, 9, 1, 3, 1, 1, 3, 1, 1, 1, 1])
    expect(spans('(constructor)[]')).toEqual([3, 1, 1, 2, 1])
    expect(spans('(a{b)c')).toEqual([6, 1, 4, 1, 1, 1])
    expect(spans(')(a]')).toEqual([1, 3, 1, 1])
    expect(spans('a())')).toEqual([1, 2, 1, 1])
  })

  it('knows a language by the extension', () => {
    const known = {
      ...Object.fromEntries(['ts', 'tsx', 'mts', 'cts', 'js', 'jsx', 'mjs', 'cjs'].map((one) => [one, 'javascript'])),
      ...{ py: 'python', pyi: 'python', go: 'go', rs: 'rust', java: 'java', RS: 'rust' },
      ...{ md: undefined, json: undefined, constructor: undefined, '': undefined },
    }
    for (const [extension, language] of Object.entries(known)) {
      expect([extension, languageOf(`a.b/c.${extension}`)]).toEqual([extension, language])
    }
    expect(['go', 'b/py', 'a.ts/c', 's', ''].map(languageOf)).toEqual(Array(5).fill(undefined))
  })

  const paths = ['a.ts', 'a.py', 'a.go', 'a.rs', 'A.java', 'a.test.ts', 'test_a.py', 'a_test.go']
  const pieces = fc.constantFrom(
    ...[
      'export ',
      'const a',
      ' = ',
      '(',
      ')',
      '{',
      '}',
      '[',
      ']',
      '"',
      "'",
      '`',
      '${',
      '/',
      '/*',
      '*/',
      '//',
      '#',
      '\\',
    ],
    ...[
      '\n',
      ' ',
      'pub fn f',
      'def f',
      'class A',
      'func F',
      'type T struct',
      'public ',
      'trait A',
      'it(',
      'r#"',
      '"""',
      ';',
    ],
  )

  it('never fails, and finds nothing where nothing changed', () => {
    fc.assert(
      fc.property(fc.constantFrom(...paths), fc.array(pieces, { maxLength: 60 }), (path, text) => {
        expect(risksOf([change(path, text.join(''), text.join(''))])).toEqual([])
        risksOf([change(path, text.join(''), 'x')])
      }),
      { numRuns: 500 },
    )
  })
})
