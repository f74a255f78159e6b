import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import { describe, expect, it, onTestFinished } from 'vitest'
import { postgres, sqlDatabase, sqlite } from '../../../src/backends/sql/index.ts'
import { createWorkspace } from '../../../src/index.ts'
import type { Path } from '../../../src/paths/logical-path.ts'
import { times } from '../../counts.ts'
import { wholeGeneration } from '../killed-generations.ts'

function temporary(): string {
  const home = mkdtempSync(join(tmpdir(), 'wardspace-sql-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  return home
}

const durable = { durability: 'durable' } as const
const path = 'count.txt' as Path

it('a process that is killed leaves the old or the new files, and no other bytes', { timeout: 600_000 }, async () => {
  const file = join(temporary(), 'killed.db')
  let acknowledged = 0
  for (let kill = 0; kill < times(2, 200); kill++) {
    const child = spawn(
      process.execPath,
      ['--import', 'tsx', 'test/backends/sql/killed.ts', file, String(acknowledged)],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    acknowledged = await killAfterCommits(child, acknowledged)
    const connection = new Database(file)
    try {
      const backend = await sqlDatabase(sqlite(connection))
      const generation = await wholeGeneration(backend)
      expect(generation).toBeGreaterThanOrEqual(acknowledged)
      expect(generation).toBeLessThanOrEqual(acknowledged + 1)
      expect(connection.prepare('SELECT count(*) AS n FROM wardspace_parts').all()).toEqual([{ n: 2 + 3 }])
      acknowledged = generation
    } finally {
      connection.close()
    }
  }
})

/** Kills a process at a random moment after its first commit. Returns the last generation that it acknowledged. */
async function killAfterCommits(child: ChildProcess, before: number): Promise<number> {
  let output = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    if (output === '') setTimeout(() => child.kill('SIGKILL'), Math.random() * 60)
    output += text
  })
  await once(child, 'close')
  return Number(output.split('\n').at(-2) ?? before)
}

describe('sqlDatabase', () => {
  const inMemory = () => new Database(':memory:')

  it('is persistent in a file, and not in memory', async () => {
    const file = new Database(join(temporary(), 'a.db'))
    onTestFinished(() => void file.close())
    expect((await sqlDatabase(sqlite(file))).capabilities).toMatchObject({ persistent: true, authority: 'shared' })
    expect((await sqlDatabase(sqlite(inMemory()))).capabilities.persistent).toBe(false)
  })

  it('keeps workspaces with different prefixes apart, and finds each again', async () => {
    const database = sqlite(inMemory())
    for (const prefix of ['one', 'two']) {
      const workspace = await createWorkspace({
        backend: await sqlDatabase(database, { prefix }),
        policy: 'autonomous',
      })
      expect(await workspace.call('write_file', { path: 'a.txt', content: prefix })).toMatchObject({ ok: true })
      await workspace.close()
    }
    const again = await createWorkspace({ backend: await sqlDatabase(database, { prefix: 'one' }), policy: 'readOnly' })
    expect(await again.call('read_file', { path: 'a.txt' })).toMatchObject({ content: 'one' })
  })

  it('refuses wrong options, wrong databases and tables of another version', async () => {
    const database = sqlite(inMemory())
    const wrong = [
      { prefix: 'a-b' },
      { prefix: '' },
      { prefix: 'A' },
      { prefix: 'a'.repeat(41) },
      { prefix: 'sqlite_x' },
      { prefx: 'a' },
      { clock: 1 },
    ]
    for (const options of wrong) await expect(sqlDatabase(database, options as never)).rejects.toThrow(TypeError)
    for (const source of [undefined, null, {}, 'x', { exec() {} }, { execute() {} }]) {
      expect(() => sqlite(source as never), String(source)).toThrow(TypeError)
    }
    for (const source of [undefined, null, {}, 'x']) expect(() => postgres(source as never)).toThrow(TypeError)
    await expect(sqlDatabase({} as never)).rejects.toThrow(TypeError)
    await sqlDatabase(database)
    await database.query('UPDATE wardspace_state SET format = 2', [])
    await expect(sqlDatabase(database)).rejects.toThrow('format 2')
  })

  it('tells no message of the database', async () => {
    const connection = inMemory()
    const backend = await sqlDatabase(sqlite(connection))
    connection.exec('DROP TABLE wardspace_parts')
    const write = () =>
      backend.commit([{ path, expect: 'any', to: { type: 'file', bytes: new Uint8Array(3) } }], durable)
    await expect(write()).rejects.toMatchObject({
      code: 'BACKEND_ERROR',
      message: 'The database failed (SQLITE_ERROR)',
    })
    connection.close()
    await expect(backend.stat(path)).rejects.toMatchObject({
      code: 'BACKEND_ERROR',
      message: 'The database is closed',
      cause: expect.anything(),
    })
  })

  it('is full as a database is full', async () => {
    const connection = inMemory()
    const backend = await sqlDatabase(sqlite(connection))
    connection.exec('PRAGMA max_page_count = 40')
    const write = (size: number) =>
      backend.commit([{ path, expect: 'any', to: { type: 'file', bytes: new Uint8Array(size) } }], durable)
    await write(1000)
    await expect(write(1_000_000)).rejects.toMatchObject({ code: 'NO_SPACE' })
    expect((await backend.read(path)).bytes.length).toBe(1000)
    await write(2000)
  })

  it('reads ranges across parts', async () => {
    const backend = await sqlDatabase(sqlite(inMemory()))
    const bytes = Uint8Array.from({ length: 700_000 }, (_, i) => (i * 31 + (i >> 8)) % 256)
    await backend.commit([{ path, expect: 'any', to: { type: 'file', bytes } }], durable)
    const edges = [0, 1, 262_143, 262_144, 262_145, 524_287, 524_288, 699_999, 700_000, 900_000]
    for (const start of edges) {
      for (const end of edges) {
        const read = await backend.read(path, { start, end })
        expect(Buffer.compare(read.bytes, bytes.subarray(start, Math.max(start, end)))).toBe(0)
      }
    }
  })
})
