import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { callbackSink } from '../../src/audit/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { overlay } from '../../src/backends/overlay/index.ts'
import {
  type Backend,
  createWorkspace,
  type Hooks,
  type ParkedCall,
  type ParkedCalls,
  type Path,
  type PolicyInput,
  type Tool,
  type ToolContext,
  ToolError,
  type WorkspaceOptions,
} from '../../src/index.ts'
import type { PermissionPattern } from '../../src/policy/index.ts'
import { bash } from '../../src/shells/bash/index.ts'
import { faulty } from '../../src/testing/index.ts'
import type { BuiltinDraft, ResultFields } from '../../src/tools/builtin-tool.ts'

const files = {
  'src/app.ts': 'export const answer = 41\n',
  'docs/guide.md': '# Guide\n',
  '.env': 'PASSWORD=hunter2\n',
  'dist/out.js': 'var a\n',
}

async function open(options: Partial<WorkspaceOptions> = {}) {
  let time = 1_000_000
  let id = 0
  return createWorkspace({
    backend: memory(files),
    policy: 'autonomous',
    clock: () => {
      time += 1
      return time
    },
    ids: () => {
      id += 1
      return `id-${id}`
    },
    ...options,
  })
}

describe('createWorkspace', () => {
  it('throws a TypeError for invalid options', async () => {
    const wrong: [string, Record<string, unknown>, RegExp][] = [
      ['no policy', { backend: memory() }, /readOnly.*supervised.*autonomous/s],
      ['an unknown preset', { backend: memory(), policy: 'yolo' }, /readOnly/],
      ['no backend', { policy: 'autonomous' }, /backend or mounts/],
      ['both', { policy: 'autonomous', backend: memory(), mounts: { '': memory() } }, /backend or mounts/],
      ['an unknown limit', { policy: 'autonomous', backend: memory(), limits: { nonsense: 1 } }, /nonsense/],
      ['a boolean as a limit', { policy: 'autonomous', backend: memory(), limits: { readLines: true } }, /readLines/],
      ['a limit of zero', { policy: 'autonomous', backend: memory(), limits: { readLines: 0 } }, /readLines/],
      ['a fraction', { policy: 'autonomous', backend: memory(), limits: { readLines: 1.5 } }, /readLines/],
      ['an unknown tool', { policy: 'autonomous', backend: memory(), tools: ['nonsense'] }, /nonsense/],
      ['an audit without a sink', { policy: 'autonomous', backend: memory(), audit: [] }, /"audit".*has no sink/],
      ['a bad run id', { policy: 'autonomous', backend: memory(), run: { id: '../x' } }, /run id/],
      [
        'a memory below a file',
        { policy: { preset: 'autonomous', memory: { path: 'a/notes' } }, backend: memory({ a: 'file\n' }) },
        /"a\/notes" is a link/,
      ],
    ]
    for (const [subject, options, message] of wrong) {
      const result = createWorkspace(options as unknown as WorkspaceOptions)
      await expect(result, subject).rejects.toThrow(TypeError)
      await expect(createWorkspace(options as unknown as WorkspaceOptions), subject).rejects.toThrow(message)
    }
  })

  it('registers only the tools of its set', async () => {
    const workspace = await open({ tools: 'minimal' })
    expect(workspace.tools.map(({ name }) => name).sort()).toEqual([
      ...['apply_patch', 'diff_workspace', 'list_directory', 'read_file', 'search_text', 'write_file'],
    ])
    expect(await workspace.call('delete_file', { path: 'src/app.ts' })).toMatchObject({ code: 'UNKNOWN_TOOL' })
  })
})

describe('a workspace with a shell', () => {
  it('is required by keepCwd', async () => {
    await expect(open({ keepCwd: true })).rejects.toThrow(
      new TypeError('Option "keepCwd" of createWorkspace() needs a shell'),
    )
    await expect(open({ keepCwd: false })).resolves.toBeDefined()
  })

  it('has no background tools if the shell cannot run in the background', async () => {
    const shell = bash()
    const workspace = await open({ shell: { ...shell, capabilities: { ...shell.capabilities, background: false } } })
    expect(workspace.tools.map(({ name }) => name)).toContain('run_command')
    expect(await workspace.call('start_command', { command: 'true' })).toMatchObject({
      code: 'SHELL_UNAVAILABLE',
      message: 'The shell bash cannot run commands in the background',
    })
  })
})

describe('a fork', () => {
  it('is in plan mode if its workspace is', async () => {
    const workspace = await open({ mode: 'plan' })
    const fork = await workspace.fork()
    expect(fork.mode).toBe('plan')
    expect(await fork.call('write_file', { path: 'a.txt', content: 'a' })).toMatchObject({ code: 'PLAN_MODE' })
    expect((await (await open()).fork()).mode).toBe('act')
  })

  it('is not committed if its storage fails, and returns the failure', async () => {
    const below = faulty(memory(files))
    const fork = await (await open({ backend: below })).fork()
    await fork.call('delete_file', { path: 'docs/guide.md' })
    below.inject({ error: new Error('/physical/path') })
    const result = await fork.commit()
    expect(result).toMatchObject({ ok: false, code: 'BACKEND_ERROR' })
    expect(JSON.stringify(result)).not.toContain('physical')
    below.heal()
    expect(await fork.commit()).toMatchObject({ ok: true, paths: ['docs/guide.md'] })
    expect(await below.stat('docs/guide.md' as never)).toBeUndefined()
    // The pending changes cannot be listed either.
    const above = overlay(below)
    const workspace = await open({ backend: above })
    const paths = ['src', 'src/app.ts'] as never[]
    await above.commit(
      paths.map((path) => ({ path, expect: 'any', to: null })),
      { durability: 'durable' },
    )
    below.inject({ error: new Error('/physical/path') })
    const untold = await workspace.commit()
    expect(untold).toMatchObject({ ok: false, code: 'BACKEND_ERROR' })
    expect(JSON.stringify(untold)).not.toContain('physical')
    below.heal()
    expect(await workspace.commit()).toMatchObject({ ok: true, paths })
  })

  it('replaces a link by another link', async () => {
    const below = memory({ ...files, now: { link: 'docs' } })
    const above = overlay(below)
    const workspace = await open({ backend: above })
    await above.commit([{ path: 'now' as never, expect: 'any', to: { type: 'link', target: 'src' } }], {
      durability: 'durable',
    })
    expect(await workspace.commit()).toMatchObject({ ok: true, paths: ['now'] })
    expect(await below.readLink('now' as never)).toBe('src')
    const [diff] = workspace.auditRecords().flatMap(({ artifactUris }) => artifactUris)
    expect(await workspace.call('read_file', { path: String(diff) })).toMatchObject({
      content: expect.stringMatching(/^-docs$[\s\S]*^\+src$/m),
    })
  })
})

describe('a call', () => {
  it('reads a file, and edits the version that was read', async () => {
    const workspace = await open()
    const file = await workspace.call('read_file', { path: './src//app.ts' })
    expect(file).toMatchObject({ ok: true, path: 'src/app.ts', content: files['src/app.ts'], truncated: false })
    if (!file.ok) return
    const edited = await workspace.call('edit_file', {
      path: 'src/app.ts',
      oldText: '41',
      newText: '42',
      expectedSha256: file.sha256,
    })
    expect(edited).toMatchObject({ ok: true, insertions: 1, deletions: 1 })
    if (!edited.ok || edited.artifactUri === undefined) throw new Error('no artifact')
    const diff = await workspace.call('read_file', { path: edited.artifactUri })
    expect(diff).toMatchObject({ ok: true, content: edited.diff })
    expect(edited.diff).toContain('-export const answer = 41\n+export const answer = 42\n')
  })

  it('never rejects, whatever its input', async () => {
    const workspace = await open()
    const values: unknown[] = [
      undefined,
      null,
      0,
      'x',
      [],
      { path: 1 },
      { path: {} },
      { path: '\ud800' },
      Object.create(null),
      new Proxy({}, {}),
    ]
    for (const name of ['read_file', 'nonsense', '', '__proto__', 'constructor']) {
      for (const value of values) {
        const result = await workspace.callTool(name, value)
        expect(result.ok).toBe(false)
        expect(result).toHaveProperty('hint')
      }
    }
  })

  it('suggests the most similar visible names, and never a hidden one', async () => {
    const workspace = await open()
    expect(await workspace.call('read_file', { path: 'src/ap.ts' })).toMatchObject({
      code: 'NOT_FOUND',
      suggestions: ['src/app.ts'],
    })
    const stored = memory({ 'bat.ts': '', 'cat.ts': '', 'mat.ts': '', 'hut.ts': '' })
    const reversed = { ...stored, list: async (path: never) => (await stored.list(path)).toReversed() }
    for (const backend of [stored, reversed]) {
      expect(await (await open({ backend })).call('read_file', { path: 'hat.ts' })).toMatchObject({
        suggestions: ['bat.ts', 'cat.ts', 'hut.ts', 'mat.ts'],
      })
    }
    const hiding = await open({ policy: { preset: 'autonomous', deniedPaths: ['src/app.ts'] } })
    expect(await hiding.call('read_file', { path: 'src/ap.ts' })).not.toHaveProperty('suggestions')
  })

  it('returns BACKEND_ERROR for a failing storage, without the text of the error', async () => {
    const backend = faulty(memory(files), { on: 'read', error: new Error('/physical/secret/path exploded') })
    const workspace = await open({ backend })
    const result = await workspace.call('read_file', { path: 'src/app.ts' })
    expect(result).toMatchObject({ ok: false, code: 'BACKEND_ERROR' })
    expect(JSON.stringify(result)).not.toContain('physical')
  })

  it('is cancelled by its signal', async () => {
    const workspace = await open()
    const result = await workspace.call('write_file', { path: 'a.txt', content: 'a' }, { signal: AbortSignal.abort() })
    expect(result).toMatchObject({ code: 'ABORTED' })
    expect(await workspace.call('read_file', { path: 'a.txt' })).toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('a patch', () => {
  it('is refused if it creates a file below a deleted file that does not exist', async () => {
    const workspace = await open()
    const patch = '--- a/none\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n'
    const below = '--- /dev/null\n+++ b/none/x\n@@ -0,0 +1 @@\n+x\n'
    expect(await workspace.call('apply_patch', { patch: patch + below })).toMatchObject({
      ok: false,
      code: 'NOT_FOUND',
      path: 'none',
    })
  })
})

describe('reading before writing', () => {
  it('lets a run replace without a hash only files that it was shown completely', async () => {
    const workspace = await open()
    const blind = await workspace.call('write_file', { path: 'src/app.ts', content: 'x\n' })
    expect(blind).toMatchObject({ code: 'WRITE_CONFLICT', currentSha256: expect.stringMatching(/^[0-9a-f]{64}$/) })
    await workspace.call('read_file', { path: 'src/app.ts' })
    expect(await workspace.call('write_file', { path: 'src/app.ts', content: 'x\n' })).toMatchObject({ ok: true })
    expect(await workspace.call('write_file', { path: 'src/app.ts', content: 'y\n' })).toMatchObject({ ok: true })
  })

  it('requires both a hash and a complete read with staleGuard "shown"', async () => {
    const workspace = await open({ staleGuard: 'shown' })
    const other = workspace.run({ id: 'other' })
    const file = await other.call('read_file', { path: 'src/app.ts' })
    if (!file.ok) throw new Error(file.message)
    const input = { path: 'src/app.ts', content: 'x\n', expectedSha256: file.sha256 }
    expect(await workspace.call('write_file', input)).toMatchObject({ code: 'WRITE_CONFLICT' })
    expect(await other.call('write_file', { path: 'src/app.ts', content: 'x\n' })).toMatchObject({
      code: 'WRITE_CONFLICT',
    })
    expect(await other.call('write_file', input)).toMatchObject({ ok: true })
  })
})

describe('two runs in one workspace', () => {
  it('share no read history', async () => {
    const workspace = await open()
    const a = workspace.run({ id: 'a' })
    const b = workspace.run({ id: 'b' })
    await a.call('read_file', { path: 'src/app.ts' })
    expect(await b.call('write_file', { path: 'src/app.ts', content: 'b\n' })).toMatchObject({ code: 'WRITE_CONFLICT' })
    expect(await a.call('write_file', { path: 'src/app.ts', content: 'a\n' })).toMatchObject({ ok: true })
  })

  it('share no rate limit and no budget', async () => {
    const workspace = await open({ clock: () => 5, limits: { callsPerMinute: 10, bytesWrittenPerRun: 100 } })
    const runs = ['a', 'b'].map((id) => workspace.run({ id }))
    const answers = await Promise.all(
      runs.map((run) => Promise.all(Array.from({ length: 12 }, () => run.call('file_info', { path: 'src/app.ts' })))),
    )
    for (const own of answers) {
      expect(own.filter(({ ok }) => ok)).toHaveLength(10)
      expect(own.find(({ ok }) => !ok)).toMatchObject({ code: 'RATE_LIMITED', retryAfterMs: 60_000 })
    }
    const writers = ['c', 'd'].map((id) => workspace.run({ id }))
    for (const [index, run] of writers.entries()) {
      expect(await run.call('write_file', { path: `w${index}.txt`, content: 'x'.repeat(90) })).toMatchObject({
        ok: true,
      })
      expect(await run.call('write_file', { path: `v${index}.txt`, content: 'x'.repeat(20) })).toMatchObject({
        code: 'LIMIT_EXCEEDED',
      })
    }
  })

  it('share no artifacts and no approvals', async () => {
    let requests = 0
    const workspace = await open({
      policy: 'supervised',
      approve: () => {
        requests += 1
        return 'allow-run'
      },
    })
    const a = workspace.run({ id: 'a' })
    const b = workspace.run({ id: 'b' })
    const first = await a.call('append_file', { path: 'docs/guide.md', content: '1\n' })
    expect(await a.call('append_file', { path: 'docs/guide.md', content: '2\n' })).toMatchObject({ ok: true })
    expect(requests).toBe(1)
    expect(await b.call('append_file', { path: 'docs/guide.md', content: '3\n' })).toMatchObject({ ok: true })
    expect(requests).toBe(2)
    if (!first.ok || first.artifactUri === undefined) throw new Error('no artifact')
    expect(await a.call('read_file', { path: first.artifactUri })).toMatchObject({ ok: true })
    expect(await b.call('read_file', { path: first.artifactUri })).toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('the policy of a call', () => {
  it('asks with a preview, and obeys the answer', async () => {
    const requests: { tool: string; diff?: string }[] = []
    const answers = [{ deny: 'not today' }, 'allow'] as const
    const workspace = await open({
      policy: 'supervised',
      approve: (request) => {
        requests.push(request)
        return answers[requests.length - 1] ?? 'allow'
      },
    })
    const input = { path: 'docs/guide.md', content: 'more\n' }
    expect(await workspace.call('append_file', input)).toMatchObject({
      code: 'APPROVAL_DENIED',
      message: expect.stringContaining('not today'),
    })
    expect(await workspace.call('read_file', { path: 'docs/guide.md' })).toMatchObject({ content: '# Guide\n' })
    expect(await workspace.call('append_file', input)).toMatchObject({ ok: true })
    expect(requests[0]).toMatchObject({ tool: 'append_file', diff: expect.stringContaining('+more\n') })
  })

  it('returns APPROVAL_REQUIRED with an id if there is no approve handler', async () => {
    const workspace = await open({ policy: 'supervised' })
    const result = await workspace.call('append_file', { path: 'docs/guide.md', content: 'x' })
    expect(result).toMatchObject({ code: 'APPROVAL_REQUIRED', approvalId: expect.any(String) })
  })

  it('evaluates content that only the draft has read: a generated file with an ordinary name', async () => {
    const backend = memory({ 'src/api.ts': '// Code generated by a tool. DO NOT EDIT.\nexport const a = 1\n' })
    const workspace = await open({ backend })
    const edit = { path: 'src/api.ts', oldText: 'a = 1', newText: 'a = 2' }
    expect(await workspace.call('edit_file', edit)).toMatchObject({ code: 'POLICY_DENIED' })
    const policy: PolicyInput = {
      preset: 'autonomous',
      rules: [{ name: 'the api may be changed', action: 'allow', paths: ['src/api.ts'], overrides: ['generated'] }],
    }
    const lifted = await open({ backend, policy })
    expect(await lifted.call('edit_file', edit)).toMatchObject({ ok: true })
  })

  it('evaluates the path of a link and that of its target', async () => {
    const backend = memory({ 'private/key.txt': 'k\n', 'public/link.txt': { link: '../private/key.txt' } })
    const workspace = await open({ backend, policy: { preset: 'autonomous', deniedPaths: ['private/**'] } })
    expect(await workspace.call('read_file', { path: 'public/link.txt' })).toMatchObject({ code: 'POLICY_DENIED' })
    expect(await workspace.call('delete_file', { path: 'public/link.txt' })).toMatchObject({ code: 'POLICY_DENIED' })
  })

  it('hides paths outside of an allowlist from every tool', async () => {
    const workspace = await open({ policy: { preset: 'autonomous', allowedPaths: ['docs/**'] } })
    const listed = await workspace.call('list_directory', {
      path: '.',
      maxDepth: 5,
      includeHidden: true,
      includeIgnored: true,
    })
    expect(JSON.stringify(listed)).not.toMatch(/app\.ts|\.env|out\.js/)
    expect(await workspace.call('find_files', { pattern: '**', includeHidden: true })).toMatchObject({
      files: ['docs/guide.md'],
    })
    expect(await workspace.call('search_text', { query: 'a' })).toMatchObject({ ok: true, matches: [] })
    expect(await workspace.call('read_file', { path: 'src/app.ts' })).toMatchObject({ code: 'POLICY_DENIED' })
  })

  it('asks about a listing, and shows the approved paths', async () => {
    const rules = [
      { name: 'docs', action: 'ask', permissions: ['file:list'], paths: ['docs', 'docs/**'] },
      { name: 'drafts', action: 'ask', paths: ['docs/draft.md'] },
    ] as const
    const workspace = await open({
      backend: memory({ ...files, 'docs/draft.md': '' }),
      policy: { preset: 'autonomous', rules },
      approve: () => 'allow',
    })
    expect(await workspace.call('find_files', { pattern: '**' })).toMatchObject({ files: ['src/app.ts'] })
    expect(await workspace.call('list_directory', { path: 'docs' })).toMatchObject({
      entries: [{ path: 'docs/guide.md' }],
    })
  })

  it('explains a call without running, counting or recording it', async () => {
    const workspace = await open()
    const denied = await workspace.explain('read_file', { path: '.env' })
    expect(denied).toMatchObject({ ok: true, verdict: { decision: 'deny', code: 'POLICY_DENIED_SECRET' } })
    expect(await workspace.explain('write_file', { path: 'new.txt', content: '' })).toMatchObject({
      accesses: [{ permission: 'file:write:create', path: 'new.txt' }],
    })
    expect(await workspace.explain('read_file', { path: '../x' })).toMatchObject({ ok: false, code: 'PATH_REJECTED' })
    expect(workspace.auditRecords()).toEqual([])
  })

  it('leaves no mutating tool in a read-only workspace', async () => {
    for (const options of [{ readOnly: true }, { policy: 'readOnly' as const }]) {
      const workspace = await open(options)
      expect(workspace.tools.some(({ mutates }) => mutates)).toBe(false)
      expect(await workspace.call('write_file', { path: 'a', content: '' })).toMatchObject({ code: 'READ_ONLY' })
      expect(await workspace.call('read_file', { path: 'src/app.ts' })).toMatchObject({ ok: true })
    }
  })

  it('refuses mutations in plan mode until the plan is approved', async () => {
    const workspace = await open({ mode: 'plan' })
    const write = { path: 'a.txt', content: 'a' }
    expect(await workspace.call('write_file', write)).toMatchObject({ code: 'PLAN_MODE' })
    expect(await workspace.call('read_file', { path: 'src/app.ts' })).toMatchObject({ ok: true })
    workspace.approvePlan()
    expect(await workspace.call('write_file', write)).toMatchObject({ ok: true })
  })
})

describe('the audit', () => {
  it('has no records if its sinks keep none', async () => {
    const paths: string[] = []
    const workspace = await open({
      audit: callbackSink(async ({ phase }) => {
        paths.push(phase)
      }),
    })
    await workspace.call('append_file', { path: 'docs/guide.md', content: 'more\n' })
    expect(paths).toEqual(['intent', 'outcome'])
    expect(workspace.auditRecords()).toEqual([])
    expect(workspace.verifyAudit()).toMatchObject({ ok: true, count: 0 })
  })

  it('contains an intent and an outcome per call, one record per refusal, and no content', async () => {
    const workspace = await open()
    await workspace.call(
      'write_file',
      { path: 'a.txt', content: 'precious words', reason: 'to show it' },
      { step: 'one' },
    )
    await workspace.call('read_file', { path: '.env' })
    await workspace.call('read_file', { path: '../outside' })
    const records = workspace.auditRecords()
    expect(records.map(({ phase, code, step }) => [phase, code, step])).toEqual([
      ['intent', undefined, undefined],
      ['outcome', undefined, undefined],
      ['refused', 'POLICY_DENIED_SECRET', 'policy'],
      ['refused', 'PATH_REJECTED', 'guard'],
    ])
    expect(records[1]).toMatchObject({
      runId: 'id-1',
      stepId: 'one',
      toolName: 'write_file',
      pathsWritten: ['a.txt'],
      oldSha256: { 'a.txt': null },
      newSha256: { 'a.txt': expect.stringMatching(/^[0-9a-f]{64}$/) },
      reason: 'to show it',
      artifactUris: [expect.stringMatching(/^artifact:\/\/id-1\//)],
    })
    expect(JSON.stringify(records)).not.toMatch(/precious|hunter2/)
    expect(workspace.verifyAudit()).toMatchObject({ ok: true, count: 4 })
  })

  it('contains the refused paths', async () => {
    const workspace = await open()
    await workspace.call('read_file', { path: '../outside' })
    await workspace.call('move_file', { path: '.env', to: 'x' })
    const records = workspace.auditRecords()
    expect(records[0]).toMatchObject({ pathsAsked: ['../outside'] })
    expect(records[1]).toMatchObject({ pathsAsked: ['.env', 'x'] })
  })

  it('refuses every mutation that it cannot record, and nothing is changed', async () => {
    const backend = memory(files)
    const workspace = await open({
      backend,
      audit: callbackSink(() => {
        throw new Error('disk full')
      }),
    })
    expect(await workspace.call('write_file', { path: 'a.txt', content: 'a' })).toMatchObject({
      code: 'AUDIT_FAILED',
      message: 'The audit record could not be written, so nothing was changed',
    })
    const read = await workspace.call('read_file', { path: 'src/app.ts' })
    expect(read).toMatchObject({ ok: true, warnings: [expect.stringContaining('audit')] })
    const other = await open({ backend })
    expect(await other.call('read_file', { path: 'a.txt' })).toMatchObject({ code: 'NOT_FOUND' })
  })

  it('is the same, byte for byte, for the same calls with the same clock and ids', async () => {
    const play = async () => {
      const workspace = await open()
      const results = [
        await workspace.call('read_file', { path: 'src/app.ts' }),
        await workspace.call('edit_file', { path: 'src/app.ts', oldText: '41', newText: '42' }),
        await workspace.call('search_text', { query: 'answer' }),
        await workspace.call('list_directory', { path: '.', maxDepth: 3 }),
        await workspace.call('read_file', { path: '.env' }),
        await workspace.call('move_file', { path: 'docs/guide.md', to: 'docs/book.md' }),
      ]
      return JSON.stringify([results, workspace.auditRecords()])
    }
    expect(await play()).toBe(await play())
  })
})

describe('workspace.files', () => {
  it('takes the same steps as any call', async () => {
    const workspace = await open()
    const { content, sha256 } = await workspace.files.read('src/app.ts')
    expect(content).toBe(files['src/app.ts'])
    await workspace.files.write('src/app.ts', 'new\n', sha256)
    await expect(workspace.files.write('src/app.ts', 'old\n', sha256)).rejects.toMatchObject({ code: 'WRITE_CONFLICT' })
    await expect(workspace.files.read('.env')).rejects.toMatchObject({ code: 'POLICY_DENIED_SECRET' })
    expect((await workspace.files.list('src')).map(({ path }) => path)).toEqual(['src/app.ts'])
    await expect(workspace.files.remove('src/app.ts', sha256)).rejects.toMatchObject({ code: 'WRITE_CONFLICT' })
    const guide = await workspace.files.read('docs/guide.md')
    await workspace.files.remove('docs/guide.md', guide.sha256)
    await expect(workspace.files.read('docs/guide.md')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('removes a file only with the version that was read', async () => {
    const workspace = await open()
    for (const version of [undefined, null, 5, {}]) {
      await expect(workspace.files.remove('src/app.ts', version as never)).rejects.toThrow(
        new TypeError('Argument "expectedSha256" of files.remove() must be a string: the sha256 that read() returned'),
      )
    }
    expect(await workspace.files.read('src/app.ts')).toMatchObject({ content: files['src/app.ts'] })
  })

  it('refuses to read a file that does not fit in one result', async () => {
    const workspace = await open({ backend: memory({ 'long.txt': 'a\n'.repeat(1001) }) })
    await expect(workspace.files.read('long.txt')).rejects.toMatchObject({ code: 'FILE_TOO_LARGE', message: /at once/ })
  })
})

/** A tool with the draft that the test provides. */
function acting(
  act: (context: ToolContext) => Partial<BuiltinDraft<Record<string, unknown>>>,
  more: Partial<Tool> = {},
): Tool {
  return {
    name: 'act',
    title: 'Act',
    description: 'Returns the draft of the test.',
    input: z.strictObject({ path: z.string().optional() }),
    output: z.object({ text: z.string().optional() }),
    permission: 'file:write:create',
    mutates: true,
    idempotent: true,
    plan: ({ path = 'new.txt' }) => [{ permission: 'file:write', path: String(path) }],
    draft: async (_, context) => ({ summary: 'Acted', result: () => ({}), ...act(context) }),
    ...more,
  }
}

const creation = { path: 'new.txt' as Path, expect: 'absent', to: { type: 'file', bytes: Uint8Array.of(65) } } as const

describe('a step of a call', () => {
  const write = ['write_file', { path: 'new.txt', content: 'x' }] as const
  const failing = (on: 'commit') => faulty(memory(files), { on, error: 'NO_SPACE' })
  it.each<[string, string, Partial<WorkspaceOptions>, string, unknown]>([
    ['input', 'UNKNOWN_TOOL', {}, 'nonsense', {}],
    ['input', 'INVALID_INPUT', {}, 'read_file', { path: 1 }],
    ['input', 'INVALID_INPUT', { policy: { preset: 'autonomous', requireReason: true } }, ...write],
    ['plan', 'INVALID_PATCH', {}, 'apply_patch', { patch: 'none' }],
    ['guard', 'PATH_REJECTED', {}, 'read_file', { path: '../x' }],
    ['guard', 'SHELL_UNAVAILABLE', { extraTools: [acting(() => ({}), { commandLine: () => 'ls' })] }, 'act', {}],
    ['limits', 'PLAN_MODE', { mode: 'plan' }, ...write],
    ['policy', 'POLICY_DENIED_SECRET', {}, 'read_file', { path: '.env' }],
    ['policy', 'POLICY_DENIED_SECRET', { shell: bash() }, 'run_command', { command: 'cat < .env' }],
    ['hooks', 'POLICY_DENIED', { hooks: { preToolCall: () => ({ refuse: 'no' }) } }, ...write],
    ['approval', 'APPROVAL_REQUIRED', { policy: 'supervised' }, ...write],
    ['approval', 'APPROVAL_REQUIRED', { policy: 'supervised', shell: bash() }, 'run_command', { command: 'exit 1' }],
    ['draft', 'NOT_FOUND', {}, 'read_file', { path: 'src/absent.ts' }],
    ['commit', 'NO_SPACE', { backend: failing('commit') }, ...write],
    [
      'response',
      'HOOK_FAILED',
      { hooks: { postToolResponse: () => null as never } },
      'read_file',
      { path: 'src/app.ts' },
    ],
  ])('refuses in %s with %s, and the record names the step', async (step, code, options, tool, input) => {
    const workspace = await open(options)
    expect(await workspace.callTool(tool, input)).toMatchObject({ ok: false, code })
    const decision = step === 'policy' ? 'deny' : expect.any(String)
    expect(workspace.auditRecords().at(-1)).toMatchObject({ code, step, toolName: tool, policyDecision: { decision } })
  })

  it('refuses calls before the plan is approved, and commands without a shell', async () => {
    const planning = await open({ mode: 'plan' })
    expect(await planning.call(...write)).toMatchObject({
      message: 'write_file is not allowed before the plan is approved',
    })
    const without = await open({ extraTools: [acting(() => ({}), { commandLine: () => 'ls' })] })
    expect(await without.callTool('act', {})).toMatchObject({ message: 'This workspace has no shell' })
  })

  it('continues unchanged if a hook returns nothing', async () => {
    const workspace = await open({ hooks: { preToolCall: [() => undefined, async () => undefined] } })
    expect(await workspace.call('read_file', { path: 'src/app.ts' })).toMatchObject({ ok: true, path: 'src/app.ts' })
  })

  it('reveals nothing about the target of a hidden link, even if it cannot be resolved', async () => {
    const backend = memory({ 'private/out': { link: 'out' }, 'open/out': { link: 'out' } })
    const policy: PolicyInput = { preset: 'autonomous', deniedPaths: ['private'] }
    const workspace = await open({ backend, policy, shell: bash() })
    expect(await workspace.call('read_file', { path: 'open/out' })).toMatchObject({
      message: expect.stringContaining('link'),
    })
    expect(await workspace.call('read_file', { path: 'private/out' })).toMatchObject({ code: 'POLICY_DENIED' })
    const line = await workspace.call('run_command', { command: 'cat < private/out' })
    expect(line).toMatchObject({ code: 'POLICY_DENIED' })
  })

  it('is not reached after a call is cancelled, before its draft or its commit, and nothing is changed', async () => {
    const controller = new AbortController()
    let drafted = 0
    const act = acting(() => {
      drafted += 1
      controller.abort()
      return { changes: [creation] }
    })
    const workspace = await open({ extraTools: [act] })
    expect(await workspace.callTool('act', {}, { signal: AbortSignal.abort() })).toMatchObject({ code: 'ABORTED' })
    expect(drafted).toBe(0)
    expect(await workspace.callTool('act', {}, { signal: controller.signal })).toMatchObject({ code: 'ABORTED' })
    expect(drafted).toBe(1)
    expect(workspace.auditRecords().map(({ phase, step }) => [phase, step])).toEqual([
      ['refused', 'draft'],
      ['refused', 'commit'],
    ])
    expect(await workspace.call('file_info', { path: 'new.txt' })).toMatchObject({ code: 'NOT_FOUND' })
  })

  it('records the reads, shown versions and refusals of the draft, and the verdict on its changes', async () => {
    const path = 'src/app.ts' as Path
    const refusal = {
      permission: 'file:read',
      path: '.env' as Path,
      code: 'POLICY_DENIED_SECRET',
      message: 'no',
    } as const
    const sha256 = 'a'.repeat(64)
    const act = acting(({ warnings, progress }) => {
      warnings.push('A warning of the draft')
      progress(1, 'files', 2)
      progress(2, 'files')
      return {
        reads: ['docs/guide.md' as Path],
        refusals: [refusal],
        shown: () => [{ path, sha256, lines: 'all' }],
        changes: [creation],
      }
    })
    const policy: PolicyInput = { preset: 'autonomous', requireApprovalIf: ['touchesBuildFile'] }
    const workspace = await open({ extraTools: [act], policy, approve: () => 'allow' })
    const reported: unknown[] = []
    const acted = await workspace.callTool('act', {}, { onProgress: (progress) => reported.push(progress) })
    expect(acted).toMatchObject({ ok: true, summary: 'Acted', warnings: ['A warning of the draft'] })
    expect(reported).toEqual([
      { done: 1, unit: 'files', total: 2 },
      { done: 2, unit: 'files' },
    ])
    expect(workspace.auditRecords().at(-1)).toMatchObject({
      phase: 'outcome',
      permission: 'file:write:create',
      pathsRead: ['docs/guide.md'],
      pathsWritten: ['new.txt'],
      refusals: [{ permission: 'file:read', path: '.env', code: 'POLICY_DENIED_SECRET' }],
      readSha256: { [path]: sha256 },
      artifactUris: [acted.artifactUri],
    })
    // A file that was shown completely may be replaced, if it still has that version.
    expect(await workspace.call('write_file', { path, content: 'x' })).toMatchObject({ code: 'WRITE_CONFLICT' })
    await workspace.call('write_file', { path: 'Makefile', content: 'all:\n' })
    expect(workspace.auditRecords().at(-1)?.policyDecision).toMatchObject({
      decision: 'ask',
      rules: expect.arrayContaining([expect.objectContaining({ name: 'requireApprovalIf touchesBuildFile' })]),
    })
  })

  it('commits durably, with the time of the clock and the signal of the caller', async () => {
    const inner = memory(files)
    const commitOptions: Parameters<Backend['commit']>[1][] = []
    const backend: Backend = {
      ...inner,
      commit(changes, options) {
        commitOptions.push(options)
        return inner.commit(changes, options)
      },
    }
    const workspace = await open({ backend, clock: () => 77 })
    const { signal } = new AbortController()
    await workspace.call('write_file', { path: 'a.txt', content: 'a' }, { signal })
    await workspace.call('write_file', { path: 'b.txt', content: 'b' })
    await workspace.call('read_file', { path: 'b.txt' })
    expect(commitOptions).toStrictEqual([
      { durability: 'durable', at: 77, signal },
      { durability: 'durable', at: 77 },
    ])
  })

  it('returns the bytes of a failed commit to the budget', async () => {
    const backend = faulty(memory(files), { on: 'commit', nth: 1, error: 'NO_SPACE' })
    const workspace = await open({ backend, limits: { bytesWrittenPerRun: 5 } })
    const five = { path: 'new.txt', content: '12345' }
    expect(await workspace.call('write_file', five)).toMatchObject({ code: 'NO_SPACE' })
    expect(await workspace.call('write_file', five)).toMatchObject({ ok: true })
    expect(await workspace.call('write_file', { path: 'b.txt', content: '1' })).toMatchObject({
      code: 'LIMIT_EXCEEDED',
    })
  })

  it('counts a call once, even if a hook narrows it', async () => {
    const hooks = { preToolCall: () => ({ input: { path: 'docs/guide.md' } }) }
    const workspace = await open({ hooks, limits: { callsPerMinute: 1 } })
    const read = () => workspace.call('read_file', { path: 'src/app.ts' })
    expect(await read()).toMatchObject({ ok: true, path: 'docs/guide.md' })
    expect(await read()).toMatchObject({ code: 'RATE_LIMITED' })
    expect(workspace.auditRecords().at(-1)).toMatchObject({ step: 'limits' })
  })

  it('evaluates a dry run completely, without an approval request or a change', async () => {
    let requests = 0
    const approve = () => {
      requests += 1
      return 'allow' as const
    }
    const backend = memory({
      ...files,
      'src/made.ts': '// Code generated by a tool. DO NOT EDIT.\nexport const a = 1\n',
    })
    const before = backend.tree()
    const policy: PolicyInput = { preset: 'autonomous', requireApprovalIf: ['touchesBuildFile'] }
    const act = acting(({ accesses: [access] }) => ({
      dryRun: true,
      changes: [{ ...creation, path: access?.path as Path, expect: 'any' }],
    }))
    const workspace = await open({ backend, policy, approve, extraTools: [act] })
    expect(await workspace.callTool('act', { path: 'src/made.ts' })).toMatchObject({ code: 'POLICY_DENIED' })
    expect(await workspace.callTool('act', { path: 'Makefile' })).toMatchObject({ ok: true })
    expect(requests).toBe(0)
    expect(backend.tree()).toBe(before)
  })

  it('stores the complete output of a cut result, and passes the answer to the draft', async () => {
    const answers: ResultFields[] = []
    const act = acting(() => ({
      fullOutput: { extension: 'txt', text: () => 'all of it' },
      onResult: (answer) => answers.push(answer),
    }))
    const workspace = await open({ extraTools: [act] })
    const acted = await workspace.callTool('act', {})
    expect(answers).toEqual([acted])
    expect(await workspace.call('read_file', { path: String(acted.artifactUri) })).toMatchObject({
      content: 'all of it',
    })
    const outcome = workspace.auditRecords().find(({ phase }) => phase === 'outcome')
    expect(outcome).toMatchObject({ artifactUris: [acted.artifactUri], pathsRead: [] })
    expect(await workspace.call('read_file', { path: 'src/app.ts' })).not.toHaveProperty('artifactUri')
  })

  it('limits the size of the result', async () => {
    const act = acting(() => ({ result: () => ({ text: 'x'.repeat(100_000) }) }))
    const workspace = await open({ extraTools: [act], limits: { projectionBytes: 2000 } })
    const acted = await workspace.callTool('act', {})
    expect(acted).toMatchObject({ ok: true, truncated: true })
    expect(JSON.stringify(acted).length).toBeLessThan(2000)
  })

  it('can be undone if the call changed something that the journal could keep', async () => {
    const backend = memory({ ...files, 'large.txt': 'x'.repeat(6000) })
    const workspace = await open({ backend, limits: { journalBytes: 5000 } })
    const read = await workspace.callTool('read_file', { path: 'src/app.ts' })
    expect(await workspace.undo(String(read.callId))).toMatchObject({ code: 'NOT_FOUND' })
    const small = await workspace.callTool(...write)
    expect(small).toMatchObject({ warnings: [] })
    expect(await workspace.undo(String(small.callId))).toMatchObject({ ok: true })
    const large = await workspace.callTool('delete_file', { path: 'large.txt' })
    expect(large).toMatchObject({
      ok: true,
      warnings: ['This call cannot be undone: the replaced content is too large to keep or cannot be read'],
    })
    expect(await workspace.undo(String(large.callId))).toMatchObject({ ok: false })
  })

  it('commits a fork without a warning about undo', async () => {
    const workspace = await open()
    const fork = await workspace.fork()
    await fork.call('edit_file', { path: 'docs/guide.md', oldText: 'Guide', newText: 'Book' })
    expect(await fork.commit()).toMatchObject({ ok: true, warnings: [] })
    expect(await workspace.call('read_file', { path: 'docs/guide.md' })).toMatchObject({ content: '# Book\n' })
  })

  it('lists the available tools for an unknown tool', async () => {
    const workspace = await open({ tools: ['read_file', 'file_info'] })
    expect(await workspace.callTool('x'.repeat(5000), {})).toMatchObject({
      code: 'UNKNOWN_TOOL',
      message: `There is no tool "${'x'.repeat(100)}" here`,
      hint: 'Use one of: read_file, file_info.',
    })
  })

  it('requires a reason only from mutating tools that have the field', async () => {
    const policy: PolicyInput = { preset: 'autonomous', requireReason: true }
    const workspace = await open({ policy, extraTools: [acting(() => ({}))] })
    expect(await workspace.callTool('act', {})).toMatchObject({ ok: true })
    expect(await workspace.call('read_file', { path: 'src/app.ts' })).toMatchObject({ ok: true })
    expect(await workspace.call(...write)).toMatchObject({
      message: 'write_file needs a reason in this workspace',
      field: 'reason',
      hint: 'State in the field reason why the change is needed.',
    })
    expect(await workspace.call('write_file', { ...write[1], reason: ' \n' })).toMatchObject({ code: 'INVALID_INPUT' })
    expect(await workspace.call('write_file', { ...write[1], reason: 'needed' })).toMatchObject({ ok: true })
  })
})

describe('a version in a refusal', () => {
  const conflict = (currentSha256: string | null) =>
    acting(
      () => {
        throw new ToolError('WRITE_CONFLICT', 'It changed', { path: '.env', currentSha256 })
      },
      { plan: () => [{ permission: 'file:delete', path: '.env' }] },
    )
  const policyOf = (permissions: readonly PermissionPattern[]): PolicyInput => ({
    preset: 'autonomous',
    rules: [{ name: 'open', action: 'allow', paths: ['.env'], permissions, overrides: ['secret'] }],
  })
  const sha256 = 'a'.repeat(64)

  it('is omitted if the caller may not read the file', async () => {
    const workspace = await open({ policy: policyOf(['file:delete']), extraTools: [conflict(sha256)] })
    const refused = await workspace.callTool('act', {})
    expect(refused).toMatchObject({ code: 'WRITE_CONFLICT', message: 'It changed', path: '.env' })
    expect(refused).not.toHaveProperty('currentSha256')
  })

  it('is returned unchanged if the refusal has no path', async () => {
    const act = acting(() => {
      throw new ToolError('WRITE_CONFLICT', 'It changed', { currentSha256: sha256 })
    })
    expect(await (await open({ extraTools: [act] })).callTool('act', {})).toMatchObject({ currentSha256: sha256 })
  })

  it('is returned to a caller who may read the file, and a missing version to any caller', async () => {
    const reader = await open({ policy: policyOf(['file:delete', 'file:read']), extraTools: [conflict(sha256)] })
    expect(await reader.callTool('act', {})).toMatchObject({ currentSha256: sha256 })
    const other = await open({ policy: policyOf(['file:delete']), extraTools: [conflict(null)] })
    expect(await other.callTool('act', {})).toMatchObject({ currentSha256: null })
  })
})

describe('the line of a command', () => {
  const policy = (action: 'ask' | 'deny'): PolicyInput => ({
    preset: 'autonomous',
    rules: [{ name: 'docs', action, permissions: ['file:read'], paths: ['docs/**'] }],
  })

  it('is refused for the protected files that it plainly opens, and each is recorded', async () => {
    const workspace = await open({ shell: bash(), policy: policy('deny') })
    const refused = await workspace.call('run_command', { command: 'cat src/app.ts < docs/guide.md' })
    expect(refused).toMatchObject({ code: 'POLICY_DENIED', path: 'docs/guide.md' })
    expect(workspace.auditRecords()).toMatchObject([
      { phase: 'refused', refusals: [{ permission: 'file:read', path: 'docs/guide.md', code: 'POLICY_DENIED' }] },
    ])
    const below = await workspace.call('run_command', { command: 'cat < guide.md', cwd: 'docs' })
    expect(below).toMatchObject({ code: 'POLICY_DENIED', path: 'docs/guide.md' })
    const explained = await workspace.explain('run_command', { command: 'cat < docs/guide.md' })
    expect(explained).toMatchObject({ verdict: { decision: 'deny' }, line: { decision: expect.any(String) } })
  })

  it('requests approval of a file when the command opens it', async () => {
    const workspace = await open({ shell: bash(), policy: policy('ask') })
    const explained = await workspace.explain('run_command', { command: 'cat < docs/guide.md' })
    expect(explained).toMatchObject({ verdict: { decision: 'allow' } })
  })

  it('is approved once, before it runs', async () => {
    const requests: string[][] = []
    const workspace = await open({
      shell: bash(),
      policy: 'supervised',
      approve(request) {
        requests.push([request.tool, String(request.diff), JSON.stringify(request.risks)])
        return 'allow'
      },
    })
    expect(await workspace.call('run_command', { command: 'ls src' })).toMatchObject({ ok: true })
    expect(requests).toEqual([['run_command', 'undefined', '[]']])
    expect(workspace.auditRecords().at(-1)).toMatchObject({
      phase: 'outcome',
      policyDecision: { decision: 'allow' },
      approvals: [{ how: 'once' }],
    })
  })

  it('runs at the root if the call names no directory', async () => {
    const act = acting(() => ({}), { plan: () => [], commandLine: () => 'cat < .env' })
    const workspace = await open({ shell: bash(), extraTools: [act] })
    expect(await workspace.callTool('act', {})).toMatchObject({ code: 'POLICY_DENIED_SECRET', path: '.env' })
  })
})

describe('the label of a result', () => {
  const labels = { sources: [{ label: 'internal', paths: ['docs'] }] } as const
  const policy: PolicyInput = { preset: 'autonomous', labels }
  const read = { path: 'docs/guide.md' }

  it('can be raised by a hook, which raises the taint of the run', async () => {
    const labelsBefore: unknown[] = []
    const hooks: Hooks = {
      postToolResponse({ result }) {
        labelsBefore.push(result.label)
        return { ...result, label: 'restricted' }
      },
    }
    const workspace = await open({ policy, hooks })
    expect(await workspace.call('read_file', read)).toMatchObject({ ok: true, label: 'restricted' })
    expect(workspace.taint.label()).toBe('restricted')
    const plain = await open({ hooks })
    expect(await plain.call('read_file', read)).toMatchObject({ label: 'restricted' })
    expect(plain.taint.label()).toBe('public')
    expect(labelsBefore).toEqual(['internal', undefined])
  })

  it('is part of a refusal too, and is recorded with the origin of the taint', async () => {
    const workspace = await open({ policy, run: { id: 'run' } })
    const edit = { ...read, oldText: 'Guise', newText: 'x' }
    expect(await workspace.call('edit_file', edit)).toMatchObject({ code: 'EDIT_NO_MATCH', label: 'internal' })
    await workspace.call('read_file', read)
    const origin = { label: 'internal', callId: 'run-1', tool: 'edit_file', path: 'docs/guide.md' }
    const records = workspace.auditRecords().map(({ phase, label, taint }) => [phase, label, taint])
    expect(records).toEqual([
      ['refused', 'internal', origin],
      ['intent', undefined, undefined],
      ['outcome', 'internal', origin],
    ])
    const other = await open({})
    expect(await other.call('edit_file', edit)).not.toHaveProperty('label')
  })
})

describe('labels around a call', () => {
  const labels = {
    sources: [{ label: 'restricted', paths: ['src'] }],
    sinks: [{ name: 'docs', ceiling: 'public', paths: ['docs'] }],
  } as const
  const policy: PolicyInput = { preset: 'autonomous', labels }

  it('include files that the draft read by other means', async () => {
    const act = acting(() => ({ reads: ['src/app.ts' as Path] }))
    const workspace = await open({ policy, extraTools: [act] })
    expect(await workspace.callTool('act', {})).toMatchObject({ label: 'restricted' })
    expect(workspace.taint.origin()).toMatchObject({ path: 'src/app.ts', tool: 'act' })
  })

  it('do not prevent an undo', async () => {
    const workspace = await open({ policy })
    const edit = { path: 'docs/guide.md', oldText: 'Guide', newText: 'Book' }
    const edited = await workspace.callTool('edit_file', edit)
    await workspace.call('read_file', { path: 'src/app.ts' })
    expect(await workspace.call('edit_file', { ...edit, oldText: 'Book' })).toMatchObject({ code: 'TAINT_DENIED' })
    expect(await workspace.undo(String(edited.callId))).toMatchObject({ ok: true })
  })

  it('of content that a fork wrote stay separate until the fork is committed', async () => {
    const workspace = await open({ policy })
    const label = async (path: string) => (await workspace.run().call('read_file', { path })).label
    await workspace.call('write_file', { path: 'notes.md', content: 'old\n' })
    const fork = await workspace.fork()
    await fork.call('read_file', { path: 'src/app.ts' })
    await fork.call('append_file', { path: 'notes.md', content: 'new\n' })
    expect(await label('notes.md')).toBe('public')
    expect(await fork.run().call('read_file', { path: 'notes.md' })).toMatchObject({ label: 'restricted' })
    await fork.commit()
    expect(await label('notes.md')).toBe('restricted')
  })
})

describe('the answer to a parked call', () => {
  it('is recorded unchanged, and the parked call keeps its start time', async () => {
    const calls: ParkedCall[] = []
    const parked: ParkedCalls = {
      put: (call) => void calls.push(call),
      take: (id) => calls.find((call) => call.id === id),
    }
    const rules = [{ name: 'docs', action: 'ask', paths: ['docs'] }] as const
    const one = await open({ policy: 'supervised', parked })
    const other = await open({ policy: { preset: 'supervised', rules }, parked, ids: () => `other-${calls.length}` })
    await one.call('append_file', { path: 'docs/guide.md', content: 'x' })
    await other.resume(String(calls[0]?.id), 'allow')
    expect(calls.map(({ began }) => began)).toEqual([1_000_001, 1_000_001])
    expect(await other.resume(String(calls[1]?.id), { allow: 'once', by: 'Ada' })).toMatchObject({ ok: true })
    expect(other.auditRecords().at(-1)?.approvals).toMatchObject([{ how: 'once', by: 'Ada' }])
  })

  it('is recorded with the name of the person who refused', async () => {
    const workspace = await open({ policy: 'supervised' })
    const waits = (await workspace.call('append_file', { path: 'docs/guide.md', content: 'x' })) as {
      approvalId?: unknown
    }
    const denied = await workspace.resume(String(waits.approvalId), { deny: 'no', by: 'Ada' })
    expect(denied).toMatchObject({ code: 'APPROVAL_DENIED' })
    expect(workspace.auditRecords().at(-1)).toMatchObject({ approvals: [{ how: 'denied', by: 'Ada' }] })
  })
})
