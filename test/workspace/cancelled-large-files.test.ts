import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { createWorkspace, type WorkspaceFiles } from '../../src/index.ts'
import type { Backend } from '../../src/storage/backend.ts'
import { largeBounds } from '../../src/storage/large-bounds.ts'

/** Smaller than the bounds, so that small files are large ones. */
const PART = 256 * 1024
const small = { fileBytes: 4 * PART, collectedBytes: PART, partBytes: PART, streamPartBytes: 2 * PART }
const bounds = { ...largeBounds }
beforeAll(() => void Object.assign(largeBounds, small))
afterAll(() => void Object.assign(largeBounds, bounds))

const PARTS = 96
const size = PARTS * PART
/** The file is within a private key, which only the search of all that is before a range recognizes. */
const text = `-----BEGIN PRIVATE KEY-----\n${'QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJz\n'.repeat(9000)}-----END PRIVATE KEY-----\n`
const content = new TextEncoder().encode(text.padEnd(size, 'a line of text, and nothing else in it\n'))

/** Opens a workspace over the file, and counts the parts that are read of it. */
async function open() {
  const backend = memory({ big: content })
  const count = { reads: 0, onRead: (): unknown => undefined }
  const workspace = await createWorkspace({
    backend: {
      ...backend,
      async read(path, range) {
        count.reads += 1
        await count.onRead()
        return backend.read(path, range)
      },
    },
    policy: 'autonomous',
    limits: { textFileBytes: PART, commandFileBytes: PART },
  })
  return { workspace, files: workspace.files, count }
}

const textOf = (stream: ReadableStream<Uint8Array>) => new Response(stream as unknown as BodyInit).text()

/** Calls that search the file for secrets. */
const calls: Readonly<Record<string, (files: WorkspaceFiles, signal?: AbortSignal) => Promise<unknown>>> = {
  'a range at the end': (files, signal) => files.readBytes('big', { start: size - 100, signal: signal as AbortSignal }),
  'most of the file': (files, signal) => files.readBytes('big', { start: 10 * PART, signal: signal as AbortSignal }),
  'a stream of its second half': async (files, signal) =>
    textOf(await files.readable('big', { start: 48 * PART, signal: signal as AbortSignal })),
}

describe('a cancelled search of a large file', () => {
  it.each(Object.entries(calls))('ends %s at the next part', async (_, call) => {
    const { workspace, files, count } = await open()
    const stop = new AbortController()
    let after = 0
    count.onRead = () => {
      if (stop.signal.aborted) after += 1
      if (count.reads === 20) stop.abort()
    }
    await expect(call(files, stop.signal)).rejects.toMatchObject({ code: 'ABORTED' })
    expect(count.reads).toBeGreaterThanOrEqual(20)
    expect(after).toBeLessThan(4)
    await workspace.close()
  })

  it.each(Object.entries(calls))('lets the event loop turn in %s', async (_, call) => {
    const { workspace, files, count } = await open()
    const stop = new AbortController()
    setTimeout(() => stop.abort(), 1)
    await expect(call(files, stop.signal)).rejects.toMatchObject({ code: 'ABORTED' })
    expect(count.reads).toBeLessThan(PARTS)
    await workspace.close()
  })

  it('goes on for other calls, and finds the same secrets', async () => {
    const { workspace, files, count } = await open()
    const stop = new AbortController()
    count.onRead = () => void (count.reads === 20 && stop.abort())
    const inKey = { start: Math.trunc(text.length / 2), end: Math.trunc(text.length / 2) + 10 }
    const answers = await Promise.allSettled([
      files.readBytes('big', { start: size - 200, signal: stop.signal }),
      files.readBytes('big', { start: size - 100 }),
      files.readBytes('big', inKey),
      files.readBytes('big', { start: size - 300, signal: stop.signal }),
    ])
    expect(answers).toMatchObject([
      { status: 'rejected', reason: { code: 'ABORTED' } },
      { status: 'fulfilled', value: content.subarray(size - 100) },
      { status: 'rejected', reason: { code: 'FILE_TOO_LARGE' } },
      { status: 'rejected', reason: { code: 'ABORTED' } },
    ])
    await workspace.close()
  })

  it('lets other calls go on, although its storage does not answer', async () => {
    const { workspace, files, count } = await open()
    const stop = new AbortController()
    const range = { start: size - 100 }
    count.onRead = () => {
      if (count.reads !== 20) return undefined
      stop.abort()
      return new Promise(() => {})
    }
    await expect(files.readBytes('big', { ...range, signal: stop.signal })).rejects.toMatchObject({ code: 'ABORTED' })
    expect(await files.readBytes('big', range)).toEqual(content.subarray(size - 100))
    await workspace.close()
  })

  // The parts are searched for marks, and then for the secret.
  it.each([10, 50])('changes nothing, where a stream replaces a file with a secret, at part %d', async (last) => {
    const root = await mkdtemp(join(tmpdir(), 'wardspace-cancelled-'))
    const backend = nodeBackend(root)
    const stop = new AbortController()
    let reads = 0
    const workspace = await createWorkspace({
      backend: {
        ...backend,
        async stage(path) {
          const sink = await (backend.stage as NonNullable<Backend['stage']>)(path)
          return {
            ...sink,
            async finish() {
              const staged = await sink.finish()
              const read = staged.read.bind(staged)
              return Object.assign(staged, {
                read(start: number, end: number) {
                  reads += 1
                  if (reads === last) stop.abort()
                  return read(start, end)
                },
              })
            },
          }
        },
      },
      policy: 'autonomous',
    })
    const { files } = workspace
    await files.write('token.txt', `token = "ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}"\n`)
    const writer = (await files.writable('token.txt', { signal: stop.signal })).getWriter()
    for (let at = 0; at < 40; at++) await writer.write(new Uint8Array(PART).fill(0x20))
    await expect(writer.close()).rejects.toMatchObject({ code: 'ABORTED' })
    expect(reads).toBeGreaterThanOrEqual(last)
    expect(reads).toBeLessThan(last + 3)
    expect(await files.readText('token.txt')).toMatch(/^token = "\[REDACTED/)
    await workspace.close()
    await rm(root, { recursive: true })
  })
})

describe('a cancelled call on a file that is not large', () => {
  beforeAll(() => void Object.assign(largeBounds, bounds))
  afterAll(() => void Object.assign(largeBounds, small))

  /** Calls that search the whole file for secrets, in several turns of the event loop. */
  const searches: Readonly<Record<string, (files: WorkspaceFiles, signal: AbortSignal) => Promise<unknown>>> = {
    readBytes: (files, signal) => files.readBytes('big', { signal }),
    'readBytes of a range': (files, signal) => files.readBytes('big', { start: 1, signal }),
    readText: (files, signal) => files.readText('big', { signal }),
    copy: (files, signal) => files.copy('big', 'copy', { signal }),
    append: (files, signal) => files.append('big', 'x', { signal }),
  }

  it.each(Object.entries(searches))('ends %s within a few turns', async (_, search) => {
    const workspace = await createWorkspace({ backend: memory({ big: content }), policy: 'autonomous' })
    const stop = new AbortController()
    let turns = 0
    let isDone = false
    const count = () => {
      if (isDone) return
      if (stop.signal.aborted) turns += 1
      else stop.abort()
      setImmediate(count)
    }
    setImmediate(count)
    await expect(search(workspace.files, stop.signal)).rejects.toMatchObject({ code: 'ABORTED' })
    isDone = true
    expect(turns).toBeLessThan(4)
    await workspace.close()
  })
})
