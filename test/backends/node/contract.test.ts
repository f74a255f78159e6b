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
import { describe, expect, it } from 'vitest'
import { node } from '../../../src/backends/node.ts'
import { type BackendSubject, backendContract, registerContract } from '../../../src/testing/index.ts'
import { straysIn } from './tree.ts'

function subject(grounding?: 'recheck'): BackendSubject {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'contract-')))
  const root = join(base, 'root')
  mkdirSync(root)
  mkdirSync(join(base, 'outside'))
  writeFileSync(join(base, 'outside', 'secret'), 'outside')
  const open = () => node(root, { stateDir: join(base, 'state'), ...(grounding && { grounding }) })
  return {
    backend: open(),
    reopen: open,
    physical: base,
    plantLink: (path, target) => symlinkSync(target, join(root, path)),
    dispose() {
      expect(readFileSync(join(base, 'outside', 'secret'), 'utf8')).toBe('outside')
      expect(readdirSync(join(base, 'outside'))).toEqual(['secret'])
      const strays = straysIn(root)
      rmSync(base, { recursive: true, force: true })
      expect(strays).toEqual([])
    },
  }
}

registerContract('node', backendContract({ name: 'node', create: () => subject() }), { describe, it })
registerContract(
  'node, checking paths before and after',
  backendContract({ name: 'node, checking paths before and after', create: () => subject('recheck') }),
  { describe, it },
)
