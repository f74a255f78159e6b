import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace, type Workspace, type WorkspaceHistory } from '../../src/index.ts'
import { bash } from '../../src/shells/bash/index.ts'
import { parseRecording, replay } from '../../src/workspace/replay.ts'

const decoder = new TextDecoder()

async function textOf(backend: ReturnType<typeof memory>, path: string): Promise<string | undefined> {
  const stat = await backend.stat(path as never)
  return stat === undefined ? undefined : decoder.decode((await backend.read(path as never)).bytes)
}

/** Simulates another process over the same files, which receives the history as a structured clone. */
async function reopen(
  backend: ReturnType<typeof memory>,
  history: WorkspaceHistory,
  id: string,
  journalBytes?: number,
) {
  const limits = journalBytes === undefined ? {} : { journalBytes }
  return createWorkspace({ backend, policy: 'autonomous', run: { id }, limits, history: structuredClone(history) })
}

describe('a history that another workspace continues', () => {
  it('rolls back and forward over two restarts, and undoes single calls', async () => {
    const backend = memory({ 'a.txt': 'one\n', 'gone.bin': new Uint8Array([0, 255, 10]) })
    const first = await createWorkspace({ backend, policy: 'autonomous', run: { id: 'run-1' } })
    const start = first.checkpoint('start')
    await first.call('append_file', { path: 'a.txt', content: 'two\n' })
    const creation = await first.call('write_file', { path: 'd/new.txt', content: 'new\n' })
    await first.call('delete_file', { path: 'gone.bin' })

    const second = await reopen(backend, first.history(), 'run-2')
    const middle = second.checkpoint('middle')
    expect([start.id, middle.id]).toEqual(second.checkpoints().map(({ id }) => id))
    expect(start.id).not.toBe(middle.id)
    await second.call('append_file', { path: 'a.txt', content: 'three\n' })

    const third = await reopen(backend, second.history(), 'run-3')
    expect(await third.rollback(start.id)).toMatchObject({ ok: true })
    expect(await textOf(backend, 'a.txt')).toBe('one\n')
    expect(await textOf(backend, 'd/new.txt')).toBeUndefined()
    expect((await backend.read('gone.bin' as never)).bytes).toEqual(new Uint8Array([0, 255, 10]))

    // The rollback is one of the calls after that checkpoint, so it is reverted too.
    expect(await third.rollback(middle.id)).toMatchObject({ ok: true })
    expect(await textOf(backend, 'a.txt')).toBe('one\ntwo\n')
    expect(await third.undo(creation.ok ? creation.callId : '')).toMatchObject({ ok: true })
    expect(await textOf(backend, 'd/new.txt')).toBeUndefined()
    expect(await third.rollback(start.id)).toMatchObject({ ok: true })
    const result = await third.call('write_file', { path: 'b.txt', content: 'b\n' })
    const last = await reopen(backend, third.history(), 'run-4')
    expect(await last.undo(result.ok ? result.callId : '')).toMatchObject({ ok: true })
    expect(await textOf(backend, 'b.txt')).toBeUndefined()
  })

  it('drops the oldest calls without contents, and reports that for a checkpoint before them', async () => {
    const backend = memory({ 'a.txt': 'one\n' })
    const first = await createWorkspace({ backend, policy: 'autonomous', run: { id: 'run-1' } })
    const start = first.checkpoint('start')
    const { checkpoints } = first.history()
    const entries = Array.from({ length: 10_001 }, (_, i) => {
      return { callId: `run-1-${i}`, runId: 'run-1', tool: 'write_file', at: i, changes: undefined }
    })
    const second = await reopen(backend, { version: 1, first: 0, entries, checkpoints }, 'run-2')
    const late = second.checkpoint('late')
    expect(second.history()).toMatchObject({ first: 5000, entries: { length: 5001 } })
    await second.call('append_file', { path: 'a.txt', content: 'two\n' })
    expect(await second.rollback(start.id)).toMatchObject({
      code: 'LIMIT_EXCEEDED',
      message: expect.stringContaining('does not go back that far'),
    })
    expect(await second.undo('run-1-4999')).toMatchObject({ code: 'NOT_FOUND' })
    expect(await second.undo('run-1-5000')).toMatchObject({ ok: false, code: 'LIMIT_EXCEEDED' })
    expect(await second.rollback(late.id)).toMatchObject({ ok: true, paths: ['a.txt'] })
  })

  it('reverts the calls of one run and keeps those of others, and refuses where both changed a file', async () => {
    const backend = memory({ 'a.txt': 'one\n', 'b.txt': 'one\n', 'c.txt': 'c\n' })
    const first = await createWorkspace({ backend, policy: 'autonomous', run: { id: 'person' } })
    const start = first.checkpoint()
    const agent = first.run({ id: 'agent' })
    await agent.call('append_file', { path: 'a.txt', content: 'two\n' })
    await first.call('append_file', { path: 'b.txt', content: 'mine\n' })
    await agent.call('write_file', { path: 'new/x.txt', content: 'x' })
    await first.call('write_file', { path: 'new/mine.txt', content: 'mine' })
    await agent.call('delete_file', { path: 'c.txt' })
    await agent.call('append_file', { path: 'a.txt', content: 'three\n' })
    const second = await reopen(backend, first.history(), 'owner')
    expect(await agent.rollback(start.id, { runId: 'agent' } as never)).toMatchObject({ code: 'INVALID_INPUT' })
    expect(await second.rollback(start.id, { runId: 'nobody' })).toMatchObject({
      ...{ ok: false, code: 'NOT_FOUND', message: `Cannot roll back to "${start.id}": no run has the id "nobody"` },
    })
    expect(await second.rollback(start.id, { runId: 'agent' })).toMatchObject({
      ok: true,
      paths: ['a.txt', 'c.txt', 'new/x.txt'],
      kept: ['new'],
    })
    const texts = await Promise.all(['a.txt', 'b.txt', 'c.txt', 'new/mine.txt'].map((path) => textOf(backend, path)))
    expect(texts).toEqual(['one\n', 'one\nmine\n', 'c\n', 'mine'])

    const later = second.run({ id: 'later' })
    const again = second.checkpoint()
    await later.call('write_file', { path: 'new/y.txt', content: 'y' })
    await later.call('append_file', { path: 'a.txt', content: 'two\n' })
    const mine = await second.call('append_file', { path: 'a.txt', content: 'mine\n' })
    expect(await second.rollback(again.id, { runId: 'later' })).toMatchObject({
      code: 'WRITE_CONFLICT',
      paths: ['a.txt'],
    })
    expect(await textOf(backend, 'new/y.txt')).toBe('y')
    await second.undo(mine.ok ? mine.callId : '')
    expect(await second.rollback(again.id, { runId: 'later' })).toMatchObject({
      ok: true,
      paths: ['a.txt', 'new/y.txt'],
    })
  })

  it('refuses to undo changes by other writers between the two workspaces', async () => {
    const backend = memory({ 'a.txt': 'one\n' })
    const first = await createWorkspace({ backend, policy: 'autonomous', run: { id: 'run-1' } })
    const start = first.checkpoint()
    await first.call('append_file', { path: 'a.txt', content: 'two\n' })
    const history = first.history()
    await backend.commit(
      [
        {
          path: 'a.txt' as never,
          expect: 'any',
          to: { type: 'file', bytes: new TextEncoder().encode('other\n') },
        },
      ],
      { durability: 'durable' },
    )
    const second = await reopen(backend, history, 'run-2')
    expect(await second.rollback(start.id)).toMatchObject({ ok: false, code: 'WRITE_CONFLICT' })
    expect(await textOf(backend, 'a.txt')).toBe('other\n')
  })

  it('stays within its size limit, and reports dropped calls', async () => {
    const backend = memory({ 'a.txt': 'x'.repeat(5000) })
    const first = await createWorkspace({ backend, policy: 'autonomous', run: { id: 'run-1' } })
    const start = first.checkpoint()
    for (const content of ['1', '2', '3']) await first.call('append_file', { path: 'a.txt', content })
    const second = await reopen(backend, first.history(), 'run-2', 6000)
    expect(await second.rollback(start.id)).toMatchObject({ ok: false, code: 'LIMIT_EXCEEDED' })
    expect(await second.undo('run-1-3')).toMatchObject({ ok: true })
  })

  it('is reverted by run in a replay as it was', async () => {
    const lines: string[] = []
    const first = await createWorkspace({
      ...{ backend: memory({ 'a.txt': 'one\n' }), policy: 'autonomous', run: { id: 'person' } },
      record: (line) => void lines.push(line),
    })
    const start = first.checkpoint()
    await first.run({ id: 'agent' }).call('write_file', { path: 'b.txt', content: 'b' })
    await first.call('append_file', { path: 'a.txt', content: 'mine\n' })
    expect(await first.rollback(start.id, { runId: 'agent', reason: 'why' })).toMatchObject({
      ok: true,
      paths: ['b.txt'],
    })
    expect(await first.rollback(start.id, { runId: 1 as never })).toMatchObject({ code: 'INVALID_INPUT' })
    await first.close()
    expect(await replay(parseRecording(lines.join('\n')), { backend: memory({ 'a.txt': 'one\n' }) })).toEqual({
      ok: true,
      steps: 5,
    })
  })

  it('is replayed with a recording that started with it', async () => {
    const backend = memory({ 'a.txt': 'one\n' })
    const first = await createWorkspace({ backend, policy: 'autonomous', run: { id: 'run-1' } })
    const start = first.checkpoint()
    await first.call('append_file', { path: 'a.txt', content: 'two\n' })
    const history = first.history()
    const files = backend.fork()
    const lines: string[] = []
    const options = {
      policy: 'autonomous',
      run: { id: 'run-2' },
      record: (line: string) => void lines.push(line),
    } as const
    const second = await createWorkspace({ ...options, backend, history })
    second.checkpoint()
    expect(await second.rollback(start.id)).toMatchObject({ ok: true })
    await second.close()
    const recorded = parseRecording(lines.join('\n'))
    expect(await replay(recorded, { backend: files.fork(), history })).toEqual({ ok: true, steps: 2 })
    expect(await replay(recorded, { backend: files.fork() })).toMatchObject({ ok: false })
  })

  it('is not inherited by a fork, and is refused after a JSON round trip', async () => {
    const backend = memory({ 'a.txt': 'one\n' })
    const first = await createWorkspace({ backend, policy: 'autonomous', run: { id: 'run-1' } })
    await first.call('append_file', { path: 'a.txt', content: 'two\n' })
    const history = first.history()
    const second = await reopen(backend, history, 'run-2')
    const fork = await second.fork({ id: 'fork-1' })
    expect(fork.history().entries).toEqual([])
    const copy = JSON.parse(JSON.stringify(history))
    const opened = createWorkspace({ backend, policy: 'autonomous', history: copy })
    await expect(opened).rejects.toThrow('store one by structured clone, not as JSON')
  })
})

describe('an id that names nothing', () => {
  const rows: readonly (readonly [string, (workspace: Workspace, checkpoint: string) => Promise<unknown>])[] = [
    ['undo()', (workspace) => workspace.undo('nope')],
    ['rollback()', (workspace) => workspace.rollback('nope')],
    ['rollback() of a run', (workspace, checkpoint) => workspace.rollback(checkpoint, { runId: 'nope' })],
    ['resume()', (workspace) => workspace.resume('nope', 'allow')],
    ['check_command', (workspace) => workspace.call('check_command', { id: 'nope' })],
    ['stop_command', (workspace) => workspace.call('stop_command', { id: 'nope' })],
    ['memory_get', (workspace) => workspace.call('memory_get', { id: 'nope' })],
    ['read_file of an artifact', (workspace) => workspace.call('read_file', { path: 'artifact://nope/x' })],
  ]

  it.each(rows)('is NOT_FOUND in %s', async (_, act) => {
    const workspace = await createWorkspace({
      ...{ backend: memory(), policy: { preset: 'autonomous', memory: {} }, shell: bash() },
    })
    const answer = await act(workspace as Workspace, workspace.checkpoint().id)
    expect(answer).toMatchObject({ ok: false, code: 'NOT_FOUND', message: expect.stringContaining('nope') })
    await workspace.close()
  })

  it('is not that of a run which left a checkpoint alone', async () => {
    const first = await createWorkspace({ backend: memory(), policy: 'autonomous', run: { id: 'idle' } })
    const { id } = first.checkpoint()
    const second = await reopen(memory(), first.history(), 'next')
    expect(await second.rollback(id, { runId: 'idle' })).toMatchObject({ ok: true, paths: [] })
  })
})
