import { expect, it } from 'vitest'
import { createFs } from '../../src/adapters/fs/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace } from '../../src/index.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import { bash } from '../../src/shells/bash/index.ts'
import type { Backend } from '../../src/storage/backend.ts'

/** A storage whose file another program changes once, after a number of accesses to it. */
function withIntruder(file: string, before: string | undefined, after: number) {
  const inner = memory(
    before === undefined ? { 'd/keep': '' } : { 'd/keep': '', [file]: { text: before, mode: 0o644 } },
  )
  const { tree: _tree, readsNow: _now, ...plain } = inner
  let accesses = 0
  let hasIntruded = false
  const text = async (at: string) => {
    const read = await inner.read(at as Path).catch(() => undefined)
    return read === undefined ? undefined : new TextDecoder().decode(read.bytes)
  }
  const intrude = async () => {
    accesses += 1
    if (hasIntruded || accesses < after) return
    hasIntruded = true
    const bytes = new TextEncoder().encode(`${(await text(file)) ?? ''}other\n`)
    if (before !== undefined && (await text(file)) === undefined) return
    await inner.commit([{ path: file as Path, expect: 'any', to: { type: 'file', bytes } }], { durability: 'relaxed' })
  }
  const guarded =
    <A extends readonly [string, ...unknown[]], R>(access: (...args: A) => Promise<R>) =>
    async (...args: A) => {
      const result = await access(...args)
      if (args[0] === file) await intrude()
      return result
    }
  const backend: Backend = {
    ...plain,
    canonical: guarded(inner.canonical) as Backend['canonical'],
    stat: guarded(inner.stat) as Backend['stat'],
    read: guarded(inner.read) as Backend['read'],
  }
  return { backend, text, isOver: () => !hasIntruded }
}

type Workspace = Awaited<ReturnType<typeof createWorkspace>>
const run = (command: string) => (workspace: Workspace) => workspace.call('run_command', { command })
interface Way {
  readonly act: (workspace: Workspace) => Promise<unknown>
  /** Where the content is afterwards. */
  readonly to?: string
}
const ways: Readonly<Record<string, Way>> = {
  'echo >>': { act: run('echo mine >> d/f') },
  'tee -a': { act: run('echo mine | tee -a d/f') },
  chmod: { act: run('chmod 755 d/f') },
  mv: { act: run('mv d/f d/g'), to: 'd/g' },
  'mv of its directory': { act: run('mv d e'), to: 'e/f' },
  append_file: { act: (workspace) => workspace.call('append_file', { path: 'd/f', content: 'mine\n' }) },
  'files.append': { act: ({ files }) => files.append('d/f', 'mine\n').catch(() => {}) },
  'files.batch': { act: ({ files }) => files.batch((tx) => tx.append('d/f', 'mine\n')).catch(() => {}) },
  'files.rename': { act: ({ files }) => files.rename('d/f', 'd/g').catch(() => {}), to: 'd/g' },
  'fs.appendFile': { act: (workspace) => createFs(workspace).promises.appendFile('/d/f', 'mine\n') },
  'fs.chmod': {
    act: (workspace) =>
      createFs(workspace)
        .promises.chmod('/d/f', 0o755)
        .catch(() => {}),
  },
}

it.each(
  Object.keys(ways).flatMap((way) => [
    [way, 'old\n'] as const,
    ...(/>>|-a|append/i.test(way) ? [[way, undefined] as const] : []),
  ]),
)('%s of %j loses nothing of what another program adds, at any moment', async (name, before) => {
  const { act, to = 'd/f' } = ways[name] as Way
  let moments = 0
  for (let after = 1; ; after++) {
    const { backend, text, isOver } = withIntruder('d/f', before, after)
    const workspace = await createWorkspace({ backend, shell: bash(), policy: 'autonomous' })
    await act(workspace)
    const content = `${(await text('d/f')) ?? ''}${to === 'd/f' ? '' : ((await text(to)) ?? '')}`
    await workspace.close()
    if (isOver()) break
    expect([after, content.includes('other\n')]).toEqual([after, true])
    moments += 1
  }
  expect(moments).toBeGreaterThan(1)
})
