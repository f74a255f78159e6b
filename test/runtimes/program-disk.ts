import { Volume } from 'memfs'
import { memfs } from '../../src/backends/memfs/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { overlay } from '../../src/backends/overlay/index.ts'
import { mounts } from '../../src/storage/mounts.ts'
import { onDisk } from '../contract/on-disk.ts'
import type { Subject } from './program.ts'

/** The program for runtimes with a disk: Node, Deno and Bun. */
export const subjects = (): Readonly<Record<string, Subject>> => ({
  memory: () => ({ backend: memory() }),
  memfs: () => ({ backend: memfs(new Volume()) }),
  node: onDisk,
  overlay: () => ({ backend: overlay(memory()) }),
  mounts: () => ({ backend: mounts({ '': memory() }) }),
})
