import { writeSync } from 'node:fs'
import Database from 'libsql'
import { sqlDatabase, sqlite } from '../../../src/backends/sql/index.ts'
import { commitGeneration } from '../killed-generations.ts'

/** The victim process: commits sets of files in an endless loop. Writes each acknowledged generation to standard output. */
const [file = '', first = '0'] = process.argv.slice(2)
const backend = await sqlDatabase(sqlite(new Database(file)))
for (let generation = Number(first) + 1; ; generation++) {
  await commitGeneration(backend, generation)
  writeSync(1, `${generation}\n`)
}
