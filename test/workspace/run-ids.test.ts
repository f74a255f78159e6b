import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace, type Workspace, type WorkspaceOptions, type WorkspaceRun } from '../../src/index.ts'

const open = (options: Partial<WorkspaceOptions> = {}) =>
  createWorkspace({ backend: memory({ 'a.txt': 'a\n' }), policy: 'autonomous', run: { id: 'first' }, ...options })

type Opener = (workspace: Workspace, id: string) => WorkspaceRun | Promise<WorkspaceRun>

const openers: Readonly<Record<string, Opener>> = {
  run: (workspace, id) => workspace.run({ id }),
  fork: (workspace, id) => workspace.fork({ id }),
  'run of a fork': async (workspace, id) => (await workspace.fork()).run({ id }),
  'fork of a fork': async (workspace, id) => (await workspace.fork()).fork({ id }),
}

/** Every way in which a run of the workspace can have an id, and the id. */
const taken: Readonly<Record<string, (workspace: Workspace) => Promise<string>>> = {
  'the run of the workspace': async ({ id }) => id,
  'an open run': async (workspace) => workspace.run({ id: 'x' }).id,
  'a run with a random id': async (workspace) => workspace.run().id,
  async 'a closed run'(workspace) {
    const run = workspace.run({ id: 'x' })
    await run.close()
    return run.id
  },
  'an open fork': async (workspace) => (await workspace.fork({ id: 'x' })).id,
  'a run of a fork': async (workspace) => (await workspace.fork()).run({ id: 'x' }).id,
  async 'a closed fork'(workspace) {
    const fork = await workspace.fork({ id: 'x' })
    await fork.close()
    return fork.id
  },
}

describe('the id of a run', () => {
  const pairs = Object.entries(openers).flatMap(([opener, make]) =>
    Object.entries(taken).map(([owner, take]) => [opener, owner, make, take] as const),
  )

  it.each(pairs)('is refused for a %s if it is that of %s', async (_opener, _owner, make, take) => {
    const workspace = await open()
    const id = await take(workspace)
    const opening = (async () => make(workspace, id))()
    await expect(opening).rejects.toThrow(new TypeError(`Another run has the id "${id}"`))
    expect((await make(workspace, 'another')).id).toBe('another')
  })

  it('is refused if the option ids repeats it', async () => {
    const workspace = await open({ ids: () => 'same', run: {} })
    expect(() => workspace.run()).toThrow(TypeError)
    await expect(workspace.fork()).rejects.toThrow('"same"')
  })

  it('is refused if the history of the workspace has it, and is valid in another workspace', async () => {
    const backend = memory({ 'a.txt': 'a\n' })
    const first = await open({ backend })
    await first.run({ id: 'x' }).call('append_file', { path: 'a.txt', content: 'b\n' })
    const history = first.history()
    await expect(open({ backend, history, run: { id: 'x' } })).rejects.toThrow('"x"')
    const second = await open({ backend, history })
    expect(() => second.run({ id: 'x' })).toThrow('"x"')
    expect((await open({ backend, run: { id: 'x' } })).id).toBe('x')
  })

  it('is free again if the run could not be opened', async () => {
    const workspace = await open()
    expect(() => workspace.run({ id: 'x', task: { text: 't', scope: [''] } })).toThrow(TypeError)
    expect(workspace.run({ id: 'x' }).id).toBe('x')
  })
})

describe('the id of an approval', () => {
  it('is refused while another call waits with it', async () => {
    const workspace = await open({ policy: 'supervised', ids: () => 'same' })
    expect(await workspace.call('append_file', { path: 'a.txt', content: 'one\n' })).toMatchObject({
      code: 'APPROVAL_REQUIRED',
      approvalId: 'same',
    })
    const second = await workspace.call('delete_file', { path: 'a.txt' })
    expect(second).toMatchObject({ code: 'BACKEND_ERROR', hint: expect.stringContaining('ids') })
    expect(await workspace.resume('same', 'allow')).toMatchObject({ ok: true })
    expect(await workspace.files.readText('a.txt')).toBe('a\none\n')
  })
})
