import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { callbackSink } from '../../src/audit/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { overlay } from '../../src/backends/overlay/index.ts'
import { invertEntries, planRevert } from '../../src/history/revert.ts'
import { createWorkspace, type Success, type Workspace, type WorkspaceOptions } from '../../src/index.ts'
import type { Backend } from '../../src/storage/backend.ts'
import { at, change, commit, file, textAt } from '../../src/testing/backend/case.ts'
import { faulty } from '../../src/testing/index.ts'
import { snapshot } from '../tools/setup.ts'

const files = { 'a.txt': 'a\n', 'd/x.txt': 'x\n', 'd/sub/y.txt': 'y\n', 'run.sh': { text: '#!/bin/sh\n', mode: 0o755 } }

async function open(options: Partial<WorkspaceOptions> = {}) {
  const backend = options.backend ?? memory(files)
  const workspace = await createWorkspace({ policy: 'autonomous', clock: () => 1, ...options, backend })
  return { workspace, backend }
}

type Callable = Pick<Workspace, 'callTool'>

async function ok(workspace: Callable, name: string, input: Record<string, unknown>): Promise<Success> {
  const result = await workspace.callTool(name, input)
  if (!result.ok) throw new Error(`${name}: ${result.code} ${result.message}`)
  return result
}

const write = (workspace: Callable, path: string, content: string, expectedSha256: unknown = null) =>
  ok(workspace, 'write_file', { path, content, expectedSha256 })
async function rewrite(workspace: Callable, path: string, content: string) {
  const { sha256 } = await ok(workspace, 'read_file', { path })
  return write(workspace, path, content, sha256)
}

const temporaries: string[] = []
afterAll(() => {
  for (const path of temporaries) rmSync(path, { recursive: true, force: true })
})
function onDisk(): { backend: Backend; root: string } {
  const base = mkdtempSync(join(tmpdir(), 'undo-'))
  temporaries.push(base)
  const root = join(base, 'root')
  mkdirSync(join(root, 'd/sub'), { recursive: true })
  writeFileSync(join(root, 'a.txt'), 'a\n')
  writeFileSync(join(root, 'd/x.txt'), 'x\n')
  writeFileSync(join(root, 'd/sub/y.txt'), 'y\n')
  writeFileSync(join(root, 'run.sh'), '#!/bin/sh\n', { mode: 0o755 })
  return { backend: nodeBackend(root, { stateDir: join(base, 'state') }), root }
}

/** Each kind of mutation, from the same tree. */
const mutations: Record<string, (workspace: Callable) => Promise<Success>> = {
  'write_file, new with parents': (w) => write(w, 'n/m/new.txt', 'new\n'),
  'write_file, replaced': (w) => rewrite(w, 'a.txt', 'other\n'),
  'write_file over an executable': (w) => rewrite(w, 'run.sh', '#!/bin/bash\n'),
  edit_file: (w) => ok(w, 'edit_file', { path: 'a.txt', oldText: 'a', newText: 'b' }),
  append_file: (w) => ok(w, 'append_file', { path: 'd/x.txt', content: 'more\n' }),
  delete_file: (w) => ok(w, 'delete_file', { path: 'run.sh' }),
  'move_file, a file': (w) => ok(w, 'move_file', { path: 'run.sh', to: 'bin/run.sh' }),
  'move_file, a directory': (w) => ok(w, 'move_file', { path: 'd', to: 'e/f' }),
  'copy_file, a directory': (w) => ok(w, 'copy_file', { path: 'd', to: 'copy' }),
  create_directory: (w) => ok(w, 'create_directory', { path: 'p/q/r' }),
}

const places: Record<string, () => Backend> = {
  memory: () => memory(files),
  overlay: () => overlay(memory(files)),
  node: () => onDisk().backend,
}

for (const [location, create] of Object.entries(places)) {
  describe(`undo on ${location}`, () => {
    for (const [name, mutate] of Object.entries(mutations)) {
      it(`reverts ${name}, and can itself be reverted`, async () => {
        const { workspace, backend } = await open({ backend: create() })
        const before = await snapshot(backend)
        const done = await mutate(workspace)
        const after = await snapshot(backend)
        expect(after).not.toEqual(before)
        const undone = await workspace.undo(done.callId)
        expect(undone).toMatchObject({ ok: true, callId: expect.any(String), artifactUri: expect.any(String) })
        expect(await snapshot(backend)).toEqual(before)
        expect(await workspace.undo((undone as Success).callId)).toMatchObject({ ok: true })
        expect(await snapshot(backend)).toEqual(after)
        expect(workspace.verifyAudit()).toMatchObject({ ok: true })
        await workspace.close()
      })
    }
  })
}

describe('undo', () => {
  it('reverts an older call whose paths are unchanged since, and keeps later calls', async () => {
    const { workspace, backend } = await open()
    const first = await rewrite(workspace, 'a.txt', 'first\n')
    await rewrite(workspace, 'd/x.txt', 'second\n')
    expect(await workspace.undo(first.callId)).toMatchObject({ ok: true, paths: ['a.txt'] })
    expect(await textAt(backend, 'a.txt')).toBe('a\n')
    expect(await textAt(backend, 'd/x.txt')).toBe('second\n')
  })

  it('refuses paths that a later call has changed, names them, and changes nothing', async () => {
    const { workspace, backend } = await open()
    const moved = await ok(workspace, 'move_file', { path: 'd', to: 'e' })
    await rewrite(workspace, 'e/x.txt', 'later\n')
    const before = await snapshot(backend)
    expect(await workspace.undo(moved.callId)).toMatchObject({
      ok: false,
      code: 'WRITE_CONFLICT',
      paths: expect.arrayContaining(['e/x.txt']),
    })
    expect(await snapshot(backend)).toEqual(before)
  })

  it('refuses paths that another writer has changed, deleted or created', async () => {
    const outside: [string, (backend: Backend) => Promise<unknown>, (w: Callable) => Promise<Success>][] = [
      ['a.txt', (b) => commit(b, change('a.txt', file('theirs'))), (w) => rewrite(w, 'a.txt', 'ours\n')],
      ['a.txt', (b) => commit(b, change('a.txt', null)), (w) => rewrite(w, 'a.txt', 'ours\n')],
      ['a.txt', (b) => commit(b, change('a.txt', file('theirs'))), (w) => ok(w, 'delete_file', { path: 'a.txt' })],
      ['run.sh', (b) => commit(b, change('run.sh', file('ours\n', 0o644))), (w) => rewrite(w, 'run.sh', 'ours\n')],
      ['new', (b) => commit(b, change('new', null)), (w) => write(w, 'new', 'n\n')],
    ]
    for (const [path, theirs, ours] of outside) {
      const { workspace, backend } = await open()
      const done = await ours(workspace)
      await theirs(backend)
      const before = await snapshot(backend)
      expect(await workspace.undo(done.callId), path).toMatchObject({ code: 'WRITE_CONFLICT', path, paths: [path] })
      expect(await snapshot(backend)).toEqual(before)
    }
  })

  it('keeps a directory that contains files of others', async () => {
    const { workspace, backend } = await open()
    const done = await write(workspace, 'n/m/new.txt', 'new\n')
    await commit(backend, change('n/theirs', file('t')))
    const undone = await workspace.undo(done.callId)
    expect(undone).toMatchObject({ ok: true, kept: ['n'], paths: ['n/m', 'n/m/new.txt'] })
    expect((undone as Success).warnings.join()).toContain('"n" stays')
    expect(await textAt(backend, 'n/theirs')).toBe('t')
    expect(await backend.stat(at('n/m'))).toBeUndefined()
  })

  it('keeps its directory if a file of another writer is restored into it', async () => {
    const { workspace, backend } = await open()
    const start = workspace.checkpoint('start')
    await write(workspace, 'n/m/ours', 'o')
    await commit(backend, change('n/m/theirs', file('t')))
    await ok(workspace, 'delete_file', { path: 'n/m/theirs' })
    expect(await workspace.rollback(start.id)).toMatchObject({ ok: true, kept: ['n', 'n/m'] })
    expect(await textAt(backend, 'n/m/theirs')).toBe('t')
    expect(await backend.stat(at('n/m/ours'))).toBeUndefined()
  })

  it('creates a missing parent again', async () => {
    const { workspace, backend } = await open()
    const done = await ok(workspace, 'delete_file', { path: 'd/sub/y.txt' })
    await commit(backend, change('d/sub', null))
    expect(await workspace.undo(done.callId)).toMatchObject({ ok: true })
    expect(await textAt(backend, 'd/sub/y.txt')).toBe('y\n')
  })

  it('reverts a call only once, and reports an unknown call', async () => {
    const { workspace } = await open()
    const done = await write(workspace, 'new', 'n\n')
    expect(await workspace.undo(done.callId)).toMatchObject({ ok: true })
    expect(await workspace.undo(done.callId)).toMatchObject({ code: 'WRITE_CONFLICT', paths: ['new'] })
    const read = await ok(workspace, 'read_file', { path: 'a.txt' })
    for (const id of [read.callId, 'nonsense', '', '__proto__']) {
      expect(await workspace.undo(id)).toMatchObject({ code: 'NOT_FOUND' })
    }
    expect(await workspace.undo(7 as never)).toMatchObject({ code: 'INVALID_INPUT' })
  })

  it('is subject to policy, plan mode, approvals and a failing audit', async () => {
    const denying = await open({
      policy: { preset: 'autonomous', rules: [{ name: 'no way back', action: 'deny', tools: ['undo'] }] },
    })
    const done = await write(denying.workspace, 'new', 'n\n')
    expect(await denying.workspace.undo(done.callId)).toMatchObject({ code: 'POLICY_DENIED' })
    expect(await textAt(denying.backend, 'new')).toBe('n\n')

    const requests: string[] = []
    const asking = await open({
      policy: 'supervised',
      approve: async ({ tool, diff }) => {
        requests.push(`${tool} ${diff?.includes('-n')}`)
        return tool === 'undo' ? { deny: 'no' } : 'allow'
      },
    })
    const one = await write(asking.workspace, 'new', 'n\n')
    expect(await asking.workspace.undo(one.callId)).toMatchObject({ code: 'APPROVAL_DENIED' })
    expect(requests).toEqual(['write_file false', 'undo true'])

    let broken = false
    const failing = await open({
      audit: callbackSink(() => {
        if (broken) throw new Error('full')
      }),
    })
    const two = await write(failing.workspace, 'new', 'n\n')
    broken = true
    expect(await failing.workspace.undo(two.callId)).toMatchObject({ code: 'AUDIT_FAILED' })
    expect(await textAt(failing.backend, 'new')).toBe('n\n')
  })

  it('is audited with its reason, as intent and outcome', async () => {
    const { workspace } = await open()
    const done = await rewrite(workspace, 'a.txt', 'b\n')
    await workspace.undo(done.callId, { reason: 'it was wrong' })
    const records = workspace.auditRecords().filter(({ toolName }) => toolName === 'undo')
    expect(records.map(({ phase }) => phase)).toEqual(['intent', 'outcome'])
    expect(records[1]).toMatchObject({ pathsWritten: ['a.txt'], reason: 'it was wrong' })
  })

  it('is refused with the limit if the earlier content is no longer kept', async () => {
    const { workspace, backend } = await open({ limits: { journalBytes: 4000 } })
    const big = 'x'.repeat(1500)
    const first = await write(workspace, 'big', big)
    const second = await rewrite(workspace, 'big', `${big}2`)
    const third = await rewrite(workspace, 'big', `${big}3`)
    const fourth = await rewrite(workspace, 'big', `${big}4`)
    for (const { callId } of [first, second]) {
      expect(await workspace.undo(callId)).toMatchObject({ code: 'LIMIT_EXCEEDED', limit: 'journalBytes' })
    }
    expect(await workspace.undo(fourth.callId)).toMatchObject({ ok: true })
    expect(await textAt(backend, 'big')).toBe(`${big}3`)
    expect(third.warnings).toEqual([])
  })

  it('warns of a call that is too large to revert, and refuses its undo', async () => {
    const { workspace } = await open({ limits: { journalBytes: 1000 }, backend: memory({ big: 'x'.repeat(2000) }) })
    const done = await ok(workspace, 'delete_file', { path: 'big' })
    expect(done.warnings.join()).toContain('cannot be undone')
    expect(await workspace.undo(done.callId)).toMatchObject({ code: 'LIMIT_EXCEEDED' })
  })

  it('restores a whole file that is too large for the text tools', async () => {
    const bytes = new Uint8Array(11 * 1024 * 1024).map((_, i) => i * 7)
    const { workspace, backend } = await open({ backend: memory({ big: bytes }) })
    const done = await ok(workspace, 'delete_file', { path: 'big' })
    expect(await workspace.undo(done.callId)).toMatchObject({ ok: true })
    const back = (await backend.read(at('big'))).bytes
    expect(Buffer.compare(back, bytes)).toBe(0)
  })
})

describe('runs', () => {
  it('undo only their own calls; the workspace undoes any call', async () => {
    const { workspace, backend } = await open()
    const one = workspace.run({ id: 'one' })
    const two = workspace.run({ id: 'two' })
    const first = await write(one, 'first', '1\n')
    const second = await write(two, 'second', '2\n')
    expect(await two.undo(first.callId)).toMatchObject({ code: 'NOT_FOUND' })
    expect(await one.undo(first.callId)).toMatchObject({ ok: true })
    expect(await workspace.undo(second.callId)).toMatchObject({ ok: true })
    expect(Object.keys(await snapshot(backend)).sort()).toEqual([
      'a.txt',
      'd',
      'd/sub',
      'd/sub/y.txt',
      'd/x.txt',
      'run.sh',
    ])
  })

  it('roll back to their own checkpoints, and keep changes of others', async () => {
    const { workspace, backend } = await open()
    const one = workspace.run({ id: 'one' })
    const two = workspace.run({ id: 'two' })
    const checkpoint = one.checkpoint('start')
    await write(one, 'first', '1\n')
    await write(two, 'second', '2\n')
    expect(two.checkpoints()).toEqual([])
    expect(await two.rollback(checkpoint.id)).toMatchObject({ code: 'NOT_FOUND' })
    expect(await one.rollback(checkpoint.id)).toMatchObject({ ok: true, paths: ['first'] })
    expect(await textAt(backend, 'second')).toBe('2\n')
    await write(one, 'shared', '1\n')
    await rewrite(two, 'shared', '2\n')
    expect(await one.rollback(checkpoint.id)).toMatchObject({ code: 'WRITE_CONFLICT', paths: ['shared'] })
    expect(await workspace.rollback(checkpoint.id)).toMatchObject({ ok: true })
    expect(await backend.stat(at('shared'))).toBeUndefined()
  })
})

describe('rollback', () => {
  for (const [place, create] of Object.entries(places)) {
    it(`reverts everything since the checkpoint as one call that can be undone, on ${place}`, async () => {
      const { workspace, backend } = await open({ backend: create() })
      const states = [await snapshot(backend)]
      const checkpoints = [workspace.checkpoint('start')]
      for (const mutate of [
        mutations.edit_file,
        mutations['write_file, new with parents'],
        mutations['move_file, a directory'],
      ]) {
        await mutate?.(workspace)
        states.push(await snapshot(backend))
        checkpoints.push(workspace.checkpoint())
      }
      expect(workspace.checkpoints().map(({ id, label }) => [id, label])).toEqual([
        ['checkpoint-1', 'start'],
        ['checkpoint-2', undefined],
        ['checkpoint-3', undefined],
        ['checkpoint-4', undefined],
      ])
      for (const i of [0, 2, 1, 3, 0]) {
        const result = await workspace.rollback(checkpoints[i]?.id ?? '')
        expect(result).toMatchObject({ ok: true })
        expect(await snapshot(backend)).toEqual(states[i])
        expect(await workspace.undo((result as Success).callId)).toMatchObject({ ok: true })
        await workspace.rollback(checkpoints[i]?.id ?? '')
        expect(await snapshot(backend)).toEqual(states[i])
      }
      await workspace.close()
    })
  }

  it('refuses to discard changes by other writers before, between or after the calls', async () => {
    for (const when of ['between', 'after']) {
      const { workspace, backend } = await open()
      const { id } = workspace.checkpoint()
      await rewrite(workspace, 'a.txt', 'one\n')
      if (when === 'between') await commit(backend, change('a.txt', file('theirs\n')))
      await rewrite(workspace, 'a.txt', 'two\n')
      await write(workspace, 'other', 'o\n')
      if (when === 'after') await commit(backend, change('a.txt', file('theirs\n')))
      const before = await snapshot(backend)
      expect(await workspace.rollback(id), when).toMatchObject({ code: 'WRITE_CONFLICT', paths: ['a.txt'] })
      expect(await snapshot(backend)).toEqual(before)
    }
  })

  it('does not touch other paths that others have changed', async () => {
    const { workspace, backend } = await open()
    const { id } = workspace.checkpoint()
    await rewrite(workspace, 'a.txt', 'one\n')
    await commit(backend, change('d/x.txt', file('theirs\n')), change('theirs', file('t')))
    expect(await workspace.rollback(id)).toMatchObject({ ok: true, paths: ['a.txt'] })
    expect(await textAt(backend, 'd/x.txt')).toBe('theirs\n')
  })

  it('changes nothing right after the checkpoint, and rejects unknown checkpoints', async () => {
    const { workspace } = await open()
    const { id } = workspace.checkpoint()
    expect(await workspace.rollback(id)).toMatchObject({ ok: true, paths: [] })
    expect(await workspace.rollback('checkpoint-9')).toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('on disk', () => {
  it('restores bytes, permission bits and directories', async () => {
    const { backend, root } = onDisk()
    const { workspace } = await open({ backend })
    const { id } = workspace.checkpoint()
    await ok(workspace, 'move_file', { path: 'run.sh', to: 'bin/go.sh' })
    await rewrite(workspace, 'bin/go.sh', 'echo\n')
    await ok(workspace, 'delete_file', { path: 'd/sub/y.txt' })
    expect(await workspace.rollback(id)).toMatchObject({ ok: true })
    expect(readFileSync(join(root, 'run.sh'), 'utf8')).toBe('#!/bin/sh\n')
    expect((await backend.stat(at('run.sh')))?.mode).toBe(0o755)
    expect(await backend.stat(at('bin'))).toBeUndefined()
    await workspace.close()
  })
})

describe('a file where a directory was', () => {
  for (const [place, create] of Object.entries(places)) {
    it(`is reverted, and replaced by the files below it, on ${place}`, async () => {
      const backend = create()
      const { workspace } = await open({ backend })
      const fork = await workspace.fork()
      const start = await snapshot(backend)
      for (const one of [workspace, fork]) {
        const { id } = one.checkpoint()
        const before = await ok(one, 'list_directory', { path: 'd', maxDepth: 3 })
        await ok(one, 'move_file', { path: 'd', to: 'e' })
        await write(one, 'd', 'a file\n')
        const back = await one.rollback(id)
        expect(back).toMatchObject({ ok: true })
        expect((await ok(one, 'list_directory', { path: 'd', maxDepth: 3 })).entries).toHaveLength(
          (before.entries as unknown[]).length,
        )
        expect(await one.undo((back as Success).callId)).toMatchObject({ ok: true })
        expect(await ok(one, 'read_file', { path: 'd' })).toMatchObject({ content: 'a file\n' })
        if (one === workspace) expect(await one.rollback(id)).toMatchObject({ ok: true })
      }
      expect(await snapshot(backend)).toEqual(start)
      expect(await fork.commit()).toMatchObject({ ok: true })
      expect(await textAt(backend, 'd')).toBe('a file\n')
      expect(await textAt(backend, 'e/sub/y.txt')).toBe('y\n')
      await fork.close()
      await workspace.close()
    })
  }
})

describe('planRevert', () => {
  const bytes = new TextEncoder().encode('back\n')
  const back = { type: 'file', bytes } as const
  const directory = { type: 'directory' } as const
  const way = (path: string, to: typeof back | typeof directory | null, from: typeof directory | null = null) => ({
    path: at(path),
    to,
    from,
  })
  const refused = (paths: string[]) => ({ code: 'WRITE_CONFLICT', details: expect.objectContaining({ paths }) })

  it('refuses changes by others between two calls, or before the first', () => {
    const entry = {
      ...{ callId: 'c', runId: 'r', tool: 't', at: 0 },
      changes: [{ path: at('a'), before: back, was: directory, became: null }],
    }
    expect(() => invertEntries('go', [entry])).toThrow(expect.objectContaining(refused(['a'])))
  })

  it('names at most five paths that others have changed', async () => {
    const tree = { 'd/x.txt': '', 'd/y.txt': '', e: { directory: true }, f: 'a file', l: { link: 'd' } } as const
    const backend = memory(tree)
    for (const [ways, paths] of [
      [[way('d', back, directory)], ['d/x.txt', 'd/y.txt']],
      [[way('e', back, directory), way('e/in', back)], ['e']],
      [[way('f/in', back)], ['f']],
      [[way('l/x.txt', back)], ['l']],
      [['f', 'd', 'd/x.txt', 'd/y.txt', 'l'].map((path) => way(path, back)), ['d', 'd/x.txt', 'd/y.txt', 'f', 'l']],
    ] as const) {
      await expect(planRevert(backend, 'go', ways)).rejects.toMatchObject(refused([...paths]))
    }
    const many = memory(Object.fromEntries(Array.from({ length: 7 }, (_, i) => [`${i}.txt`, ''])))
    const ways = Array.from({ length: 7 }, (_, i) => way(`${i}.txt`, back))
    await expect(planRevert(many, 'go', ways)).rejects.toThrow(/"4\.txt" and 2 more$/)
  })

  it('refuses a path that disappears while it is checked', async () => {
    const backend = memory({ l: { link: 'a' } })
    const vanishing: Backend = {
      ...backend,
      async readLink(path) {
        const target = await backend.readLink(path)
        await commit(backend, change('l', null))
        return target
      },
    }
    const { changes } = await planRevert(vanishing, 'go', [
      { path: at('l'), to: null, from: { type: 'link', target: 'a' } },
    ])
    await expect(commit(backend, ...changes)).rejects.toMatchObject({ code: 'WRITE_CONFLICT' })
  })

  it('fails with the error of the storage', async () => {
    const failing = faulty(memory({ a: '' }), { on: 'stat', error: 'BACKEND_ERROR' })
    await expect(planRevert(failing, 'go', [way('a', back)])).rejects.toMatchObject({ code: 'BACKEND_ERROR' })
    for (const error of ['PATH_REJECTED', 'NOT_A_DIRECTORY'] as const) {
      const unknown = faulty(memory({ a: '' }), { on: 'stat', error })
      await expect(planRevert(unknown, 'go', [way('a', back)]), 'a path that cannot be read').rejects.toMatchObject(
        refused(['a']),
      )
    }
    const other: Backend = { ...memory(), stat: async () => ({ type: 'other', size: 0, tag: '' }) }
    await expect(planRevert(other, 'go', [way('a', back)])).rejects.toMatchObject(refused(['a']))
  })

  it('creates missing directories in order', async () => {
    const { changes } = await planRevert(memory(), 'go', [way('b/c.txt', back), way('a.txt', back)])
    expect(changes.map(({ path }) => path)).toEqual(['a.txt', 'b', 'b/c.txt'])
  })
})
