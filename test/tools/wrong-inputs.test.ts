import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { bash } from '../../src/shells/bash/index.ts'
import { builtinTools } from '../../src/tools/index.ts'
import { ownTime } from '../own-time.ts'
import { bench } from './setup.ts'

const tree = {
  'a.ts': 'one\ntwo\n',
  'b.ts': 'b\n',
  'd/x.ts': 'x\n',
  '.env': 'PASSWORD=hunter2\n',
  '.git/config': '[core]\n',
  'node_modules/p/i.js': 'i\n',
  'package-lock.json': '{}\n',
  'blob.dat': new Uint8Array([1, 0, 2]),
  'latin.txt': new Uint8Array([0xe9, 0x0a]),
  'to-secret': { link: '.env' },
  'to-nothing': { link: 'gone' },
} as const

const hash = 'a'.repeat(64)

/** A right input of each tool, to be made wrong in one place. */
const right: Record<string, Record<string, unknown>> = {
  list_directory: { path: '.' },
  find_files: { pattern: '**', path: '.' },
  search_text: { query: 'one', path: '.' },
  read_file: { path: 'a.ts' },
  file_info: { path: 'a.ts' },
  edit_file: { path: 'a.ts', oldText: 'one', newText: 'x' },
  replace_range: { path: 'a.ts', startLine: 1, endLine: 1, newText: 'x', expectedSha256: hash },
  write_file: { path: 'new.ts', content: 'x' },
  apply_patch: { patch: '--- a/a.ts\n+++ b/a.ts\n@@ -1,2 +1,2 @@\n-one\n+x\n two\n' },
  append_file: { path: 'a.ts', content: 'x' },
  create_directory: { path: 'new' },
  copy_file: { path: 'a.ts', to: 'new.ts' },
  move_file: { path: 'a.ts', to: 'new.ts' },
  delete_file: { path: 'a.ts' },
  diff_workspace: {},
  run_command: { command: 'true' },
  start_command: { command: 'true' },
  check_command: { id: 'process-1' },
  stop_command: { id: 'process-1' },
  memory_search: { query: 'x' },
  memory_get: { id: 'x' },
  memory_recall: {},
  memory_store: { id: 'x', content: 'x' },
  submit_plan: { plan: 'x' },
}

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

/** The fields that take a path, by tool. */
const pathFields = (tool: string) => (tool === 'move_file' || tool === 'copy_file' ? ['path', 'to'] : ['path'])

describe('every tool', () => {
  it('repeats no field at length that it does not know', async () => {
    const answer = await (await bench(tree)).call('read_file', { path: 'a.ts', ['x'.repeat(5000)]: 1 })
    expect(answer).toMatchObject({ code: 'INVALID_INPUT', field: `${'x'.repeat(200)}…` })
    expect(JSON.stringify(answer).length).toBeLessThan(2000)
  })

  it('has a right input here', () => {
    expect(Object.keys(right).sort()).toEqual(builtinTools.map(({ name }) => name).sort())
  })
})

describe.each(builtinTools.map((tool) => [tool.name, tool as { input: z.ZodObject; mutates: boolean }] as const))(
  '%s',
  (name, tool) => {
    const good = right[name] as Record<string, unknown>
    /** What takes no path by itself is shown against bad ones in tests of its own. */
    const takesPath = 'path' in tool.input.shape
    const itOfPaths = takesPath ? it : () => {}

    async function refusals(cases: readonly (readonly [unknown, RegExp | string])[]) {
      const { code, snapshot } = await bench(tree, {
        shell: bash(),
        mode: name === 'submit_plan' ? 'plan' : 'act',
        policy: { preset: 'autonomous', memory: {} },
      })
      const before = await snapshot()
      for (const [input, expected] of cases) {
        const found = await code(name, input)
        expect(found, JSON.stringify(input)?.slice(0, 200)).toMatch(
          new RegExp(`^(?:${typeof expected === 'string' ? expected : expected.source})$`),
        )
      }
      expect(await snapshot()).toEqual(before)
    }

    it('refuses what is no input of it', async () => {
      const cases: [unknown, string][] = [
        [undefined, 'INVALID_INPUT'],
        [null, 'INVALID_INPUT'],
        ['a.ts', 'INVALID_INPUT'],
        [[], 'INVALID_INPUT'],
        [42, 'INVALID_INPUT'],
        [{ ...good, surprise: 1 }, 'INVALID_INPUT'],
        [{ ...good, __proto__x: 1 }, 'INVALID_INPUT'],
      ]
      for (const [field, schema] of Object.entries(tool.input.shape)) {
        const required = !(schema as z.ZodType).safeParse(undefined).success
        if (required) {
          const { [field]: _, ...without } = good
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

    itOfPaths('refuses every path that the guard refuses, in every field', async () => {
      await refusals(
        pathFields(name).flatMap((field) =>
          badPaths.map((path) => [{ ...good, [field]: path }, /PATH_REJECTED/] as const),
        ),
      )
    })

    itOfPaths('takes any prototype name as an ordinary one', async () => {
      const { call } = await bench(tree)
      for (const path of ['__proto__', 'constructor', 'hasOwnProperty/toString']) {
        const answer = await call(name, { ...good, path })
        if (answer.ok !== true) expect(answer.code).toMatch(/NOT_FOUND|WRITE_CONFLICT/)
      }
    })

    itOfPaths('keeps away from git, and from secrets under any name', async () => {
      const { call } = await bench(tree)
      for (const field of pathFields(name)) {
        for (const path of ['.git/config', '.GIT/config', '.git/x', 'd/.git/x', 'git~1/config']) {
          const answer = await call(name, { ...good, [field]: path })
          expect([answer.ok, answer.code]).toEqual([
            false,
            expect.stringMatching(/POLICY_DENIED|PATH_REJECTED|NOT_FOUND/),
          ])
        }
        for (const path of ['.env', '.ENV', 'to-secret', '.env ', 'd/../.env', '.env/']) {
          const answer = await call(name, { ...good, [field]: path })
          const mayTell = name === 'file_info' || name === 'list_directory' || name === 'find_files'
          if (!mayTell) expect(answer.ok, path).toBe(false)
          expect(JSON.stringify(answer)).not.toContain('hunter2')
        }
      }
      expect(await call('file_info', { path: '.env' })).not.toHaveProperty('sha256')
    })

    itOfPaths('gives the code that fits what is there', async () => {
      const missing = { ...good, path: 'none/at/all.ts' }
      const directory = { ...good, path: 'd' }
      const through = { ...good, path: 'a.ts/x' }
      const dangling = { ...good, path: 'to-nothing' }
      const creates = name === 'write_file' || name === 'append_file' || name === 'create_directory'
      const cases: (readonly [unknown, RegExp])[] = [[through, /NOT_A_DIRECTORY/]]
      if (!creates) cases.push([missing, /NOT_FOUND/])
      const onFiles = ['read_file', 'edit_file', 'replace_range', 'write_file', 'append_file', 'delete_file']
      if (onFiles.includes(name)) cases.push([directory, /IS_DIRECTORY/])
      if (['read_file', 'edit_file', 'replace_range', 'search_text', 'list_directory', 'find_files'].includes(name))
        cases.push([dangling, /NOT_FOUND/])
      if (['read_file', 'edit_file', 'replace_range', 'append_file'].includes(name)) {
        cases.push(
          [{ ...good, path: 'blob.dat' }, /UNSUPPORTED_BINARY/],
          [{ ...good, path: 'latin.txt' }, /UNSUPPORTED_ENCODING/],
        )
      }
      if (name === 'list_directory' || name === 'find_files') cases.push([{ ...good, path: 'a.ts' }, /NOT_A_DIRECTORY/])
      if (tool.mutates && name !== 'create_directory') {
        cases.push(
          [{ ...good, path: 'node_modules/p/i.js' }, /POLICY_DENIED/],
          [{ ...good, path: 'package-lock.json' }, /APPROVAL_REQUIRED|WRITE_CONFLICT|EDIT_NO_MATCH/],
        )
        cases.push([{ ...good, path: '.' }, /PATH_REJECTED|IS_DIRECTORY|POLICY_DENIED/])
      }
      if (tool.mutates && 'expectedSha256' in tool.input.shape && !creates) {
        cases.push([{ ...good, expectedSha256: hash }, /WRITE_CONFLICT/])
      }
      await refusals(cases)
    })

    it('has schemas that can be told to a model', async () => {
      const { toJSONSchema } = await import('zod').then(({ z }) => z)
      expect(toJSONSchema(tool.input)).toMatchObject({ type: 'object', additionalProperties: false })
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
  ] as const)('cost %s.%s no more than plain ones, or are refused', async (tool, field, rest) => {
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
  ])('and the expression %j costs search_text no more either', async (query) => {
    const { call } = await bench({ 'a.txt': `${'ab'.repeat(500_000)}\n`, 'b.txt': 'a = b => {\n'.repeat(1000) })
    const start = ownTime()
    const answer = await call('search_text', { query, mode: 'regex' })
    expect(ownTime() - start).toBeLessThan(2000)
    if (answer.ok !== true) expect(answer.code).toMatch(/INVALID_PATTERN|INVALID_INPUT/)
  })
})
