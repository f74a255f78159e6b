import { type DurableStorage, durableObject } from '../../src/backends/durable-object/index.ts'
import { sha256Text } from '../../src/files/hash/sha256.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import type { Backend, Change } from '../../src/storage/backend.ts'
import { change, file } from '../../src/testing/backend/case.ts'

/** Test runs and measurements inside a Durable Object. */

const commit = (backend: Backend, ...changes: Change[]) => backend.commit(changes, { durability: 'durable' })
const rowsOf = ({ sql }: DurableStorage, table: string) =>
  Number(sql.exec(`SELECT count(*) AS n FROM ${table}`).toArray()[0]?.n)

/** Stores a file far over the 2 MB limit of a row, and counts the bytes that reading a range loads. */
export async function largeFile(storage: DurableStorage) {
  let taken = 0
  const counted: DurableStorage = {
    transactionSync: (closure) => storage.transactionSync(closure),
    sql: {
      exec(query, ...bindings) {
        const rows = storage.sql.exec(query, ...bindings).toArray()
        for (const row of rows) if (row.bytes instanceof ArrayBuffer) taken += row.bytes.byteLength
        return { toArray: () => rows }
      },
    },
  }
  const backend = durableObject(counted)
  const bytes = Uint8Array.from({ length: 9_000_001 }, (_, i) => (i * 2654435761) >>> 24)
  await commit(backend, change('large', { type: 'file', bytes }))
  const parts = rowsOf(storage, 'wardspace_parts')
  const read = async (start: number, end: number) => {
    const match = (await backend.read('large' as Path, { start, end })).bytes
    return match.length === Math.min(end, bytes.length) - start && match.every((byte, i) => byte === bytes[start + i])
  }
  taken = 0
  const isSmallRight = await read(262_140, 262_150)
  const takenBySmall = taken
  const isWholeRight = await read(0, bytes.length)
  await commit(backend, change('large', null), change('moved', { type: 'file', bytes }, 'absent', 'large'))
  const partsWhenMoved = rowsOf(storage, 'wardspace_parts')
  await commit(backend, change('moved', null))
  return {
    isSmallRight,
    takenBySmall,
    isWholeRight,
    parts,
    partsWhenMoved,
    partsAtLast: rowsOf(storage, 'wardspace_parts'),
  }
}

/** Concurrent writers in one object, with all kinds of waits. Returns the number of winners and the result. */
export async function commitsAtOnce(storage: DurableStorage) {
  const backends = [durableObject(storage), durableObject(storage)]
  await commit(backends[0] as Backend, change('a', file('0')), change('b', file('0')))
  let winners = 0
  let torn = 0
  for (let round = 0, text = '0'; round < 20; round++) {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, async (_, i) => {
        if (i % 3 === 0) await new Promise((resume) => setTimeout(resume, i % 2))
        if (i % 3 === 1) await crypto.subtle.digest('SHA-256', new Uint8Array(100_000))
        const next = `${round} ${i}${' '.repeat(40_000 * (i % 2))}`
        const expect = { sha256: sha256Text(text) }
        await commit(backends[i % 2] as Backend, change('a', file(next), expect), change('b', file(next), expect))
        return next
      }),
    )
    const won = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
    winners += won.length
    text = won[0] ?? text
    const [a, b] = await Promise.all(
      ['a', 'b'].map(async (path) => new TextDecoder().decode((await backends[0]?.read(path as Path))?.bytes)),
    )
    if (a !== b || a !== text) torn += 1
  }
  return { winners, torn }
}

/** A database that fails at each statement of a commit in turn, and a full one. */
export async function failingStorage(storage: DurableStorage) {
  let left = Number.POSITIVE_INFINITY
  let message = 'gone: SQLITE_IOERR at /var/db'
  const failing: DurableStorage = {
    transactionSync: (closure) => storage.transactionSync(closure),
    sql: {
      exec(query, ...bindings) {
        left -= 1
        if (left < 0) throw new Error(message)
        return storage.sql.exec(query, ...bindings)
      },
    },
  }
  const backend = durableObject(failing)
  const sound = durableObject(storage)
  await commit(sound, change('a', file('old')), change('d', { type: 'directory' }), change('d/b', file('old')))
  const look = async () => {
    const tables = ['wardspace_entries', 'wardspace_parts', 'wardspace_state']
    return JSON.stringify(
      tables.map((table) => storage.sql.exec(`SELECT * FROM ${table}`).toArray()),
      (_, value) => (value instanceof ArrayBuffer ? [...new Uint8Array(value)] : value),
    )
  }
  const before = await look()
  const codes = new Set<string>()
  let isUnchanged = true
  let failures = 0
  for (let statements = 0; ; statements++) {
    left = statements
    message = statements % 2 ? 'database or disk is full: SQLITE_FULL' : 'gone: SQLITE_IOERR at /var/db'
    try {
      await commit(backend, change('a', file('new')), change('d/b', null), change('c', file('new')))
      break
    } catch (error) {
      failures += 1
      const { code, message: output } = error as { code: string; message: string }
      codes.add(code)
      if (output.includes('/var')) codes.add(output)
      if ((await look()) !== before) isUnchanged = false
    }
  }
  return { failures, codes: [...codes].sort(), isUnchanged, isChangedAtLast: (await look()) !== before }
}

/** Milliseconds per call, the best of several rounds. Each has many calls, since the clock advances only after I/O. */
export async function measure(storage: DurableStorage) {
  const backend = durableObject(storage)
  const content = new Uint8Array(4096).fill(97)
  const best = async (count: number, action: (i: number) => Promise<unknown>) => {
    let least = Number.POSITIVE_INFINITY
    for (let round = 0; round < 5; round++) {
      const start = await moment()
      for (let i = 0; i < count; i++) await action(i)
      least = Math.min(least, ((await moment()) - start) / count)
    }
    return least
  }
  const names = Array.from({ length: 1000 }, (_, i) => `files/${i}`)
  await commit(
    backend,
    change('files', { type: 'directory' }),
    ...names.map((name) => change(name, { type: 'file', bytes: content })),
  )
  const version = (i: number) => content.map((byte, at) => (at === i % 4096 ? 98 : byte))
  return {
    commit4KiB: await best(300, (i) => commit(backend, change('files/1', { type: 'file', bytes: version(i) }))),
    read4KiB: await best(300, () => backend.read('files/1' as Path)),
    stat: await best(300, () => backend.stat('files/1' as Path)),
    list1000: await best(20, () => backend.list('files' as Path)),
  }
}

/** The clock of workerd advances only after I/O. */
async function moment(): Promise<number> {
  await new Promise((resume) => setTimeout(resume, 1))
  return Date.now()
}
