import Database from 'libsql'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type DurableStorage, durableObject } from '../../../src/backends/durable-object/index.ts'
import { sqlDatabase, sqlite } from '../../../src/backends/sql/index.ts'
import { createWorkspace } from '../../../src/index.ts'
import type { Path } from '../../../src/paths/logical-path.ts'
import type { Backend } from '../../../src/storage/backend.ts'

type Connection = InstanceType<typeof Database>

/** The storage of a Durable Object over a connection of SQLite. */
function storageOf(connection: Connection): DurableStorage {
  const exec = (text: string, ...values: unknown[]) => {
    const statement = connection.prepare(text)
    if (!/^SELECT/.test(text)) statement.run(...values)
    return { toArray: () => (/^SELECT/.test(text) ? (statement.all(...values) as never) : []) }
  }
  return { sql: { exec }, transactionSync: (closure) => connection.transaction(closure)() }
}

const backends: Readonly<Record<string, (connection: Connection) => Backend | Promise<Backend>>> = {
  sqlDatabase: (connection) => sqlDatabase(sqlite(connection)),
  durableObject: (connection) => durableObject(storageOf(connection)),
}

const files = { 'a.txt': 'one\n', 'bad.txt': 'two\n', 'd/c.txt': 'three\n', 'z.txt': 'four\n' }
const good = ['a.txt', 'd/c.txt', 'z.txt'] as const

/** Damage to the row of `bad.txt`. */
const rows: Readonly<Record<string, string>> = {
  'another type': "type = 'weird'",
  'an empty type': "type = ''",
  'no version': 'sha256 = NULL',
  'a short version': "sha256 = '00'",
  'no content': 'content = NULL',
  'a content that is no number': "content = 'x'",
  'no size': 'size = NULL',
  'a size below zero': 'size = -5',
  'a size that is no number': "size = 'x'",
  'a size beyond all numbers': 'size = 9e18',
  'no permission bits': 'mode = NULL',
  'permission bits below zero': 'mode = -1',
  'other permission bits': 'mode = 65535',
  'a time that is none': "at = 'x'",
  'a link to nothing': "type = 'link'",
}

/** Damage to the content of `bad.txt`. */
const contents: Readonly<Record<string, string>> = {
  'other bytes': "UPDATE wardspace_parts SET bytes = X'58585858' WHERE bytes = X'74776F0A'",
  'fewer bytes': "UPDATE wardspace_parts SET bytes = X'58' WHERE bytes = X'74776F0A'",
  'more bytes than a part has': "UPDATE wardspace_parts SET bytes = zeroblob(300000) WHERE bytes = X'74776F0A'",
  'no bytes': "DELETE FROM wardspace_parts WHERE bytes = X'74776F0A'",
  'a text': "UPDATE wardspace_parts SET bytes = 'two' WHERE bytes = X'74776F0A'",
  'the content of another file':
    "UPDATE wardspace_entries SET content = (SELECT content FROM wardspace_entries WHERE name = 'a.txt') WHERE name = 'bad.txt'",
  'a smaller size': "UPDATE wardspace_entries SET size = 2 WHERE name = 'bad.txt'",
  'a larger size': "UPDATE wardspace_entries SET size = 5 WHERE name = 'bad.txt'",
  'another version': `UPDATE wardspace_entries SET sha256 = '${'0'.repeat(64)}' WHERE name = 'bad.txt'`,
}

/** Names that no path contains. */
const names = ['', '.', '..', 'x/y', '../etc/passwd', '/etc']

async function open(create: (connection: Connection) => Backend | Promise<Backend>, damage: string) {
  const connection = new Database(':memory:')
  onTestFinished(() => void connection.close())
  const backend = await create(connection)
  const bytes = (text: string) => new TextEncoder().encode(text)
  await backend.commit(
    [
      { path: 'd' as Path, expect: 'absent', to: { type: 'directory' } },
      ...Object.entries(files).map(([path, text]) => ({
        path: path as Path,
        expect: 'absent' as const,
        to: { type: 'file' as const, bytes: bytes(text) },
      })),
    ],
    { durability: 'durable' },
  )
  connection.exec(damage)
  const workspace = await createWorkspace({ backend, policy: 'autonomous' })
  const call = (name: string, input: object) => workspace.callTool(name, input) as Promise<Record<string, unknown>>
  const texts = async () => Promise.all(good.map(async (path) => (await call('read_file', { path })).content))
  return { backend, call, texts }
}

describe.each(Object.entries(backends))('%s', (_, create) => {
  it.each(Object.entries(rows))('lists an entry with %s, and reads the others', async (_damage, set) => {
    const { call, texts } = await open(create, `UPDATE wardspace_entries SET ${set} WHERE name = 'bad.txt'`)
    for (const maxDepth of [1, 3]) {
      const listing = await call('list_directory', { path: '.', maxDepth })
      expect(listing).toMatchObject({ ok: true })
      expect(listing.entries).toContainEqual(expect.objectContaining({ path: 'bad.txt', type: 'other' }))
    }
    expect(await texts()).toEqual(good.map((path) => files[path]))
    const search = await call('search_text', { query: 'o' })
    expect(search).toMatchObject({ ok: true, matches: [{ path: 'a.txt' }, { path: 'z.txt' }] })
    for (const [tool, input] of Object.entries({
      read_file: {},
      write_file: { content: 'x' },
      delete_file: {},
      move_file: { to: 'n.txt' },
      copy_file: { to: 'n.txt' },
    })) {
      const refused = await call(tool, { path: 'bad.txt', ...input })
      expect(refused, tool).toMatchObject({ ok: false, code: expect.stringMatching(/PATH_REJECTED|BACKEND_ERROR/) })
      expect(refused.message, tool).toContain('bad.txt')
    }
    expect(await call('write_file', { path: 'new.txt', content: 'n' })).toMatchObject({ ok: true })
  })

  it.each(Object.entries(contents))('reads no file with %s, and all others', async (_damage, damage) => {
    const { backend, call, texts } = await open(create, damage)
    expect(await call('list_directory', { path: '.' })).toMatchObject({ ok: true })
    expect(await texts()).toEqual(good.map((path) => files[path]))
    expect(await call('read_file', { path: 'bad.txt' })).toMatchObject({
      ok: false,
      code: 'BACKEND_ERROR',
      path: 'bad.txt',
    })
    await expect(backend.read('bad.txt' as Path)).rejects.toMatchObject({ code: 'BACKEND_ERROR' })
    const scan = backend.scan?.(['a.txt', 'bad.txt'] as Path[], () => true)
    await expect(scan).rejects.toMatchObject({ code: 'BACKEND_ERROR', message: expect.stringContaining('bad.txt') })
    expect(await call('search_text', { query: 'o', excludeGlob: 'bad.txt' })).toMatchObject({
      ok: true,
      filesSearched: 3,
    })
  })

  it.each(names)('lists no entry with the name %j', async (name) => {
    const { backend, texts } = await open(
      create,
      `UPDATE wardspace_entries SET name = '${name}' WHERE name = 'bad.txt' AND '${name}' <> ''`,
    )
    const listed = (await backend.list('' as Path)).map((entry) => entry.name)
    expect(listed).toEqual(name === '' ? ['a.txt', 'bad.txt', 'd', 'z.txt'] : ['a.txt', 'd', 'z.txt'])
    expect(await texts()).toEqual(good.map((path) => files[path]))
  })
})

it('content that is larger than a part is not loaded', async () => {
  const connection = new Database(':memory:')
  onTestFinished(() => void connection.close())
  const sizes: number[] = []
  const watched = {
    exec: (text: string) => connection.exec(text),
    prepare(text: string) {
      const statement = connection.prepare(text)
      return {
        run: (...values: unknown[]) => statement.run(...values),
        all(...values: unknown[]) {
          const rows = statement.all(...values) as { readonly bytes?: { readonly byteLength: number } }[]
          sizes.push(...rows.flatMap(({ bytes }) => (bytes === undefined ? [] : [bytes.byteLength])))
          return rows
        },
        get reader() {
          return statement.reader
        },
      }
    },
  }
  const workspace = await createWorkspace({ backend: await sqlDatabase(sqlite(watched)), policy: 'autonomous' })
  await workspace.files.write('a.txt', 'a'.repeat(1000))
  expect(await workspace.files.readText('a.txt')).toHaveLength(1000)
  expect(sizes).toEqual([1000])
  connection.exec('UPDATE wardspace_parts SET bytes = zeroblob(50000000)')
  await expect(workspace.files.readBytes('a.txt', { start: 0, end: 2 })).rejects.toMatchObject({
    code: 'BACKEND_ERROR',
  })
  expect(sizes).toEqual([1000])
})
