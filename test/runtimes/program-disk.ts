import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memfs } from '../../src/backends/memfs.ts'
import { memory } from '../../src/backends/memory.ts'
import { node } from '../../src/backends/node.ts'
import { overlay } from '../../src/backends/overlay.ts'
import type { BackendSubject } from '../../src/testing/index.ts'
import { mounts } from '../../src/vfs/mounts.ts'
import type { Subject } from './program.ts'

/** What runs where there is a disk: Node, Deno and Bun. */
export const subjects = (): Readonly<Record<string, Subject>> => ({
  memory: () => ({ backend: memory() }),
  memfs: () => ({ backend: memfs() }),
  node: onDisk,
  overlay: () => ({ backend: overlay(memory()) }),
  mounts: () => ({ backend: mounts({ '': memory() }) }),
})

function onDisk(): BackendSubject {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'wardspace-matrix-')))
  const root = join(base, 'project')
  const stateDir = join(base, 'state')
  for (const path of [root, join(base, 'outside')]) mkdirSync(path)
  writeFileSync(join(base, 'outside', 'secret'), 'outside')
  return {
    backend: node(root, { stateDir }),
    physical: base,
    plantLink: (path, target) => symlinkSync(target, join(root, path)),
    reopen: () => node(root, { stateDir }),
    dispose() {
      const outside = readdirSync(join(base, 'outside'))
      if (outside.join() !== 'secret') throw new Error(`Something came outside: ${outside}`)
      rmSync(base, { recursive: true })
    },
  }
}
