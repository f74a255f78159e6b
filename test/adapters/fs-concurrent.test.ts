import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { createFs } from '../../src/adapters/fs/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { createWorkspace } from '../../src/index.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import type { Backend, EntryState } from '../../src/storage/backend.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const text = (content: string): EntryState => ({ type: 'file', bytes: new TextEncoder().encode(content) })
const backends: Readonly<Record<string, () => Backend>> = {
  memory: () => memory(),
  nodeBackend: () => {
    const base = mkdtempSync(join(tmpdir(), 'concurrent-'))
    closers.push(() => rmSync(base, { recursive: true, force: true }))
    return nodeBackend(base, { stateDir: join(base, '..', `${base}-state`) })
  },
}

/** What another program does to `/f` after a function has looked at it, and before it changes it. */
const intrusions: Readonly<Record<string, { readonly before: EntryState; readonly to: EntryState }>> = {
  creates: { before: null, to: text('other\n') },
  replaces: { before: text('old\n'), to: text('other\n') },
  removes: { before: text('old\n'), to: null },
}

/** Opens a file system whose storage another program changes once, just before a commit that changes `/f`. */
async function openWithIntruder(create: () => Backend, { before, to }: { before: EntryState; to: EntryState }) {
  const backend = create()
  closers.push(() => backend.close())
  const relaxed = { durability: 'relaxed' } as const
  const put = (state: EntryState) => backend.commit([{ path: 'f' as Path, expect: 'any', to: state }], relaxed)
  await backend.commit([{ path: 'source' as Path, expect: 'any', to: text('mine\n') }], relaxed)
  if (before !== null) await put(before)
  let hasIntruded = false
  const intruded: Backend = {
    ...backend,
    async commit(changes, options) {
      if (!hasIntruded && changes.some(({ path }) => path === 'f')) {
        hasIntruded = true
        await put(to)
      }
      return backend.commit(changes, options)
    },
  }
  const { promises } = createFs(await createWorkspace({ backend: intruded, policy: 'autonomous' }))
  return promises
}

type Promises = Awaited<ReturnType<typeof openWithIntruder>>
const contentOf = (promises: Promises) => promises.readFile('/f', 'utf8').catch(({ code }: { code: string }) => code)

/** What is there afterwards, as on a disk where the other program came first. */
const functions: Record<string, { act(p: Promises): Promise<unknown>; after(other: string): string }> = {
  copyFile: { act: (p) => p.copyFile('/source', '/f'), after: () => 'mine\n' },
  rename: { act: (p) => p.rename('/source', '/f'), after: () => 'mine\n' },
  'rm with force': { act: (p) => p.rm('/f', { force: true }), after: () => 'ENOENT' },
}
for (const flag of ['w', 'w+']) {
  functions[`writeFile ${flag}`] = { act: (p) => p.writeFile('/f', 'mine\n', { flag }), after: () => 'mine\n' }
}
for (const flag of ['a', 'a+']) {
  const after = (other: string) => `${other}mine\n`
  functions[`appendFile ${flag}`] = { act: (p) => p.appendFile('/f', 'mine\n', { flag }), after }
}

describe.each(Object.entries(backends))('wardspace/fs over %s, while another program', (_backend, create) => {
  for (const [what, intrusion] of Object.entries(intrusions)) {
    for (const [name, { act, after }] of Object.entries(functions)) {
      it(`${what} the file: ${name} changes what is there then`, async () => {
        const promises = await openWithIntruder(create, intrusion)
        if (name.startsWith('rm') && intrusion.before === null) return
        await act(promises)
        expect(await contentOf(promises)).toBe(after(intrusion.to === null ? '' : 'other\n'))
      })
    }
  }

  it.each(['wx', 'wx+', 'ax', 'ax+'])('creates the file: writeFile %s fails, and changes nothing', async (flag) => {
    const promises = await openWithIntruder(create, intrusions.creates as { before: EntryState; to: EntryState })
    await expect(promises.writeFile('/f', 'mine\n', { flag })).rejects.toMatchObject({
      code: 'EEXIST',
      syscall: 'open',
    })
    expect(await contentOf(promises)).toBe('other\n')
  })

  it('creates the file: copyFile with COPYFILE_EXCL fails', async () => {
    const promises = await openWithIntruder(create, intrusions.creates as { before: EntryState; to: EntryState })
    await expect(promises.copyFile('/source', '/f', 1)).rejects.toMatchObject({ code: 'EEXIST', syscall: 'copyfile' })
  })

  it('replaces or removes the file: unlink removes it, or does not find it', async () => {
    const replaced = await openWithIntruder(create, intrusions.replaces as { before: EntryState; to: EntryState })
    await replaced.unlink('/f')
    expect(await contentOf(replaced)).toBe('ENOENT')
    const removed = await openWithIntruder(create, intrusions.removes as { before: EntryState; to: EntryState })
    await removed.unlink('/f').catch(({ code }) => expect(code).toBe('ENOENT'))
  })

  it('creates the directory: mkdir with recursive succeeds, and without it fails', async () => {
    const creates = { before: null, to: { type: 'directory' } } as const
    await (await openWithIntruder(create, creates)).mkdir('/f', { recursive: true })
    await (await openWithIntruder(create, creates)).mkdir('/f/g', { recursive: true })
    await expect((await openWithIntruder(create, creates)).mkdir('/f')).rejects.toMatchObject({ code: 'EEXIST' })
  })
})

describe.each(Object.entries(backends))('many writers at once over %s', (_name, create) => {
  it('leave one whole content, all appended lines, and one file of those that must create it', async () => {
    const backend = create()
    closers.push(() => backend.close())
    const workspace = await createWorkspace({ backend, policy: 'autonomous', limits: { callsPerMinute: 1_000_000 } })
    const { promises } = createFs(workspace)
    for (let round = 0; round < 5; round++) {
      const [written, appended, created] = [`/w${round}`, `/a${round}`, `/x${round}`]
      const each = [0, 1, 2, 3].map((i) => `${i}`.repeat(1000))
      await Promise.all(each.map((content) => promises.writeFile(written, content)))
      expect(each).toContain(await promises.readFile(written, 'utf8'))
      await Promise.all(each.map((content) => promises.appendFile(appended, content)))
      const lines = (await promises.readFile(appended, 'utf8')).match(/(.)\1{999}/g)
      expect(lines?.sort()).toEqual(each)
      const outcomes = await Promise.allSettled(each.map((c) => promises.writeFile(created, c, { flag: 'wx' })))
      const codes = outcomes.map((outcome) => (outcome.status === 'fulfilled' ? 'ok' : outcome.reason.code)).sort()
      expect(codes).toEqual(['EEXIST', 'EEXIST', 'EEXIST', 'ok'])
    }
  })
})
