import { markdownTable } from '../test/docs/generated-block.ts'
import { measureWardspace } from './tokens/ours.ts'
import { measurePeers } from './tokens/peers.ts'
import { cellsOf, columns, figuresOf } from './tokens/rows.ts'

/**
 * `npm run bench:tokens`: what tools cost a model, in tokens of o200k: their definitions, which are part of every request, and the
 * result of each step of one piece of work. Peers are installed at exact versions and do the same work on the same files.
 * `--own` measures Wardspace only, without installing anything.
 */
const measured = [...(await measureWardspace()), ...(process.argv.includes('--own') ? [] : measurePeers())]
const rows = measured.map((each) => [each.name, ...cellsOf(figuresOf(each))])
const table = markdownTable([['', ...columns], ...rows], [false, ...columns.map(() => true)])
console.log(table)
