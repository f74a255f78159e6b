import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { createWorkspace, type Path } from '../../src/index.ts'
import type { Backend } from '../../src/storage/backend.ts'
import { faulty } from '../../src/testing/index.ts'
import { straysIn, treeOf } from '../backends/node/tree.ts'
import { snapshot } from '../tools/setup.ts'

const base = realpathSync(mkdtempSync(join(tmpdir(), 'patch-mounts-')))
afterAll(() => rmSync(base, { recursive: true, force: true }))

let disks = 0
function onDisk(): { backend: Backend; root: string } {
  const directory = join(base, String(disks++))
  const root = join(directory, 'root')
  mkdirSync(root, { recursive: true })
  writeFileSync(join(root, 'x.txt'), 'x\n')
  return { backend: nodeBackend(root, { stateDir: join(directory, 'state') }), root }
}

/** Changes `x.txt` and creates a file in a new directory, at each location. */
const patchOf = (...places: string[]) =>
  places
    .flatMap((location) => [
      `--- a/${location}x.txt\n+++ b/${location}x.txt\n@@ -1 +1 @@\n-x\n+changed\n`,
      `--- /dev/null\n+++ b/${location}new/y.txt\n@@ -0,0 +1 @@\n+y\n`,
    ])
    .join('')

const before = [['x.txt', 'file x\n']]
const after = [
  ['new', 'directory'],
  ['new/y.txt', 'file y\n'],
  ['x.txt', 'file changed\n'],
]

describe('a patch over mounts', () => {
  it('is refused as a whole over two persistent mounts, without changes', async () => {
    const [first, second] = [onDisk(), onDisk()]
    const third = memory({ 'x.txt': 'x\n' })
    const workspace = await createWorkspace({
      mounts: { '': first.backend, other: second.backend, quick: third },
      policy: 'autonomous',
    })
    const there = await snapshot(third)
    for (const patch of [patchOf('', 'other/'), patchOf('quick/', 'other/', '')]) {
      expect(await workspace.call('apply_patch', { patch })).toMatchObject({
        ok: false,
        code: 'INVALID_INPUT',
        message: expect.stringContaining('two persistent mounts'),
      })
    }
    for (const { root } of [first, second]) expect([...treeOf(root)]).toEqual(before)
    expect(await snapshot(third)).toEqual(there)
    // A patch of files on one mount is applied.
    expect(await workspace.call('apply_patch', { patch: patchOf('other/') })).toMatchObject({ ok: true })
    expect([...treeOf(first.root)]).toEqual(before)
    expect([...treeOf(second.root)]).toEqual(after)
    await workspace.close()
  })

  it('is atomic over a persistent and a volatile mount', async () => {
    const disk = onDisk()
    const workspace = await createWorkspace({
      mounts: { '': disk.backend, quick: memory({ 'x.txt': 'x\n' }) },
      policy: 'autonomous',
    })
    const answer = await workspace.call('apply_patch', { patch: patchOf('', 'quick/') })
    expect(answer).toMatchObject({ ok: true, applied: true })
    expect([...treeOf(disk.root)]).toEqual(after)
    for (const [path, content] of [
      ['quick/x.txt', 'changed\n'],
      ['quick/new/y.txt', 'y\n'],
    ] as const) {
      expect(await workspace.call('read_file', { path })).toMatchObject({ ok: true, content })
    }
    if (answer.ok) expect(await workspace.undo(answer.callId)).toMatchObject({ ok: true })
    expect([...treeOf(disk.root)]).toEqual(before)
    expect(await workspace.call('read_file', { path: 'quick/x.txt' })).toMatchObject({ ok: true, content: 'x\n' })
    expect(await workspace.call('file_info', { path: 'quick/new' })).toMatchObject({ code: 'NOT_FOUND' })
    await workspace.close()
  })

  it('leaves the volatile mount unchanged if the persistent one refuses', async () => {
    const disk = onDisk()
    const quick = memory({ 'x.txt': 'x\n' })
    // Another process changes the file between the evaluation of the patch and its commit.
    const raced = faulty(disk.backend, {
      on: 'commit',
      run: () => writeFileSync(join(disk.root, 'x.txt'), 'of someone else\n'),
    })
    const workspace = await createWorkspace({ mounts: { '': raced, quick }, policy: 'autonomous' })
    const there = await snapshot(quick)
    expect(await workspace.call('apply_patch', { patch: patchOf('', 'quick/') })).toMatchObject({
      ok: false,
      code: 'WRITE_CONFLICT',
    })
    expect(await snapshot(quick)).toEqual(there)
    expect(await quick.stat('new' as Path)).toBeUndefined()
    expect([...treeOf(disk.root)]).toEqual([['x.txt', 'file of someone else\n']])
    expect(straysIn(disk.root)).toEqual([])
    await workspace.close()
  })
})
