import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { directory, fixtures, play } from './fixtures.ts'

/** `tsx test/dialects/record-fixtures.ts`: makes the calls of every fixture again and writes the answers, for review. */
for (const { name, fixture } of fixtures()) {
  writeFileSync(join(directory, name), `${JSON.stringify({ ...fixture, calls: await play(fixture) }, null, 2)}\n`)
}
