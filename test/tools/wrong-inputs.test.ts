import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { bash } from '../../src/shells/bash/index.ts'
import { builtinTools } from '../../src/tools/index.ts'
import { type ObjectSchema, zodObject } from '../../src/util/object-schema.ts'
import type { WorkspaceOptions } from '../../src/workspace/create-workspace.ts'
import { ownTime } from '../own-time.ts'
import { bench } from './setup.ts'
import { hash, type PathCase, toolTable, tree } from './table.ts'

const badPaths: readonly unknown[] = [
  '',
  '   ',
  '/etc/passwd',
  '../x',
  'd/../../x',
  'd\\x.ts',
  'C:/x',
  'file:///x',
  'a\0.ts',
  'a\n.ts',
  '\u202ea.ts',
  '\ud800',
  `${'x'.repeat(300)}`,
  'x/'.repeat(3000),
]

/** A path of the tree for each case. */
const pathOf: Readonly<Record<PathCase, string>> = {
  missing: 'none/at/all.ts',
  directory: 'd',
  danglingLink: 'to-nothing',
  binary: 'blob.dat',
  latin1: 'latin.txt',
  file: 'a.ts',
}

describe('every tool', () => {
  it('shortens the name of an unknown field in its error', async () => {
    const answer = await (await bench(tree)).call('read_file', { path: 'a.ts', ['x'.repeat(5000)]: 1 })
    expect(answer).toMatchObject({ code: 'INVALID_INPUT', field: `${'x'.repeat(200)}…` })
    expect(JSON.stringify(answer).length).toBeLessThan(2000)
  })

  it('has a row in test/tools/table.ts', () => {
    expect(Object.keys(toolTable).sort()).toEqual(builtinTools.map(({ name }) => name).sort())
  })
})

describe.each(builtinTools.map((tool) => [tool.name, tool as { input: ObjectSchema; mutates: boolean }] as const))(
  '%s',
  (name, tool) => {
    const { input: good, wrong, paths, codes, mayTellNames } = toolTable[name]
    /** Tools without a field `path` have separate tests for bad paths. */
    const itOfPaths = 'path' in tool.input.shape ? it : () => {}

    const options: Partial<WorkspaceOptions> = {
      shell: bash(),
      mode: name === 'submit_plan' ? 'plan' : 'act',
      policy: { preset: 'autonomous', memory: {} },
    }

    async function refusals(cases: readonly (readonly [unknown, RegExp | string])[]) {
      const { code, snapshot } = await bench(tree, options)
      const before = await snapshot()
      for (const [input, expected] of cases) {
        const actual = await code(name, input)
        expect(actual, JSON.stringify(input)?.slice(0, 200)).toMatch(
          new RegExp(`^(?:${typeof expected === 'string' ? expected : expected.source})$`),
        )
      }
      expect(await snapshot()).toEqual(before)
    }

    it('refuses inputs of the wrong type and unknown fields', async () => {
      const cases: [unknown, string][] = [
        [undefined, 'INVALID_INPUT'],
        [null, 'INVALID_INPUT'],
        ['a.ts', 'INVALID_INPUT'],
        [[], 'INVALID_INPUT'],
        [42, 'INVALID_INPUT'],
        [new Map(Object.entries(good)), 'INVALID_INPUT'],
        [new Date(), 'INVALID_INPUT'],
        [Object.create(good), 'INVALID_INPUT'],
        [{ ...good, surprise: 1 }, 'INVALID_INPUT'],
        [{ ...good, __proto__x: 1 }, 'INVALID_INPUT'],
      ]
      for (const [field, schema] of Object.entries(tool.input.shape)) {
        const required = !(schema as z.ZodType).safeParse(undefined).success
        if (required) {
          const { [field]: _, ...without } = good as Readonly<Record<string, unknown>>
          cases.push([without, 'INVALID_INPUT'])
        }
        const wrong: unknown[] = [
          {},
          [[]],
          Number.NaN,
          Number.POSITIVE_INFINITY,
          -1,
          1.5,
          2 ** 60,
          Symbol.iterator.description,
          true,
          null,
        ]
        for (const value of wrong) {
          if ((schema as z.ZodType).safeParse(value).success) continue
          cases.push([{ ...good, [field]: value }, 'INVALID_INPUT'])
        }
        if (/^(?:startLine|endLine|contextLines|timeoutMs|max\w+)$/.test(field))
          cases.push([{ ...good, [field]: true }, 'INVALID_INPUT'], [{ ...good, [field]: '1' }, 'INVALID_INPUT'])
        if (field === 'expectedSha256') {
          for (const value of ['', 'abc', hash.toUpperCase(), `${hash}0`, ` ${hash}`])
            cases.push([{ ...good, [field]: value }, 'INVALID_INPUT'])
        }
      }
      await refusals(cases)
    })

    it.each(wrong)('names the field %s when it is %j', async (field, value) => {
      const { call } = await bench(tree, options)
      const answer = await call(name, { ...good, [field]: value })
      expect(answer).toMatchObject({ ok: false, code: 'INVALID_INPUT' })
      expect(answer.field).toMatch(new RegExp(`^${field}(?:\\.|\\[|$)`))
    })

    itOfPaths('refuses every path that the guard refuses, in every field', async () => {
      await refusals(
        paths.flatMap((field) => badPaths.map((path) => [{ ...good, [field]: path }, /PATH_REJECTED/] as const)),
      )
    })

    itOfPaths('accepts names of the prototype as ordinary paths', async () => {
      const { call } = await bench(tree)
      for (const path of ['__proto__', 'constructor', 'hasOwnProperty/toString']) {
        const answer = await call(name, { ...good, path })
        if (answer.ok !== true) expect(answer.code).toMatch(/NOT_FOUND|WRITE_CONFLICT/)
      }
    })

    itOfPaths('refuses git internals, and secrets under any name', async () => {
      const { call } = await bench(tree)
      for (const field of paths) {
        for (const path of ['.git/config', '.GIT/config', '.git/x', 'd/.git/x', 'git~1/config']) {
          const answer = await call(name, { ...good, [field]: path })
          expect([answer.ok, answer.code]).toEqual([
            false,
            expect.stringMatching(/POLICY_DENIED|PATH_REJECTED|NOT_FOUND/),
          ])
        }
        for (const path of ['.env', '.ENV', 'to-secret', '.env ', 'd/../.env', '.env/']) {
          const answer = await call(name, { ...good, [field]: path })
          if (!mayTellNames) expect(answer.ok, path).toBe(false)
          expect(JSON.stringify(answer)).not.toContain('hunter2')
        }
      }
      expect(await call('file_info', { path: '.env' })).not.toHaveProperty('sha256')
    })

    itOfPaths('returns the code that fits the entry at the path', async () => {
      const cases: [unknown, RegExp][] = [[{ ...good, path: 'a.ts/x' }, /NOT_A_DIRECTORY/]]
      for (const [pathCase, code] of Object.entries(codes)) {
        cases.push([{ ...good, path: pathOf[pathCase as PathCase] }, new RegExp(code)])
      }
      if (tool.mutates && name !== 'create_directory') {
        cases.push(
          [{ ...good, path: 'node_modules/p/i.js' }, /POLICY_DENIED/],
          [{ ...good, path: 'package-lock.json' }, /APPROVAL_REQUIRED|WRITE_CONFLICT|EDIT_NO_MATCH/],
        )
        cases.push([{ ...good, path: '.' }, /PATH_REJECTED|IS_DIRECTORY|POLICY_DENIED/])
      }
      if (tool.mutates && 'expectedSha256' in tool.input.shape && codes.missing !== undefined) {
        cases.push([{ ...good, expectedSha256: hash }, /WRITE_CONFLICT/])
      }
      await refusals(cases)
    })

    it('has a strict JSON Schema for models', async () => {
      const { toJSONSchema } = await import('zod').then(({ z }) => z)
      expect(toJSONSchema(zodObject(tool.input))).toMatchObject({ type: 'object', additionalProperties: false })
    })
  },
)

describe('hostile globs', () => {
  const hostile = [
    '*a*a*a*a*a*a*a*a*a*a*a*a*b',
    '**/**/**/**/**/**/**/**/x',
    `${'*'.repeat(4000)}x`,
    `${'**/'.repeat(1300)}x`,
    `${'{a,b}'.repeat(30)}`,
    `${'{a,'.repeat(500)}b${'}'.repeat(500)}`,
    '['.repeat(4000),
    '+(a|aa)+(a|aa)+(a|aa)b',
    '{1..1000000000}',
    `${'?'.repeat(4000)}`,
    'x'.repeat(100_000),
    '!(a)',
    '../**',
    '/**',
  ]
  const name = 'a'.repeat(200)
  const tree = Object.fromEntries(
    Array.from({ length: 50 }, (_, i) => [`${`${name}/`.repeat(5)}${name}${i}.txt`, 'x\n']),
  )

  it.each([
    ['find_files', 'pattern', {}],
    ['search_text', 'includeGlob', { query: 'x' }],
    ['search_text', 'excludeGlob', { query: 'x' }],
  ] as const)('cost %s.%s no more than ordinary ones, or are refused', async (tool, field, rest) => {
    const { call, snapshot } = await bench(tree)
    const before = await snapshot()
    for (const pattern of hostile) {
      const start = ownTime()
      const answer = await call(tool, { ...rest, [field]: pattern })
      expect(ownTime() - start, pattern.slice(0, 40)).toBeLessThan(1500)
      if (answer.ok !== true) expect(answer.code).toBe('INVALID_PATTERN')
    }
    expect(await snapshot()).toEqual(before)
  })

  it.each([
    '(a+)+$',
    '(.*)*x',
    '\\w+\\s*=>\\s*\\{$',
    '(a|b|ab)*c',
    '[ab]*a[ab]{14}',
    '(?=a)',
    '(a)\\1',
    '(',
    '[',
    'a{99999}',
    'a\nb',
    '',
  ])('cost search_text no more with the expression %j', async (query) => {
    const { call } = await bench({ 'a.txt': `${'ab'.repeat(500_000)}\n`, 'b.txt': 'a = b => {\n'.repeat(1000) })
    const start = ownTime()
    const answer = await call('search_text', { query, mode: 'regex' })
    expect(ownTime() - start).toBeLessThan(2000)
    if (answer.ok !== true) expect(answer.code).toMatch(/INVALID_PATTERN|INVALID_INPUT/)
  })
})
