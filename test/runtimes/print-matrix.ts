import { startVitest } from 'vitest/node'
import matrixReporter, { filling } from './reporter.ts'

/** `npm run matrix`: runs the cells, prints the table and writes it into `docs/runtimes.md`. Fails if a cell fails. */
process.env.MATRIX = 'write'
process.env.WARDSPACE_COUNTS = 'all'
const vitest = await startVitest('test', filling, {
  watch: false,
  project: ['node', 'browser'],
  reporters: ['default', matrixReporter()],
})
await vitest.close()
process.exit(process.exitCode)
