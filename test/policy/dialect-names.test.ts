import { describe, expect, it } from 'vitest'
import { memorySink } from '../../src/audit/sinks.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { fileReadWrite } from '../../src/dialects/file-read-write/index.ts'
import { gemini } from '../../src/dialects/gemini/index.ts'
import { dialects } from '../../src/dialects/index.ts'
import { mcpFilesystem } from '../../src/dialects/mcp-filesystem/index.ts'
import { pythonHarness } from '../../src/dialects/python-harness/index.ts'
import { createWorkspace, type PolicyInput } from '../../src/index.ts'
import { knownTools } from '../../src/workspace/known-tools.ts'

const files = { 'a.txt': 'one\n', 'docs/a.md': '# A\n' }
const open = (policy: PolicyInput, dialect = fileReadWrite(), more: object = {}) =>
  createWorkspace({ backend: memory(files), policy, dialect, ...more })

const denials: readonly [name: string, policy: PolicyInput][] = [
  ['a decision', { preset: 'autonomous', tools: { file_write: 'deny', file_read: 'deny' } }],
  ['a rule', { preset: 'autonomous', rules: [{ name: 'x', action: 'deny', tools: ['file_write', 'file_read'] }] }],
  ['a glob', { preset: 'autonomous', rules: [{ name: 'x', action: 'deny', tools: ['file_*'] }] }],
]

describe.each(denials)("%s by the dialect's own names", (_, policy) => {
  it('denies every call of its tool, and no other', async () => {
    const workspace = await open(policy)
    for (const result of [
      await workspace.call('file_read', { path: 'a.txt' }),
      await workspace.call('file_write', { path: 'a.txt', content: 'two\n' }),
    ]) {
      expect(result).toMatchObject({ isError: true, failure: { code: 'POLICY_DENIED' } })
    }
    expect(await workspace.own.call('read_file', { path: 'a.txt' })).toMatchObject({ ok: true, content: 'one\n' })
  })
})

describe("a policy with the dialect's own names", () => {
  it('may name every tool of every dialect', async () => {
    let count = 0
    for (const [name, create] of Object.entries(dialects)) {
      const dialect = create()
      for (const tool of dialect.tools) {
        const workspace = await open({ preset: 'autonomous', tools: { [tool.name]: 'deny' } }, dialect)
        const names = knownTools([], dialect).map((tool) => tool.name)
        expect(names, `${name}.${tool.name}`).toContain(tool.name)
        await workspace.close()
        count += 1
      }
    }
    console.log(`dialect tools that a policy may name: ${count}`)
  })

  it('decides on a tool of a dialect that makes no call', async () => {
    const [name, dialect] = ['list_allowed_directories', mcpFilesystem()] as const
    const rule = { name: 'x', action: 'deny', tools: ['list_*'] } as const
    for (const [policy, code] of [
      [{ tools: { [name]: 'deny' } }, 'POLICY_DENIED'],
      [{ tools: { [name]: 'ask' } }, 'APPROVAL_REQUIRED'],
      [{ rules: [rule] }, 'POLICY_DENIED'],
      [{ rules: [{ ...rule, action: 'ask' }] }, 'APPROVAL_REQUIRED'],
      [{ limits: { toolCallsPerMinute: { [name]: 1 } } }, undefined],
      [{}, undefined],
    ] as const) {
      const audit = memorySink()
      const workspace = await open({ preset: 'autonomous', ...policy } as PolicyInput, dialect, { audit })
      const subject = JSON.stringify(policy)
      expect((await workspace.call(name, {})).failure?.code, subject).toBe(code)
      const explained = await workspace.explain(name as never, {} as never)
      const decision = code === undefined ? 'allow' : code === 'POLICY_DENIED' ? 'deny' : 'ask'
      expect(explained, subject).toMatchObject({ ok: true, verdict: { decision } })
      const isLimited = 'limits' in policy
      expect((await workspace.call(name, {})).failure?.code, subject).toBe(isLimited ? 'RATE_LIMITED' : code)
      expect(audit.records().length > 0, subject).toBe(subject !== '{}')
    }
    const withoutPreset = await open({ rules: [{ ...rule, tools: ['read_file'] }] }, dialect)
    expect(await withoutPreset.call(name, {})).toMatchObject({ isError: false })
  })

  it('combines with the native name: the stricter decision counts', async () => {
    const input = { path: 'a.txt', content: 'two\n' }
    for (const tools of [
      { file_write: 'allow', write_file: 'deny' },
      { file_write: 'deny', write_file: 'allow' },
    ] as const) {
      const workspace = await open({ preset: 'autonomous', tools })
      expect(await workspace.call('file_write', input)).toMatchObject({ failure: { code: 'POLICY_DENIED' } })
    }
  })

  it('allows the tool without the native name, and leaves other calls denied', async () => {
    const workspace = await open({ rules: [{ name: 'x', action: 'allow', tools: ['file_read'], paths: ['**'] }] })
    expect(await workspace.call('file_read', { path: 'a.txt' })).toMatchObject({ isError: false })
    expect(await workspace.call('file_write', { path: 'b.txt', content: '' })).toMatchObject({ isError: true })
    expect(await workspace.own.call('read_file', { path: 'a.txt' })).toMatchObject({ code: 'POLICY_DENIED' })
  })

  it('matches a tool called by its former name', async () => {
    const workspace = await open({ preset: 'autonomous', tools: { grep_search: 'deny' } }, gemini())
    const result = await workspace.call('search_file_content', { pattern: 'one' })
    expect(result).toMatchObject({ isError: true, failure: { code: 'POLICY_DENIED' } })
  })

  it('asks once, and not again when the call is resumed', async () => {
    const audit = memorySink()
    const policy: PolicyInput = { preset: 'autonomous', tools: { file_write: 'ask' } }
    const workspace = await open(policy, fileReadWrite(), { audit })
    const result = await workspace.call('file_write', { path: 'b.txt', content: 'two\n' })
    expect(result.failure?.code).toBe('APPROVAL_REQUIRED')
    expect(await workspace.resume(String(result.failure?.approvalId), 'allow')).toMatchObject({ ok: true })
    expect(await workspace.own.call('read_file', { path: 'b.txt' })).toMatchObject({ content: 'two\n' })
    expect(audit.records?.()).not.toContainEqual(expect.objectContaining({ code: 'POLICY_DENIED' }))
  })

  it('counts one call of the dialect against its limit, however many calls it makes', async () => {
    const policy: PolicyInput = {
      preset: 'autonomous',
      limits: { toolCallsPerMinute: { read_file: 3 } },
    }
    const workspace = await open(policy, pythonHarness(), { clock: () => 0 })
    for (let i = 0; i < 3; i++) {
      expect(await workspace.call('read_file', { path: 'a.txt' })).toMatchObject({ isError: false })
    }
    expect(await workspace.call('read_file', { path: 'a.txt' })).toMatchObject({ failure: { code: 'RATE_LIMITED' } })
  })
})
