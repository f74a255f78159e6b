import { startVitest } from 'vitest/node'
import matrixReporter, { filling } from './reporter.ts'

/** `npm run matrix`: runs what fills the cells, prints the table, and writes it into `docs/runtimes.md`; fails where a cell does. */
process.env.MATRIX = 'write'
const vitest = await startVitest('test', filling, {
  watch: false,
  project: ['node', 'browser'],
  reporters: ['default', matrixReporter()],
})
await vitest.close()
process.exit(process.exitCode)
