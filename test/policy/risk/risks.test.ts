import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Path } from '../../../src/paths/logical-path.ts'
import { riskFlags, riskMeanings } from '../../../src/policy/risk/flags.ts'
import { type RiskyChange, risksOf } from '../../../src/policy/risk/index.ts'
import { languageOf } from '../../../src/policy/risk/languages.ts'
import { riskVerdict } from '../../../src/policy/risk-verdict.ts'
import type { EntryState } from '../../../src/storage/backend.ts'
import { lineCases } from './line-cases.ts'
import { pathCases } from './path-cases.ts'

function state(text: string | null): EntryState {
  return text === null ? null : { type: 'file', bytes: new TextEncoder().encode(text) }
}

function change(path: string, before: string | null, after: string | null): RiskyChange {
  return { change: { path: path as Path, to: state(after) }, before: state(before) }
}

const cases = [...pathCases, ...lineCases]

describe('risksOf', () => {
  it.each(cases)('$flag, $language: $title → $raised', ({ flag, path, before, after, raised }) => {
    const flags = risksOf([change(path, before, after)]).map((risk) => risk.flag)
    expect(flags.includes(flag)).toBe(raised)
  })

  it.each(lineCases.filter(({ path }) => path.includes('est')))(
    'never reports a changed API in a test file: $language, $title',
    ({ path, before, after }) => {
      expect(risksOf([change(path, before, after)])).not.toContainEqual({ flag: 'changesPublicApi', path })
    },
  )

  it('has a positive and a negative case for every flag and language', () => {
    const languages = ['TypeScript', 'JavaScript', 'Python', 'Go', 'Rust', 'Java'] as const
    for (const flag of riskFlags) {
      for (const language of flag === 'deletesFile' ? (['any'] as const) : languages) {
        for (const raised of [true, false]) {
          const some = cases.some((row) => row.flag === flag && row.language === language && row.raised === raised)
          expect(some, `${flag} ${language} ${raised}`).toBe(true)
        }
      }
    }
  })

  it('documents riskMeanings in docs/policy.md', () => {
    const table = readFileSync(join(import.meta.dirname, '../../../docs/policy.md'), 'utf8')
    const rows = [...table.matchAll(/^\| `(\w+)` +\| (\S.*\S) +\|$/gm)].map(([, flag, meaning]) => [flag, meaning])
    const documented = rows.filter(([flag]) => Object.hasOwn(riskMeanings, String(flag)))
    expect(Object.fromEntries(documented)).toEqual(riskMeanings)
  })

  it('names the path that raises a flag', () => {
    const changes = [change('package.json', '{}', '{"a":1}'), change('a.txt', 'a', null), change('b.txt', null, 'b')]
    expect(risksOf(changes)).toEqual([
      { flag: 'touchesBuildFile', path: 'package.json' },
      { flag: 'deletesFile', path: 'a.txt' },
    ])
  })

  it('ignores a moved file, but reports a test moved to a path without tests', () => {
    const moved = (path: string, to: string) =>
      risksOf([change(path, "it('a')\n", null), change(to, null, "it('a')\n")]).map(({ flag }) => flag)
    expect(moved('a.txt', 'b.txt')).toEqual([])
    expect(moved('a.test.ts', 'b.test.ts')).toEqual([])
    expect(moved('a.test.ts', 'a.test.ts.off')).toEqual(['deletesOrSkipsTests'])
  })

  it('treats links like files', () => {
    const link = (target: string) => ({ type: 'link' as const, target })
    const deletion = { change: { path: 'a' as Path, to: null }, before: link('x') }
    const flags = (to: EntryState) =>
      risksOf([deletion, { change: { path: 'b' as Path, to }, before: null }]).map((one) => one.flag)
    expect(flags(link('x'))).toEqual([])
    expect(flags(link('y'))).toEqual(['deletesFile'])
    const retargeted = { change: { path: 'a.ts' as Path, to: link('y') }, before: link('x') }
    expect(risksOf([retargeted])).toEqual([{ flag: 'changesPublicApi', path: 'a.ts' }])
    // A deleted path that never existed.
    const never = { change: { path: 'c' as Path, to: null }, before: null }
    expect(risksOf([never, { change: { path: 'd' as Path, to: link('x') }, before: null }])).toEqual([])
  })

  it('reports a text that cannot be examined', () => {
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
    // A new file.
    expect(flags('a.ts', null, binary)).toEqual([])
    expect(flags('a.test.ts', null, binary)).toEqual([])
    // The limit is 256 KiB.
    expect(flags('a.ts', state('const a = 1\n'), state('x\n'.repeat(131_072)))).toEqual([])
    expect(flags('a.ts', state('const a = 1\n'), state(`${'x\n'.repeat(131_072)}y`))).toEqual(['changesPublicApi'])
  })

  it('ignores directories', () => {
    const directory = { change: { path: 'auth' as Path, to: { type: 'directory' as const } }, before: null }
    expect(risksOf([directory])).toEqual([])
    const deletion = { change: { path: 'auth' as Path, to: null }, before: { type: 'directory' as const } }
    expect(risksOf([deletion])).toEqual([])
  })

  it('accepts further reasons for a sensitive path', () => {
    const changes = [change('a.txt', 'a', 'b'), change('b.txt', 'a', 'b')]
    expect(risksOf(changes, (path) => path === 'b.txt')).toEqual([
      { flag: 'touchesSecuritySensitivePath', path: 'b.txt' },
    ])
  })

  it('ignores a file that was moved and changed if the change names its source', () => {
    const to = { change: { path: 'b.txt' as Path, to: state('b'), from: 'a.txt' as Path }, before: null }
    expect(risksOf([change('a.txt', 'a', null), to])).toEqual([])
    expect(risksOf([change('c.txt', 'a', null), to])).toEqual([{ flag: 'deletesFile', path: 'c.txt' }])
  })

  it('riskVerdict asks for the first flag and path, and lists all', () => {
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

describe('line rules', () => {
  it('recognise a language by the extension', () => {
    const languages = {
      ...Object.fromEntries(['ts', 'tsx', 'mts', 'cts', 'js', 'jsx', 'mjs', 'cjs'].map((name) => [name, 'javascript'])),
      ...{ py: 'python', pyi: 'python', go: 'go', rs: 'rust', java: 'java', RS: 'rust' },
      ...{ md: undefined, json: undefined, constructor: undefined, '': undefined },
    }
    for (const [extension, language] of Object.entries(languages)) {
      expect([extension, languageOf(`a.b/c.${extension}`)]).toEqual([extension, language])
    }
    expect(['go', 'b/py', 'a.ts/c', 's', ''].map(languageOf)).toEqual(Array(5).fill(undefined))
  })

  it('ignore line ends', () => {
    const text = 'export const a = 1\nexport function b() {\n'
    expect(risksOf([change('a.ts', text, text.replaceAll('\n', '\r\n'))])).toEqual([])
  })

  it('see only the first 1,000 characters of a line', () => {
    const skips = (padding: number) =>
      risksOf([change('a.test.ts', '\n', `${' '.repeat(padding)}it.skip('a')\n`)]).map(({ flag }) => flag)
    expect(skips(993)).toEqual(['deletesOrSkipsTests'])
    expect(skips(994)).toEqual([])
  })

  const paths = ['a.ts', 'a.py', 'a.go', 'a.rs', 'A.java', 'a.test.ts', 'test_a.py', 'a_test.go', 'ATest.java']
  const pieces = [
    ...['export ', 'exports', '.a', ' = ', '=>', '(', ')', '{', '}', '"', '`', '//', '/*', '#', '\n', ' ', '\t', ';'],
    ...['pub fn f', 'def f', 'class A', 'func F', '\tA(', 'public ', 'trait A', 'impl ', ' for ', '#[cfg_attr('],
    ...['it', '.it', 'it.skip', 'expect', 't.is', 'assert', 'assume', '@Test', 'def test_', 'fn a(', 'A', 'mark.skip'],
  ]

  it('never throw, and raise nothing for equal texts', () => {
    fc.assert(
      fc.property(fc.constantFrom(...paths), fc.array(fc.constantFrom(...pieces), { maxLength: 60 }), (path, text) => {
        expect(risksOf([change(path, text.join(''), text.join(''))])).toEqual([])
        risksOf([change(path, text.join(''), 'x')])
      }),
      { numRuns: 500 },
    )
  })

  it('limit the text that patterns see, per line and in total', () => {
    const { exec } = RegExp.prototype
    let searched: { pattern: RegExp; length: number }[] = []
    // A spy of vitest would cost more than the searches.
    RegExp.prototype.exec = function (input) {
      searched.push({ pattern: this, length: input.length })
      return exec.call(this, input)
    }
    try {
      for (const path of paths) {
        for (const piece of pieces) {
          const text = piece.repeat(Math.floor(20_000 / piece.length))
          searched = []
          risksOf([change(path, text, 'x')])
          let longest = 0
          let total = 0
          for (const { pattern, length } of searched) {
            longest = Math.max(longest, length)
            // A global pattern continues after its last match, so the input counts once.
            if (!(pattern.global && pattern.lastIndex > 0)) total += length
          }
          expect(longest).toBeLessThanOrEqual(1000)
          expect(total).toBeGreaterThan(0)
          expect(total, `${path} ${JSON.stringify(piece)}`).toBeLessThanOrEqual(10 * text.length + 10_000)
        }
      }
    } finally {
      RegExp.prototype.exec = exec
    }
  })
})
