import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { sqlDatabase } from '../../../src/backends/sql/index.ts'
import { backendContract, registerContract } from '../../../src/testing/index.ts'
import { isLong, times } from '../../counts.ts'
import { countTogether } from '../writers.ts'
import { databases, subjectsIn } from './databases.ts'

/** In `npm test`, these share the cases: their statements are those of the first database. */
const alike = Object.keys(databases).filter((name) => !/libsql, with|PGlite/.test(name))

for (const [name, { open }] of Object.entries(databases)) {
  const { create, dispose } = subjectsIn(open)
  const turn = alike.indexOf(name)
  // A case takes longest in Postgres, whose code is that of SQLite but for its statements.
  const step = name === 'PGlite' ? 3 : 1
  const runs = (index: number) => isLong || (turn < 0 ? index % step === 0 : index % alike.length === turn)
  const cases = backendContract({ name, create }).filter((_, index) => runs(index))
  registerContract(name, cases, { describe, it })
  afterAll(dispose)
}

// Here and not in a file of their own, because a process needs seconds to start PGlite.
describe.each(Object.entries(databases))('writers of one workspace in %s', (_, { manyConnections, open }) => {
  it('never lose a change', { timeout: 120_000 }, async () => {
    const home = mkdtempSync(join(tmpdir(), 'wardspace-sql-'))
    onTestFinished(() => rmSync(home, { recursive: true, force: true }))
    const opened = await Promise.all(Array.from({ length: manyConnections ? 4 : 1 }, () => open(home)))
    onTestFinished(async () => {
      for (const { close } of opened) await close()
    })
    // Two workspaces over each connection.
    const backends = await Promise.all([...opened, ...opened].map(({ database }) => sqlDatabase(database)))
    const rounds = times(2, 50)
    const { count, conflicts } = await countTogether(backends, rounds)
    expect(count).toBe(rounds * backends.length)
    expect(conflicts).toBeGreaterThan(0)
    const parts = await opened[0]?.database.query('SELECT count(*) AS n FROM wardspace_parts', [])
    expect(Number(parts?.[0]?.n)).toBe(1)
  })
})
