import { Volume } from 'memfs'
import { afterEach, expect, it, vi } from 'vitest'
import { createFs } from '../../src/adapters/fs/index.ts'
import { memfs } from '../../src/backends/memfs/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { overlay } from '../../src/backends/overlay/index.ts'
import { git } from '../../src/git/index.ts'
import { parsePath } from '../../src/paths/logical-path.ts'
import type { Backend } from '../../src/storage/backend.ts'
import { faulty } from '../../src/testing/faulty.ts'
import { createWorkspace } from '../../src/workspace/create-workspace.ts'

afterEach(() => vi.restoreAllMocks())

const CALLS = 1000
const files = Object.fromEntries(Array.from({ length: CALLS }, (_, i) => [`d${i % 10}/f${i}.txt`, `${i}\n`]))
const backends: Readonly<Record<string, () => Backend>> = {
  memory: () => memory({ ...files, link: { link: 'd0/f0.txt' } }),
  memfs: () => memfs(Volume.fromJSON(Object.fromEntries(Object.entries(files).map(([at, text]) => [`/${at}`, text])))),
  overlay: () => overlay(memory({ ...files, link: { link: 'd0/f0.txt' } }), memory()),
}

/** Counts the turns of the event loop during an operation. Each look at the clock takes `ms`. */
async function turnsOf(act: () => Promise<unknown>, ms = 1): Promise<number> {
  let now = performance.now()
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += ms))
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

const patched = Object.keys(files).slice(0, 18)
/** Calls with many steps, and the least number of turns if each step takes long. */
const steps: Readonly<Record<string, readonly [input: object, turns: number]>> = {
  file_info: [{ path: 'large' }, 12],
  read_file: [{ path: 'large' }, 12],
  copy_file: [{ path: 'large', to: 'copy' }, 6],
  apply_patch: [
    {
      patch: Object.keys(files)
        .slice(0, 18)
        .map((at) => `--- a/${at}\n+++ b/${at}\n@@ -0,0 +1 @@\n+x\n`)
        .join(''),
    },
    3 * 18,
  ],
}

it.each(Object.entries(steps))('%s lets timers run, whatever its storage does', async (name, [input, least]) => {
  let turns = 0
  // The first call loads its code, in many turns.
  for (let call = 0; call < 2; call++) {
    const large = { large: 'a line of text\n'.repeat(call === 0 ? 1 : 800_000) }
    // Its reads let no timer run.
    const backend = faulty(memory({ ...Object.fromEntries(patched.map((at) => [at, ''])), ...large }))
    const workspace = await createWorkspace({ backend, policy: 'autonomous' })
    const calling = async () => expect(await workspace.callTool(name, input)).toMatchObject({ ok: true })
    turns = await turnsOf(calling, 30)
  }
  expect(turns).toBeGreaterThanOrEqual(least)
})
