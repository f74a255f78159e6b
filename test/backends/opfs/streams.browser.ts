import { describe, expect, it } from 'vitest'
import { opfs } from '../../../src/backends/opfs/index.ts'
import { createSha256 } from '../../../src/files/hash/sha256.ts'
import { createWorkspace } from '../../../src/index.ts'
import type { Path } from '../../../src/paths/logical-path.ts'
import type { Backend } from '../../../src/storage/backend.ts'
import { times } from '../../counts.ts'
import { freshName, removeWorkspace } from './subjects.ts'

const MIB = 1024 * 1024

/** Mebibytes of the file. A profile of a test, which is in memory, has room for twice that. */
const COUNT = times(10, 512)

async function stateOf(name: string): Promise<FileSystemDirectoryHandle> {
  const all = await (await navigator.storage.getDirectory()).getDirectoryHandle('wardspace')
  return (await all.getDirectoryHandle(name)).getDirectoryHandle('state')
}

async function namesIn(directory: FileSystemDirectoryHandle): Promise<string[]> {
  const names: string[] = []
  for await (const name of directory.keys()) names.push(name)
  return names
}

describe('a large file in the storage of the browser', () => {
  it(
    'is stored while it is written, and undone',
    async () => {
      const name = freshName()
      const backend = await opfs({ name, layout: 'files' })
      const most = { bytes: 0 }
      const counted: Backend = {
        ...backend,
        commit(changes, options) {
          for (const { to } of changes) if (to?.type === 'file') most.bytes = Math.max(most.bytes, to.bytes.length)
          return backend.commit(changes, options)
        },
      }
      const limits = { bytesWrittenPerRun: 3 * 2048 * MIB }
      const workspace = await createWorkspace({ backend: counted, policy: 'autonomous', limits })
      try {
        const writer = (await workspace.files.writable('d/big')).getWriter()
        const written = createSha256()
        for (let i = 0; i < COUNT; i++) {
          const part = new Uint8Array(MIB).fill(i)
          written.update(part)
          await writer.write(part)
        }
        // Beside it, Chromium may have the file of a stream that is open.
        const names = (await namesIn(await stateOf(name))).filter((file) => !file.endsWith('.crswap'))
        expect(names.map((file) => file.slice(0, 7))).toEqual(['stream-'])
        await writer.close()
        await workspace.files.copy('d/big', 'copy')
        const read = createSha256()
        const reader = (await workspace.files.readable('copy')).getReader()
        for (let part = await reader.read(); part.value !== undefined; part = await reader.read())
          read.update(part.value)
        expect(read.digest()).toBe(written.digest())
        // A copy of a file up to 64 MiB is in memory.
        expect(most.bytes).toBe(times(10 * MIB, 64 * 1024))
        const aborted = (await workspace.files.writable('d/other')).getWriter()
        for (let i = 0; i < 10; i++) await aborted.write(new Uint8Array(MIB))
        await aborted.abort()
        expect(await namesIn(await stateOf(name))).toEqual([])
        for (const { callId } of workspace.history().entries.toReversed()) await workspace.undo(callId)
        expect(await workspace.files.entries()).toEqual([])
      } finally {
        await workspace.close()
        await removeWorkspace(name)
      }
    },
    times(60_000, 3_600_000),
  )

  it('is removed after its tab was killed, and not while it is written', async () => {
    const name = freshName()
    const first = await opfs({ name, layout: 'files' })
    const sink = await first.stage?.('kept' as Path)
    await sink?.write(new Uint8Array(5))
    const state = await stateOf(name)
    // As a killed tab leaves it: without a lock.
    await state.getFileHandle('stream-killed', { create: true })
    const second = await opfs({ name, layout: 'files' })
    await second.stat('' as Path)
    expect((await namesIn(state)).filter((file) => !file.endsWith('.crswap'))).toHaveLength(1)
    const content = await sink?.finish()
    if (content === undefined) throw new Error('no content')
    await first.commit(
      [{ path: 'kept' as Path, expect: 'absent', to: { type: 'file', bytes: new Uint8Array(5), content } }],
      { durability: 'durable' },
    )
    expect((await second.read('kept' as Path)).bytes.length).toBe(5)
    await first.close()
    await second.close()
    expect(await namesIn(state)).toEqual([])
    await removeWorkspace(name)
  })
})
