import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type NodeOptions, nodeBackend } from '../../src/backends/node/index.ts'
import type { BackendSubject } from '../../src/testing/index.ts'
import { straysIn } from '../backends/node/tree.ts'

/** Creates a directory on the disk, next to another directory that no case may change. */
export function onDisk(options: Pick<NodeOptions, 'grounding'> = {}): BackendSubject {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'contract-')))
  const root = join(base, 'project')
  const stateDir = join(base, 'state')
  const outside = join(base, 'outside')
  for (const path of [root, outside]) mkdirSync(path)
  writeFileSync(join(outside, 'secret'), 'outside')
  const open = () => nodeBackend(root, { ...options, stateDir })
  return {
    backend: open(),
    physical: base,
    plantLink: (path, target) => symlinkSync(target, join(root, path)),
    writeBeside: (path, text) => writeFileSync(join(root, path), text),
    reopen: open,
    dispose() {
      const matches = readdirSync(outside)
      if (matches.join() !== 'secret') throw new Error(`New entries outside of the root: ${matches}`)
      if (readFileSync(join(outside, 'secret'), 'utf8') !== 'outside')
        throw new Error('The file outside of the root was changed')
      const strays = straysIn(root)
      rmSync(base, { recursive: true, force: true })
      if (strays.length > 0) throw new Error(`Leftover entries: ${strays}`)
    },
  }
}
