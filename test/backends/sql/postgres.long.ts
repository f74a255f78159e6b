import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgres, sqlDatabase } from '../../../src/backends/sql/index.ts'
import { backendContract, registerContract } from '../../../src/testing/index.ts'
import { times } from '../../counts.ts'
import { commitGeneration, wholeGeneration } from '../killed-generations.ts'
import { countTogether } from '../writers.ts'
import { subjectsIn } from './databases.ts'
import { hasPostgres, type PostgresServer, startPostgres } from './postgres-server.ts'

// The server is a package of the system: npm brings none. PGlite runs half of the same contract in `npm test`, and all of it in the long run.
describe.skipIf(!hasPostgres)('a Postgres server', () => {
  let server: PostgresServer
  const settings = () => ({ host: server.host, user: server.user, database: 'postgres' })
  const openPool = () => {
    const pool = new pg.Pool(settings())
    // A server that is killed ends idle connections too.
    pool.on('error', () => {})
    return pool
  }

  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server?.stop())

  for (const [name, open] of Object.entries({
    'a Pool of pg': async () => {
      const pool = openPool()
      return { database: postgres(pool), close: () => pool.end() }
    },
    'a Client of pg': async () => {
      const client = new pg.Client(settings())
      client.on('error', () => {})
      await client.connect()
      return { database: postgres(client), close: () => client.end() }
    },
  })) {
    const { create, dispose } = subjectsIn(open)
    registerContract(name, backendContract({ name, create }), { describe, it })
    afterAll(dispose)
  }

  it('loses no change of writers with pools of their own, which create the tables at the same time', async () => {
    const pools = Array.from({ length: 4 }, openPool)
    const backends = await Promise.all([...pools, ...pools].map((pool) => sqlDatabase(postgres(pool))))
    const { count, conflicts } = await countTogether(backends, times(5, 100))
    expect(count).toBe(times(5, 100) * backends.length)
    expect(conflicts).toBeGreaterThan(0)
    await Promise.all(pools.map((pool) => pool.end()))
  })

  it('has the old or the new files after it was killed', async () => {
    let acknowledged = 0
    for (let kill = 0; kill < times(2, 20); kill++) {
      const pool = openPool()
      const backend = await sqlDatabase(postgres(pool), { prefix: 'killed' })
      let isKilled = false
      const writing = (async () => {
        for (let generation = acknowledged + 1; !isKilled; generation++) {
          try {
            await commitGeneration(backend, generation)
            acknowledged = generation
          } catch (error) {
            expect(error).toMatchObject({ code: 'BACKEND_ERROR' })
            return
          }
        }
      })()
      await new Promise((resume) => setTimeout(resume, 50 + Math.random() * 200))
      await server.kill()
      isKilled = true
      await writing
      await server.start()
      const generation = await wholeGeneration(backend)
      expect([acknowledged, acknowledged + 1]).toContain(generation)
      const { rows } = await pool.query('SELECT count(*) AS n FROM killed_parts')
      expect(Number(rows[0].n)).toBe(2 + 3)
      acknowledged = generation
      await pool.end()
    }
    expect(acknowledged).toBeGreaterThan(times(2, 20))
  })
})
