import { Volume } from 'memfs'
import { afterEach, expect, it, vi } from 'vitest'
import { createFs } from '../../src/adapters/fs/index.ts'
import { memfs } from '../../src/backends/memfs/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { overlay } from '../../src/backends/overlay/index.ts'
import { git } from '../../src/git/index.ts'
import { parsePath } from '../../src/paths/logical-path.ts'
import type { Backend } from '../../src/storage/backend.ts'
import { createWorkspace } from '../../src/workspace/create-workspace.ts'

afterEach(() => vi.restoreAllMocks())

const CALLS = 1000
const files = Object.fromEntries(Array.from({ length: CALLS }, (_, i) => [`d${i % 10}/f${i}.txt`, `${i}\n`]))
const backends: Readonly<Record<string, () => Backend>> = {
  memory: () => memory({ ...files, link: { link: 'd0/f0.txt' } }),
  memfs: () => memfs(Volume.fromJSON(Object.fromEntries(Object.entries(files).map(([at, text]) => [`/${at}`, text])))),
  overlay: () => overlay(memory({ ...files, link: { link: 'd0/f0.txt' } }), memory()),
}

/** Counts the turns of the event loop during an operation. Each look at the clock takes a millisecond. */
async function turnsOf(act: () => Promise<unknown>): Promise<number> {
  let now = performance.now()
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => ++now)
  let turns = 0
  let next = setImmediate(function turn() {
    turns += 1
    next = setImmediate(turn)
  })
  await act()
  clearImmediate(next)
  clock.mockRestore()
  return turns
}

const path = parsePath('d0/f0.txt') as never
const accesses: Readonly<Record<string, (backend: Backend, i: number) => Promise<unknown>>> = {
  canonical: (backend) => backend.canonical(path),
  stat: (backend) => backend.stat(path),
  list: (backend) => backend.list(parsePath('d0') as never),
  read: (backend) => backend.read(path),
  readLink: (backend) => backend.readLink(parsePath('link') as never).catch(() => undefined),
  commit: (backend, i) =>
    backend.commit([{ path: parsePath(`new${i}`) as never, expect: 'any', to: { type: 'directory' } }], {
      durability: 'relaxed',
    }),
}

it.each(Object.keys(backends).flatMap((backend) => Object.keys(accesses).map((access) => [backend, access] as const)))(
  '%s: a program that awaits one %s after another lets timers run',
  async (name, access) => {
    const backend = backends[name]?.() as Backend
    const call = accesses[access] as (typeof accesses)[string]
    await call(backend, -1)
    const turns = await turnsOf(async () => {
      for (let i = 0; i < CALLS; i++) await call(backend, i)
    })
    expect(turns).toBeGreaterThan(0)
    await backend.close()
  },
)

const open = () =>
  createWorkspace({
    backend: memory(files),
    policy: { preset: 'autonomous' },
    git: git({ author: { name: 'A', email: 'a@example.com' } }),
  })
type Opened = Awaited<ReturnType<typeof open>>
const repositoryOf = (workspace: Opened) => workspace.git as NonNullable<Opened['git']>
const operations: Readonly<Record<string, (workspace: Opened) => Promise<unknown>>> = {
  'git add': (workspace) => repositoryOf(workspace).add('.'),
  'git commit': (workspace) => repositoryOf(workspace).commit({ message: 'all' }),
  'fs.cp': (workspace) => createFs(workspace).promises.cp('/d1', '/copy', { recursive: true }),
}

it('operations on many files in memory let timers run', async () => {
  const workspace = await open()
  const repository = repositoryOf(workspace)
  await repository.init()
  await repository.add('d0/f0.txt')
  await repository.commit({ message: 'first' })
  for (const [name, operation] of Object.entries(operations)) {
    expect([name, (await turnsOf(() => operation(workspace))) > 0]).toEqual([name, true])
  }
  await workspace.close()
})
