import { describe, expect, it } from 'vitest'
import { memory } from '../../../src/backends/memory.ts'
import { ToolError } from '../../../src/errors.ts'
import { type Path, ROOT } from '../../../src/paths/logical-path.ts'
import type { CommandFilesOptions } from '../../../src/shells/command-files.ts'
import type { BackgroundCommand, CommandFiles, Shell } from '../../../src/shells/shell.ts'
import { answered } from '../../../src/shells/webcontainer/answered.ts'
import type { WebContainer } from '../../../src/shells/webcontainer/client.ts'
import { type Fallen, inItsPlace, startInItsPlace } from '../../../src/shells/webcontainer/fallback.ts'
import { createMirror } from '../../../src/shells/webcontainer/mirror.ts'
import { tryNamed } from '../../../src/shells/webcontainer/named.ts'
import { type FileTree, holdingOf, treeOf } from '../../../src/shells/webcontainer/tree.ts'
import type { Backend, State } from '../../../src/vfs/backend.ts'
import { filesOver } from '../setup.ts'
import { createDisk } from './stand-in/disk.ts'

const path = (text: string) => text as Path
const bytes = (text: string) => new TextEncoder().encode(text)
const file = (text: string) => ({ type: 'file', bytes: bytes(text) }) as const

describe('what a container answers', () => {
  it('is told by its first line, or not at all', async () => {
    const what = (error: unknown) => answered('do it', Promise.reject(error)).catch(({ message }) => message)
    expect(await what(new Error('first\nsecond'))).toBe('The container could not do it: first')
    expect(await what({})).toBe('The container could not do it: it failed')
    expect(await what(new ToolError('ABORTED', 'The shell was closed'))).toBe('The shell was closed')
  })

  it('is not waited for without end', async () => {
    await expect(answered('do it', new Promise(() => {}), 1)).rejects.toMatchObject({
      code: 'SHELL_UNAVAILABLE',
      message: 'The container could not do it: no answer within 1 ms',
    })
  })
})

describe('in the place of a container', () => {
  const outcome = { stdout: 'out', stderr: '', exitCode: 0, cwd: ROOT }
  const command = (signal?: AbortSignal): BackgroundCommand => {
    const files = filesOver(memory())
    const given = { line: 'true', cwd: ROOT, env: {}, timeoutMs: 60_000, files, now: () => 0, keep: async () => files }
    return signal === undefined ? given : { ...given, signal }
  }
  const shell = { name: 'other', run: async () => outcome } as unknown as Shell
  const reason = 'There is no WebContainer: none'

  it('another shell says that it ran the command, and why', async () => {
    expect(await inItsPlace({ reason, shell }, command())).toMatchObject({ warnings: [`other ran this. ${reason}`] })
    for (const signal of [undefined, new AbortController().signal]) {
      const process = await startInItsPlace({ reason, shell }, command(signal))
      await process.ended
      expect(process.output()).toEqual({ stdout: 'out', stderr: `other ran this. ${reason}\n` })
      expect(process.exitCode).toBe(0)
    }
    const starting = { ...shell, start: async () => ({ output: () => ({ stdout: '', stderr: 'own' }) }) }
    const process = await startInItsPlace({ reason, shell: starting as unknown as Shell }, command())
    expect(process.output().stderr).toBe(`other ran this. ${reason}\nown`)
  })

  it.each<[Fallen, object]>([
    [{ reason }, { code: 'SHELL_UNAVAILABLE', message: reason, details: {} }],
    [
      { reason, hint: 'Install it' },
      { message: reason, details: { hint: 'Install it' } },
    ],
  ])('nothing runs a command without one: %j', async (fallen, expected) => {
    await expect(inItsPlace(fallen, command())).rejects.toMatchObject(expected)
  })
})

it('a protected file that a line names is tried as its command would, by every name', async () => {
  const read: string[] = []
  const judge: CommandFilesOptions['judge'] = ({ path: one }) => void read.push(one)
  const files = filesOver(memory({ '.env': '', 'd/.env': '', 'a.txt': '' }), { judge })
  const line = 'cat /home/ws/.env a.txt; cd d && cat .env; cat --file=.env; echo .env'
  await tryNamed({ line, cwd: ROOT, files, env: {}, timeoutMs: 1000, now: () => 0 }, '/home/ws')
  expect([...new Set(read)].sort()).toEqual(['.env', 'd/.env'])
})

it('trees hold nothing of what belongs to the container, and nothing without its directory', () => {
  const own = { node_modules: { directory: {} }, 'a.txt': { file: { contents: 'a' } } }
  expect([...holdingOf(own)]).toEqual([['a.txt', file('a')]])
  expect(treeOf(new Map([[path('none/a.txt'), file('a')]]))).toEqual({})
})

describe('the mirror of a workspace', () => {
  const sight = { see: () => true, enter: () => true, revision: 'all' }

  /** What the container's own client gives, over files that nobody guards. */
  function bench(tree: Parameters<typeof memory>[0], how: { maxBytes?: number; more?: Partial<CommandFiles> } = {}) {
    const disk = createDisk()
    const held = async () => {
      const found = await disk.below(path('ws'))
      return new Map(found.map(({ path: one, state }) => [path(one.slice(3)), state]))
    }
    const container = {
      async mount(mounted: FileTree, { mountPoint }: { mountPoint: string }) {
        await disk.makeDirectories(path(mountPoint))
        for (const [one, state] of holdingOf(mounted)) await disk.set(path(`${mountPoint}/${one}`), state)
      },
      export: async () => treeOf(await held()),
      fs: {
        rm: async (one: string) => disk.remove(path(one)),
        mkdir: async (one: string) => disk.makeDirectories(path(one)),
        writeFile: async (one: string, content: Uint8Array) => disk.set(path(one), { type: 'file', bytes: content }),
      },
    }
    const { maxBytes = 1000, more } = how
    const options = { container: container as unknown as WebContainer, directory: 'ws', links: true, maxBytes }
    const backend = memory(tree)
    const mirror = createMirror(options)
    return {
      ...{ backend, container, disk, mirror },
      async give(options: Partial<CommandFilesOptions> = {}) {
        await mirror.fit({ files: { ...filesOver(backend, options), ...more }, sight, isShared: false })
      },
      set: (one: string, to: State) => set(backend, one, to),
      /** What is in the container. */
      async shown() {
        const tellsOf = (state: State) =>
          state?.type === 'file'
            ? new TextDecoder().decode(state.bytes)
            : state?.type === 'link'
              ? `→ ${state.target}`
              : ''
        return Object.fromEntries([...(await held())].map(([one, state]) => [one, tellsOf(state)]))
      },
    }
  }
  const set = async (backend: Backend, one: string, to: State) => {
    await backend.commit([{ path: path(one), expect: 'any', to }], { durability: 'relaxed' })
  }

  it('holds what may be read and nothing else, links as they lead now', async () => {
    const { give, shown, set, disk } = bench({ 'a.txt': 'a', link: { link: 'a.txt' } })
    await disk.makeDirectories(path('ws'))
    await disk.set(path('ws/left.txt'), file('of somebody before'))
    await give()
    expect(await shown()).toEqual({ 'a.txt': 'a', link: '→ a.txt' })
    await set('link', { type: 'link', target: 'b.txt' })
    await set('d', { type: 'directory' })
    await set('d/b.txt', file('b'))
    await give()
    expect(await shown()).toEqual({ 'a.txt': 'a', link: '→ b.txt', d: '', 'd/b.txt': 'b' })
  })

  it('asks once for what may not be read, and leaves out what leads elsewhere or is gone', async () => {
    const asked: string[] = []
    const judge: CommandFilesOptions['judge'] = ({ permission, path: one }) => {
      if (permission !== 'file:read') return
      asked.push(one)
      if (one === 'no.txt') throw new ToolError('POLICY_DENIED', 'Not that one')
    }
    const tree = { 'a.txt': 'a', 'no.txt': 'n', 'gone.txt': 'g', out: { link: 'a.txt' } }
    const inner = filesOver(memory(tree))
    const stat: CommandFiles['stat'] = async (one, how) => (one === 'gone.txt' ? undefined : inner.stat(one, how))
    const { give, shown } = bench(tree, { more: { readLink: async () => '/etc/passwd', stat } })
    await give({ judge })
    await give({ judge })
    expect(await shown()).toEqual({ 'a.txt': 'a' })
    expect(asked.sort()).toEqual(['a.txt', 'no.txt'])
  })

  it.each([
    ['a file', { 'a.txt': '12345' }],
    ['all files', { 'a.txt': '123', 'b.txt': '456' }],
  ])('is too small for %s', async (_, tree) => {
    await expect(bench(tree, { maxBytes: 4 }).give()).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' })
  })

  it('takes a fault of the files for no refusal', async () => {
    const read = () => Promise.reject(new TypeError('a fault'))
    await expect(bench({ 'a.txt': 'a' }, { more: { read } }).give()).rejects.toThrow(TypeError)
  })

  it('is lost where the container does not do as it is told', async () => {
    const { give, container, mirror } = bench({ 'a.txt': 'a' })
    Object.assign(container, { export: () => Promise.reject(new Error('gone')) })
    expect(mirror.isLost()).toBe(false)
    await expect(give()).rejects.toMatchObject({ code: 'SHELL_UNAVAILABLE' })
    expect(mirror.isLost()).toBe(true)
  })

  it('keeps no change of what somebody else has changed meanwhile', async () => {
    const { give, mirror, set, disk, backend } = bench({ 'a.txt': 'a', 'b.txt': 'b' })
    await give()
    for (const name of ['a.txt', 'b.txt']) await disk.set(path(`ws/${name}`), file('by the command'))
    const made = await mirror.changes()
    expect(made.map((one) => one.path)).toEqual(['a.txt', 'b.txt'])
    await set('a.txt', null)
    await set('a.txt', { type: 'directory' })
    await set('b.txt', null)
    for (const one of made) {
      await expect(mirror.prepare(filesOver(backend), [one])).rejects.toMatchObject({ code: 'WRITE_CONFLICT' })
    }
  })

  it('follows what other calls change', async () => {
    const { give, mirror, shown } = bench({ 'd/a.txt': 'a', 'b.txt': 'b' })
    await give()
    await mirror.follow(path('n/m/c.txt'), file('c'))
    await mirror.follow(path('b.txt'), null)
    await mirror.follow(path('d'), file('now a file'))
    expect(await shown()).toEqual({ d: 'now a file', n: '', 'n/m': '', 'n/m/c.txt': 'c' })
    expect(await mirror.changes()).toEqual([])
  })
})
