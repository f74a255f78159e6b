import { auth, WebContainer } from '@webcontainer/api'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { memory } from '../../../src/backends/memory/index.ts'
import { ToolError } from '../../../src/errors.ts'
import { type Path, ROOT } from '../../../src/paths/logical-path.ts'
import type { CommandFilesOptions } from '../../../src/shells/shared/command-gate.ts'
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

describe('containerCall()', () => {
  it('reports only the first line of an error', async () => {
    const messageFor = (error: unknown) => containerCall('do it', Promise.reject(error)).catch(({ message }) => message)
    expect(await messageFor(new Error('first\nsecond'))).toBe('The container could not do it: first')
    for (const error of [{}, undefined, null])
      expect(await messageFor(error)).toBe('The container could not do it: it failed')
    expect(await messageFor(new ToolError('ABORTED', 'The shell was closed'))).toBe('The shell was closed')
  })

  it('fails after its time limit', async () => {
    await expect(containerCall('do it', new Promise(() => {}), 1)).rejects.toMatchObject({
      code: 'SHELL_UNAVAILABLE',
      message: 'The container could not do it: no answer within 1 ms',
    })
  })
})

describe('the fallback shell of webcontainer()', () => {
  const outcome = { stdout: 'out', stderr: '', exitCode: 0, cwd: ROOT }
  const command = (signal?: AbortSignal): BackgroundCommand => {
    const files = filesOver(memory())
    const base = { line: 'true', cwd: ROOT, env: {}, timeoutMs: 60_000, files, now: () => 0, keep: async () => files }
    return signal === undefined ? base : { ...base, signal }
  }
  const shell = { name: 'other', run: async () => outcome } as unknown as Shell
  const reason = 'There is no WebContainer: none'

  it('runs commands with a warning that gives the reason', async () => {
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
  ])('is an error if there is none: %j', async (fallback, expected) => {
    await expect(runInFallback(fallback, command())).rejects.toMatchObject(expected)
  })
})

it('recordProtectedReads(): reads every protected file that a line names', async () => {
  const read: string[] = []
  const judge: CommandFilesOptions['judge'] = ({ path: one }) => void read.push(one)
  const files = filesOver(memory({ '.env': '', 'd/.env': '', 'a.txt': '' }), { judge })
  const line = 'cat /home/ws/.env a.txt; cd d && cat .env; cat --file=.env; echo .env'
  await recordProtectedReads({ line, cwd: ROOT, files, env: {}, timeoutMs: 1000, now: () => 0 }, '/home/ws')
  expect([...new Set(read)].sort()).toEqual(['.env', 'd/.env'])
})

it('file trees leave out node_modules, and entries without their directory', () => {
  const tree = { node_modules: { directory: {} }, 'a.txt': { file: { contents: 'a' } } }
  expect([...parseFileTree(tree)]).toEqual([['a.txt', file('a')]])
  expect(buildFileTree(new Map([[path('none/a.txt'), file('a')]]))).toEqual({})
})

const visibility = { see: () => true, enter: () => true, revision: 'all' }

const set = async (backend: Backend, one: string, to: EntryState) => {
  await backend.commit([{ path: path(one), expect: 'any', to }], { durability: 'relaxed' })
}

/** The file operations of a container, over a disk in memory. */
function filesOfContainer(disk: Disk) {
  const entriesIn = async (directory: string) => {
    const entries = await disk.below(path(directory))
    return new Map(entries.map(({ path: one, state }) => [path(one.slice(directory.length + 1)), state]))
  }
  return {
    entriesIn,
    async mount(mounted: FileTree, { mountPoint }: { mountPoint: string }) {
      await disk.makeDirectories(path(mountPoint))
      for (const [one, state] of parseFileTree(mounted)) await disk.set(path(`${mountPoint}/${one}`), state)
    },
    export: async (directory: string) => buildFileTree(await entriesIn(directory)),
    fs: {
      rm: async (one: string) => disk.remove(path(one)),
      mkdir: async (one: string) => disk.makeDirectories(path(one)),
      writeFile: async (one: string, content: Uint8Array) => disk.set(path(one), { type: 'file', bytes: content }),
      watch: () => ({ close() {} }),
    },
  }
}

/** A mirror over a container in memory and files that are not guarded. */
function bench(
  tree: Parameters<typeof memory>[0],
  benchOptions: { maxBytes?: number; more?: Partial<CommandFiles> } = {},
) {
  const disk = createDisk()
  const { entriesIn, ...container } = filesOfContainer(disk)
  const { maxBytes = 1000, more } = benchOptions
  const options = { container: container as unknown as WebContainer, directory: 'ws', links: true, maxBytes }
  const backend = memory(tree)
  const mirror = createMirror(options)
  return {
    ...{ backend, container, disk, mirror },
    async sync(options: Partial<CommandFilesOptions> = {}) {
      await mirror.sync({ files: { ...filesOver(backend, options), ...more }, visibility, isShared: false })
    },
    set: (one: string, to: EntryState) => set(backend, one, to),
    /** The content of the container. */
    async contents() {
      const textOf = (state: EntryState) =>
        state?.type === 'file'
          ? new TextDecoder().decode(state.bytes)
          : state?.type === 'link'
            ? `→ ${state.target}`
            : ''
      return Object.fromEntries([...(await entriesIn('ws'))].map(([one, state]) => [one, textOf(state)]))
    },
  }
}

describe('createMirror()', () => {
  it('copies the visible files and nothing else, and updates links', async () => {
    const { sync, contents, set, disk } = bench({ 'a.txt': 'a', link: { link: 'a.txt' } })
    await disk.makeDirectories(path('ws'))
    await disk.set(path('ws/left.txt'), file('of somebody before'))
    await sync()
    expect(await contents()).toEqual({ 'a.txt': 'a', link: '→ a.txt' })
    await set('link', { type: 'link', target: 'b.txt' })
    await set('d', { type: 'directory' })
    await set('d/b.txt', file('b'))
    await set('new', { type: 'link', target: 'a.txt' })
    await sync()
    expect(await contents()).toEqual({ 'a.txt': 'a', link: '→ b.txt', d: '', 'd/b.txt': 'b', new: '→ a.txt' })
  })

  it('reads a refused file only once, and leaves out outward links and files that are gone', async () => {
    const reads: string[] = []
    const judge: CommandFilesOptions['judge'] = ({ permission, path: one }) => {
      if (permission !== 'file:read') return
      reads.push(one)
      if (one === 'no.txt') throw new ToolError('POLICY_DENIED', 'Not that one')
    }
    const tree = { 'a.txt': 'a', 'no.txt': 'n', 'gone.txt': 'g', out: { link: 'a.txt' } }
    const inner = filesOver(memory(tree))
    const stat: CommandFiles['stat'] = async (one, options) =>
      one === 'gone.txt' ? undefined : inner.stat(one, options)
    const { sync, contents } = bench(tree, { more: { readLink: async () => '/etc/passwd', stat } })
    await sync({ judge })
    await sync({ judge })
    expect(await contents()).toEqual({ 'a.txt': 'a' })
    expect(reads.sort()).toEqual(['a.txt', 'no.txt'])
  })

  it.each([
    ['a file', { 'a.txt': '12345' }],
    ['all files', { 'a.txt': '123', 'b.txt': '456' }],
  ])('refuses %s beyond maxBytes', async (_, tree) => {
    await expect(bench(tree, { maxBytes: 4 }).sync()).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' })
  })

  it('passes on an error that is not a ToolError', async () => {
    const read = () => Promise.reject(new TypeError('a fault'))
    await expect(bench({ 'a.txt': 'a' }, { more: { read } }).sync()).rejects.toThrow(TypeError)
  })

  it('is lost after an operation of the container fails', async () => {
    const { sync, container, mirror } = bench({ 'a.txt': 'a' })
    Object.assign(container, { export: () => Promise.reject(new Error('gone')) })
    expect(mirror.isLost()).toBe(false)
    await expect(sync()).rejects.toMatchObject({ code: 'SHELL_UNAVAILABLE' })
    expect(mirror.isLost()).toBe(true)
  })

  it('refuses changes of files that were changed in the meantime', async () => {
    const { sync, mirror, set, disk, backend } = bench({ 'a.txt': 'a', 'b.txt': 'b' })
    await sync()
    for (const name of ['a.txt', 'b.txt']) await disk.set(path(`ws/${name}`), file('by the command'))
    const changes = await mirror.changes()
    expect(changes.map((one) => one.path)).toEqual(['a.txt', 'b.txt'])
    await set('a.txt', null)
    await set('a.txt', { type: 'directory' })
    await set('b.txt', null)
    for (const one of changes) {
      await expect(mirror.prepare(filesOver(backend), [one])).rejects.toMatchObject({ code: 'WRITE_CONFLICT' })
    }
  })

  it('ignores a conversion by the container, and reports a change of the converted file', async () => {
    const { sync, mirror, container, disk } = bench({ 'a.txt': 'a\r\n' })
    const { mount } = container
    Object.assign(container, {
      mount: (_: unknown, options: { mountPoint: string }) =>
        mount({ 'a.txt': { file: { contents: 'a\n' } } }, options),
    })
    await sync()
    expect(await mirror.changes()).toEqual([])
    await disk.set(path('ws/a.txt'), file('b\n'))
    expect(await mirror.changes()).toEqual([{ path: 'a.txt', before: file('a\n'), after: file('b\n') }])
  })

  it('applies the changes of other calls', async () => {
    const { sync, mirror, contents } = bench({ 'd/a.txt': 'a', 'b.txt': 'b' })
    await sync()
    await mirror.follow(path('n/m/c.txt'), file('c'))
    await mirror.follow(path('b.txt'), null)
    await mirror.follow(path('d'), file('now a file'))
    expect(await contents()).toEqual({ d: 'now a file', n: '', 'n/m': '', 'n/m/c.txt': 'c' })
    expect(await mirror.changes()).toEqual([])
  })
})

describe('background lines of a container', () => {
  async function startLine(tree: Parameters<typeof memory>[0], more: Partial<BackgroundCommand> = {}) {
    const one = bench(tree)
    const queue = createSerialQueue()
    const lines: SessionCommand[] = []
    let end: (code: number | undefined) => void = () => {}
    const ended = new Promise<number | undefined>((resolve) => {
      end = resolve
    })
    const kill = vi.fn(() => end(143))
    const start = async (line: SessionCommand) => {
      lines.push(line)
      return { ended, kill, output: () => '', write: async () => {}, resize() {}, finalCwd: async () => undefined }
    }
    const session = { container: one.container, mirror: one.mirror, start }
    const background = createBackgroundLines(session as unknown as ContainerSession, queue)
    const files = () => filesOver(one.backend)
    const base = { line: 'work', cwd: ROOT, env: {}, timeoutMs: 60_000, files: files(), now: () => 0 }
    const command: BackgroundCommand = { ...base, visibility, keep: async () => files(), ...more }
    const startOptions = { env: {}, terminal: { cols: 80, rows: 24 } }
    const process = await background.start(command, startOptions)
    return { ...one, background, queue, lines, end, kill, command, process, startOptions }
  }

  it('do not start without a visibility', async () => {
    const { background, command, startOptions, kill } = await startLine({})
    const { visibility: _, ...blind } = command
    await expect(background.start(blind, startOptions)).rejects.toMatchObject({ code: 'SHELL_UNAVAILABLE' })
    await background.close()
    expect(kill).toHaveBeenCalledOnce()
  })

  it('stream their output, and end with 137 if the container gives no exit code', async () => {
    const output: unknown[] = []
    const { lines, background, process, end } = await startLine({}, { onOutput: (...chunk) => output.push(chunk) })
    lines[0]?.onOutput?.('out')
    expect(output).toEqual([['stdout', 'out']])
    background.notify('a server\n')
    end(undefined)
    await process.ended
    expect(process.exitCode).toBe(137)
    expect(process.output()).toEqual({ stdout: '', stderr: 'a server\n' })
  })

  it('end at their time limit', async () => {
    const { process, kill } = await startLine({}, { timeoutMs: 0 })
    await process.ended
    expect(kill).toHaveBeenCalledOnce()
    expect(process.exitCode).toBe(124)
    expect(process.output().stderr).toBe('The command did not end within 0 ms\n')
  })

  it('end if their changes conflict with those of another call, which are kept', async () => {
    const { background, command, process, disk, set, contents } = await startLine({ 'a.txt': 'a' })
    await disk.set(path('ws/a.txt'), file('by the command'))
    await set('a.txt', file('by somebody else'))
    await background.sync(command)
    await process.ended
    expect(process.exitCode).toBe(143)
    expect(process.output().stderr).toMatch(
      /^What it changed was put back: Cannot keep what the command changed: "a.txt"/,
    )
    expect(await contents()).toEqual({ 'a.txt': 'by somebody else' })
  })

  it.each([
    ['continue with new files after their changes were refused', 1, 0],
    ['end if they get no new files', 2, 143],
  ])('%s', async (_, refusals, exitCode) => {
    let calls = 0
    const keep = async () => {
      calls += 1
      if (calls <= refusals) throw new TypeError('a fault')
      return filesOver(memory({ 'a.txt': 'a' }))
    }
    const more = { keep, files: filesOver(memory({ 'a.txt': 'a' })) }
    const { background, backend, command, process, disk, contents, end, kill } = await startLine({ 'a.txt': 'a' }, more)
    await disk.set(path('ws/a.txt'), file('by the command'))
    await background.sync({ ...command, files: filesOver(backend) })
    expect(await contents()).toEqual({ 'a.txt': 'a' })
    expect(kill).toHaveBeenCalledTimes(refusals - 1)
    end(0)
    await process.ended
    expect(process.exitCode).toBe(exitCode)
    expect(process.output().stderr).toBe('What it changed was put back: The command failed\n')
  })

  it('report that their changes could not be exported', async () => {
    const { process, container, end } = await startLine({ 'a.txt': 'a' })
    Object.assign(container, { export: () => Promise.reject(new Error('gone')) })
    end(0)
    await process.ended
    expect(process.exitCode).toBe(0)
    expect(process.output().stderr).toBe('The container could not export its files: gone\n')
  })

  it('receive the visible changes of other calls, without secrets', async () => {
    let commit: (changes: readonly Change[]) => void = () => {}
    const onCommit: BackgroundCommand['onCommit'] = (listener) => {
      commit = listener
      return () => {}
    }
    const partial = { ...visibility, see: (one: string) => one !== 'hidden.txt' }
    const tree = { 'a.txt': 'a', 'gone.txt': '', 'u.txt': 'u' }
    const { queue, contents, end, process } = await startLine(tree, { onCommit, visibility: partial })
    const secret = new Uint8Array(Buffer.from(`\ufeffghp_${'a1B2'.repeat(9)}`, 'utf16le'))
    const changes: [string, EntryState][] = [
      ['a.txt', file('b')],
      ['gone.txt', null],
      ['d', { type: 'directory' }],
      ['hidden.txt', file('h')],
      ['link', { type: 'link', target: 'a.txt' }],
      ['u.txt', { type: 'file', bytes: secret }],
    ]
    commit(changes.map(([one, to]): Change => ({ path: path(one), expect: 'any', to })))
    await queue.next(async () => {})
    expect(await contents()).toEqual({ 'a.txt': 'b', d: '' })
    end(0)
    await process.ended
  })
})

describe('webcontainer() over a test double of the client', () => {
  beforeEach(() => {
    vi.stubGlobal('document', {})
    vi.stubGlobal('crossOriginIsolated', true)
  })
  afterEach(() => {
    vi.unstubAllGlobals()
    vi.restoreAllMocks()
  })

  /** A container whose lines end with the code of `exits`, in the directory `cwd`. */
  function double(exits: (script: string) => Promise<number> = async () => 0, cwd = '/home/x/workspace') {
    let isTrial = false
    const { entriesIn: _, ...files } = filesOfContainer(createDisk())
    const scripts: string[] = []
    const container = {
      ...files,
      workdir: '/home/x',
      fs: { ...files.fs, readFile: async () => (isTrial ? '/\n' : `${cwd}\n`) },
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
  const booting = (one: { readonly client: WebContainer }) => async () => one.client
  const command = (more: object = {}) => {
    const files = filesOver(memory({ 'a.txt': 'a', d: { directory: true } }))
    return { line: 'work', cwd: ROOT, env: {}, timeoutMs: 60_000, files, now: () => 0, visibility, ...more }
  }
  const prefix = 'There is no WebContainer: '

  it('does not boot after close()', async () => {
    const shell = webcontainer()
    await shell.close()
    await expect(shell.ready()).rejects.toMatchObject({ code: 'SHELL_UNAVAILABLE', message: 'The shell is closed' })
  })

  it.each([
    [new Error('one\n  two'), 'one two'],
    [{}, 'for no known reason'],
    [undefined, 'for no known reason'],
  ])('gives the reason of a failed boot, and can boot again: %j', async (error, reason) => {
    const boot = boots(() => Promise.reject(error), booting(double()))
    const first = webcontainer({ fallback: false })
    expect(await first.ready()).toEqual({ runs: 'nothing', reason: `${prefix}it did not boot: ${reason}` })
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

  it('reuses the pending boot of a closed shell', async () => {
    const boot = boots(booting(double()))
    const first = webcontainer()
    const ready = first.ready()
    await Promise.all([expect(ready).rejects.toMatchObject({ code: 'ABORTED' }), first.close()])
    const second = webcontainer()
    expect(await second.ready()).toMatchObject({ runs: 'webcontainer' })
    expect(boot).toHaveBeenCalledOnce()
    await second.close()
  })

  it('signs in once with the same options, and reports a refused sign-in', async () => {
    const init = vi.spyOn(auth, 'init')
    init.mockReturnValueOnce({ status: 'auth-failed', error: 'no', description: '' })
    init.mockReturnValueOnce({ status: 'authorized' })
    boots(booting(double()), booting(double()))
    const options = { auth: { clientId: 'somebody', scope: '' }, fallback: false } as const
    const states: unknown[] = []
    for (let i = 0; i < 3; i++) {
      const shell = webcontainer(options)
      states.push(await shell.ready())
      await shell.close()
    }
    expect(states).toMatchObject([
      { reason: `${prefix}its vendor refused the sign-in: no` },
      { runs: 'webcontainer' },
      { runs: 'webcontainer' },
    ])
    expect(init).toHaveBeenCalledTimes(2)
  })

  it('releases a container whose setup fails', async () => {
    const one = double()
    Object.assign(one.client, { setPreviewScript: () => Promise.reject(new Error('no')) })
    boots(booting(one))
    const shell = webcontainer({ previewScript: '', fallback: false })
    const reason = 'The container could not take the script of previews: no'
    expect(await shell.ready()).toEqual({ runs: 'nothing', reason })
    expect(one.teardown).toHaveBeenCalledOnce()
    await shell.close()
  })

  it.each([
    ['refuses links', { mount: () => Promise.reject(new Error('no')) }],
    ['cannot export a tree', { export: async () => undefined }],
  ])('does not copy links if the container %s', async (_, lacking) => {
    const one = double()
    Object.assign(one.client, lacking)
    boots(booting(one))
    const shell = webcontainer()
    expect(await shell.ready()).toMatchObject({ links: false })
    await shell.close()
  })

  it('reports the final directory only if it is in the workspace', async () => {
    for (const [reported, cwd] of [
      ['d', 'd'],
      ['none', ''],
      ['a.txt', ''],
    ]) {
      boots(booting(double(async () => 0, `/home/x/workspace/${reported}`)))
      const shell = webcontainer()
      expect(await shell.run(command())).toMatchObject({ exitCode: 0, cwd })
      await shell.close()
    }
  })

  it('replaces a container that is lost or has ended', async () => {
    const [lost, gone, last] = [double(), double(() => Promise.reject(new Error('gone'))), double()]
    boots(booting(lost), booting(gone), booting(last))
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

  it('runs a waiting command in the fallback shell after the container ends', async () => {
    const gone = double(() => Promise.reject(new Error('gone')))
    boots(booting(gone), () => Promise.reject(new Error('no more')))
    const outcome = { stdout: 'out', stderr: '', exitCode: 0, cwd: ROOT }
    const judge = () => ({ decision: 'allow' })
    const other = { name: 'other', judge, run: async () => outcome, close: async () => {} } as unknown as Shell
    const shell = webcontainer({ fallback: other })
    const [first, second] = await Promise.allSettled([shell.run(command()), shell.run(command())])
    expect(first).toMatchObject({ status: 'rejected', reason: { code: 'SHELL_UNAVAILABLE' } })
    const warnings = [`other ran this. ${prefix}it did not boot: no more`]
    expect(second).toEqual({ status: 'fulfilled', value: { ...outcome, warnings } })
    await shell.close()
  })

  it('does not start a command that was aborted before', async () => {
    const stopping = new AbortController()
    const one = double(async () => {
      stopping.abort()
      return 0
    })
    boots(booting(one))
    const shell = webcontainer()
    await shell.ready()
    const first = shell.run(command({ line: 'first' }))
    const waiting = shell.run(command({ signal: stopping.signal }))
    await expect(waiting).rejects.toMatchObject({ code: 'ABORTED' })
    expect(await first).toMatchObject({ exitCode: 0 })
    await expect(shell.run(command({ signal: AbortSignal.abort() }))).rejects.toMatchObject({ code: 'ABORTED' })
    const syncing = new AbortController()
    const base = command()
    const list: CommandFiles['list'] = async (...args) => {
      syncing.abort()
      return base.files.list(...args)
    }
    const aborted = shell.run({ ...base, files: { ...base.files, list }, signal: syncing.signal })
    await expect(aborted).rejects.toMatchObject({ code: 'ABORTED' })
    expect(one.scripts).toHaveLength(1)
    await shell.close()
  })

  it('does not resize the terminal of a process that has ended', async () => {
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
