import { describe, expect, it } from 'vitest'
import { type ObjectStore, objectStore, sweep } from '../../src/backends/object-store/index.ts'
import { sha256Text } from '../../src/files/hash/sha256.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import type { Backend, Change } from '../../src/storage/backend.ts'
import { change, file } from '../../src/testing/backend/case.ts'
import { around, dying, failing, keysIn } from './buckets.ts'

const commit = (backend: Backend, ...changes: Change[]) => backend.commit(changes, { durability: 'durable' })

async function textAt(backend: Backend, path: string): Promise<string> {
  return new TextDecoder().decode((await backend.read(path as Path)).bytes)
}

/** The complete content of a tree as text. */
async function snapshot(backend: Backend, directory = ''): Promise<string[]> {
  const lines: string[] = []
  for (const { name, type } of await backend.list(directory as Path)) {
    const path = directory === '' ? name : `${directory}/${name}`
    if (type === 'directory') lines.push(`${path}/`, ...(await snapshot(backend, path)))
    else lines.push(`${path}: ${await textAt(backend, path)}`)
  }
  return lines
}

/** A tree, and a change set with every kind of change. */
async function prepare(backend: Backend): Promise<void> {
  await commit(
    backend,
    change('edited', file('old')),
    change('deleted', file('gone soon')),
    change('moved', file('moved as it is')),
    change('d', { type: 'directory' }),
    change('d/deep', file('deep')),
  )
}
const changes = [
  change('edited', file('new'), { sha256: sha256Text('old') }),
  change('deleted', null),
  change('moved', null),
  change('e', { type: 'directory' }),
  change('e/there', file('moved as it is'), 'absent', 'moved'),
  change('created', file('created')),
  change('d/deep', file('deeper')),
]

/** Runs `test` with a fault before and after each of the first calls, up to four tests at a time. */
async function everyCall(calls: number, test: (at: number, when: 'before' | 'after') => Promise<void>): Promise<void> {
  for (let at = 1; at <= calls; at += 2) {
    const these = [at, at + 1].filter((one) => one <= calls)
    await Promise.all(these.flatMap((one) => [test(one, 'before'), test(one, 'after')]))
  }
}

/**
 * Tests that apply to any object store.
 *
 * @param bucket Called when a test runs.
 */
export function objectStoreTests(bucket: () => ObjectStore, { rounds }: { readonly rounds: number }): void {
  let spaces = 0
  const space = () => `space-${++spaces}`
  const open = (prefix: string, store: ObjectStore = bucket()) => objectStore(store, { prefix })

  describe('killed process', () => {
    it('leaves the tree completely old or new at any call of a commit, and only objects that the sweep deletes', async () => {
      const reference = space()
      await prepare(open(reference))
      const old = await snapshot(open(reference))
      const counted = dying(bucket(), Number.POSITIVE_INFINITY, 'before')
      await commit(open(reference, counted.store), ...changes)
      const now = await snapshot(open(reference))
      const live = (await keysIn(bucket(), reference)).length
      const outcomes = { old: 0, new: 0 }
      await everyCall(counted.calls(), async (at, when) => {
        const prefix = space()
        await prepare(open(prefix))
        const { store, died } = dying(bucket(), at, when)
        const acknowledged = await Promise.race([commit(open(prefix, store), ...changes), died])
        const matches = await snapshot(open(prefix))
        expect([old, now], `dead ${when} call ${at}`).toContainEqual(matches)
        const isNew = matches.join() === now.join()
        expect(acknowledged === 'died' || isNew, 'an acknowledged commit is applied').toBe(true)
        outcomes[isNew ? 'new' : 'old'] += 1
        // After a sweep two days later, only the manifest and the objects that it names remain.
        await sweep(bucket(), { prefix, clock: () => Date.now() + 48 * 60 * 60 * 1000 })
        expect(await snapshot(open(prefix))).toEqual(matches)
        expect((await keysIn(bucket(), prefix)).length).toBe(1 + matches.filter((line) => line.includes(':')).length)
        await commit(open(prefix), change('after', file('after'), 'absent'))
      })
      expect(counted.calls()).toBeGreaterThanOrEqual(5)
      expect(outcomes.old).toBeGreaterThan(4)
      expect(outcomes.new).toBeGreaterThan(0)
      expect(live).toBeGreaterThan(5)
    })

    it('leaves nothing or everything of the first commit', async () => {
      await everyCall(9, async (at, when) => {
        const prefix = space()
        const { store, died } = dying(bucket(), at, when)
        await Promise.race([commit(open(prefix, store), change('a', file('1')), change('b', file('2'))), died])
        expect([[], ['a: 1', 'b: 2']]).toContainEqual(await snapshot(open(prefix)))
      })
    })
  })

  describe('failing store', () => {
    it('does not change the result of a commit if one call fails or loses its response', async () => {
      const reference = space()
      await prepare(open(reference))
      const counted = failing(bucket(), Number.POSITIVE_INFINITY, 'before')
      await commit(open(reference, counted.store), ...changes)
      const now = await snapshot(open(reference))
      await everyCall(counted.calls(), async (at, when) => {
        const prefix = space()
        await prepare(open(prefix))
        const { applied } = await commit(open(prefix, failing(bucket(), at, when).store), ...changes)
        expect(applied).toHaveLength(changes.length)
        expect(await snapshot(open(prefix)), `failed ${when} call ${at}`).toEqual(now)
      })
    })

    it('is reported without its message if it keeps failing, and as an unknown outcome if the commit may have succeeded', async () => {
      const prefix = space()
      await prepare(open(prefix))
      const before = await snapshot(open(prefix))
      let isManifestLost = false
      const store = around(bucket(), async (name, key, call) => {
        if (name === 'put' && (key.includes('contents') || isManifestLost)) throw new Error('10.0.0.7 failed')
        return call()
      })
      const refused = await commit(open(prefix, store), ...changes).catch((error: unknown) => error)
      expect(refused).toMatchObject({ code: 'BACKEND_ERROR', message: expect.not.stringContaining('10.0.0.7') })
      isManifestLost = true
      const unknown = await commit(open(prefix, store), change('deleted', null)).catch((error: unknown) => error)
      expect(unknown).toMatchObject({ code: 'BACKEND_ERROR', message: expect.stringContaining('not known') })
      expect(await snapshot(open(prefix))).toEqual(before)
    })
  })

  describe('several isolates', () => {
    it('have exactly one winner per round if they expect the same version', async () => {
      const prefix = space()
      await commit(open(prefix), change('f', file('0')))
      const isolates = Array.from({ length: 8 }, () => open(prefix))
      for (let round = 0, text = '0'; round < rounds; round++) {
        const expect_ = { sha256: sha256Text(text) }
        const outcomes = await Promise.allSettled(
          isolates.map((backend, i) => commit(backend, change('f', file(`${round} ${i}`), expect_))),
        )
        const winners = outcomes.flatMap(({ status }, i) => (status === 'fulfilled' ? [i] : []))
        expect(winners).toHaveLength(1)
        for (const outcome of outcomes) {
          if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'WRITE_CONFLICT' })
        }
        text = `${round} ${winners[0]}`
        expect(await textAt(isolates[(round + 1) % 8] as Backend, 'f')).toBe(text)
      }
    })

    it('never create a tree that a single one could not: a file below a file', async () => {
      for (let round = 0; round < rounds; round++) {
        const prefix = space()
        await commit(open(prefix), change('keep', file('1')))
        await Promise.allSettled([
          commit(open(prefix), change('x', file('a file'), 'absent')),
          commit(open(prefix), change('x', { type: 'directory' }, 'absent'), change('x/y', file('below'))),
        ])
        expect([
          ['keep: 1', 'x: a file'],
          ['keep: 1', 'x/', 'x/y: below'],
        ]).toContainEqual(await snapshot(open(prefix)))
      }
    })

    it('read the new content if the old one was replaced and deleted meanwhile', async () => {
      const prefix = space()
      const writer = open(prefix)
      await commit(writer, change('f', file('first')), change('g', file('1')))
      let isMeddling = false
      const store = around(bucket(), async (_name, key, call) => {
        if (isMeddling && key.includes('contents')) {
          isMeddling = false
          await commit(writer, change('f', file('second')))
          // The first content is deleted only now.
          await commit(writer, change('g', file('2')))
        }
        return call()
      })
      const reader = open(prefix, store)
      const tag = (await reader.stat('f' as Path))?.tag as string
      isMeddling = true
      expect(await textAt(reader, 'f')).toBe('second')
      expect(isMeddling).toBe(false)
      await expect(reader.read('f' as Path, { start: 0, end: 1, tag })).rejects.toMatchObject({
        code: 'WRITE_CONFLICT',
      })
    })
  })

  describe('large file', () => {
    it('is stored in parts, and read in ranges without loading it completely', async () => {
      const prefix = space()
      const bytes = Uint8Array.from({ length: 8 * 1024 * 1024 + 5 }, (_, i) => (i * 2654435761) >>> 24)
      await commit(open(prefix), change('large', { type: 'file', bytes }))
      expect((await keysIn(bucket(), `${prefix}/contents/`)).length).toBe(2)
      let received = 0
      const store: ObjectStore = {
        ...bucket(),
        async get(key, options) {
          const match = await bucket().get(key, options)
          if (match !== undefined && match !== 'unchanged' && key.includes('contents')) received += match.bytes.length
          return match
        },
      }
      const reader = open(prefix, store)
      const part = 8 * 1024 * 1024
      for (const [start, end] of [
        [0, 10],
        [part - 3, part + 3],
        [part, part + 2],
        [bytes.length - 2, bytes.length + 9],
      ] as const) {
        received = 0
        const { bytes: read } = await reader.read('large' as Path, { start, end })
        expect(read).toEqual(bytes.subarray(start, end))
        expect(received).toBe(read.length)
      }
      expect(Buffer.compare((await reader.read('large' as Path)).bytes, bytes)).toBe(0)
      await commit(open(prefix), change('large', null), change('moved', { type: 'file', bytes }, 'absent', 'large'))
      await commit(open(prefix), change('moved', null))
      await commit(open(prefix), change('small', file('x')))
      expect((await keysIn(bucket(), `${prefix}/contents/`)).length).toBe(1)
    })
  })

  describe('objectStore refuses', () => {
    it('a store that ignores conditions, before anything is written', async () => {
      const { put } = bucket()
      const stores: Readonly<Record<string, ObjectStore>> = {
        'If-None-Match': {
          ...bucket(),
          put: (key, bytes, condition) => put(key, bytes, condition && 'ifMatch' in condition ? condition : undefined),
        },
        'If-Match': {
          ...bucket(),
          put: (key, bytes, condition) => put(key, bytes, condition && 'ifMatch' in condition ? undefined : condition),
        },
      }
      for (const [label, store] of Object.entries(stores)) {
        const prefix = space()
        const refused = await commit(open(prefix, store), change('f', file('x'))).catch((error: unknown) => error)
        expect(refused).toMatchObject({ code: 'BACKEND_ERROR', message: expect.stringContaining(`ignores ${label}`) })
        expect(await keysIn(bucket(), prefix)).toEqual([])
      }
    })

    it('a store that refuses valid writes, or gives two contents the same ETag', async () => {
      const { put } = bucket()
      const stores: Readonly<Record<string, ObjectStore['put']>> = {
        'refuses to create a new object': async () => undefined,
        'refuses a write with the right If-Match': async (key, bytes, condition) =>
          condition && 'ifMatch' in condition ? undefined : put(key, bytes, condition),
        'gives two contents the same ETag': async (key, bytes, condition) => {
          const done = await put(key, bytes, condition && 'ifMatch' in condition ? undefined : condition)
          return done && { etag: 'always' }
        },
      }
      for (const [subject, broken] of Object.entries(stores)) {
        const prefix = space()
        const refused = commit(open(prefix, { ...bucket(), put: broken }), change('f', file('x')))
        await expect(refused).rejects.toMatchObject({
          code: 'BACKEND_ERROR',
          message: expect.stringContaining(subject),
        })
        expect(await keysIn(bucket(), prefix)).toEqual([])
      }
    })

    it('a damaged manifest, which stays unchanged', async () => {
      for (const text of [
        '',
        '{',
        '{"format":2}',
        '{"format":1,"next":1.5,"commits":[],"garbage":[],"entries":[]}',
        '{"format":1,"next":1,"commits":[],"garbage":[],"entries":[["a/b","directory","1",0]]}',
        '{"format":1,"next":1,"commits":[],"garbage":[],"entries":[["","directory","1",0],["a//b","directory","1",0]]}',
        '{"format":1,"next":1,"commits":[],"garbage":[],"entries":[["","directory","1",0],["a","socket","1",0,0,0]]}',
      ]) {
        const prefix = space()
        await bucket().put(`${prefix}/manifest.json`, new TextEncoder().encode(text))
        await expect(open(prefix).list('' as Path)).rejects.toMatchObject({ code: 'BACKEND_ERROR' })
        await expect(commit(open(prefix), change('f', file('x')))).rejects.toMatchObject({ code: 'BACKEND_ERROR' })
        expect(await keysIn(bucket(), prefix)).toEqual([`${prefix}/manifest.json`])
      }
    })

    it('prefixes that are not plain paths, and a sweep of young objects', async () => {
      for (const prefix of ['', '/', '../x', '/abs', 'a\\b', '.']) {
        expect(() => objectStore(bucket(), { prefix }), prefix).toThrow(TypeError)
      }
      await expect(sweep(bucket(), { olderThanMs: 1000 })).rejects.toThrow(TypeError)
      await expect(sweep(bucket(), { olderThanMs: Number.NaN })).rejects.toThrow(TypeError)
    })
  })
}
