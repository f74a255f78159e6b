import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runMatrix } from './matrix.ts'
import { inReadme } from './readme.ts'
import { faultsOf, tableOf } from './table.ts'

/** `npm run matrix`: runs all cells, prints the table, and writes it into the README; fails where a cell does. */
const matrix = await runMatrix()
const table = tableOf(matrix)
console.log(table)
const faults = faultsOf(matrix)
for (const fault of faults) console.error(`\n${fault}`)
if (faults.length === 0) {
  const readme = join(import.meta.dirname, '../../README.md')
  writeFileSync(readme, inReadme(readFileSync(readme, 'utf8'), table))
}
process.exit(faults.length === 0 ? 0 : 1)
