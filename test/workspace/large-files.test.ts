import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createFs } from '../../src/adapters/fs/index.ts'
import { memorySink } from '../../src/audit/sinks.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { createWorkspace, type WorkspaceOptions } from '../../src/index.ts'
import type { Backend } from '../../src/storage/backend.ts'
import { largeBounds } from '../../src/storage/large-bounds.ts'
import { mounts } from '../../src/storage/mounts.ts'
import { straysIn } from '../backends/node/tree.ts'
import { isLong } from '../counts.ts'

/** Less than a tenth of the bounds, so that small files are large ones. */
const smallBounds = {
  fileBytes: 5 * 1024 * 1024,
  collectedBytes: 640 * 1024,
  partBytes: 320 * 1024,
  streamPartBytes: 640 * 1024,
}
const bounds = { ...largeBounds }
beforeAll(() => void Object.assign(largeBounds, smallBounds))
afterAll(() => void Object.assign(largeBounds, bounds))

/** A 64th of a large file. */
const UNIT = 80 * 1024
const LARGE = 64 * UNIT
const TOKEN = `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`

const cleanUps: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

const limits = { textFileBytes: 10 * UNIT, commandFileBytes: LARGE, journalBytes: LARGE }

/** Opens a workspace over a directory, and counts the most bytes that a commit, a write or a read has in memory at once. */
async function onDisk(options: Partial<WorkspaceOptions> = {}, over = (backend: Backend) => backend) {
  const base = await mkdtemp(join(tmpdir(), 'large-'))
  const root = join(base, 'root')
  await mkdir(root)
  const backend = over(nodeBackend(root, { stateDir: join(base, 'state') }))
  const held = { most: 0 }
  const note = (bytes: number) => {
    held.most = Math.max(held.most, bytes)
  }
  const counted: Backend = {
    ...backend,
    async read(path, range) {
      const read = await backend.read(path, range)
      note(read.bytes.length)
      return read
    },
    commit(changes, commitOptions) {
      note(changes.reduce((sum, { to }) => sum + (to?.type === 'file' ? to.bytes.length : 0), 0))
      return backend.commit(changes, commitOptions)
    },
    async stage(path) {
      const sink = await (backend.stage as NonNullable<Backend['stage']>)(path)
      return {
        ...sink,
        write(bytes) {
          note(bytes.length)
          return sink.write(bytes)
        },
      }
    },
  }
  const workspace = await createWorkspace({
    backend: counted,
    policy: 'autonomous',
    audit: memorySink(),
    ...options,
    limits: { ...limits, ...options.limits },
  })
  cleanUps.push(async () => {
    await workspace.close()
    expect(straysIn(root)).toEqual([])
    await rm(base, { recursive: true })
  })
  return { workspace, files: workspace.files, root, held }
}

/** Writes a stream of zeros, with texts at offsets. Returns the hash of the content. */
async function writeZeros(
  writable: WritableStream<Uint8Array | string>,
  size: number,
  texts: Readonly<Record<number, string>> = {},
): Promise<string> {
  const writer = writable.getWriter()
  const hash = createHash('sha256')
  for (let at = 0; at < size; at += UNIT) {
    const chunk = Buffer.alloc(Math.min(UNIT, size - at))
    for (const [offset, text] of Object.entries(texts)) {
      // A text may begin in one chunk and end in the next one.
      for (let i = 0; i < text.length; i++) {
        const place = Number(offset) + i - at
        if (place >= 0 && place < chunk.length) chunk[place] = text.charCodeAt(i)
      }
    }
    hash.update(chunk)
    await writer.write(chunk)
  }
  await writer.close()
  return hash.digest('hex')
}

async function hashOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  const hash = createHash('sha256')
  for await (const part of stream as unknown as AsyncIterable<Uint8Array>) hash.update(part)
  return hash.digest('hex')
}

describe('a large file on disk', () => {
  it('is written, read, copied, renamed, extended and undone part by part', async () => {
    const { workspace, files, root, held } = await onDisk()
    const size = 65 * UNIT
    const sha256 = await writeZeros(await files.writable('d/big'), size, { 0: 'head', [size - 4]: 'tail' })
    expect(await hashOf(await files.readable('d/big'))).toBe(sha256)
    await files.copy('d/big', 'copy')
    await files.rename('copy', 'e/moved')
    expect(await hashOf(await files.readable('e/moved'))).toBe(sha256)
    const { sha256: longer } = await files.append('e/moved', 'end')
    expect((await readFile(join(root, 'e/moved'))).subarray(-7).toString()).toBe('tailend')
    expect(
      createHash('sha256')
        .update(await readFile(join(root, 'e/moved')))
        .digest('hex'),
    ).toBe(longer)
    await files.write('e/moved', 'small')
    expect(await files.readText('e/moved')).toBe('small')
    expect(held.most).toBeLessThanOrEqual(size / 3)

    const records = workspace.auditRecords().filter(({ phase }) => phase === 'outcome')
    const written = records.find(({ via }) => via === 'files.write')
    expect(written).toMatchObject({ toolName: 'write_file', newSha256: { 'd/big': sha256 } })
    const appended = records.find(({ via }) => via === 'files.append')
    expect(appended).toMatchObject({ oldSha256: { 'e/moved': sha256 }, newSha256: { 'e/moved': longer } })
    await workspace.undo(written?.toolCallId ?? '')
    expect(await readdir(root)).toEqual(['e'])
  })

  it('is not there when its stream is aborted, or its call is refused', async () => {
    const { files, root } = await onDisk({
      policy: {
        preset: 'autonomous',
        rules: [{ name: 'no', action: 'deny', permissions: ['file:write:*'], paths: ['no/**'] }],
      },
    })
    const aborted = (await files.writable('a')).getWriter()
    for (let i = 0; i < 10; i++) await aborted.write(new Uint8Array(UNIT))
    expect((await readdir(root)).filter((name) => name.endsWith('.tmp')).length).toBe(1)
    await aborted.abort()
    expect(await readdir(root)).toEqual([])
    const refused = await files.writable('no/b')
    await expect(writeZeros(refused, 20 * UNIT)).rejects.toMatchObject({ code: 'POLICY_DENIED' })
    const late = await files.writable('c', { expectedSha256: '0'.repeat(64) })
    await expect(writeZeros(late, 20 * UNIT)).rejects.toMatchObject({ code: 'WRITE_CONFLICT' })
    expect(await readdir(root)).toEqual([])
  })

  it('is bounded by the budget of the run while it is written', async () => {
    const { files, root } = await onDisk({ limits: { bytesWrittenPerRun: 10 * UNIT } })
    await expect(writeZeros(await files.writable('a'), 20 * UNIT)).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' })
    expect(await readdir(root)).toEqual([])
    await files.write('b', new Uint8Array(9 * UNIT))
  })

  it('is seen whole by hooks and by rules on the content', async () => {
    const seen: unknown[] = []
    const { files, held } = await onDisk({ hooks: { preToolCall: ({ input }) => void seen.push(input.content) } })
    await writeZeros(await files.writable('a'), 10 * UNIT)
    expect(String(seen[0]).length).toBe(10 * UNIT)
    expect(held.most).toBe(10 * UNIT)
    const ruled = await onDisk({
      policy: {
        preset: 'autonomous',
        rules: [{ name: 'no', action: 'deny', tools: ['write_file'], args: { content: ['**evil**'] } }],
      },
    })
    const write = writeZeros(await ruled.files.writable('a'), 10 * UNIT, { [9 * UNIT]: 'evil' })
    await expect(write).rejects.toMatchObject({ code: 'POLICY_DENIED' })
  })

  it('does not show a secret that it hid before, at any offset', async () => {
    const { files, root } = await onDisk()
    const text = `token = "${TOKEN}"\n`
    await files.write('t', text)
    const piece = TOKEN.slice(6, 30)
    // Within a part, across the end of a part, and at the end of the file.
    for (const offset of [9 * UNIT, 4 * UNIT - 10, 10 * UNIT - piece.length]) {
      const write = writeZeros(await files.writable('t'), 10 * UNIT, { [offset]: piece })
      await expect(write, String(offset)).rejects.toMatchObject({ code: 'POLICY_DENIED_SECRET' })
    }
    const marked = writeZeros(await files.writable('t'), 10 * UNIT, { [4 * UNIT - 10]: '[REDACTED:github-token:1]' })
    await expect(marked).rejects.toMatchObject({ code: 'POLICY_DENIED_SECRET' })
    expect(await readFile(join(root, 't'), 'utf8')).toBe(text)
    // It is a mark again where it is recognized. After so many refusals, only a new workspace changes anything beside secrets.
    const next = await createWorkspace({ backend: nodeBackend(root), policy: 'autonomous', limits })
    cleanUps.push(() => next.close())
    await writeZeros(await next.files.writable('t'), 10 * UNIT, { [4 * UNIT - 20]: text })
    const shown = await files.readBytes('t', { start: 4 * UNIT - 100, end: 4 * UNIT + 200 })
    expect(Buffer.from(shown).toString('latin1')).toContain('[REDACTED:github-token:1]')
  })

  it('is written by a stream of wardspace/fs part by part, and only if the stream ends', async () => {
    const { workspace, root, held } = await onDisk()
    const fs = createFs(workspace)
    const size = 40 * UNIT
    const parts = Array.from({ length: 40 }, (_, i) => Buffer.alloc(UNIT, i))
    await pipeline(Readable.from(parts), fs.createWriteStream('/big') as unknown as Writable)
    expect((await readFile(join(root, 'big'))).equals(Buffer.concat(parts))).toBe(true)
    expect(held.most).toBeLessThanOrEqual(size / 10)
    const failing = Readable.from(
      (function* () {
        yield* parts
        throw new Error('the source failed')
      })(),
    )
    const failed = pipeline(failing, fs.createWriteStream('/other') as unknown as Writable)
    await expect(failed).rejects.toThrow('the source failed')
    const exclusive = pipeline(
      Readable.from(parts),
      fs.createWriteStream('/big', { flags: 'wx' }) as unknown as Writable,
    )
    await expect(exclusive).rejects.toMatchObject({ code: 'EEXIST' })
    // A pipeline ends before the stream that it destroys has removed its file.
    await expect.poll(() => readdir(root)).toEqual(['big'])
  })

  it.runIf(isLong)('moves and is written within mounts', async () => {
    const other = await onDisk()
    const backend = nodeBackend(other.root)
    cleanUps.push(() => backend.close())
    const { files, held } = await onDisk({}, (inner) => mounts({ '': inner, m: backend }))
    const size = 65 * UNIT
    const sha256 = await writeZeros(await files.writable('m/big'), size)
    await files.rename('m/big', 'm/d/moved')
    expect(await hashOf(await files.readable('m/d/moved'))).toBe(sha256)
    expect(held.most).toBeLessThanOrEqual(size / 3)
    expect(mounts({ '': memory(), n: backend }).stage, 'a part without stage').toBeUndefined()
  })
})
