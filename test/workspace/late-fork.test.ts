import { afterAll, expect, it, vi } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { editFile, readFile } from '../../src/tools/entry.ts'
import { createWorkspace } from '../../src/workspace/core.ts'

const OVERLAY = '../../src/backends/overlay/index.ts'

afterAll(() => {
  vi.doUnmock(OVERLAY)
})

it('fork() keeps the state of its call while its code is still loading', async () => {
  let loads = 0
  vi.doMock(OVERLAY, async (load) => {
    loads += 1
    await new Promise((resolve) => setTimeout(resolve, 100))
    return load()
  })
  const workspace = await createWorkspace({
    backend: memory({ 'a.txt': 'one\n' }),
    policy: 'autonomous',
    tools: [editFile, readFile],
  })
  const forking = workspace.fork()
  const editing = workspace.call('edit_file', { path: 'a.txt', oldText: 'one', newText: 'two' })
  const [fork, edited] = await Promise.all([forking, editing])
  expect(loads).toBe(1)
  expect(edited).toMatchObject({ ok: true })
  expect(await fork.call('read_file', { path: 'a.txt' })).toMatchObject({ content: 'one\n' })
})
