import { nodeBackend } from '../../src/backends/node/index.ts'
import { ToolError } from '../../src/errors.ts'
import type { Path } from '../../src/paths/logical-path.ts'

/** One of many writer processes. On each message, it tries to replace the file if it has the given version. */
export interface Round {
  readonly round: number
  readonly sha256: string
}

export interface Answer {
  readonly round: number
  readonly outcome: 'won' | 'lost' | string
}

const [root = '', stateDir = '', name = ''] = process.argv.slice(2)
const backend = nodeBackend(root, { stateDir })

process.on('message', ({ round, sha256 }: Round) => {
  const bytes = new TextEncoder().encode(`round ${round} by ${name}\n`)
  backend
    .commit([{ path: 'file.txt' as Path, expect: { sha256 }, to: { type: 'file', bytes } }], { durability: 'durable' })
    .then(
      () => 'won',
      (error) => (error instanceof ToolError && error.code === 'WRITE_CONFLICT' ? 'lost' : String(error)),
    )
    .then((outcome) => process.send?.({ round, outcome } satisfies Answer))
})
process.on('disconnect', () => process.exit())
process.send?.({ round: -1, outcome: 'ready' } satisfies Answer)
