import { describe, expect, it } from 'vitest'
import { memory } from '../src/backends/memory.ts'
import { overlay } from '../src/backends/overlay.ts'
import { callbackSink, createWorkspace, type PolicyInput, type WorkspaceOptions } from '../src/index.ts'
import { bash } from '../src/shells/bash.ts'
import { faulty } from '../src/testing/index.ts'

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

describe('creating a workspace', () => {
  it('refuses misconfiguration with a TypeError', async () => {
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
      ['a bad run id', { policy: 'autonomous', backend: memory(), run: { id: '../x' } }, /run id/],
      [
        'a memory below a file',
        { policy: { preset: 'autonomous', memory: { path: 'a/notes' } }, backend: memory({ a: 'file\n' }) },
        /"a\/notes" is a link/,
      ],
    ]
    for (const [what, options, message] of wrong) {
      const made = createWorkspace(options as unknown as WorkspaceOptions)
      await expect(made, what).rejects.toThrow(TypeError)
      await expect(createWorkspace(options as unknown as WorkspaceOptions), what).rejects.toThrow(message)
    }
  })

  it('registers the tools of its set only', async () => {
    const workspace = await open({ tools: 'minimal' })
    expect(workspace.tools.map(({ name }) => name).sort()).toEqual([
      ...['apply_patch', 'diff_workspace', 'list_directory', 'read_file', 'search_text', 'write_file'],
    ])
    expect(await workspace.call('delete_file', { path: 'src/app.ts' })).toMatchObject({ code: 'UNKNOWN_TOOL' })
  })
})

describe('a shell', () => {
  it('that runs nothing in the background has no tool for it', async () => {
    const shell = bash()
    const workspace = await open({ shell: { ...shell, capabilities: { ...shell.capabilities, background: false } } })
    expect(workspace.tools.map(({ name }) => name)).toContain('run_command')
    expect(await workspace.call('start_command', { command: 'true' })).toMatchObject({
      code: 'SHELL_UNAVAILABLE',
      message: 'The shell bash runs no commands in the background',
    })
  })
})

describe('a fork', () => {
  it('of a workspace that plans is in plan mode', async () => {
    const workspace = await open({ mode: 'plan' })
    const fork = await workspace.fork()
    expect(fork.mode).toBe('plan')
    expect(await fork.call('write_file', { path: 'a.txt', content: 'a' })).toMatchObject({ code: 'PLAN_MODE' })
    expect((await (await open()).fork()).mode).toBe('act')
  })

  it('whose storage fails is not committed, and says so', async () => {
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
  })

  it('puts another link in the place of one', async () => {
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
  it('reads, and edits the version that was read', async () => {
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

  it('never rejects, whatever it is given', async () => {
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
        const result = await workspace.call(name, value)
        expect(result.ok).toBe(false)
        expect(result).toHaveProperty('hint')
      }
    }
  })

  it('suggests the nearest visible names, and never a hidden one', async () => {
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

  it('hides a failing storage behind BACKEND_ERROR, without its words', async () => {
    const backend = faulty(memory(files), { on: 'read', error: new Error('/physical/secret/path exploded') })
    const workspace = await open({ backend })
    const result = await workspace.call('read_file', { path: 'src/app.ts' })
    expect(result).toMatchObject({ ok: false, code: 'BACKEND_ERROR' })
    expect(JSON.stringify(result)).not.toContain('physical')
  })

  it('is dropped by its signal', async () => {
    const workspace = await open()
    const result = await workspace.call('write_file', { path: 'a.txt', content: 'a' }, { signal: AbortSignal.abort() })
    expect(result).toMatchObject({ code: 'ABORTED' })
    expect(await workspace.call('read_file', { path: 'a.txt' })).toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('reading before writing', () => {
  it('lets a run replace without a hash only what it was shown whole', async () => {
    const workspace = await open()
    const blind = await workspace.call('write_file', { path: 'src/app.ts', content: 'x\n' })
    expect(blind).toMatchObject({ code: 'WRITE_CONFLICT', currentSha256: expect.stringMatching(/^[0-9a-f]{64}$/) })
    await workspace.call('read_file', { path: 'src/app.ts' })
    expect(await workspace.call('write_file', { path: 'src/app.ts', content: 'x\n' })).toMatchObject({ ok: true })
    expect(await workspace.call('write_file', { path: 'src/app.ts', content: 'y\n' })).toMatchObject({ ok: true })
  })

  it('with staleGuard "shown" demands both', async () => {
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
  it('share no ledger', async () => {
    const workspace = await open()
    const a = workspace.run({ id: 'a' })
    const b = workspace.run({ id: 'b' })
    await a.call('read_file', { path: 'src/app.ts' })
    expect(await b.call('write_file', { path: 'src/app.ts', content: 'b\n' })).toMatchObject({ code: 'WRITE_CONFLICT' })
    expect(await a.call('write_file', { path: 'src/app.ts', content: 'a\n' })).toMatchObject({ ok: true })
  })

  it('share no rate and no budget, at once', async () => {
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
    let asked = 0
    const workspace = await open({
      policy: 'supervised',
      approve: () => {
        asked += 1
        return 'allow-run'
      },
    })
    const a = workspace.run({ id: 'a' })
    const b = workspace.run({ id: 'b' })
    const first = await a.call('append_file', { path: 'docs/guide.md', content: '1\n' })
    expect(await a.call('append_file', { path: 'docs/guide.md', content: '2\n' })).toMatchObject({ ok: true })
    expect(asked).toBe(1)
    expect(await b.call('append_file', { path: 'docs/guide.md', content: '3\n' })).toMatchObject({ ok: true })
    expect(asked).toBe(2)
    if (!first.ok || first.artifactUri === undefined) throw new Error('no artifact')
    expect(await a.call('read_file', { path: first.artifactUri })).toMatchObject({ ok: true })
    expect(await b.call('read_file', { path: first.artifactUri })).toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('policy in a call', () => {
  it('asks with a preview, and does what the answer says', async () => {
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

  it('without a handler answers APPROVAL_REQUIRED with an id', async () => {
    const workspace = await open({ policy: 'supervised' })
    const result = await workspace.call('append_file', { path: 'docs/guide.md', content: 'x' })
    expect(result).toMatchObject({ code: 'APPROVAL_REQUIRED', approvalId: expect.any(String) })
  })

  it('judges content that only the draft has seen: a generated file under an ordinary name', async () => {
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

  it('judges both names of what a link leads to', async () => {
    const backend = memory({ 'private/key.txt': 'k\n', 'public/link.txt': { link: '../private/key.txt' } })
    const workspace = await open({ backend, policy: { preset: 'autonomous', deniedPaths: ['private/**'] } })
    expect(await workspace.call('read_file', { path: 'public/link.txt' })).toMatchObject({ code: 'POLICY_DENIED' })
    expect(await workspace.call('delete_file', { path: 'public/link.txt' })).toMatchObject({ code: 'POLICY_DENIED' })
  })

  it('hides what an allowlist does not cover, everywhere', async () => {
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

  it('asks about what a listing would show, and shows what was allowed', async () => {
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

  it('explains without doing, counting or recording', async () => {
    const workspace = await open()
    const denied = await workspace.explain('read_file', { path: '.env' })
    expect(denied).toMatchObject({ ok: true, verdict: { decision: 'deny', code: 'POLICY_DENIED_SECRET' } })
    expect(await workspace.explain('write_file', { path: 'new.txt', content: '' })).toMatchObject({
      accesses: [{ permission: 'file:write:create', path: 'new.txt' }],
    })
    expect(await workspace.explain('read_file', { path: '../x' })).toMatchObject({ ok: false, code: 'PATH_REJECTED' })
    expect(workspace.auditRecords()).toEqual([])
  })

  it('in a read-only workspace has no mutating tool', async () => {
    for (const options of [{ readOnly: true }, { policy: 'readOnly' as const }]) {
      const workspace = await open(options)
      expect(workspace.tools.some(({ mutates }) => mutates)).toBe(false)
      expect(await workspace.call('write_file', { path: 'a', content: '' })).toMatchObject({ code: 'READ_ONLY' })
      expect(await workspace.call('read_file', { path: 'src/app.ts' })).toMatchObject({ ok: true })
    }
  })

  it('in plan mode refuses mutations until the plan is approved', async () => {
    const workspace = await open({ mode: 'plan' })
    const write = { path: 'a.txt', content: 'a' }
    expect(await workspace.call('write_file', write)).toMatchObject({ code: 'PLAN_MODE' })
    expect(await workspace.call('read_file', { path: 'src/app.ts' })).toMatchObject({ ok: true })
    workspace.approvePlan()
    expect(await workspace.call('write_file', write)).toMatchObject({ ok: true })
  })
})

describe('the audit', () => {
  it('has no records where its sinks keep none', async () => {
    const seen: string[] = []
    const workspace = await open({
      audit: callbackSink(async ({ phase }) => {
        seen.push(phase)
      }),
    })
    await workspace.call('append_file', { path: 'docs/guide.md', content: 'more\n' })
    expect(seen).toEqual(['intent', 'outcome'])
    expect(workspace.auditRecords()).toEqual([])
    expect(workspace.verifyAudit()).toMatchObject({ ok: true, count: 0 })
  })

  it('holds an intent and an outcome per call, one record per refusal, and no content', async () => {
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

  it('names the forbidden paths that were tried', async () => {
    const workspace = await open()
    await workspace.call('read_file', { path: '../outside' })
    await workspace.call('move_file', { path: '.env', to: 'x' })
    const records = workspace.auditRecords()
    expect(records[0]).toMatchObject({ pathsAsked: ['../outside'] })
    expect(records[1]).toMatchObject({ pathsAsked: ['.env', 'x'] })
  })

  it('blocks every mutation that it cannot record, and changes nothing', async () => {
    const backend = memory(files)
    const workspace = await open({
      backend,
      audit: callbackSink(() => {
        throw new Error('disk full')
      }),
    })
    expect(await workspace.call('write_file', { path: 'a.txt', content: 'a' })).toMatchObject({ code: 'AUDIT_FAILED' })
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

describe('files, for the embedding program', () => {
  it('pass the same steps', async () => {
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

  it('are read whole or not at all', async () => {
    const workspace = await open({ backend: memory({ 'long.txt': 'a\n'.repeat(1001) }) })
    await expect(workspace.files.read('long.txt')).rejects.toMatchObject({ code: 'FILE_TOO_LARGE', message: /at once/ })
  })
})
