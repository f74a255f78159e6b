import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { createWorkspace } from '../../src/index.ts'

const MIB = 1024 * 1024
const SIZE = 2048 * MIB

/** Memory above that at the start. */
const MAX_MEMORY = 200 * MIB

it('2 GiB are written, read, copied and undone on a disk with little memory', async () => {
  const base = await mkdtemp(join(tmpdir(), 'two-gib-'))
  const root = join(base, 'root')
  await mkdir(root)
  const backend = nodeBackend(root, { stateDir: join(base, 'state') })
  const workspace = await createWorkspace({ backend, policy: 'autonomous', limits: { bytesWrittenPerRun: 3 * SIZE } })
  const { files } = workspace
  const start = process.memoryUsage().rss
  let peak = 0
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss - start)
  }, 20)
  try {
    const written = createHash('sha256')
    const chunk = Buffer.alloc(4 * MIB)
    const writer = (await files.writable('big')).getWriter()
    for (let at = 0; at < SIZE; at += chunk.length) {
      chunk.writeUInt32LE(at / MIB, at % (chunk.length - 4))
      written.update(chunk)
      await writer.write(chunk)
    }
    await writer.close()
    await files.copy('big', 'copy')
    const read = createHash('sha256')
    for await (const part of (await files.readable('copy')) as unknown as AsyncIterable<Uint8Array>) read.update(part)
    expect(read.digest('hex')).toBe(written.digest('hex'))
    for (const { callId } of workspace.history().entries.toReversed()) await workspace.undo(callId)
    expect(await readdir(root)).toEqual([])
  } finally {
    clearInterval(timer)
    await workspace.close()
    await rm(base, { recursive: true })
  }
  console.log(`Peak memory above the start: ${Math.round(peak / MIB)} MiB`)
  expect(peak).toBeLessThan(MAX_MEMORY)
}, 3_600_000)
