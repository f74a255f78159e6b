import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace, defineTool, type WorkspaceOptions } from '../../src/index.ts'
import { times } from '../counts.ts'

/** Options with every kind of data in them. */
const optionsWith = (calls: string[]) => ({
  backend: memory({ 'private/a': 'a\n', 'locked/a': 'a\n', 'ruled/a': 'a\n', 'a.txt': 'a\n', 'customers/k': 'k\n' }),
  policy: {
    preset: 'autonomous' as const,
    deniedPaths: ['private/**'],
    readOnlyPaths: ['locked/**'],
    requireReason: false,
    tools: { delete_file: 'deny' as const },
    limits: { toolCallsPerMinute: { read_file: 500 } },
    rules: [{ name: 'r', action: 'deny' as const, permissions: ['file:change'], paths: ['ruled/**'] }],
    commands: { deny: ['rm'] },
    labels: {
      sources: [{ label: 'restricted' as const, paths: ['customers/**'] }],
      sinks: [{ name: 's', ceiling: 'public' as const, paths: ['site/**'] }],
    },
  },
  tools: ['read_file', 'append_file', 'delete_file', 'copy_file'],
  extraTools: [
    defineTool({
      name: 'greet',
      title: 'Greet',
      description: 'Greets',
      permission: 'file:read',
      input: z.strictObject({}),
      output: z.object({ text: z.string() }),
      mutates: false,
      idempotent: true,
      plan: () => [{ permission: 'file:read', path: 'a.txt' }],
      draft: async () => ({ summary: 'Greeted', result: () => ({ text: 'hello' }) }),
    }),
  ],
  limits: { textFileBytes: 1000 },
  hooks: { preToolCall: [() => void calls.push('hook')] },
  mode: 'act' as const,
  run: { id: 'run-1', actor: 'agent', task: { text: 'task', scope: ['**'] } },
})

type Options = ReturnType<typeof optionsWith>
type Path = readonly (string | number)[]

/** Returns the paths of all fields and list items of plain data. */
function pathsIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path]
  const isPlain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype
  // A backend is used, not read.
  if (!isPlain || path[0] === 'backend') return path.length === 1 ? [path] : []
  return [
    ...(path.length === 0 ? [] : [path]),
    ...Object.entries(value).flatMap(([key, item]) => pathsIn(item, [...path, key])),
  ]
}

/** Changes the field at a path to something else. */
function change(options: object, path: Path): void {
  const parent = path.slice(0, -1).reduce<Record<string, unknown>>((part, key) => part[key] as never, options as never)
  const key = String(path.at(-1))
  const value = parent[key]
  if (Array.isArray(value)) value.length = 0
  else if (typeof value === 'boolean') parent[key] = !value
  else if (typeof value === 'number') parent[key] = 1
  else if (typeof value === 'string') parent[key] = value === 'deny' ? 'allow' : 'zzz'
  else delete parent[key]
}

/** Returns what a workspace does, with options that are changed at one moment. */
async function behaviour(path: Path | undefined, moment: 'at once' | 'in a microtask' | 'when it is created') {
  const calls: string[] = []
  const options: Options = optionsWith(calls)
  const changeNow = () => path !== undefined && change(options, path)
  const creating = createWorkspace(options as unknown as WorkspaceOptions)
  if (moment === 'at once') changeNow()
  else if (moment === 'in a microtask') queueMicrotask(changeNow)
  const workspace = await creating
  if (moment === 'when it is created') changeNow()
  const append = (file: string, content: string) => workspace.call('append_file', { path: file, content })
  const results = [
    await workspace.call('read_file', { path: 'private/a' }),
    await append('locked/a', 'x'),
    await append('ruled/a', 'x'),
    await append('a.txt', 'x'),
    await append('a.txt', 'x'.repeat(2000)),
    await workspace.call('delete_file', { path: 'a.txt' }),
    await workspace.call('copy_file', { path: 'customers/k', to: 'site/k' }),
    await workspace.call('greet' as never, {} as never),
    await workspace.call('list_directory', { path: '.' }),
  ]
  const codes = results.map((result) => (result.ok ? 'ok' : `${result.code}: ${result.message}`))
  const audit = (await workspace.auditRecords()).map(({ runId, actor, policyDecision }) => [
    runId,
    actor,
    policyDecision,
  ])
  await workspace.close()
  return { codes, calls, audit, task: workspace.task, mode: workspace.mode }
}

describe('options that change after createWorkspace() was called', () => {
  it('have no effect, whatever field changes and when', async () => {
    const expected = await behaviour(undefined, 'at once')
    expect(new Set(expected.codes.map((code) => code.split(':')[0])).size).toBeGreaterThan(3)
    const changed: unknown[] = []
    const moments = ['at once', 'in a microtask', 'when it is created'] as const
    for (const [number, path] of pathsIn(optionsWith([])).entries()) {
      for (const moment of times(0, 1) === 1 ? moments : moments.slice(number % 3, (number % 3) + 1)) {
        const actual = await behaviour(path, moment).catch((error: unknown) => String(error))
        if (JSON.stringify(actual) !== JSON.stringify(expected)) changed.push([path.join('.'), moment])
      }
    }
    expect(changed).toEqual([])
  })
})
