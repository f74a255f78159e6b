import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { reportMarkdown, reportRuns } from '../../src/audit/index.ts'
import { reportSections } from '../../src/audit/report-text.ts'
import { memorySink } from '../../src/audit/sinks.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { errorHints } from '../../src/errors.ts'
import { createWorkspace, type RunReport, type Success, type WorkspaceOptions } from '../../src/index.ts'
import { bash } from '../../src/shells/bash/index.ts'
import { isRefusal } from '../../src/ui/index.ts'
import { entry } from './entries.ts'

const files = {
  'src/app.ts': 'export const answer = 41\n',
  'src/other.ts': 'export const other = 1\n',
  'docs/guide.md': '# Guide\n',
  'people/list.md': 'Ann\n',
  '.env': 'PASSWORD=hunter2\n',
}

function open(options: Partial<WorkspaceOptions> = {}) {
  let now = 1_700_000_000_000
  return createWorkspace({
    backend: memory(files),
    policy: {
      preset: 'autonomous',
      rules: [{ name: 'docs are reviewed', action: 'ask', paths: ['docs/**'], permissions: ['file:write:*'] }],
      labels: {
        sources: [{ label: 'confidential', paths: ['people/**'] }],
        sinks: [{ name: 'published', ceiling: 'public', paths: ['site/**'] }],
      },
    },
    approve: ({ accesses }) =>
      accesses.some(({ path }) => path === 'docs/guide.md')
        ? { allow: 'run', by: 'ann@example.com' }
        : { deny: 'no new pages', by: 'bob@example.com' },
    shell: bash(),
    clock: () => now++,
    run: { id: 'run', actor: 'tester', task: { text: 'raise the answer', scope: ['src/**', 'docs/**'], risk: 'low' } },
    ...options,
  })
}

const sha = (result: unknown) => String((result as Success).sha256)

describe('a report', () => {
  it('lists the files read with their versions, without files that were only searched', async () => {
    const workspace = await open()
    const file = await workspace.call('read_file', { path: 'src/app.ts' })
    await workspace.call('list_directory', {})
    await workspace.call('search_text', { query: 'other' })
    await workspace.call('read_file', { path: 'missing.ts' })
    expect((await workspace.report()).read).toEqual([
      { path: 'src/app.ts', versions: [sha(file)], calls: ['run-1'] },
      { path: 'src/other.ts', versions: [], calls: ['run-3'] },
    ])
  })

  it('names the root, whose path is a dot, in every part', async () => {
    const workspace = await open()
    await workspace.call('run_command', { command: 'rm -rf /' })
    await workspace.call('run_command', { command: 'rm -rf .env .' })
    const report = await workspace.report()
    expect(report.forbidden.flatMap(({ paths }) => paths)).toContain('.')
    const cells = reportSections(report).flatMap(({ rows }) => rows.flat())
    expect(cells.filter((cell) => /(^|, )\.?(,|$)/.test(cell) && cell !== '')).toEqual([])
    expect(cells).toContain('workspace root')
  })

  it('lists the files written with reasons, versions and final state', async () => {
    const workspace = await open()
    const file = await workspace.call('read_file', { path: 'src/app.ts' })
    const edit = await workspace.call('edit_file', {
      ...{ path: 'src/app.ts', oldText: '41', newText: '42', reason: 'the answer was wrong' },
    })
    const again = await workspace.call('edit_file', { path: 'src/app.ts', oldText: '42', newText: '43' })
    const undone = await workspace.undo(String((again as Success).callId))
    const gone = await workspace.call('run_command', { command: 'rm src/other.ts' })
    expect([file, edit, again, undone, gone].map(({ ok }) => ok)).toEqual([true, true, true, true, true])
    const { written, calls } = await workspace.report()
    const [first, middle, last] = [sha(file), (edit as Success).newSha256, (again as Success).newSha256]
    expect(written).toMatchObject([
      {
        path: 'src/app.ts',
        from: first,
        to: middle,
        changes: [
          { callId: 'run-2', tool: 'edit_file', reason: 'the answer was wrong', from: first, to: middle },
          { callId: 'run-3', from: middle, to: last },
          { callId: 'run-4', tool: 'undo', from: last, to: middle },
        ],
      },
      { path: 'src/other.ts', to: null, changes: [{ tool: 'run_command', to: null }] },
    ])
    expect(calls).toEqual({ carriedOut: 5, refused: 0, waited: 0, failed: 0, unfinished: [] })
  })

  it('states whether each patch met its expected base', async () => {
    const workspace = await open()
    const file = sha(await workspace.call('read_file', { path: 'src/app.ts' }))
    const patch =
      '--- a/src/app.ts\n+++ b/src/app.ts\n@@ -1 +1 @@\n-export const answer = 41\n+export const answer = 42\n'
    await workspace.call('apply_patch', { patch })
    await workspace.call('apply_patch', { patch })
    await workspace.call('write_file', { path: 'src/app.ts', content: 'x\n', expectedSha256: file })
    await workspace.call('edit_file', { path: 'src/app.ts', oldText: 'nowhere', newText: '' })
    await workspace.call('write_file', { path: 'src/new.ts', content: 'x\n', expectedSha256: null })
    expect((await workspace.report()).patches).toEqual([
      { callId: 'run-2', tool: 'apply_patch', paths: ['src/app.ts'], metBase: true },
      { callId: 'run-3', tool: 'apply_patch', paths: ['src/app.ts'], metBase: false, code: 'PATCH_CONFLICT' },
      { callId: 'run-4', tool: 'write_file', paths: ['src/app.ts'], metBase: false, code: 'WRITE_CONFLICT' },
      { callId: 'run-5', tool: 'edit_file', paths: ['src/app.ts'], metBase: false, code: 'EDIT_NO_MATCH' },
    ])
  })

  it('lists forbidden paths that were tried, also by commands, with the rules', async () => {
    const workspace = await open()
    await workspace.call('read_file', { path: '.env' })
    await workspace.call('read_file', { path: '../up' })
    await workspace.call('run_command', { command: 'f=.env; cat src/app.ts; cat "$f" || true' })
    await workspace.call('read_file', { path: 'missing.ts' })
    const { forbidden } = await workspace.report()
    expect(forbidden.slice(0, 2)).toEqual([
      { callId: 'run-1', tool: 'read_file', paths: ['.env'], code: 'POLICY_DENIED_SECRET', rules: ['secret'] },
      { callId: 'run-2', tool: 'read_file', paths: ['../up'], code: 'PATH_REJECTED', rules: [] },
    ])
    expect(forbidden.slice(2)).toMatchObject([{ callId: 'run-3', tool: 'run_command', paths: ['.env'] }])
  })

  it('lists approvals with their answers and people', async () => {
    const workspace = await open()
    const change = (path: string, content: string) =>
      workspace.call('write_file', { path, content, mode: 'CREATE_OR_REPLACE' })
    await workspace.call('read_file', { path: 'docs/guide.md' })
    const first = await change('docs/guide.md', '# One\n')
    const expectedSha256 = String((first as Success).newSha256)
    await workspace.call('write_file', { path: 'docs/guide.md', content: '# Two\n', expectedSha256 })
    const denied = await change('docs/new.md', 'x')
    expect([first.ok, denied.ok]).toEqual([true, false])
    expect((await workspace.report()).approvals).toMatchObject([
      { callId: 'run-2', how: 'run', by: 'ann@example.com', rules: ['docs are reviewed'], paths: ['docs/guide.md'] },
      { callId: 'run-3', how: 'earlier' },
      { callId: 'run-4', how: 'denied', by: 'bob@example.com', paths: ['docs/new.md'] },
    ])
    const alone = await open({ approve: undefined as never })
    const waiting = await alone.call('write_file', { path: 'docs/new.md', content: 'x' })
    expect((await alone.report()).approvals).toMatchObject([{ how: 'required', rules: ['docs are reviewed'] }])
    const approvalId = String((waiting as { approvalId?: unknown }).approvalId)
    expect(await alone.resume(approvalId, { allow: 'once', by: 'cy' })).toMatchObject({ ok: true })
    expect((await alone.report()).approvals).toMatchObject([{ how: 'required' }, { how: 'once', by: 'cy' }])
  })

  it('states whether the final diff is inside the scope, and lists calls outside it', async () => {
    const workspace = await open()
    await workspace.call('write_file', { path: 'src/new.ts', content: 'x' })
    expect((await workspace.report()).scope).toEqual({
      globs: ['src/**', 'docs/**'],
      finalDiffInside: true,
      outside: [],
      calls: [],
    })
    const stray = await workspace.call('write_file', { path: 'other/a.ts', content: 'x' })
    expect((await workspace.report()).scope).toMatchObject({
      finalDiffInside: false,
      outside: ['other/a.ts'],
      calls: [{ callId: 'run-2', tool: 'write_file', paths: ['other/a.ts'] }],
    })
    await workspace.undo(String((stray as Success).callId))
    // Undone calls are in the report, but not in the final diff.
    expect((await workspace.report()).scope).toMatchObject({ finalDiffInside: true, outside: [] })
    expect((await workspace.report()).scope?.calls[0]).toMatchObject({ callId: 'run-2' })
    const free = await open({ run: { id: 'free' } })
    expect(await free.report()).toMatchObject({ task: undefined, scope: undefined, read: [], from: undefined })
  })

  it('names the origin of the taint and the refused call', async () => {
    const workspace = await open()
    await workspace.call('read_file', { path: 'people/list.md' })
    await workspace.call('write_file', { path: 'site/index.html', content: 'Ann' })
    const { taint, forbidden } = await workspace.report()
    expect(taint).toEqual([{ label: 'confidential', callId: 'run-1', tool: 'read_file', path: 'people/list.md' }])
    expect(forbidden).toMatchObject([
      { callId: 'run-2', code: 'TAINT_DENIED', paths: ['site/index.html'], rules: ['published'] },
    ])
  })

  it('is one for each run, and the same from the records alone', async () => {
    const workspace = await open()
    await workspace.call('read_file', { path: 'src/app.ts' })
    const other = workspace.run({ id: 'second', actor: 'other' })
    await other.call('read_file', { path: 'src/other.ts' })
    await workspace.call('write_file', { path: 'src/b.ts', content: 'b' })
    const records = JSON.parse(JSON.stringify(workspace.auditRecords()))
    const plain = (report: RunReport) => JSON.parse(JSON.stringify(report))
    expect(reportRuns(records).map(plain)).toEqual([await workspace.report(), await other.report()].map(plain))
    expect(await other.report()).toMatchObject({ runId: 'second', actor: 'other', written: [] })
  })

  it('counts calls that were refused, that failed and that waited apart', async () => {
    const workspace = await open({ approve: () => ({ deny: 'not now' }) })
    await workspace.call('read_file', { path: 'src/app.ts' })
    await workspace.call('read_file', { path: '.env' })
    await workspace.call('read_file', { path: '../a' })
    await workspace.call('run_command', { command: 'sudo ls' })
    await workspace.call('edit_file', { path: 'docs/guide.md', oldText: 'Guide', newText: 'Book' })
    await workspace.call('read_file', { path: 'missing.ts' })
    await workspace.call('edit_file', { path: 'src/app.ts', oldText: 'nowhere', newText: '' })
    const report = await workspace.report()
    expect(report.calls).toEqual({ carriedOut: 1, refused: 4, waited: 0, failed: 2, unfinished: [] })
    expect(reportMarkdown(report)).toContain('| calls | 1 carried out, 4 refused, 2 failed |')
    const unattended = await open({ approve: undefined } as never)
    await unattended.call('edit_file', { path: 'docs/guide.md', oldText: 'Guide', newText: 'Book' })
    expect(reportMarkdown(await unattended.report())).toContain(
      '0 carried out, 0 refused, 0 failed, 1 waited for an approval',
    )
  })

  it.each(Object.keys(errorHints))('counts a call with %s once, as a refusal where the page calls it one', (code) => {
    const record = { ...entry(1, { phase: 'refused', code: code as never }), step: 'policy' as never }
    const { calls, forbidden } = reportRuns([record])[0] as RunReport
    const { refused, waited, failed } = calls
    expect({ refused, waited, failed }).toEqual({
      refused: isRefusal({ code }) ? 1 : 0,
      waited: code === 'APPROVAL_REQUIRED' ? 1 : 0,
      failed: isRefusal({ code }) || code === 'APPROVAL_REQUIRED' ? 0 : 1,
    })
    // What is listed as forbidden is a refusal; a person who refuses forbids nothing.
    expect(forbidden.length).toBe(isRefusal({ code }) && code !== 'APPROVAL_DENIED' ? 1 : 0)
  })

  it('counts a call without an outcome as unfinished', () => {
    const base = {
      ...{ runId: 'run', toolCallId: 'run-1', toolName: 'write_file', actor: 'a', pathsRead: [], newSha256: {} },
      ...{ policyDecision: { decision: 'allow' as const, rules: [] }, artifactUris: [] },
    }
    const intent = { ...base, phase: 'intent' as const, timestamp: 1, pathsWritten: ['a'], oldSha256: { a: null } }
    expect(reportRuns([intent])[0]?.calls).toEqual({
      ...{ carriedOut: 0, refused: 0, waited: 0, failed: 0, unfinished: ['run-1'] },
    })
  })

  it('needs a sink that keeps its records', async () => {
    const workspace = await open({ audit: { append() {} } })
    await expect(workspace.report()).rejects.toThrow(TypeError)
  })
})

describe('a report as Markdown', () => {
  it('escapes untrusted text, so that it stays in its table cell', async () => {
    const workspace = await open({
      run: {
        id: 'run',
        task: { text: '# Big\n| a | b |\n<img src=x onerror=alert(1)> [x](javascript:1) `code` \u202e' },
      },
    })
    await workspace.call('write_file', { path: 'src/a|b.ts', content: 'x', reason: 'because\n\n## of | this' })
    const text = reportMarkdown(await workspace.report(), workspace.verifyAudit())
    expect(text).not.toMatch(/[<>](?<!\\.)|\u202e/)
    expect(text.split('\n').filter((line) => line.startsWith('#'))).toEqual([
      '# Report of run run',
      ...reportSections(await workspace.report()).map(({ title }) => `## ${title}`),
    ])
    // Every row of a table has as many cells as its header.
    for (const table of text.split('\n\n').filter((part) => part.startsWith('|'))) {
      const counts = table
        .trim()
        .split('\n')
        .map((row) => row.match(/(?<!\\)\|/g)?.length)
      expect(new Set(counts).size).toBe(1)
    }
  })
})

describe('a report of records', () => {
  const records = [
    entry(1, { task: { text: 'try', risk: 'high', scope: ['../src'] } }),
    entry(2, {
      phase: 'outcome',
      pathsRead: ['' as never],
      pathsWritten: ['x\u{e0041}.ts' as never],
      newSha256: { 'x\u{e0041}.ts': 'a' },
    }),
    entry(3, { phase: 'refused', code: 'WRITE_CONFLICT' as never, toolName: 'edit_file', toolCallId: 'other-3' }),
    entry(4, { phase: 'outcome', plan: { text: ' do\nit ' }, pathsWritten: [] }),
    entry(5, { runId: 'second', actor: 'eve', phase: 'outcome' }),
  ]

  it('contains the facts of each run, also if few are recorded', () => {
    const [first, second] = reportRuns(records) as [RunReport, RunReport]
    expect(first).toMatchObject({
      runId: 'run',
      read: [{ path: '.' }],
      patches: expect.arrayContaining([
        { callId: 'other-3', tool: 'edit_file', paths: [], metBase: false, code: 'WRITE_CONFLICT' },
      ]),
      scope: { finalDiffInside: false },
      calls: { unfinished: ['run-1'] },
    })
    expect(second).toMatchObject({ runId: 'second', actor: 'eve' })
    const text = reportMarkdown(first, { ok: false, at: 2, reason: 'It was changed' })
    expect(text).toContain('| risk | high |')
    expect(text).toContain('| unfinished | \\#1 |')
    expect(text).toContain('| approved plan | do it, call \\#4 |')
    expect(text).toContain('BROKEN at record 3: It was changed')
    expect(text).toContain('other-3')
    expect(text).toContain('xu+e0041.ts')
    expect(memorySink().records()).toEqual([])
  })
})

describe('the diff totals of a report', () => {
  const content = fc.array(fc.constantFrom('a\n', 'b\n', 'c\r\n', 'd'), { maxLength: 8 }).map((lines) => lines.join(''))
  const path = fc.constantFrom('a.txt', 'b.txt', 'new/c.txt')
  const step = fc.oneof(
    fc.record({ tool: fc.constant('write_file'), input: fc.record({ path, content }) }),
    fc.record({ tool: fc.constant('append_file'), input: fc.record({ path, content }) }),
    fc.record({ tool: fc.constant('delete_file'), input: fc.record({ path }) }),
    fc.record({ tool: fc.constant('move_file'), input: fc.record({ path, to: fc.constant('moved.txt') }) }),
    fc.record({ tool: fc.constant('run_command'), input: fc.constant({ command: 'cat a.txt b.txt > both.txt' }) }),
  )

  it('are the sums of the diffs of its calls', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
        const workspace = await createWorkspace({
          backend: memory({ 'a.txt': 'a\nb\n', 'b.txt': 'b' }),
          policy: 'autonomous',
          shell: bash({ worker: false }),
        })
        const expected = { insertions: 0, deletions: 0 }
        for (const { tool, input } of steps) {
          if ('path' in input) await workspace.callTool('read_file', { path: input.path })
          const result = await workspace.callTool(tool, input)
          if (!result.ok || result.artifactUri === undefined) continue
          const diff = (await workspace.callTool('read_file', { path: result.artifactUri, maxLines: 1000 })) as Success
          const lines = String(diff.content).split('\n')
          expected.insertions += lines.filter((line) => /^\+(?!\+\+ )/.test(line)).length
          expected.deletions += lines.filter((line) => /^-(?!-- )/.test(line)).length
        }
        const { diff, written } = await workspace.report()
        const filesChanged = written.filter(({ from, to }) => from !== to).length
        expect(diff).toEqual({ filesChanged, ...expected, uncounted: 0 })
        await workspace.close()
      }),
      { numRuns: 40 },
    )
  })

  it('leave out refused calls, secrets and binary files, and name calls that are too large to count', async () => {
    const workspace = await createWorkspace({
      backend: memory({ 'a.txt': 'one\n', '.env': 'PASSWORD=hunter2\n', 'image.png': new Uint8Array([0, 1, 10, 0]) }),
      policy: {
        preset: 'autonomous',
        rules: [{ name: 'env', action: 'allow', paths: ['.env'], overrides: ['secret'] }],
      },
    })
    await workspace.call('write_file', { path: '../x', content: 'x\n' })
    await workspace.call('move_file', { path: 'image.png', to: 'moved.png' })
    await workspace.call('append_file', { path: '.env', content: 'B=1\n' })
    await workspace.call('append_file', { path: 'a.txt', content: 'two\n' })
    expect((await workspace.report()).diff).toMatchObject({ insertions: 1, deletions: 0, uncounted: 0 })
    expect(reportMarkdown(await workspace.report())).toContain('4 files changed, +1 -0')
    await workspace.call('write_file', { path: 'large.txt', content: 'x\n'.repeat(500_000) })
    await workspace.call('append_file', { path: 'large.txt', content: 'x\n'.repeat(100_000) })
    const { diff } = await workspace.report()
    expect(diff).toMatchObject({ insertions: 500_001, uncounted: 1 })
    expect(reportMarkdown(await workspace.report())).toContain('without 1 call too large to count')
    await workspace.close()
  })
})
