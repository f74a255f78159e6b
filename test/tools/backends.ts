import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Volume } from 'memfs'
import { memfs } from '../../src/backends/memfs/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { nodeBackend } from '../../src/backends/node/index.ts'
import type { Backend } from '../../src/storage/backend.ts'
import { fill } from './fill.ts'
import type { Tree } from './setup.ts'

/** The same tree on every backend. `dispose` removes the copies on disk. */
export async function everyBackend(
  tree: Tree,
): Promise<{ name: string; backend: Backend; dispose(): Promise<void> }[]> {
  const source = memory(tree)
  const directory = mkdtempSync(join(tmpdir(), 'wardspace-tools-'))
  const disk = await nodeBackend(directory)
  const volume = memfs(new Volume())
  for (const backend of [disk, volume]) await fill(backend, source)
  return [
    { name: 'memory', backend: source, dispose: async () => {} },
    { name: 'memfs', backend: volume, dispose: () => volume.close() },
    {
      name: 'node',
      backend: disk,
      async dispose() {
        await disk.close()
        rmSync(directory, { recursive: true, force: true })
      },
    },
  ]
}
