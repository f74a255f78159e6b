import { promises } from 'node:fs'
import { join } from 'node:path'
import { nodeBackend } from '../../../src/backends/node/index.ts'
import type { Path } from '../../../src/paths/logical-path.ts'

/** Many concurrent reads and commits, run with few file descriptors. The control shows that plain opens would fail. */
const [root = '', stateDir = ''] = process.argv.slice(2)
const paths = Array.from({ length: 300 }, (_, i) => `f${i}`)
const backend = nodeBackend(root, { stateDir })

const opened = await Promise.allSettled(paths.map((path) => promises.open(join(root, path))))
const control = opened.map((one) => (one.status === 'rejected' ? String(one.reason) : '')).join('')
for (const one of opened) if (one.status === 'fulfilled') await one.value.close()
const commits = Promise.all(
  paths.slice(0, 30).map((path) =>
    backend.commit(
      [{ path: path as Path, expect: 'any', to: { type: 'file', bytes: new TextEncoder().encode(path) } }],
      {
        durability: 'durable',
      },
    ),
  ),
)
const reads = await Promise.all(paths.slice(30).map((path) => backend.read(path as Path)))
const more = await Promise.all(paths.slice(0, 30).map((path) => backend.read(path as Path)))
process.stdout.write(JSON.stringify({ reads: reads.length + more.length, commits: (await commits).length, control }))
await backend.close()
process.exit()
