import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { deepagents } from '../../src/dialects/deepagents/index.ts'
import { gemini } from '../../src/dialects/gemini/index.ts'
import { dialects } from '../../src/dialects/index.ts'
import { mcpFilesystem } from '../../src/dialects/mcp-filesystem/index.ts'
import type { Dialect, DialectResult } from '../../src/dialects/runtime/types.ts'
import { snakeCase } from '../../src/dialects/snake-case/index.ts'
import { createWorkspace, type PolicyInput, type PolicyRule } from '../../src/index.ts'
import { compilePaths, dialectPathFields, pathFields } from '../../src/policy/match.ts'
import { bash } from '../../src/shells/bash/index.ts'
import { isLong, times } from '../counts.ts'
import { type Case, cases, files } from '../dialects/safety-calls.ts'

const workspaceIn = (dialect: Dialect, rule: PolicyRule | undefined, more: object = {}) =>
  createWorkspace({
    backend: memory({ ...files }),
    dialect,
    shell: bash(),
    policy: { preset: 'autonomous', memory: {}, ...(rule === undefined ? {} : { rules: [rule] }) } as PolicyInput,
    ...more,
  })

/** Values of text fields that no call of the table has. */
const furtherTexts: Readonly<Record<string, unknown>> = {
  ...{ path: '.', cwd: '.', dir_path: '.', workdir: '.', paths: ['a.txt'] },
  ...{ include_glob: '*.txt', file_pattern: '*.txt', glob: '*.txt', include_pattern: '*.txt', includeGlob: '*.txt' },
  ...{ exclude: 'ignored.txt', extension: 'txt', pattern: '*.txt', ignore: ['b.txt'], excludePatterns: ['b.txt'] },
  ...{ justification: 'why', instruction: 'why', description: 'why', reason: 'why', query: 'two', title: 'One' },
  ...{ labels: ['x'], scopes: ['agent'], encoding: 'utf-8', output_mode: 'content', sortBy: 'name', base: 'HEAD' },
  ...{ mode: 'literal', expectedBaseCommit: 'f'.repeat(40) },
}

/** The calls of the table, each also with one more text field that its tool has. */
function callsOf(dialect: Dialect, listed: readonly Case[]): readonly Case[] {
  return listed.flatMap((one) => {
    const shape = dialect.tools.find(({ name }) => name === one.tool)?.input.shape ?? {}
    const more = Object.keys(shape).filter((field) => !Object.hasOwn(one.input, field) && field in furtherTexts)
    return [one, ...more.map((field) => ({ ...one, input: { ...one.input, [field]: furtherTexts[field] } }))]
  })
}

const textsOf = (value: unknown): string[] =>
  typeof value === 'string' ? [value] : Array.isArray(value) ? value.flatMap(textsOf) : []

async function answerUnder(dialect: Dialect, one: Case, rule: PolicyRule | undefined) {
  const mode = one.mode === undefined ? {} : { mode: one.mode, approve: () => 'allow' as const }
  const workspace = await workspaceIn(dialect, rule, mode)
  for (const { tool, input } of one.before ?? []) await workspace.call(tool, input)
  const result = await workspace.call(one.tool, one.input)
  await workspace.close()
  return result
}

/** Whether the rule denied the call, or one of the files that it names. */
const isDenied = (result: DialectResult) =>
  /^(POLICY|COMMAND)_DENIED$/.test(result.failure?.code ?? '') || JSON.stringify(result).includes('rule \\"x\\"')

describe('a rule that denies the value of a text field of a dialect tool', () => {
  const count = { denied: 0, refused: 0 }
  let turn = 0

  it.each(Object.entries(dialects).map(([name, create]) => [name, create()] as const))(
    'denies the call in %s, or is refused',
    async (name, dialect) => {
      const silent: string[] = []
      for (const one of callsOf(dialect, cases[name] ?? [])) {
        if ((await answerUnder(dialect, one, undefined)).failure?.code === 'INVALID_INPUT') continue
        for (const [field, value] of Object.entries(one.input)) {
          const [text] = textsOf(value)
          if (text === undefined) continue
          turn += 1
          const forms = [[text.replace(/[*\\]/g, '\\$&')], ['*', '**']]
          // In `npm test`, the two forms take turns.
          for (const patterns of isLong ? forms : [forms[turn % 2] as string[]]) {
            const rule: PolicyRule = { name: 'x', action: 'deny', tools: [one.tool], args: { [field]: patterns } }
            const subject = `${one.tool} ${JSON.stringify(one.input)} under ${JSON.stringify(rule.args)}`
            try {
              const result = await answerUnder(dialect, one, rule)
              if (isDenied(result)) count.denied += 1
              else silent.push(subject)
            } catch (error) {
              expect(error, subject).toBeInstanceOf(TypeError)
              count.refused += 1
            }
          }
        }
      }
      expect(silent).toEqual([])
    },
  )

  it('is counted', () => {
    console.log(`rules on text fields of dialect tools: ${count.denied} denied, ${count.refused} refused`)
    expect(count.denied).toBeGreaterThan(times(100, 200))
  })
})

describe("a rule on a field of a dialect's tool", () => {
  it('denies by the field of the dialect, whatever field of the workspace its value reaches', async () => {
    const rule: PolicyRule = { name: 'x', action: 'deny', tools: ['search_files'], args: { pattern: ['pass*'] } }
    const workspace = await workspaceIn(snakeCase(), rule)
    const search = (input: object) => workspace.call('search_files', input)
    for (const input of [
      { pattern: 'password', content_search: true },
      { pattern: 'pass.txt' },
      { path: '.', pattern: 'pass', content_search: false },
    ]) {
      expect(await search(input), JSON.stringify(input)).toMatchObject({ failure: { code: 'POLICY_DENIED' } })
      const explained = await workspace.explain('search_files' as never, input as never)
      expect(explained).toMatchObject({ ok: true, verdict: { decision: 'deny' } })
    }
    expect(await search({ pattern: 'two', content_search: true })).toMatchObject({ isError: false })
  })

  it('compares a path as the workspace resolves it, under any name of the field', async () => {
    for (const pattern of ['src/**', '/src/**', 'src']) {
      const rule: PolicyRule = { name: 'x', action: 'deny', tools: ['read_file'], args: { file_path: [pattern] } }
      const workspace = await workspaceIn(deepagents(), rule)
      for (const file_path of ['/src/c.txt', '/./src/c.txt', '/src/deep/../c.txt', '/src//c.txt']) {
        const result = await workspace.call('read_file', { file_path })
        expect(result, `${pattern} ${file_path}`).toMatchObject({ failure: { code: 'POLICY_DENIED' } })
      }
      expect(await workspace.call('read_file', { file_path: '/a.txt' })).toMatchObject({ isError: false })
    }
  })

  it('has one meaning of patterns for every field that contains a path', async () => {
    const patterns = ['*', '**', '*.txt', '**/*.txt', 'src/*', 'src/**', 'src', '*c*', 'src/c.tx?', '{src,x}/c.txt']
    const impossible = ['~/x', '../x', ' src/c.txt', 'src//c.txt', 'src\\c.txt', '$HOME/x', 'a:b', '***', '(a|b)']
    const calls: readonly [dialect: Dialect, tool: string, field: string, input: object][] = [
      [mcpFilesystem(), 'move_file', 'source', { destination: '/workspace/new.txt' }],
      [mcpFilesystem(), 'move_file', 'destination', { source: '/workspace/a.txt' }],
      [mcpFilesystem(), 'read_text_file', 'path', {}],
      [deepagents(), 'read_file', 'file_path', {}],
      [gemini(), 'read_file', 'file_path', {}],
      [gemini(), 'list_directory', 'dir_path', {}],
    ]
    for (const [dialect, tool, field, input] of calls) {
      const [root = ''] = dialect.pathMapping.roots
      const path = `${root === '/' ? '' : root}/src/c.txt`
      const ruleOf = (pattern: string): PolicyRule => ({
        ...{ name: 'x', action: 'deny', tools: [tool], args: { [field]: [pattern] } },
      })
      for (const pattern of patterns) {
        const workspace = await workspaceIn(dialect, ruleOf(pattern))
        const explained = await workspace.explain(tool as never, { ...input, [field]: path } as never)
        const decision = explained.ok ? explained.verdict.decision : explained.code
        const subject = `${dialect.name} ${tool} ${field} ${pattern}`
        expect([subject, decision]).toEqual([
          subject,
          compilePaths([pattern], '').matches('src/c.txt') ? 'deny' : 'allow',
        ])
        await workspace.close()
      }
      for (const pattern of impossible)
        await expect(workspaceIn(dialect, ruleOf(pattern)), `${field} ${pattern}`).rejects.toThrow(TypeError)
    }
  })

  it('knows every field of every dialect that contains a path', async () => {
    const others: string[] = []
    for (const [name, create] of Object.entries(dialects)) {
      const dialect = create()
      const translated = new Set<string>()
      const inward = (path: string) => {
        translated.add(path)
        return dialect.pathMapping.inward(path)
      }
      const spied = { ...dialect, pathMapping: { ...dialect.pathMapping, inward } }
      for (const one of callsOf(dialect, cases[name] ?? [])) {
        translated.clear()
        await answerUnder(spied, one, undefined)
        const shape = dialect.tools.find(({ name }) => name === one.tool)?.input.shape ?? {}
        for (const [field, value] of Object.entries(one.input)) {
          // A former name of a field is no argument of a rule, and "include" has globs too.
          if (!Object.hasOwn(shape, field) || field === 'include') continue
          const isPath = textsOf(value).some((text) => text.includes('.txt') && translated.has(text))
          if (isPath && !pathFields.has(field) && !dialectPathFields.has(field))
            others.push(`${name} ${one.tool} ${field}`)
        }
      }
    }
    expect(others).toEqual([])
  })

  it('allows only a path that it matches', async () => {
    const rules: PolicyRule[] = [
      { name: 'moves', action: 'allow', tools: ['move_file'], args: { destination: ['src/**'] } },
      { name: 'looks', action: 'allow', permissions: ['file:view'], paths: ['**'] },
    ]
    const workspace = await createWorkspace({
      backend: memory({ ...files }),
      dialect: mcpFilesystem(),
      policy: { rules },
    })
    const move = (destination: string) => workspace.call('move_file', { source: '/workspace/a.txt', destination })
    for (const destination of ['/workspace/x.txt', '/workspace/src/../x.txt', '/workspace/./x.txt', 'src/../x.txt']) {
      expect(await move(destination), destination).toMatchObject({ isError: true })
    }
    expect(await move('/workspace/src/x.txt')).toMatchObject({ isError: false })
  })

  it('does not apply to calls in the names of the workspace', async () => {
    const rule: PolicyRule = { name: 'x', action: 'deny', tools: ['search_files'], args: { pattern: ['*'] } }
    const workspace = await workspaceIn(snakeCase(), rule)
    expect(await workspace.own.call('find_files', { pattern: '*.txt' })).toMatchObject({ ok: true })
  })

  it('holds when a parked call is resumed', async () => {
    const rule: PolicyRule = { name: 'x', action: 'ask', tools: ['write_file'], args: { file_path: ['/new.txt'] } }
    const workspace = await workspaceIn(deepagents(), rule)
    const result = await workspace.call('write_file', { file_path: '/new.txt', content: 'x' })
    expect(result.failure?.code).toBe('APPROVAL_REQUIRED')
    expect(await workspace.resume(String(result.failure?.approvalId), 'allow')).toMatchObject({ ok: true })
  })
})
