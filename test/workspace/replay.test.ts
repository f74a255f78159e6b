import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type MemoryEntry, memory } from '../../src/backends/memory/index.ts'
import { snakeCase } from '../../src/dialects/snake-case/index.ts'
import { type CallOptions, createWorkspace, type Success, type WorkspaceOptions } from '../../src/index.ts'
import { bash } from '../../src/shells/bash/index.ts'
import { parseRecording, type Recorded, replay } from '../../src/workspace/replay.ts'
import { byContent, calls, leaks, tree } from '../audit/planted.ts'

const files: Record<string, MemoryEntry> = {
  'src/app.ts': 'export const answer = 41\n',
  'docs/guide.md': '# Guide\n',
  'b.txt': 'b\n',
}

async function recording(options: Partial<WorkspaceOptions> = {}) {
  const lines: string[] = []
  const workspace = await createWorkspace({
    backend: memory(files),
    policy: 'autonomous',
    shell: bash(),
    run: { id: 'run', task: { text: 'try', scope: ['src/**'] } },
    record: (line) => void lines.push(line),
    ...options,
  })
  return { workspace, lines, entries: () => parseRecording(lines.join('\n')) }
}

const again = (entries: readonly Recorded[], changed: Record<string, MemoryEntry> = {}) =>
  replay(entries, { backend: memory({ ...files, ...changed }), shell: bash() })

/** Makes a recording with every kind of step. */
async function story() {
  const { workspace, lines, entries } = await recording()
  const file = (await workspace.call('read_file', { path: 'src/app.ts' })) as Success
  const checkpoint = workspace.checkpoint('before')
  const edited = (await workspace.call('edit_file', {
    ...{ path: 'src/app.ts', oldText: '41', newText: '42', expectedSha256: String(file.sha256) },
  })) as Success
  await workspace.call('read_file', { path: String(edited.artifactUri) })
  await workspace.call('write_file', { path: 'src/app.ts', content: 'x', expectedSha256: String(file.sha256) })
  await workspace.call('run_command', { command: 'cat b.txt | tr b c > c.txt; ls' })
  await workspace.call('read_file', { path: '../x' })
  await workspace.call('list_directory', {})
  await workspace.undo(edited.callId)
  const other = workspace.run({ id: 'other', actor: 'other' })
  await other.call('append_file', { path: 'b.txt', content: 'more\n' })
  await workspace.rollback(checkpoint.id)
  await workspace.call('search_text', { query: 'answer' }, { signal: AbortSignal.abort() })
  await workspace.close()
  return { lines, entries: entries() }
}

describe('a replay of a recording', () => {
  it('has the same results on the same files', async () => {
    const { entries } = await story()
    expect(await again(entries)).toEqual({ ok: true, steps: 12 })
  })

  it('returns the first step with a different result, and the field', async () => {
    const { entries } = await story()
    expect(await again(entries, { 'b.txt': 'B\n' })).toMatchObject({
      ok: false,
      steps: 5,
      why: 'different',
      step: { name: 'run_command' },
    })
    expect(await again(entries, { 'src/app.ts': 'export const answer = 40\n' })).toMatchObject({
      ...{ ok: false, steps: 0, step: { name: 'read_file' }, field: 'content' },
      ...{ recorded: 'export const answer = 41\n', replayed: 'export const answer = 40\n' },
    })
    const changed = entries.map((entry) =>
      entry.type === 'workspace' ? { ...entry, policy: { preset: 'autonomous', deniedPaths: ['c.txt'] } } : entry,
    )
    expect(await again(changed)).toMatchObject({ ok: false, step: { name: 'run_command' } })
  })

  it('repeats the answers of approvers, parked calls and plans', async () => {
    const answers = ['allow', { deny: 'not that' }, { allow: 'run', by: 'ann' }] as const
    let next = 0
    const supervised = await recording({ policy: 'supervised', approve: () => answers[next++] ?? { deny: 'no more' } })
    for (let i = 0; i < 4; i++) await supervised.workspace.call('append_file', { path: 'b.txt', content: `${i}\n` })
    await supervised.workspace.close()
    expect(await again(supervised.entries())).toEqual({ ok: true, steps: 4 })

    const parked = await recording({ policy: 'supervised' })
    const waiting = await parked.workspace.call('append_file', { path: 'b.txt', content: 'x\n' })
    await parked.workspace.call('append_file', { path: 'b.txt', content: 'y\n' }, { approve: () => 'allow' })
    const stale = await parked.workspace.resume(String((waiting as { approvalId?: unknown }).approvalId), 'allow')
    expect(stale).toMatchObject({ ok: false, code: 'WRITE_CONFLICT' })
    await parked.workspace.close()
    expect(await again(parked.entries())).toEqual({ ok: true, steps: 3 })

    const planned = await recording({ mode: 'plan' })
    await planned.workspace.call('write_file', { path: 'src/new.ts', content: 'x' })
    await planned.workspace.call('submit_plan', { plan: 'Write it', paths: ['src/**'] })
    await planned.workspace.approvePlan({ by: 'ann' })
    await planned.workspace.call('write_file', { path: 'src/new.ts', content: 'x' })
    await planned.workspace.close()
    expect(await again(planned.entries())).toEqual({ ok: true, steps: 4 })

    const later = await recording({ mode: 'plan', run: { plan: { text: 'Write it' } } })
    await later.workspace.call('write_file', { path: 'src/new.ts', content: 'x' })
    await later.workspace.close()
    expect(await again(later.entries())).toEqual({ ok: true, steps: 1 })
  })

  it('has only the recorded answers, and refuses steps with unknown ids again', async () => {
    const supervised = await recording({ policy: 'supervised', approve: () => 'allow' })
    await supervised.workspace.call('append_file', { path: 'b.txt', content: 'x\n' })
    await supervised.workspace.call('append_file', { path: 'b.txt', content: 'y\n' })
    await supervised.workspace.resume('approval-none', 'allow')
    await supervised.workspace.approvePlan()
    await supervised.workspace.close()
    expect(await again(supervised.entries())).toEqual({ ok: true, steps: 4 })
    const silent = supervised.entries().filter(({ type }) => type !== 'answer')
    expect(await again(silent)).toMatchObject({ ok: false, steps: 0, why: 'different', field: 'ok' })
    const rules = [{ name: 'reading', action: 'ask', permissions: ['file:read'] }] as const
    const approved = await recording({ policy: { preset: 'autonomous', rules } })
    await approved.workspace.call(
      'run_command',
      { command: 'cat b.txt; cat docs/guide.md' },
      { approve: () => 'allow' },
    )
    await approved.workspace.close()
    expect(await again(approved.entries())).toEqual({ ok: true, steps: 1 })
    const fewer = approved
      .entries()
      .map((entry) => ('answers' in entry ? { ...entry, answers: ['allow' as const] } : entry))
    expect(await again(fewer)).toMatchObject({ ok: false, steps: 0, why: 'different' })
  })

  it.each([undefined, 'snake-case'])('refuses steps with invalid options again, under the dialect %s', async (name) => {
    const dialect = name === undefined ? {} : { dialect: snakeCase() }
    const { workspace, entries } = await recording(dialect as Partial<WorkspaceOptions>)
    const getter = Object.defineProperty({}, 'signal', {
      enumerable: true,
      get() {
        throw new Error('unreadable')
      },
    })
    const invalid: readonly unknown[] = [
      ...[null, 1, 'x', [], () => {}, new Map([['step', 'x']])],
      ...[{ stepId: 'x' }, { signal: () => {} }, { approve: 'allow' }, { step: 1 }, { onProgress: {} }, getter],
      { [`ghp_${'a1B2'.repeat(9)}`]: 1 },
    ]
    const input = { path: 'b.txt', content: 'c\n' }
    for (const options of invalid) {
      const result = await workspace.callTool('append_file', input, options as CallOptions)
      const failure = 'failure' in result ? result.failure : result
      if (!(options instanceof Map)) expect(failure).toMatchObject({ code: 'INVALID_INPUT', field: 'options' })
      await workspace.undo('none', options as CallOptions)
      await workspace.rollback('none', options as CallOptions)
      await workspace.resume('none', 'allow', options as CallOptions)
    }
    await workspace.close()
    const recorded = entries()
    const steps = recorded.filter(({ type }) => type !== 'workspace' && type !== 'run').length
    expect(steps).toBe(4 * invalid.length)
    expect(JSON.stringify(recorded)).not.toContain('a1B2a1B2a1B2')
    const options = { backend: memory(files), shell: bash(), ...dialect }
    expect(await replay(recorded, options)).toEqual({ ok: true, steps })
  })

  it('throws if the steps do not belong together', async () => {
    const { entries } = await story()
    const [first, second, ...rest] = entries
    if (first === undefined || second === undefined) throw new Error('No recording')
    await expect(again([first, second, first])).rejects.toThrow('A recording must contain one workspace only')
    const stray = rest.map((entry) => ('runId' in entry ? { ...entry, runId: 'stray' } : entry))
    await expect(again([first, second, ...stray])).rejects.toThrow('contains no run "stray"')
    const bare = { type: 'undo', runId: 'run', at: 1, result: { ok: false, code: 'NOT_FOUND' } } as const
    expect(await again([first, second, bare as never])).toMatchObject({ ok: false, steps: 0, field: 'hint' })
  })

  it('repeats overlapping steps in the order in which they began', async () => {
    const { workspace, entries } = await recording()
    const names = ['a', 'b', 'c', 'd']
    await Promise.all(names.map((name) => workspace.call('write_file', { path: `${name}.md`, content: name })))
    await workspace.close()
    expect(
      entries().flatMap((entry) => (entry.type === 'call' ? [(entry.input as { path: string }).path] : [])),
    ).toEqual(names.map((name) => `${name}.md`))
    expect(await again(entries())).toMatchObject({ ok: true, steps: 4 })
  })

  it('stops at a step that wrote a secret, and the recording contains no planted secret of any call', async () => {
    const { workspace, lines, entries } = await recording({
      backend: memory(tree),
      policy: { preset: 'autonomous', memory: {} },
    })
    const callAll = async (tools: typeof calls) => {
      for (const tool of tools) {
        for (const { timeoutMs: _, ...input } of fc.sample(tool.input, { numRuns: 8, seed: 5 })) {
          await workspace.callTool(tool.name, input)
        }
      }
    }
    // Background commands have their own timing, so they come after the repeated steps.
    const inBackground = /^(start|check|stop)_command$/
    await callAll(calls.filter(({ name }) => !inBackground.test(name)))
    const before = entries().length
    await workspace.call('write_file', { path: 'new.txt', content: `${byContent.github}\n` })
    await callAll(calls.filter(({ name }) => inBackground.test(name)))
    await workspace.close()
    expect(leaks(lines.join('\n'))).toEqual([])
    const result = await replay(entries(), { backend: memory(tree), shell: bash() })
    // The results of all tools depend only on their input and the files.
    expect(result).toMatchObject({ ok: false, why: 'secret', steps: before - 2, step: { name: 'write_file' } })
  })

  it('has no secret that is the name of a tool, or that only the name of its field shows', async () => {
    const { workspace, lines, entries } = await recording()
    const password = 'Zx9$kq-Lm42'
    const inputs = [{ path: 'b.txt', DB_PASSWORD: password }, { env: [{ name: 'DB_PASSWORD', value: password }] }]
    for (const input of inputs) await workspace.callTool('read_file', input)
    await workspace.callTool(byContent.github, {})
    await workspace.call('read_file', { path: 'b.txt' })
    await workspace.close()
    expect(lines.filter((line) => line.includes(password) || line.includes(byContent.github))).toEqual([])
    expect(entries().map((entry) => 'redacted' in entry)).toEqual([false, false, true, true, true, false])
  })

  it('is impossible if the recording could not be written: calls continue, and close() rejects', async () => {
    const { workspace } = await recording({
      record() {
        throw new Error('no room')
      },
    })
    expect(await workspace.call('read_file', { path: 'b.txt' })).toMatchObject({ ok: true })
    await expect(workspace.close()).rejects.toThrow('recording')
  })

  it('throws for a text that is not a recording', async () => {
    const { lines } = await story()
    for (const text of [
      'x',
      '{}',
      'null',
      lines.slice(1).join('\n'),
      [...lines, lines[0]].join('\n'),
      lines[0]?.replace('"version":1', '"version":2') ?? '',
      `${lines[0]}\n{"type":"run"}`,
      `${lines[0]}\n{"type":"run","run":1}`,
      `${lines[0]}\n{"type":"call","name":"read_file","runId":"run","answers":{"length":1000000000}}`,
    ]) {
      expect(() => parseRecording(text)).toThrow(/^Line \d+ is not part of a recording of version 1$/)
    }
    await expect(replay([], {})).rejects.toThrow(TypeError)
    await expect(replay(parseRecording(lines.join('\n')), { backend: memory(files) })).rejects.toThrow('shell')
  })
})
