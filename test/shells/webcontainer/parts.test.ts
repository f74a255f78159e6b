import { auth, WebContainer } from '@webcontainer/api'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { memory } from '../../../src/backends/memory/index.ts'
import { ToolError } from '../../../src/errors.ts'
import { type Path, ROOT } from '../../../src/paths/logical-path.ts'
import type { CommandFilesOptions } from '../../../src/shells/shared/command-files.ts'
import type { BackgroundCommand, CommandFiles, Shell } from '../../../src/shells/types.ts'
import { createBackgroundLines } from '../../../src/shells/webcontainer/background-lines.ts'
import { containerCall } from '../../../src/shells/webcontainer/container-call.ts'
import { startProcess } from '../../../src/shells/webcontainer/container-process.ts'
import type { ContainerSession, SessionCommand } from '../../../src/shells/webcontainer/container-session.ts'
import { type FallbackState, runInFallback, startInFallback } from '../../../src/shells/webcontainer/fallback.ts'
import { buildFileTree, type FileTree, parseFileTree } from '../../../src/shells/webcontainer/file-tree.ts'
import { webcontainer } from '../../../src/shells/webcontainer/index.ts'
import { createMirror } from '../../../src/shells/webcontainer/mirror.ts'
import { recordProtectedReads } from '../../../src/shells/webcontainer/precheck-paths.ts'
import type { Backend, Change, EntryState } from '../../../src/storage/backend.ts'
import { createSerialQueue } from '../../../src/util/serial-queue.ts'
import { filesOver } from '../setup.ts'
import { createDisk, type Disk } from './stand-in/disk.ts'

const path = (text: string) => text as Path
const bytes = (text: string) => new TextEncoder().encode(text)
const file = (text: string) => ({ type: 'file', bytes: bytes(text) }) as const

describe('what a container answers', () => {
  it('is told by its first line, or not at all', async () => {
    const what = (error: unknown) => containerCall('do it', Promise.reject(error)).catch(({ message }) => message)
    expect(await what(new Error('first\nsecond'))).toBe('The container could not do it: first')
    for (const error of [{}, undefined, null])
      expect(await what(error)).toBe('The container could not do it: it failed')
    expect(await what(new ToolError('ABORTED', 'The shell was closed'))).toBe('The shell was closed')
  })

  it('is not waited for without end', async () => {
    await expect(containerCall('do it', new Promise(() => {}), 1)).rejects.toMatchObject({
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
    expect(await runInFallback({ reason, shell }, command())).toMatchObject({ warnings: [`other ran this. ${reason}`] })
    for (const signal of [undefined, new AbortController().signal]) {
      const process = await startInFallback({ reason, shell }, command(signal))
      await process.ended
      expect(process.output()).toEqual({ stdout: 'out', stderr: `other ran this. ${reason}\n` })
      expect(process.exitCode).toBe(0)
    }
    const starting = { ...shell, start: async () => ({ output: () => ({ stdout: '', stderr: 'own' }) }) }
    const process = await startInFallback({ reason, shell: starting as unknown as Shell }, command())
    expect(process.output().stderr).toBe(`other ran this. ${reason}\nown`)
  })

  it.each<[FallbackState, object]>([
    [{ reason }, { code: 'SHELL_UNAVAILABLE', message: reason, details: {} }],
    [
      { reason, hint: 'Install it' },
      { message: reason, details: { hint: 'Install it' } },
    ],
  ])('nothing runs a command without one: %j', async (fallen, expected) => {
    await expect(runInFallback(fallen, command())).rejects.toMatchObject(expected)
  })
})

it('a protected file that a line names is tried as its command would, by every name', async () => {
  const read: string[] = []
  const judge: CommandFilesOptions['judge'] = ({ path: one }) => void read.push(one)
  const files = filesOver(memory({ '.env': '', 'd/.env': '', 'a.txt': '' }), { judge })
  const line = 'cat /home/ws/.env a.txt; cd d && cat .env; cat --file=.env; echo .env'
  await recordProtectedReads({ line, cwd: ROOT, files, env: {}, timeoutMs: 1000, now: () => 0 }, '/home/ws')
  expect([...new Set(read)].sort()).toEqual(['.env', 'd/.env'])
})

it('trees hold nothing of what belongs to the container, and nothing without its directory', () => {
  const own = { node_modules: { directory: {} }, 'a.txt': { file: { contents: 'a' } } }
  expect([...parseFileTree(own)]).toEqual([['a.txt', file('a')]])
  expect(buildFileTree(new Map([[path('none/a.txt'), file('a')]]))).toEqual({})
})

const sight = { see: () => true, enter: () => true, revision: 'all' }

const set = async (backend: Backend, one: string, to: EntryState) => {
  await backend.commit([{ path: path(one), expect: 'any', to }], { durability: 'relaxed' })
}

/** The files of a container, as its own client gives them. */
function filesOfContainer(disk: Disk) {
  const held = async (directory: string) => {
    const found = await disk.below(path(directory))
    return new Map(found.map(({ path: one, state }) => [path(one.slice(directory.length + 1)), state]))
  }
  return {
    held,
    async mount(mounted: FileTree, { mountPoint }: { mountPoint: string }) {
      await disk.makeDirectories(path(mountPoint))
      for (const [one, state] of parseFileTree(mounted)) await disk.set(path(`${mountPoint}/${one}`), state)
    },
    export: async (directory: string) => buildFileTree(await held(directory)),
    fs: {
      rm: async (one: string) => disk.remove(path(one)),
      mkdir: async (one: string) => disk.makeDirectories(path(one)),
      writeFile: async (one: string, content: Uint8Array) => disk.set(path(one), { type: 'file', bytes: content }),
      watch: () => ({ close() {} }),
    },
  }
}

/** What the container's own client gives, over files that nobody guards. */
function bench(tree: Parameters<typeof memory>[0], how: { maxBytes?: number; more?: Partial<CommandFiles> } = {}) {
  const disk = createDisk()
  const { held, ...container } = filesOfContainer(disk)
  const { maxBytes = 1000, more } = how
  const options = { container: container as unknown as WebContainer, directory: 'ws', links: true, maxBytes }
  const backend = memory(tree)
  const mirror = createMirror(options)
  return {
    ...{ backend, container, disk, mirror },
    async give(options: Partial<CommandFilesOptions> = {}) {
      await mirror.sync({ files: { ...filesOver(backend, options), ...more }, visibility: sight, isShared: false })
    },
    set: (one: string, to: EntryState) => set(backend, one, to),
    /** What is in the container. */
    async shown() {
      const tellsOf = (state: EntryState) =>
        state?.type === 'file'
          ? new TextDecoder().decode(state.bytes)
          : state?.type === 'link'
            ? `→ ${state.target}`
            : ''
      return Object.fromEntries([...(await held('ws'))].map(([one, state]) => [one, tellsOf(state)]))
    },
  }
}

describe('the mirror of a workspace', () => {
  it('holds what may be read and nothing else, links as they lead now', async () => {
    const { give, shown, set, disk } = bench({ 'a.txt': 'a', link: { link: 'a.txt' } })
    await disk.makeDirectories(path('ws'))
    await disk.set(path('ws/left.txt'), file('of somebody before'))
    await give()
    expect(await shown()).toEqual({ 'a.txt': 'a', link: '→ a.txt' })
    await set('link', { type: 'link', target: 'b.txt' })
    await set('d', { type: 'directory' })
    await set('d/b.txt', file('b'))
    await set('new', { type: 'link', target: 'a.txt' })
    await give()
    expect(await shown()).toEqual({ 'a.txt': 'a', link: '→ b.txt', d: '', 'd/b.txt': 'b', new: '→ a.txt' })
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

  it('takes what a container makes of a file by itself for no change, and what a command makes of that for one', async () => {
    const { give, mirror, container, disk } = bench({ 'a.txt': 'a\r\n' })
    const { mount } = container
    Object.assign(container, {
      mount: (_: unknown, how: { mountPoint: string }) => mount({ 'a.txt': { file: { contents: 'a\n' } } }, how),
    })
    await give()
    expect(await mirror.changes()).toEqual([])
    await disk.set(path('ws/a.txt'), file('b\n'))
    expect(await mirror.changes()).toEqual([{ path: 'a.txt', before: file('a\n'), after: file('b\n') }])
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

describe('background commands of a container', () => {
  async function started(tree: Parameters<typeof memory>[0], more: Partial<BackgroundCommand> = {}) {
    const one = bench(tree)
    const turns = createSerialQueue()
    const lines: SessionCommand[] = []
    let end: (code: number | undefined) => void = () => {}
    const ended = new Promise<number | undefined>((resolve) => {
      end = resolve
    })
    const kill = vi.fn(() => end(143))
    const start = async (line: SessionCommand) => {
      lines.push(line)
      return { ended, kill, output: () => '', write: async () => {}, resize() {}, endedIn: async () => undefined }
    }
    const cabin = { container: one.container, mirror: one.mirror, start }
    const background = createBackgroundLines(cabin as unknown as ContainerSession, turns)
    const files = () => filesOver(one.backend)
    const base = { line: 'work', cwd: ROOT, env: {}, timeoutMs: 60_000, files: files(), now: () => 0 }
    const command: BackgroundCommand = { ...base, visibility: sight, keep: async () => files(), ...more }
    const how = { env: {}, terminal: { cols: 80, rows: 24 } }
    const process = await background.start(command, how)
    return { ...one, background, turns, lines, end, kill, command, process, how }
  }

  it('do not start where nobody says what they may read', async () => {
    const { background, command, how, kill } = await started({})
    const { visibility: _, ...blind } = command
    await expect(background.start(blind, how)).rejects.toMatchObject({ code: 'SHELL_UNAVAILABLE' })
    await background.close()
    expect(kill).toHaveBeenCalledOnce()
  })

  it('tell what comes as it comes, and an end of which nothing is known', async () => {
    const told: unknown[] = []
    const { lines, background, process, end } = await started({}, { onOutput: (...what) => told.push(what) })
    lines[0]?.onOutput?.('out')
    expect(told).toEqual([['stdout', 'out']])
    background.notify('a server\n')
    end(undefined)
    await process.ended
    expect(process.exitCode).toBe(137)
    expect(process.output()).toEqual({ stdout: '', stderr: 'a server\n' })
  })

  it('end when their time is over', async () => {
    const { process, kill } = await started({}, { timeoutMs: 0 })
    await process.ended
    expect(kill).toHaveBeenCalledOnce()
    expect(process.exitCode).toBe(124)
    expect(process.output().stderr).toBe('The command did not end within 0 ms\n')
  })

  it('end where what they changed was changed by somebody else, which stays', async () => {
    const { background, command, process, disk, set, shown } = await started({ 'a.txt': 'a' })
    await disk.set(path('ws/a.txt'), file('by the command'))
    await set('a.txt', file('by somebody else'))
    await background.sync(command)
    await process.ended
    expect(process.exitCode).toBe(143)
    expect(process.output().stderr).toMatch(
      /^What it changed was put back: Cannot keep what the command changed: "a.txt"/,
    )
    expect(await shown()).toEqual({ 'a.txt': 'by somebody else' })
  })

  it.each([
    ['go on with other files after their changes were refused', 1, 0],
    ['end where there are no other files', 2, 143],
  ])('%s', async (_, refusals, exitCode) => {
    let asked = 0
    const keep = async () => {
      asked += 1
      if (asked <= refusals) throw new TypeError('a fault')
      return filesOver(memory({ 'a.txt': 'a' }))
    }
    const more = { keep, files: filesOver(memory({ 'a.txt': 'a' })) }
    const { background, backend, command, process, disk, shown, end, kill } = await started({ 'a.txt': 'a' }, more)
    await disk.set(path('ws/a.txt'), file('by the command'))
    await background.sync({ ...command, files: filesOver(backend) })
    expect(await shown()).toEqual({ 'a.txt': 'a' })
    expect(kill).toHaveBeenCalledTimes(refusals - 1)
    end(0)
    await process.ended
    expect(process.exitCode).toBe(exitCode)
    expect(process.output().stderr).toBe('What it changed was put back: The command failed\n')
  })

  it('tell where the container does not tell what they changed', async () => {
    const { process, container, end } = await started({ 'a.txt': 'a' })
    Object.assign(container, { export: () => Promise.reject(new Error('gone')) })
    end(0)
    await process.ended
    expect(process.exitCode).toBe(0)
    expect(process.output().stderr).toBe('The container could not export its files: gone\n')
  })

  it('see of what other calls change what they may see, and nothing of a secret', async () => {
    let commit: (changes: readonly Change[]) => void = () => {}
    const onCommit: BackgroundCommand['onCommit'] = (listener) => {
      commit = listener
      return () => {}
    }
    const hiding = { ...sight, see: (one: string) => one !== 'hidden.txt' }
    const tree = { 'a.txt': 'a', 'gone.txt': '', 'u.txt': 'u' }
    const { turns, shown, end, process } = await started(tree, { onCommit, visibility: hiding })
    const secret = new Uint8Array(Buffer.from(`\ufeffghp_${'a1B2'.repeat(9)}`, 'utf16le'))
    const changed: [string, EntryState][] = [
      ['a.txt', file('b')],
      ['gone.txt', null],
      ['d', { type: 'directory' }],
      ['hidden.txt', file('h')],
      ['link', { type: 'link', target: 'a.txt' }],
      ['u.txt', { type: 'file', bytes: secret }],
    ]
    commit(changed.map(([one, to]): Change => ({ path: path(one), expect: 'any', to })))
    await turns.next(async () => {})
    expect(await shown()).toEqual({ 'a.txt': 'b', d: '' })
    end(0)
    await process.ended
  })
})

describe("over a double of the client's interface", () => {
  beforeEach(() => {
    vi.stubGlobal('document', {})
    vi.stubGlobal('crossOriginIsolated', true)
  })
  afterEach(() => {
    vi.unstubAllGlobals()
    vi.restoreAllMocks()
  })

  /** A container in which a line ends as `exits` says, in the directory `told`. */
  function double(exits: (script: string) => Promise<number> = async () => 0, told = '/home/x/workspace') {
    let isTrial = false
    const { held: _, ...files } = filesOfContainer(createDisk())
    const scripts: string[] = []
    const container = {
      ...files,
      workdir: '/home/x',
      fs: { ...files.fs, readFile: async () => (isTrial ? '/\n' : `${told}\n`) },
      on: () => () => {},
      teardown: vi.fn(),
      setPreviewScript: async () => {},
      async spawn(_: string, [, script = '']: string[]) {
        isTrial = script.includes('false')
        if (!isTrial) scripts.push(script)
        const output = new ReadableStream<string>({ start: (controller) => controller.close() })
        return { exit: isTrial ? Promise.resolve(1) : exits(script), output, resize: vi.fn(), kill() {} }
      },
    }
    return { ...container, scripts, client: container as unknown as WebContainer }
  }
  const boots = (...each: (() => Promise<WebContainer>)[]) => {
    const boot = vi.spyOn(WebContainer, 'boot')
    for (const one of each) boot.mockImplementationOnce(one)
    return boot
  }
  const giving = (one: { readonly client: WebContainer }) => async () => one.client
  const command = (more: object = {}) => {
    const files = filesOver(memory({ 'a.txt': 'a', d: { directory: true } }))
    return { line: 'work', cwd: ROOT, env: {}, timeoutMs: 60_000, files, now: () => 0, visibility: sight, ...more }
  }
  const nothing = 'There is no WebContainer: '

  it('a closed shell runs nothing', async () => {
    const shell = webcontainer()
    await shell.close()
    await expect(shell.ready()).rejects.toMatchObject({ code: 'SHELL_UNAVAILABLE', message: 'The shell is closed' })
  })

  it.each([
    [new Error('one\n  two'), 'one two'],
    [{}, 'for no known reason'],
    [undefined, 'for no known reason'],
  ])('a boot that fails says why, and keeps nobody from another: %j', async (error, why) => {
    const boot = boots(() => Promise.reject(error), giving(double()))
    const first = webcontainer({ fallback: false })
    expect(await first.ready()).toEqual({ runs: 'nothing', reason: `${nothing}it did not boot: ${why}` })
    await first.close()
    const second = webcontainer({ forwardPreviewErrors: true, coep: 'credentialless' })
    expect(await second.ready()).toMatchObject({ runs: 'webcontainer', tellsCwd: true, links: true })
    expect(boot).toHaveBeenLastCalledWith({
      workdirName: 'wardspace',
      coep: 'credentialless',
      forwardPreviewErrors: true,
    })
    await second.close()
  })

  it('a boot that a closed shell did not wait for is the one of the next', async () => {
    const boot = boots(giving(double()))
    const first = webcontainer()
    const ready = first.ready()
    await Promise.all([expect(ready).rejects.toMatchObject({ code: 'ABORTED' }), first.close()])
    const second = webcontainer()
    expect(await second.ready()).toMatchObject({ runs: 'webcontainer' })
    expect(boot).toHaveBeenCalledOnce()
    await second.close()
  })

  it('the vendor is asked once to sign the same in, and may refuse', async () => {
    const init = vi.spyOn(auth, 'init')
    init.mockReturnValueOnce({ status: 'auth-failed', error: 'no', description: '' })
    init.mockReturnValueOnce({ status: 'authorized' })
    boots(giving(double()), giving(double()))
    const options = { auth: { clientId: 'somebody', scope: '' }, fallback: false } as const
    const states: unknown[] = []
    for (let i = 0; i < 3; i++) {
      const shell = webcontainer(options)
      states.push(await shell.ready())
      await shell.close()
    }
    expect(states).toMatchObject([
      { reason: `${nothing}its vendor refused the sign-in: no` },
      { runs: 'webcontainer' },
      { runs: 'webcontainer' },
    ])
    expect(init).toHaveBeenCalledTimes(2)
  })

  it('a container that does not take what it has to is given back', async () => {
    const one = double()
    Object.assign(one.client, { setPreviewScript: () => Promise.reject(new Error('no')) })
    boots(giving(one))
    const shell = webcontainer({ previewScript: '', fallback: false })
    const reason = 'The container could not take the script of previews: no'
    expect(await shell.ready()).toEqual({ runs: 'nothing', reason })
    expect(one.teardown).toHaveBeenCalledOnce()
    await shell.close()
  })

  it.each([
    ['takes no links', { mount: () => Promise.reject(new Error('no')) }],
    ['tells no tree', { export: async () => undefined }],
  ])('links stay as they are where a container %s', async (_, lacking) => {
    const one = double()
    Object.assign(one.client, lacking)
    boots(giving(one))
    const shell = webcontainer()
    expect(await shell.ready()).toMatchObject({ links: false })
    await shell.close()
  })

  it('where a line ends is told only where that is a directory of the workspace', async () => {
    for (const [told, cwd] of [
      ['d', 'd'],
      ['none', ''],
      ['a.txt', ''],
    ]) {
      boots(giving(double(async () => 0, `/home/x/workspace/${told}`)))
      const shell = webcontainer()
      expect(await shell.run(command())).toMatchObject({ exitCode: 0, cwd })
      await shell.close()
    }
  })

  it('a container of which nothing is known, or that has ended, is followed by another one', async () => {
    const [lost, gone, last] = [double(), double(() => Promise.reject(new Error('gone'))), double()]
    boots(giving(lost), giving(gone), giving(last))
    const shell = webcontainer()
    await shell.ready()
    Object.assign(lost.client, { export: () => Promise.reject(new Error('gone')) })
    const failing = (message: string) => ({ code: 'SHELL_UNAVAILABLE', message })
    await expect(shell.run(command())).rejects.toMatchObject(failing('The container could not export its files: gone'))
    const ended = 'The container has ended; nothing that the command did was kept'
    await expect(shell.run(command())).rejects.toMatchObject(failing(ended))
    expect(await shell.run(command())).toMatchObject({ exitCode: 0 })
    await shell.close()
    for (const { teardown } of [lost, gone, last]) expect(teardown).toHaveBeenCalledOnce()
  })

  it('a command that waits while the only container ends runs in its place', async () => {
    const gone = double(() => Promise.reject(new Error('gone')))
    boots(giving(gone), () => Promise.reject(new Error('no more')))
    const ran = { stdout: 'out', stderr: '', exitCode: 0, cwd: ROOT }
    const other = { name: 'other', run: async () => ran, close: async () => {} } as unknown as Shell
    const shell = webcontainer({ fallback: other })
    const [first, second] = await Promise.allSettled([shell.run(command()), shell.run(command())])
    expect(first).toMatchObject({ status: 'rejected', reason: { code: 'SHELL_UNAVAILABLE' } })
    const warnings = [`other ran this. ${nothing}it did not boot: no more`]
    expect(second).toEqual({ status: 'fulfilled', value: { ...ran, warnings } })
    await shell.close()
  })

  it('a command that is stopped before it begins never begins', async () => {
    const stopping = new AbortController()
    const one = double(async () => {
      stopping.abort()
      return 0
    })
    boots(giving(one))
    const shell = webcontainer()
    await shell.ready()
    const first = shell.run(command({ line: 'first' }))
    const waiting = shell.run(command({ signal: stopping.signal }))
    await expect(waiting).rejects.toMatchObject({ code: 'ABORTED' })
    expect(await first).toMatchObject({ exitCode: 0 })
    await expect(shell.run(command({ signal: AbortSignal.abort() }))).rejects.toMatchObject({ code: 'ABORTED' })
    const fitting = new AbortController()
    const given = command()
    const list: CommandFiles['list'] = async (...asked) => {
      fitting.abort()
      return given.files.list(...asked)
    }
    const aborted = shell.run({ ...given, files: { ...given.files, list }, signal: fitting.signal })
    await expect(aborted).rejects.toMatchObject({ code: 'ABORTED' })
    expect(one.scripts).toHaveLength(1)
    await shell.close()
  })

  it('the terminal of a process that has ended is left alone', async () => {
    const one = double()
    const spawned = await one.spawn('jsh', ['-c', 'work'])
    Object.assign(one.client, { spawn: async () => spawned })
    const size = { cols: 80, rows: 24 }
    const process = await startProcess(one.client, { script: 'work', cwd: '', env: {}, terminal: size }, 1000)
    process.resize({ cols: 1, rows: 2 })
    expect(await process.ended).toBe(0)
    process.resize(size)
    expect(spawned.resize.mock.calls).toEqual([[{ cols: 1, rows: 2 }]])
  })
})
