import { afterAll, expect, it, vi } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'

const OVERLAY = '../../src/backends/overlay/index.ts'

afterAll(() => {
  vi.doUnmock(OVERLAY)
  vi.resetModules()
})

it('fork() keeps the state of its call while its code is still loading', async () => {
  vi.resetModules()
  vi.doMock(OVERLAY, async (load) => {
    await new Promise((resolve) => setTimeout(resolve, 100))
    return load()
  })
  const { createWorkspace } = await import('../../src/workspace/core.ts')
  const { editFile, readFile } = await import('../../src/tools/entry.ts')
  const workspace = await createWorkspace({
    backend: memory({ 'a.txt': 'one\n' }),
    policy: 'autonomous',
    tools: [editFile, readFile],
  })
  const forking = workspace.fork()
  const editing = workspace.call('edit_file', { path: 'a.txt', oldText: 'one', newText: 'two' })
  const [fork, edited] = await Promise.all([forking, editing])
  expect(edited).toMatchObject({ ok: true })
  expect(await fork.call('read_file', { path: 'a.txt' })).toMatchObject({ content: 'one\n' })
})
