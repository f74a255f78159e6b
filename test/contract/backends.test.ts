import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Volume } from 'memfs'
import { describe, expect, it } from 'vitest'
import { memfs } from '../../src/backends/memfs/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { overlay } from '../../src/backends/overlay/index.ts'
import { mounts } from '../../src/storage/mounts.ts'
import { readOnly } from '../../src/storage/read-only.ts'
import { type BackendSubject, backendContract, readOnlyContract, registerContract } from '../../src/testing/index.ts'
import { isLong } from '../counts.ts'
import { onDisk } from './on-disk.ts'

/** One line per backend. */
const table: Readonly<Record<string, () => BackendSubject | Promise<BackendSubject>>> = {
  memory: () => ({ backend: memory() }),
  'memfs, a volume of its own': () => ({ backend: memfs(new Volume()) }),
  'memfs, a directory of a given volume': givenVolume,
  node: onDisk,
  'mounts over memory': () => ({ backend: mounts({ '': memory() }) }),
  'mounts over memfs': () => ({ backend: mounts({ '': memfs(new Volume()) }) }),
  'overlay of memory over memory': () => ({ backend: overlay(memory()) }),
  'overlay of memory over node': overNode,
}

/** Further ways to combine the backends. In `npm test`, they share the cases. */
const combined = ['memfs, a directory of a given volume', 'mounts over memfs', 'overlay of memory over node']

for (const [name, create] of Object.entries(table)) {
  const turn = combined.indexOf(name)
  const runs = (index: number) => isLong || turn < 0 || index % combined.length === turn
  const cases = backendContract({ name, create }).filter((_, index) => runs(index))
  registerContract(name, cases, { describe, it })
}

for (const [name, below] of Object.entries({ memory, memfs: () => memfs(new Volume()) })) {
  const create = () => {
    const source = below()
    return { backend: readOnly(source), source }
  }
  registerContract(`read-only over ${name}`, readOnlyContract({ name, create }), { describe, it })
}

/** A backend without optional methods. */
registerContract(
  'read-only over what has no links and cannot scan',
  readOnlyContract({
    name: 'poor',
    create() {
      const { scan: _, tree: __, fork: ___, ...rest } = memory()
      const source = { ...rest, capabilities: { ...rest.capabilities, links: false } }
      return { backend: readOnly(source), source }
    },
  }),
  { describe, it },
)

describe('the contract itself', () => {
  it('has many cases with unique names', () => {
    const names = backendContract({ name: 'memory', create: () => ({ backend: memory() }) }).map(({ name }) => name)
    expect(names.length).toBeGreaterThanOrEqual(80)
    expect(new Set(names).size).toBe(names.length)
  })

  it('refuses to skip an unknown case', () => {
    const options = { name: 'memory', create: () => ({ backend: memory() }), skip: { 'no such case': 'because' } }
    expect(() => backendContract(options)).toThrow(TypeError)
  })
})

function givenVolume(): BackendSubject {
  const volume = Volume.fromJSON({ '/outside/secret': 'outside', '/home/outside/x': 'outside' })
  volume.mkdirSync('/home/project', { recursive: true })
  return {
    backend: memfs(volume, { root: '/home/project' }),
    physical: '/home/project',
    plantLink: (path, target) => volume.symlinkSync(target, `/home/project/${path}`),
    dispose() {
      expect(volume.toJSON(['/outside', '/home/outside'])).toEqual({
        '/outside/secret': 'outside',
        '/home/outside/x': 'outside',
      })
    },
  }
}

/** Skipped because the changes of the case hide links that it plants below the overlay. Another test covers such links. */
function overNode(): BackendSubject {
  const { backend, physical = '', dispose } = onDisk()
  return {
    backend: overlay(backend),
    physical,
    async dispose() {
      expect(readdirSync(join(physical, 'project')), 'nothing was written below').toEqual([])
      await dispose?.()
    },
  }
}
