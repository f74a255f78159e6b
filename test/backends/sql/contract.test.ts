import { afterAll, describe, it } from 'vitest'
import { backendContract, registerContract } from '../../../src/testing/index.ts'
import { isLong } from '../../counts.ts'
import { databases, subjectsIn } from './databases.ts'

/** In `npm test`, these share the cases: their statements are those of the first database. */
const alike = Object.keys(databases).filter((name) => !/libsql, with|PGlite/.test(name))

for (const [name, { open }] of Object.entries(databases)) {
  const { create, dispose } = subjectsIn(open)
  const turn = alike.indexOf(name)
  // A case takes longest in Postgres, whose code is that of SQLite but for its statements.
  const step = name === 'PGlite' ? 2 : 1
  const runs = (index: number) => isLong || (turn < 0 ? index % step === 0 : index % alike.length === turn)
  const cases = backendContract({ name, create }).filter((_, index) => runs(index))
  registerContract(name, cases, { describe, it })
  afterAll(dispose)
}
