import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import type { BatchJob } from '../../../src/backends/node/read-batches.ts'
import type { Path } from '../../../src/paths/logical-path.ts'
import type { Backend, Stat } from '../../../src/storage/backend.ts'
import { closeAfterEach, place } from './setup.ts'
import { meddling, refusing } from './system-calls.ts'

closeAfterEach()

const FILES = 110
/** A scan of fewer files has one thread. */
const TIMES = 10

/** A tree of many ordinary files, and a few entries of every other kind. */
function placeMany() {
  const files: Record<string, string> = {}
  for (let i = 0; i < FILES; i++) files[`d${i % 10}/e${i % 3}/f${i}.txt`] = `content ${i}\n`.repeat(i % 50)
  const placed = place({ ...files, 'top.txt': 'top', 'large.txt': 'l'.repeat(1_200_000), 'empty.txt': '' })
  const { root, base } = placed
  mkdirSync(join(base, 'outside'))
  writeFileSync(join(base, 'outside', 'secret.txt'), 'OUTSIDE')
  symlinkSync(join(base, 'outside'), join(root, 'link'))
  symlinkSync('top.txt', join(root, 'file-link'))
  symlinkSync('d1', join(root, 'inner-link'))
  execFileSync('mkfifo', [join(root, 'fifo')])
  writeFileSync(join(root, `.wardspace-${'0'.repeat(32)}.tmp`), 'temporary')
  const odd = [
    'link/secret.txt',
    'file-link',
    'inner-link/e1/f1.txt',
    'fifo',
    'd1',
    'missing/a',
    'top.txt/below',
    'd2/gone',
  ]
  const ordinary = [...Object.keys(files), 'top.txt', 'large.txt', 'empty.txt']
  const paths = [...ordinary, ...odd, `.wardspace-${'0'.repeat(32)}.tmp`].sort() as Path[]
  ordinary.sort()
  return { ...placed, paths: repeated(paths), ordinary: repeated(ordinary) }
}

const repeated = <T>(items: readonly T[]): T[] => Array.from({ length: TIMES }, () => items).flat()

interface Visit {
  readonly path: string
  readonly content: string
  readonly stat: Stat
}

async function visits(backend: Backend, paths: readonly Path[], end = Number.POSITIVE_INFINITY, maxBytes?: number) {
  const seen: Visit[] = []
  await backend.scan?.(
    paths,
    (path, bytes, stat) => {
      seen.push({ path, content: Buffer.from(bytes).toString('latin1'), stat })
      return seen.length < end
    },
    maxBytes,
  )
  return seen
}

/** Lets the other thread start. */
const wait = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

const descriptors = () => readdirSync('/proc/self/fd').length

// Only Linux has descriptors with paths. On other platforms a scan has one thread, so there is nothing to test here.
describe.skipIf(process.platform !== 'linux')('a scan with two threads', () => {
  it('visits ordinary files in order, with the content and stat of single reads', async () => {
    const { root, backend, paths, ordinary } = placeMany()
    for (const maxBytes of [undefined, 200]) {
      const seen = await visits(backend, paths, undefined, maxBytes)
      expect(seen.map(({ path }) => path)).toEqual(ordinary)
      for (const { path, content, stat } of seen) {
        const whole = readFileSync(join(root, path), 'latin1')
        expect([path, content]).toEqual([path, whole.length > (maxBytes ?? whole.length) ? '' : whole])
        expect(stat).toEqual(await backend.stat(path as Path))
      }
    }
  })

  it('reads in the other thread while the program does something else', async () => {
    const { backend, paths } = placeMany()
    await visits(backend, paths)
    let opened = 0
    const count = (real: () => unknown, location: string) => {
      if (location.endsWith('.txt')) opened += 1
      return real()
    }
    let visited = 0
    await meddling('openSync', count, async () =>
      backend.scan?.(paths, () => {
        if (visited === 0) wait(1000)
        return ++visited > 0
      }),
    )
    // Four batches of 64 files are read ahead; a busy machine may not run the thread while the program reads the rest.
    expect(opened).toBeLessThan(visited - 128)
  })

  it('ends when the visitor says so, throws what it throws, and leaves no descriptor open', async () => {
    const { backend, paths, ordinary } = placeMany()
    await visits(backend, paths)
    wait(100)
    const before = descriptors()
    for (const end of [1, 2, 63, 64, 65, 200, 500, 690]) {
      expect((await visits(backend, paths, end)).map(({ path }) => path)).toEqual(ordinary.slice(0, end))
      let left = end
      const failing = backend.scan?.(paths, () => {
        if (left-- === 0) throw new Error('from the visitor')
        return true
      })
      await expect(failing).rejects.toThrow('from the visitor')
    }
    await expect.poll(descriptors).toBeLessThanOrEqual(before)
  })

  it('runs scans at once, of one backend and of others', async () => {
    const places = [placeMany(), placeMany()]
    const scans = [...places, ...places, ...places].map(({ backend, paths }) => visits(backend, paths))
    for (const seen of await Promise.all(scans)) expect(seen.map(({ path }) => path)).toEqual(places[0]?.ordinary)
  })

  it('throws the failures of the disk, and waits for descriptors', async () => {
    const { root, backend, paths, ordinary } = placeMany()
    // Only what neither thread can read is read again by the program.
    truncateSync(join(root, 'd3/e0/f3.txt'), 4 * 1024 * 1024)
    const large = /f3\.txt$/
    await expect(refusing('openSync', 'EIO', large, () => visits(backend, paths))).rejects.toMatchObject({
      code: 'BACKEND_ERROR',
    })
    const waited = await refusing('openSync', 'EMFILE', large, () => visits(backend, paths), 3)
    expect(waited.map(({ path }) => path)).toEqual(ordinary)
  })

  it('sees that a file changed before its batch was read', async () => {
    const { root, backend, paths, ordinary } = placeMany()
    const last = 'zz.txt' as Path
    writeFileSync(join(root, last), 'before')
    const seen: string[] = []
    await backend.scan?.([...paths, last], (path, bytes, stat) => {
      if (seen.length === 0) writeFileSync(join(root, last), 'changed')
      seen.push(path)
      if (path === last) expect([Buffer.from(bytes).toString(), stat.size]).toEqual(['changed', 7])
      return true
    })
    expect(seen).toEqual([...ordinary, last])
  })

  it('reads for itself what a thread has taken and does not read', { timeout: 30_000 }, async () => {
    vi.resetModules()
    vi.doMock('node:worker_threads', () => ({
      // Takes two batches, and never reads them.
      Worker: class {
        unref() {}
        terminate() {}
        on() {}
        postMessage({ memory }: BatchJob) {
          Atomics.add(memory.control, 0, 2)
        }
      },
    }))
    try {
      const { root, state, paths, ordinary } = placeMany()
      const { nodeBackend } = await import('../../../src/backends/node/index.ts')
      const backend = nodeBackend(root, { stateDir: state })
      expect((await visits(backend, paths)).map(({ path }) => path)).toEqual(ordinary)
      await backend.close()
    } finally {
      vi.doUnmock('node:worker_threads')
      vi.resetModules()
    }
  })
})
