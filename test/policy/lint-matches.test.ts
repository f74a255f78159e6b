import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { checkPolicy } from '../../src/cli/check-policy.ts'
import { type ConfigFormat, parseConfig } from '../../src/cli/parse-config.ts'
import { classifyPath } from '../../src/files/classify/index.ts'
import { kindByExtension, kindByName } from '../../src/files/classify/kinds.ts'
import { createWorkspace } from '../../src/index.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import { takeAuditSection } from '../../src/policy/import-config.ts'
import type { LintTool } from '../../src/policy/lint.ts'
import { compilePaths } from '../../src/policy/match.ts'
import { permissionGroups, permissions } from '../../src/policy/permissions.ts'
import { bash } from '../../src/shells/bash/index.ts'
import { builtinTools } from '../../src/tools/index.ts'
import { everyNth, times } from '../counts.ts'
import { toolTable, tree } from '../tools/table.ts'
import { wayTree } from './ways/tree.ts'

const rule = (fields: object) => ({ name: 'x', action: 'deny', ...fields })
const lint = (fields: object, more: object = {}) =>
  checkPolicy({ preset: 'autonomous', ...more, rules: [rule(fields)] }, { tools: builtinTools })
const isIdle = (fields: object, more?: object) =>
  lint(fields, more).some(({ message }) => /has no effect|have no paths/.test(message))

const counts = { tried: 0, deciding: 0, idle: 0 }
afterAll(() => console.log('tools × permissions:', JSON.stringify(counts)))

describe('a rule on a tool and a permission', () => {
  const patterns = [...permissions, ...Object.keys(permissionGroups), 'file:*', 'command:*', 'memory:*', 'git:*', '*']

  async function outcomes(name: string, rules: object[]): Promise<string> {
    const { input, changes, views } = toolTable[name as keyof typeof toolTable]
    const inputs = [input, ...(Array.isArray(changes) ? changes : []), ...(Array.isArray(views) ? views : [])]
    const answers: unknown[] = []
    for (const files of [tree, wayTree]) {
      const policy = { preset: 'autonomous', memory: { path: 'docs/notes' }, rules } as never
      const shell = /command$/.test(name) ? { shell: bash() } : {}
      const workspace = await createWorkspace({
        ...{ backend: memory(files), policy, mode: name === 'submit_plan' ? 'plan' : 'act', ...shell },
        ...{ approve: () => 'allow', clock: () => 0 },
      })
      for (const each of inputs) {
        const result = await workspace.callTool(name as never, each as never)
        answers.push(result.ok ? 'ok' : result.code)
      }
      if (name === 'run_command') {
        const result = await workspace.call('run_command', { command: 'cat b.ts; echo x > new.txt; git init -q r' })
        answers.push(result.ok && [result.stdout, result.exitCode])
      }
      await workspace.close()
    }
    return JSON.stringify(answers)
  }

  it.each(Object.keys(toolTable))(
    'of %s that decides about a call is not said to have no effect',
    async (name) => {
      const free = await outcomes(name, [])
      for (const pattern of everyNth(patterns, 6, name.length)) {
        const fields = { tools: [name], permissions: [pattern] }
        const idle = isIdle(fields, { memory: { path: 'docs/notes' } })
        const decides = (await outcomes(name, [rule(fields)])) !== free
        counts.tried++
        if (decides) counts.deciding++
        if (idle) counts.idle++
        expect(idle && decides, pattern).toBe(false)
        // The own permission of a tool is that of its calls.
        const { permission, plan } = builtinTools.find((tool) => tool.name === name) as LintTool
        if (pattern === permission) expect(idle).toBe(plan?.length === 0)
      }
    },
    60_000,
  )

  it('is found to have no effect where the tool never asks', () => {
    expect(counts.deciding).toBeGreaterThan(times(8, 60))
    expect(counts.idle).toBeGreaterThan(times(30, 200))
    for (const { name, mutates, permission } of builtinTools) {
      if (mutates || permission.startsWith('command:')) continue
      expect(isIdle({ tools: [name], permissions: ['file:change'] }), name).toBe(true)
    }
  })
})

describe('a rule on kinds beside paths', () => {
  const kinds = [
    'TEXT_SOURCE',
    'TEXT_CONFIG',
    'TEXT_DOC',
    'LOCKFILE',
    'SECRET_LIKE',
    'VENDORED',
    'GIT_INTERNAL',
  ] as const
  const names = [
    ...[...kindByExtension.keys()].map((extension) => `a.${extension}`),
    ...kindByName.keys(),
    ...['package-lock.json', '.env', 'id_rsa', 'k.pem', 'secrets.json', 'zqx', 'a.b.md'],
  ]
  const files = ['', 'src/', 'a/docs/', 'node_modules/p/', '.ssh/', 'secrets/'].flatMap((directory) =>
    names.map((name) => `${directory}${name}` as Path),
  )
  const globs = ['*', '**/*', 'src/**/*', '**/a', 'src/a', '?', '{a,b}'].flatMap((start) =>
    ['md', 'ts', 'json', 'txt', 'lock', 'pem', 'zqx', 'env', '{ts,md}', '*'].map(
      (extension) => `${start}.${extension}`,
    ),
  )
  const plain = ['src/**', 'docs', '**/.env', '.env', 'package-lock.json', '**/package-lock.json', 'README.md', '**']

  it.each([...globs, ...plain])('of %s is said to have no effect only if no file has the kind', (glob) => {
    const { matches } = compilePaths([glob], 'paths')
    const found = new Set<string>(files.filter(matches).map((path) => classifyPath(path).kind))
    for (const kind of kinds) {
      if (isIdle({ paths: [glob], kinds: [kind] })) expect(found.has(kind), kind).toBe(false)
    }
    for (const kind of ['BINARY', 'GENERATED', 'DIRECTORY'])
      expect(isIdle({ paths: [glob], kinds: [kind] })).toBe(false)
  })

  it('names a kind that the files cannot have', () => {
    for (const [glob, kind] of [
      ['**/*.md', 'TEXT_SOURCE'],
      ['src/**/*.ts', 'TEXT_DOC'],
      ['package-lock.json', 'SECRET_LIKE'],
      ['src/a.json', 'LOCKFILE'],
    ] as const) {
      expect(isIdle({ paths: [glob], kinds: [kind] }), `${glob} ${kind}`).toBe(true)
    }
  })
})

describe('a value in args', () => {
  const valued = builtinTools.flatMap(({ name, input }) =>
    Object.keys(input.shape).map((field) => [name, field, input] as const),
  )

  it.each(valued)(
    'of %s: %s is named if and only if the tool takes some values and not this one',
    (tool, field, input) => {
      const { def } = (input.shape[field as never] as { _zod: { def: { innerType?: { _zod: { def: object } } } } })._zod
      const inner = (def.innerType?._zod.def ?? def) as { type?: string; entries?: object }
      const values = inner.type === 'boolean' ? ['true', 'false'] : inner.entries && Object.values(inner.entries)
      const isFound = (value: string) => isIdle({ tools: [tool], args: { [field]: [value] } })
      expect(isFound('no_such_value')).toBe(values !== undefined)
      for (const value of values ?? []) expect(isFound(value), value).toBe(false)
      expect(isFound('*')).toBe(false)
    },
  )

  it('is named for every tool with the field if the rule names none', () => {
    expect(lint({ args: { mode: ['create_new'] } })[0]?.message).toContain('"create_new" has no effect')
    expect(isIdle({ args: { mode: ['CREATE_NEW'] } })).toBe(false)
  })
})

describe('a rule that no call can match', () => {
  it.each([
    ['commands of a tool without commands', { tools: ['read_file'], commands: ['git push'] }, 'run no command'],
    ['git:write on paths', { permissions: ['git:write'], paths: ['docs/**'] }, 'its paths are all in .git'],
    ['git:* beside others', { permissions: ['git:*', 'file:change'], paths: ['src'] }, '"git:*" has no effect'],
    ['plan:submit', { permissions: ['plan:submit'] }, 'no call of submit_plan asks'],
    ['paths of submit_plan', { tools: ['submit_plan'], paths: ['src/**'] }, 'have no paths'],
    ['kinds of check_command', { tools: ['check_command'], kinds: ['BINARY'] }, 'have no paths'],
    ['memory without memory', { permissions: ['memory:*'] }, 'the policy has no memory'],
    ['paths of commands', { permissions: ['command:*'], paths: ['src/**'] }, 'in which a command starts'],
  ])('is named: %s', (_, fields, message) => {
    expect(lint(fields).map((finding) => finding.message)).toContainEqual(expect.stringContaining(message))
  })

  it.each([
    [{ permissions: ['memory:*'], paths: ['docs/**'] }, true],
    [{ tools: ['memory_get'], paths: ['docs/**'] }, true],
    [{ tools: ['memory_get', 'read_file'], paths: ['docs/**'] }, false],
    [{ permissions: ['memory:write'], paths: ['memory/**'] }, false],
    [{ permissions: ['memory:write'] }, false],
  ])('%j beside memory: %s', (fields, idle) => {
    expect(isIdle(fields, { memory: {} })).toBe(idle)
  })

  it.each([
    { permissions: ['git:push'], paths: ['.git/push/host/**'] },
    { permissions: ['git:write'], paths: ['**'] },
    { permissions: ['git:write'] },
    { tools: ['git_push'], permissions: ['git:push'] },
    { tools: ['undo'], permissions: ['file:delete'] },
    { tools: ['own_tool'], permissions: ['file:delete'], args: { mode: ['x'] } },
    { tools: ['*'], permissions: ['file:change'] },
    { tools: ['run_command'], permissions: ['file:change'], paths: ['src/**'] },
    { permissions: ['command:run'] },
    { action: 'allow', permissions: ['command:run'], paths: ['src/**'] },
  ])('is not found in %j', (fields) => {
    expect(isIdle(fields, { preset: 'supervised' })).toBe(false)
    expect(lint(fields).some(({ message }) => message.includes('a command starts'))).toBe(false)
  })
})

it('the policies of the docs have no findings', () => {
  const files = ['README.md', 'docs/policy.md', ...readdirSync('docs/guide').map((name) => `docs/guide/${name}`)]
  const roots = { '/home/ubuntu/workspace/proyecto-x': '', '/home/user/workspace': '' }
  let tried = 0
  for (const file of files) {
    for (const [, format, text = ''] of readFileSync(file, 'utf8').matchAll(/```(yaml|toml)\n([\s\S]*?)```/g)) {
      const { audit: _, ...section } = parseConfig(text, format as ConfigFormat, file).data as Record<string, unknown>
      const { config } = takeAuditSection(section)
      tried++
      // A section of labels alone belongs into a policy that allows something.
      const policy = { ...(Object.hasOwn(config, 'labels') && { preset: 'supervised' }), ...config }
      expect(checkPolicy(policy, { tools: builtinTools, roots }), text).toEqual([])
    }
  }
  expect(tried).toBeGreaterThan(4)
})
