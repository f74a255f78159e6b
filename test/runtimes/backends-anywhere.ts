import { memory } from '../../src/backends/memory/index.ts'
import { overlay } from '../../src/backends/overlay/index.ts'
import { mounts } from '../../src/storage/mounts.ts'
import { fill } from '../tools/fill.ts'
import type { Tree } from '../tools/setup.ts'

/** The same tree on every backend that needs no platform. Replaces `tools/backends.ts` in runtimes without a disk. */
export async function everyBackend(tree: Tree) {
  const source = memory(tree)
  const mounted = mounts({ '': memory() })
  await fill(mounted, source)
  const all = { memory: source, overlay: overlay(memory(tree)), mounts: mounted }
  return Object.entries(all).map(([name, backend]) => ({ name, backend, dispose: () => backend.close() }))
}
