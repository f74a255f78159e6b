import { writeSync } from 'node:fs'
import { nodeBackend } from '../../src/backends/node/index.ts'
import type { Path } from '../../src/paths/logical-path.ts'

/**
 * The victim process: stores a content part by part and commits it, in an endless loop, and writes each generation that it
 * begins to standard output. Arguments: the root, the state directory, and the last generation.
 */
const [root = '', stateDir = '', last = '0'] = process.argv.slice(2)

const backend = nodeBackend(root, { stateDir })
for (let generation = Number(last) + 1; ; generation++) {
  const sink = await backend.stage?.('d/file' as Path)
  if (sink === undefined) throw new Error('the backend has no stage')
  writeSync(1, `${generation}\n`)
  for (let part = 0; part < 16; part++) await sink.write(new Uint8Array(64 * 1024).fill(generation))
  const content = await sink.finish()
  const to = { type: 'file', bytes: new Uint8Array(), content } as const
  await backend.commit([{ path: 'd/file' as Path, expect: 'any', to }], { durability: 'durable' })
}
