import { lutimesSync, readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nodeBackend } from '../../../dist/backends/node/index.js'
import type { Backend } from '../../../dist/storage/backend.js'
import { writeFiles } from '../../write-files.ts'
import { wayTree } from './tree.ts'

/**
 * Runs a test with a function that creates backends over copies of the tree on disk, with the same times, which archives contain.
 * Removes the copies afterwards.
 */
export async function withDisk(test: (create: () => Backend) => Promise<void>): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'wardspace-ways-'))
  let count = 0
  try {
    await test(() => {
      const root = join(home, String(count++))
      writeFiles(root, wayTree)
      for (const path of readdirSync(root, { recursive: true, encoding: 'utf8' }))
        lutimesSync(join(root, path), 1000, 1000)
      return nodeBackend(root)
    })
  } finally {
    await rm(home, { recursive: true, force: true })
  }
}
