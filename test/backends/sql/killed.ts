import { writeSync } from 'node:fs'
import Database from 'libsql'
import { sqlDatabase, sqlite } from '../../../src/backends/sql/index.ts'
import type { Path } from '../../../src/paths/logical-path.ts'
import { contentOf, FILES } from '../killed-generations.ts'

/** The victim process: commits sets of files in an endless loop. Writes each acknowledged generation to standard output. */
const [file = '', first = '0'] = process.argv.slice(2)
const backend = await sqlDatabase(sqlite(new Database(file)))
for (let generation = Number(first) + 1; ; generation++) {
  await backend.commit(
    FILES.map((path) => ({
      path: path as Path,
      expect: 'any',
      to: { type: 'file', bytes: contentOf(path, generation) },
    })),
    { durability: 'durable' },
  )
  writeSync(1, `${generation}\n`)
}
