import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { memorySink, reportMarkdown } from '../../src/audit/index.ts'
import { jsonlSink } from '../../src/audit/jsonl-sink.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { reportTables } from '../../src/cli/report-tables.ts'
import { createWorkspace, type PolicyInput, type Workspace, type WorkspaceOptions } from '../../src/index.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import type { PermissionPattern } from '../../src/policy/index.ts'
import { bash } from '../../src/shells/bash/index.ts'
import { snapshot } from '../tools/setup.ts'
import { byContent, byName, calls, changedLater, leaks, tree } from './planted.ts'

const directory = mkdtempSync(join(tmpdir(), 'planted-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** A text that leaves a workspace, and by which way. */
interface Seen {
  readonly way: string
  readonly text: string
}

/** A workspace that records everything that leaves it. */
async function watched(name: string, options: Partial<WorkspaceOptions>) {
  const seen: Seen[] = []
  const see = (way: string, value: unknown) => {
    seen.push({ way, text: typeof value === 'string' ? value : (JSON.stringify(value) ?? '') })
  }
  const backend = memory(tree)
  const artifacts = memory()
  const file = join(directory, `${name}.jsonl`)
  const workspace = await createWorkspace({
    backend,
    artifacts,
    policy: 'autonomous',
    shell: bash(),
    audit: [memorySink(), jsonlSink(file, { fsync: 'never', rotateBytes: 100_000 })],
    run: { id: 'run', task: { text: 'look around', scope: ['src/**'] } },
    limits: { projectionBytes: 3000, callsPerMinute: 1_000_000 },
    ...options,
  })

  async function call(tool: string, input: unknown): Promise<void> {
    see(`explain ${tool}`, await workspace.explainTool(tool, input))
    const result = await workspace.callTool(tool, input)
    see(`call ${tool}`, result)
    if (result.ok && typeof result.artifactUri === 'string') {
      see(`artifact of ${tool}`, await workspace.call('read_file', { path: result.artifactUri, maxLines: 1000 }))
    }
  }

  return {
    workspace,
    backend,
    seen,
    see,
    call,
    async finish() {
      see('the audit in memory', workspace.auditRecords())
      see('the report', await workspace.report())
      see('the report as Markdown', reportMarkdown(await workspace.report(), workspace.verifyAudit()))
      see('the report as tables', reportTables(await workspace.report(), workspace.verifyAudit()))
      await workspace.close()
      for (const part of readdirSync(directory).filter((one) => one.startsWith(name))) {
        see('the audit file', readFileSync(join(directory, part), 'utf8'))
      }
      see('the artifacts', await snapshot(artifacts))
    },
  }
}

/** The first texts that contain a secret, with their ways. */
function leaked(seen: readonly Seen[]): string[] {
  const hashes = ['.env', '.ssh/id_rsa', 'secrets.yaml', 'conf/.env.production'].map((path) =>
    createHash('sha256').update(String(tree[path])).digest('hex'),
  )
  return seen
    .flatMap(({ way, text }) => [
      ...leaks(text).map((secret) => `${secret}, in ${way}: ${text.slice(0, 300)}`),
      ...hashes.filter((hash) => text.includes(hash)).map((hash) => `a hash ${hash}, in ${way}`),
    ])
    .slice(0, 12)
}

async function changeFromOutside(backend: ReturnType<typeof memory>): Promise<void> {
  const changes = Object.entries(changedLater).map(([path, text]) => ({
    path: path as Path,
    expect: 'any' as const,
    to: { type: 'file' as const, bytes: new TextEncoder().encode(text) },
  }))
  await backend.commit(changes, { durability: 'relaxed' })
}

const RUNS = 15

/** Random inputs of one tool, the same in each run of the test. */
const inputsOf = (tool: (typeof calls)[number], count: number) => fc.sample(tool.input, { numRuns: count, seed: 7 })

async function takeBackSome(workspace: Workspace, see: (way: string, value: unknown) => void, start: string) {
  const outcomes = workspace.auditRecords().filter(({ phase, code, pathsWritten }) => {
    return phase === 'outcome' && code === undefined && pathsWritten.length > 0
  })
  for (const { toolCallId } of outcomes.slice(-5)) see('undo', await workspace.undo(toolCallId))
  see('rollback', await workspace.rollback(start))
}

const settings: [string, Partial<WorkspaceOptions>][] = [
  ['with everything in the root allowed', { policy: { preset: 'autonomous', memory: {} } }],
  [
    'with permission to change secrets, but not to read them',
    {
      policy: {
        preset: 'autonomous',
        memory: { acl: true },
        rules: [
          {
            name: 'tidy up',
            action: 'allow',
            paths: ['**'],
            permissions: ['file:move', 'file:delete', 'file:write:*', 'file:append', 'file:patch:apply'],
            overrides: ['secret'],
          },
        ],
      },
    },
  ],
  [
    'with few allowed paths and with labels',
    {
      policy: {
        allowedPaths: ['src/**', 'docs/**', 'to-env', 'new/**'],
        labels: {
          sources: [{ label: 'restricted', paths: ['src/config.ts'] }],
          sinks: [{ name: 'docs', ceiling: 'public', paths: ['docs/**'] }],
        },
      },
    },
  ],
]

describe.each(settings)('%s', (title, options) => {
  it('no tool, error, explanation, diff, artifact, record or report contains a planted secret', async () => {
    const { workspace, backend, seen, see, call, finish } = await watched(title.replaceAll(' ', '-'), options)
    const start = workspace.checkpoint().id
    for (const [index, tool] of calls.entries()) {
      if (index === Math.floor(calls.length / 2)) await changeFromOutside(backend)
      for (const input of inputsOf(tool, RUNS)) await call(tool.name, input)
    }
    for (const tool of calls.filter(({ name }) => /diff|search|read/.test(name))) {
      for (const input of inputsOf(tool, 5)) await call(tool.name, input)
    }
    await takeBackSome(workspace, see, start)
    await finish()
    expect(leaked(seen)).toEqual([])
    // Most tools must have succeeded at least once, with many different failures, or the test shows nothing.
    const results = seen
      .filter(({ way }) => way.startsWith('call '))
      .map(({ way, text }) => ({ way, ...JSON.parse(text) }))
    expect(new Set(results.filter(({ ok }) => ok).map(({ way }) => way)).size).toBeGreaterThan(6)
    expect(new Set(results.map(({ code }) => code)).size).toBeGreaterThan(7)
  })
})

it('no approval question contains a planted secret', async () => {
  const requests: unknown[] = []
  const approve = async (request: unknown) => {
    requests.push(request)
    return 'allow' as const
  }
  const { seen, see, call, finish } = await watched('asked', { policy: 'supervised', approve })
  for (const tool of calls) for (const input of inputsOf(tool, RUNS)) await call(tool.name, input)
  for (const request of requests) see('an approval', request)
  await finish()
  expect(requests.length).toBeGreaterThan(10)
  expect(leaked(seen)).toEqual([])
})

it('no record, report or artifact contains a secret written by a caller', async () => {
  const token = byContent.github
  const { workspace, seen, finish } = await watched('written', { policy: { preset: 'autonomous', memory: {} } })
  const withToken = (value: unknown): unknown => {
    if (typeof value === 'string') return `${token} ${value} ${token}`
    if (Array.isArray(value)) return value.map(withToken)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([field, own]) => [field, withToken(own)]))
  }
  for (const tool of calls) {
    for (const input of inputsOf(tool, 6)) {
      await workspace.callTool(tool.name, withToken(input))
      await workspace.callTool(tool.name, { ...input, reason: `${'x'.repeat(1990)} ${token}` })
    }
    await workspace.callTool(`${tool.name} ${token}`, {}, { step: 'step' })
  }
  await finish()

  const planned = await watched('planned', { mode: 'plan', approve: () => 'allow' })
  await planned.workspace.call('submit_plan', { plan: `Use ${token}`, paths: [`src/${token}`] })
  await planned.workspace.call('write_file', { path: `src/${token}`, content: 'x' })
  await planned.finish()
  expect(leaked(planned.seen.filter(({ way }) => way !== 'the artifacts'))).toEqual([])
  // File names are not redacted: listings show them, and so do the headers of diffs.
  expect(leaked(seen.filter(({ way }) => way !== 'the artifacts'))).toEqual([])

  const written = await watched('contents', {})
  await written.call('write_file', { path: 'new.txt', content: `${token}\n`, reason: token })
  await written.call('edit_file', { path: 'new.txt', oldText: '\n', newText: `\n${token}\n` })
  await written.call('run_command', { command: 'cat new.txt > other.txt; cat other.txt' })
  await written.finish()
  expect(leaked(written.seen)).toEqual([])
})

it('changing a secret file without read access reveals nothing', async () => {
  const changing = [
    ...(['file:move', 'file:copy', 'file:delete', 'file:write:*', 'file:append', 'file:patch:apply'] as const),
  ]
  const lifting = (permissions: PermissionPattern[]): PolicyInput => ({
    preset: 'autonomous',
    rules: [{ name: 'lift', action: 'allow', paths: ['**'], permissions, overrides: ['secret'] }],
  })
  const ways: [string, Record<string, unknown>][] = [
    ['edit_file', { path: '.env', oldText: 'PHRASE=plxm-harbour-91-kettle', newText: 'x' }],
    ['edit_file', { path: '.env', oldText: 'OTHER=1', newText: 'OTHER=2' }],
    ['replace_range', { path: '.env', startLine: 2, endLine: 2, newText: 'x\n', expectedSha256: 'a'.repeat(64) }],
    ['apply_patch', { patch: '--- a/.env\n+++ b/.env\n@@ -1,2 +1,2 @@\n PHRASE=x\n-OTHER=1\n+OTHER=2\n' }],
    ['append_file', { path: '.env', content: 'MORE=1\n' }],
    ['write_file', { path: '.env', content: 'x\n', expectedSha256: 'a'.repeat(64) }],
    ['move_file', { path: '.env', to: 'plain.txt' }],
    ['move_file', { path: '.ssh', to: 'ssh' }],
    ['copy_file', { path: '.env', to: 'plain.txt' }],
    ['copy_file', { path: 'conf', to: 'plain' }],
    ['edit_file', { path: 'to-env', oldText: 'OTHER=1', newText: 'OTHER=2' }],
    ['run_command', { command: 'mv .env plain.txt; cat plain.txt; cp .ssh/id_rsa k; cat k; sed -i s/a/b/ .env' }],
    ['delete_file', { path: '.env', expectedSha256: 'a'.repeat(64) }],
    ['delete_file', { path: '.env' }],
    ['write_file', { path: '.env.new', content: 'FRESH=1\n', expectedSha256: null }],
  ]
  const { seen, call, finish } = await watched('changing', { policy: lifting(changing) })
  for (const [tool, input] of ways) {
    await call(tool, input)
    for (const path of ['plain.txt', 'ssh/id_rsa', 'plain/.env.production', 'k']) await call('read_file', { path })
  }
  await finish()
  expect(leaked(seen)).toEqual([])
  const answers = seen.filter(({ way }) => way.startsWith('call ') && way !== 'call read_file')
  expect(answers.map(({ text }) => JSON.parse(text).ok).filter((ok) => ok === true).length).toBeLessThanOrEqual(4)
  expect(JSON.parse(answers.at(-2)?.text ?? '')).toMatchObject({ ok: true, oldSha256: null })
  expect(JSON.parse(answers.at(-1)?.text ?? '')).toMatchObject({ ok: true })

  // With read access, changing is allowed too.
  const open = await createWorkspace({ backend: memory(tree), policy: lifting([...changing, 'file:read']) })
  expect(await open.callTool(...(ways[1] as [string, unknown]))).toMatchObject({ ok: true })
  const separate = await createWorkspace({
    backend: memory(tree),
    policy: {
      preset: 'autonomous',
      rules: [
        { name: 'read', action: 'allow', paths: ['.env'], permissions: ['file:read'], overrides: ['secret'] },
        { name: 'write', action: 'allow', paths: ['.env', '.ssh/**'], permissions: changing, overrides: ['secret'] },
      ],
    },
  })
  expect(await separate.call('append_file', { path: '.env', content: 'A=1\n' })).toMatchObject({ ok: true })
  expect(await separate.call('append_file', { path: '.ssh/id_rsa', content: 'x' })).toMatchObject({
    code: 'POLICY_DENIED_SECRET',
  })
})

it('the search for leaks finds known leaks', async () => {
  for (const secret of [...Object.values(byName), ...Object.values(byContent)])
    expect(leaks(`x${secret}x`)).toHaveLength(1)
  const open = await createWorkspace({
    backend: memory(tree),
    policy: {
      preset: 'autonomous',
      rules: [{ name: 'read all', action: 'allow', paths: ['**'], overrides: ['secret'] }],
    },
  })
  expect(leaks(JSON.stringify(await open.call('read_file', { path: '.env' })))).toEqual(['by name: env'])
})
