import { InMemoryFs, type ResolvedCommandContext } from 'just-bash'
import { describe, expect, it } from 'vitest'
import { memory } from '../../../src/backends/memory/index.ts'
import { ToolError } from '../../../src/errors.ts'
import { type Path, ROOT } from '../../../src/paths/logical-path.ts'
import { compilePolicy } from '../../../src/policy/policy.ts'
import { customCommand } from '../../../src/shells/bash/custom-command.ts'
import { gitCommand } from '../../../src/shells/bash/git-command.ts'
import { bash } from '../../../src/shells/bash/index.ts'
import { type Interpreter, interpreterOf } from '../../../src/shells/bash/just-bash.ts'
import { bashFs } from '../../../src/shells/bash/just-bash-fs.ts'
import { nodeCommand } from '../../../src/shells/bash/node-command.ts'
import type { ScriptFiles } from '../../../src/shells/bash/node-emulation/script.ts'
import { npmCommand } from '../../../src/shells/bash/npm-command.ts'
import { patchCommand } from '../../../src/shells/bash/patch-command.ts'
import { runLine } from '../../../src/shells/bash/run-line.ts'
import { searchCommands } from '../../../src/shells/bash/search-command.ts'
import { searchFiles } from '../../../src/shells/bash/search-files.ts'
import { startNodeThread } from '../../../src/shells/bash/start-thread.ts'
import { findTests } from '../../../src/shells/bash/test-files.ts'
import { applyChanges, type CommandChange } from '../../../src/shells/shared/apply-changes.ts'
import { createProcesses } from '../../../src/shells/shared/background-processes.ts'
import type { CommandFilesOptions } from '../../../src/shells/shared/command-gate.ts'
import { createLineAnalyzer } from '../../../src/shells/shared/line-judge.ts'
import { createLineProcess } from '../../../src/shells/shared/line-process.ts'
import { createRunningCommands } from '../../../src/shells/shared/running-commands.ts'
import { createMarks } from '../../../src/shells/shared/secret-marks.ts'
import type { CommandGit, ShellProcess } from '../../../src/shells/types.ts'
import type { Backend } from '../../../src/storage/backend.ts'
import { memoizeAsync } from '../../../src/util/memoize-async.ts'
import { isLong } from '../../counts.ts'
import { filesOver } from '../setup.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const path = (text: string) => text as Path

/** Refuses every access to a path or below it. */
const refusing = (below: string): CommandFilesOptions['judge'] => {
  return (access) => {
    if (access.path.startsWith(below)) throw new ToolError('POLICY_DENIED', `Nothing below ${below}`)
  }
}

describe('the files of a command', () => {
  it.runIf(isLong)('write at most 256 MiB, and files that are removed do not count', async () => {
    const files = filesOver(memory(), { limits: { treeEntries: 100, fileBytes: 200 * 2 ** 20 } })
    const large = new Uint8Array(150 * 2 ** 20)
    await files.write('a', large)
    await expect(files.write('b', large)).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' })
    await files.rename('a', 'c')
    await files.write('c', large)
    await files.remove('c')
    await files.write('b', large)
  })

  it('keep the contents of at most 50 files and 64 MiB that were read', async () => {
    const tree = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`f${i}`, `${i}`]))
    const limits = { treeEntries: 100, fileBytes: 100 * 2 ** 20 }
    const files = filesOver(memory({ ...tree, large: new Uint8Array(65 * 2 ** 20) }), { limits })
    for (const name of ['large', 'f0', ...Object.keys(tree)]) await files.read(name)
    expect([...files.readContents.keys()]).toEqual(Object.keys(tree).slice(0, 50))
  })

  it('return the files that a scan leaves out because they are too large', async () => {
    const files = filesOver(memory({ large: 'x'.repeat(2000), small: 'x' }))
    const visited: string[] = []
    const visit = (at: string) => visited.push(at) > 0
    expect(await files.scan([path('large'), path('small')], undefined, visit)).toEqual(['large'])
    expect(visited).toEqual(['small'])
  })

  it.each(['a', 'a/b/c/d', 'x/y/z', 'x/y/z/1/2/3/4/5/6/7/8/9'])(
    'creates %s with the directories above it',
    async (deep) => {
      const backend = memory({ 'x/y/f': '' })
      const workspace = filesOver(backend)
      const fs = bashFs({
        roots: { root: '/workspace', workspace, scratch: filesOver(memory()) },
        random: () => bytes(''),
        ends: Error,
      })
      await fs.mkdir(`/workspace/${deep}`, { recursive: true })
      await fs.mkdir(`/workspace/${deep}`, { recursive: true })
      expect((await backend.stat(path(deep)))?.type).toBe('directory')
    },
  )

  it('do not record an internal error as a refusal', async () => {
    const judge = () => {
      throw new TypeError('a fault')
    }
    const files = filesOver(memory({ 'a.txt': 'a' }), { judge })
    await expect(files.read('a.txt')).rejects.toThrow(TypeError)
    expect(await files.refusals()).toEqual([])
  })

  it('give the same answer for a path through a hidden file as for a missing one', async () => {
    const see = (one: Path) => !one.startsWith('hidden')
    const sight = () => ({ see, enter: see, revision: 'some' })
    const files = filesOver(memory({ hidden: 'h', shown: 's' }), { visibility: sight })
    expect(await files.stat('hidden/below')).toBeUndefined()
    await expect(files.stat('shown/below')).rejects.toMatchObject({ code: 'NOT_A_DIRECTORY' })
  })

  it('create nothing in a missing directory', async () => {
    const files = filesOver(memory({ 'a.txt': 'a' }))
    await expect(files.write('none/b.txt', bytes('b'))).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(files.write('a.txt/b.txt', bytes('b'))).rejects.toMatchObject({ code: 'NOT_A_DIRECTORY' })
    await expect(files.remove('none')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('record the refusal of a write that the line announced as a creation', async () => {
    const files = filesOver(memory(), { judge: refusing('.env') })
    await expect(files.reach({ permission: 'file:write', path: '.env' })).rejects.toMatchObject({
      code: 'POLICY_DENIED',
    })
    expect(await files.refusals()).toMatchObject([{ permission: 'file:write', path: '.env', code: 'POLICY_DENIED' }])
  })

  it('refuse a whole change set for a hidden file without naming it', async () => {
    const see = (one: Path) => one !== 'hidden'
    const sight = () => ({ see, enter: see, revision: 'some' })
    const backend = memory({ hidden: 'h', 'a.txt': 'a' })
    const files = filesOver(backend, { visibility: sight })
    const deletion = (name: string) => ({ path: path(name), expect: 'any', to: null }) as const
    await expect(files.apply([deletion('a.txt'), deletion('hidden')])).rejects.toMatchObject({ code: 'POLICY_DENIED' })
    expect(await files.refusals()).toMatchObject([{ permission: 'file:delete', path: '.', code: 'POLICY_DENIED' }])
    expect((await backend.list(ROOT)).map(({ name }) => name)).toEqual(['a.txt', 'hidden'])
  })

  it('search files one by one over a backend without scan, until a visit returns false', async () => {
    const { scan: _, ...backend } = memory({ 'a.txt': 'a', 'b.txt': 'b', 'c.txt': 'c', d: { directory: true } })
    const files = filesOver(backend)
    const paths: string[] = []
    await files.scan(['d', 'a.txt', 'b.txt', 'c.txt'].map(path), undefined, (one, content) => {
      paths.push(`${one} ${new TextDecoder().decode(content)}`)
      return one !== 'b.txt'
    })
    expect(paths).toEqual(['a.txt a', 'b.txt b'])
  })

  it('end a search when the command is aborted', async () => {
    const files = filesOver(memory({ 'a.txt': 'a' }), { signal: AbortSignal.abort() })
    await expect(files.scan([path('a.txt')], undefined, () => true)).rejects.toMatchObject({ code: 'ABORTED' })
  })

  it('refuse to move anything but files, directories and links', async () => {
    const inner = memory({ pipe: '' })
    const stat: Backend['stat'] = async (one) => {
      const stat = await inner.stat(one)
      return one === 'pipe' && stat !== undefined ? { ...stat, type: 'other' } : stat
    }
    await expect(filesOver({ ...inner, stat }).rename('pipe', 'b')).rejects.toMatchObject({
      code: 'PATH_REJECTED',
      message: '"pipe" is not a regular file',
    })
    expect(await inner.stat(path('pipe'))).toBeDefined()
  })
})

describe('applyChanges', () => {
  const commandChange = (name: string, after: CommandChange['after']): CommandChange => ({
    path: path(name),
    before: null,
    after,
  })
  const directory = (name: string) => commandChange(name, { type: 'directory' })
  const file = (name: string) => commandChange(name, { type: 'file', bytes: bytes('x') })

  it('skips refused paths and everything below them, and lists only the refusals', async () => {
    const backend = memory()
    const judge: CommandFilesOptions['judge'] = (access) => {
      if (access.path === 'd') throw new ToolError('POLICY_DENIED', 'Not that one')
    }
    const files = filesOver(backend, { judge })
    const leftOut = await applyChanges(files, [directory('d'), file('d/x'), file('e')])
    expect([...leftOut]).toEqual(['d', 'd/x'])
    expect((await files.refusals()).map((one) => one.path)).toEqual(['d'])
    expect((await backend.list(ROOT)).map(({ name }) => name)).toEqual(['e'])
  })

  it.each<[why: string, files: ReturnType<typeof filesOver>, expected: object]>([
    ['its directory is missing', filesOver(memory()), { code: 'NOT_FOUND' }],
    ['the command was stopped', filesOver(memory(), { signal: AbortSignal.abort() }), { code: 'ABORTED' }],
    [
      'there is an internal error',
      filesOver(memory(), {
        judge() {
          throw new TypeError('a fault')
        },
      }),
      { message: 'a fault' },
    ],
  ])('fails if %s', async (_, files, expected) => {
    await expect(applyChanges(files, [file('d/x')])).rejects.toMatchObject(expected)
  })
})

describe('background commands', () => {
  const ending = (exitCode?: number) => {
    const stopped: string[] = []
    const process: ShellProcess = {
      output: () => ({ stdout: '', stderr: '' }),
      exitCode,
      write: async () => {},
      stop: async () => void stopped.push('stopped'),
      ended: Promise.resolve(),
    }
    return { process, stopped }
  }

  it('are dropped after their end once twice the maximum are stored', async () => {
    const processes = createProcesses(1, new Set())
    const running = await processes.add('one', ending().process, 0)
    for (const line of ['two', 'three', 'four']) await processes.add(line, ending(0).process, 0)
    expect(processes.get(running.id).line).toBe('one')
    for (const id of ['process-2', 'process-3']) expect(() => processes.get(id)).toThrow('There is no background')
    expect(processes.get('process-4').line).toBe('four')
  })

  it('are stopped if added after close', async () => {
    const processes = createProcesses(1, new Set())
    const late = ending()
    await processes.close()
    await expect(processes.add('late', late.process, 0)).rejects.toMatchObject({ code: 'ABORTED' })
    expect(late.stopped).toEqual(['stopped'])
  })

  it('read no input, and report an internal error without its message', async () => {
    const process = createLineProcess('bash', async () => {
      throw new TypeError('/home/someone')
    })
    await expect(process.write('x')).rejects.toMatchObject({ code: 'SHELL_UNAVAILABLE' })
    await process.ended
    expect([process.output(), process.exitCode]).toEqual([{ stdout: '', stderr: 'The command failed\n' }, 126])
  })

  it('end immediately if they or their shell were aborted before they started', async () => {
    const commands = createRunningCommands()
    const run = async (options: { signal?: AbortSignal }) => {
      let end = (_: string) => {}
      const ended = new Promise<string>((resolve) => {
        end = resolve
      })
      return commands.untilEnd(ended, () => end('killed'), { timeoutMs: 60_000, ...options })
    }
    expect(await run({ signal: AbortSignal.abort() })).toMatchObject({ end: 'killed', cut: { code: 'ABORTED' } })
    commands.stop()
    expect(await run({})).toMatchObject({ end: 'killed', cut: { code: 'ABORTED' } })
  })
})

it('a line that opens the root names it "."', () => {
  const call = { tool: 'run_command', input: {}, accesses: [] }
  const policy = compilePolicy({ preset: 'autonomous' })
  expect(createLineAnalyzer({})('cat < .', { cwd: ROOT, policy, call }).opens).toEqual([
    { permission: 'file:read', path: '.' },
  ])
})

it('bytes that only begin like UTF-16 text are unchanged', () => {
  const text = new Uint8Array([0xff, 0x41])
  expect(createMarks().hide(text, path('a.md'))).toBe(text)
})

it('bash() passes stdin to a line', async () => {
  const shell = bash()
  const command = { line: 'cat; echo end', cwd: ROOT, env: {}, stdin: 'given\n', timeoutMs: 60_000, now: () => 0 }
  expect(await shell.run({ ...command, files: filesOver(memory()) })).toMatchObject({ stdout: 'given\nend\n' })
  await shell.close()
})

describe('bashFs', () => {
  const fsOver = (backend: Backend, more: Partial<CommandFilesOptions> = {}) => {
    const workspace = filesOver(backend, more)
    const roots = { root: '/workspace', workspace, scratch: filesOver(memory({ tmp: { directory: true } })) }
    return bashFs({ roots, random: (count) => new Uint8Array(count), ends: (message) => new Error(message) })
  }
  const failing = (): Backend => {
    const fail = () => Promise.reject(new ToolError('BACKEND_ERROR', 'The disk fails'))
    return { ...memory({ 'a.txt': 'a' }), read: fail, commit: fail }
  }

  it.each<[operation: string, run: (fs: ReturnType<typeof fsOver>) => Promise<unknown>, expected: object]>([
    ['a directory that is not empty', (fs) => fs.rm('/workspace/d'), { code: 'ENOTEMPTY' }],
    ['a copy into itself', (fs) => fs.cp('/workspace/d', '/workspace/d/e', { recursive: true }), { code: 'EINVAL' }],
    ['a copy of the whole tree', (fs) => fs.cp('/', '/workspace/d', { recursive: true }), { code: 'EINVAL' }],
    ['a listing of a file', (fs) => fs.readdir('/dev/null'), { code: 'EACCES' }],
    ['the real path of a missing file', (fs) => fs.realpath('/etc'), { code: 'ENOENT' }],
  ])('refuses %s', async (_, run, expected) => {
    await expect(run(fsOver(memory({ 'd/a.txt': 'a' })))).rejects.toMatchObject(expected)
  })

  it('fails with system errors if the backend fails', async () => {
    const fs = fsOver(failing())
    await expect(fs.readFile('/workspace/a.txt')).rejects.toMatchObject({
      code: 'EIO',
      message: "EIO: i/o error, read '/workspace/a.txt'",
    })
    // A failed redirection ends the script.
    await expect(fs.writeFile('/workspace/a.txt', '', 'binary')).rejects.toThrow('bash: a.txt: Input/output error\n')
  })

  it('copies the permitted files, then fails for the others', async () => {
    const backend = memory({ 'd/a.txt': 'a', 'd/b.txt': 'b', 'd/c.txt': 'c' })
    const fs = fsOver(backend, { judge: refusing('d/b') })
    await expect(fs.cp('/workspace/d', '/workspace/e', { recursive: true })).rejects.toMatchObject({ code: 'EACCES' })
    expect(await fs.readdir('/workspace/e')).toEqual(['a.txt', 'c.txt'])
  })

  it('lists no paths by itself, and returns the types and modes of a system', async () => {
    const fs = fsOver(memory({ 'a.txt': new Uint8Array([0xe9]), link: { link: 'a.txt' } }))
    expect(fs.getAllPaths()).toEqual([])
    expect(await fs.readFile('/workspace/a.txt', 'latin1')).toBe('é')
    expect([await fs.realpath('/'), await fs.realpath('/dev/null')]).toEqual(['/', '/dev/null'])
    expect(await fs.readdir('/')).toContain('workspace')
    expect(await fs.lstat('/workspace/link')).toMatchObject({ isSymbolicLink: true, mode: 0o777 })
    // Without modes in the storage, the modes are a system's defaults.
    const own = memory({ 'a.txt': '', link: { link: 'a.txt' } })
    const modeless = fsOver({
      ...own,
      async stat(path) {
        const { mode: _, ...stat } = (await own.stat(path)) ?? { type: 'other', size: 0, tag: '' }
        return stat
      },
    })
    const modes = ['a.txt', 'link', ''].map(async (name) => (await modeless.lstat(`/workspace/${name}`)).mode)
    expect(await Promise.all(modes)).toEqual([0o644, 0o777, 0o755])
  })
})

describe('runLine', () => {
  /** Returns an interpreter whose `exec` is this function. */
  const running = (exec: () => unknown) =>
    ({
      Bash: class Bash {
        exec = exec
        registerCommand() {}
        registerTransformPlugin() {}
      },
    }) as unknown as Interpreter
  const request = { line: 'true', root: '/workspace', cwd: '/', env: {}, timeoutMs: 60_000 }
  const done = { stdout: '', stderr: '', exitCode: 0, env: {} }
  const worldOf = (signal: AbortSignal) => ({ fs: new InMemoryFs(), commands: [], signal })

  it('refuses a line that was aborted before its start, at its end, or while it failed', async () => {
    const never = running(() => new Promise(() => {}))
    await expect(runLine(never, request, worldOf(AbortSignal.abort()))).rejects.toMatchObject({ code: 'ABORTED' })
    for (const settle of ['resolve', 'reject'] as const) {
      const stop = new AbortController()
      const last = running(() => ({
        catch() {},
        // biome-ignore lint/suspicious/noThenProperty: only a custom `then` can settle and abort in the same step
        then(resolve: (value: object) => void, reject: (error: Error) => void) {
          ;({ resolve, reject })[settle](Object.assign(new Error('it failed'), done))
          stop.abort()
        },
      }))
      await expect(runLine(last, request, worldOf(stop.signal))).rejects.toMatchObject({ code: 'ABORTED' })
    }
  })

  it('reports a failure of the interpreter on one line', async () => {
    const { signal } = new AbortController()
    for (const [error, message] of [
      [new Error('two\nlines'), 'two lines'],
      [{}, 'it failed'],
    ] as const) {
      const failing = running(() => Promise.reject(error))
      await expect(runLine(failing, request, worldOf(signal))).rejects.toMatchObject({
        code: 'LIMIT_EXCEEDED',
        message: `The shell could not go on: ${message}`,
      })
    }
  })

  it('uses a plain error if the interpreter has no ExitError', async () => {
    for (const error of [
      new TypeError('no such variable'),
      Object.assign(new Error('it ends'), { name: 'ExitError' }),
    ]) {
      let probe = async (_args: readonly string[], _context: object) => {}
      const package_ = {
        ...running(() => probe([], { assignShellVariable: () => Promise.reject(error) })),
        defineCommand(_name: string, execute: typeof probe) {
          probe = execute
          return {}
        },
      } as unknown as Interpreter
      const { ends } = await interpreterOf(package_)
      expect(ends('bash: refused')).toMatchObject({ name: 'Error', message: 'bash: refused' })
    }
  })

  it('loads the interpreter once, and again after a failure', async () => {
    let loads = 0
    const load = memoizeAsync(async () => {
      loads += 1
      if (loads === 1) throw new Error('not yet')
      return loads
    })
    await expect(load()).rejects.toThrow('not yet')
    expect([await load(), await load()]).toEqual([2, 2])
  })
})

describe('custom commands', () => {
  const at = { cwd: '/workspace', stdin: '', env: {} }
  /** A call as the interpreter makes it, without the optional members. */
  const contextOf = (files: Record<string, string>, more: Partial<ResolvedCommandContext> = {}) =>
    ({ fs: new InMemoryFs(files), cwd: '/', env: new Map(), stdin: '', ...more }) as unknown as ResolvedCommandContext

  it('fail if the interpreter has no command of that name either', async () => {
    const { command } = customCommand('grep', async () => undefined)
    expect(await command.execute([], contextOf({}))).toEqual({ stdout: '', stderr: 'grep: not here\n', exitCode: 2 })
  })

  it('git and patch stop when their line is aborted', async () => {
    const stopped = () => Promise.reject(new ToolError('ABORTED', 'The command was stopped'))
    const git = gitCommand(() => ({ head: stopped }) as unknown as CommandGit, '/workspace')
    await expect(git.attempt(['status'], at)).rejects.toMatchObject({ code: 'ABORTED' })
    const files = filesOver(memory({ x: 'a\n' }), { signal: AbortSignal.abort() })
    const diff = '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n'
    const patch = patchCommand({ root: '/workspace', workspace: files, scratch: files }).attempt(['-p1'], {
      ...at,
      stdin: diff,
    })
    await expect(patch).rejects.toMatchObject({ code: 'ABORTED' })
    const [grep] = searchCommands(searchFiles(files), '/workspace')
    await expect(grep?.attempt(['-r', 'a', '.'], at)).rejects.toMatchObject({ code: 'ABORTED' })
  })

  it('git clone prints progress unless --quiet, and always the skipped files', async () => {
    const clone = async () => ({ commit: '0'.repeat(40), skipped: ['con'], leftOut: [] })
    const git = gitCommand(
      () => ({ head: async () => undefined, change: async () => ({ clone }) }) as unknown as CommandGit,
      '/workspace',
    )
    const cloneErrors = async (...flags: string[]) =>
      (await git.attempt(['clone', ...flags, 'https://git.example/x', '.'], at))?.stderr
    const quiet = await cloneErrors('-q')
    expect(quiet).toContain('con')
    expect(await cloneErrors()).toBe(`Cloning into '.'...\n${quiet}`)
  })

  it('npm reports that it cannot run a script', async () => {
    const files = { '/package.json': '{ "scripts": { "test": "true" } }' }
    const failure = { stdout: '', stderr: 'npm error no script can be run here\n', exitCode: 1 }
    expect(await npmCommand().execute(['test'], contextOf(files))).toEqual(failure)
  })

  it('node reports an engine failure without its message, and ends the line if it was ended from outside', async () => {
    const ended: string[] = []
    const run = async (error: Error) => {
      const command = nodeCommand({
        root: '/workspace',
        runner: () => Promise.reject(error),
        endLine: ({ code }) => void ended.push(code),
      })
      return (await command.execute(['-e', '1'], contextOf({}))).stderr
    }
    expect(await run(new TypeError('/home/someone'))).toBe('node: the engine failed\n')
    expect(ended).toEqual([])
    expect(await run(new ToolError('COMMAND_TIMEOUT', 'It took too long'))).toBe('node: It took too long\n')
    expect(ended).toEqual(['COMMAND_TIMEOUT'])
  })

  it('node --test examines a limited number of files', async () => {
    const names = ['a.test.js', ...Array.from({ length: 100_000 }, () => '.hidden')]
    const stat = async () => ({ isFile: true, isDirectory: false })
    const files = { readdir: async () => names, lstat: stat } as unknown as ScriptFiles
    expect(await findTests([], '/', files)).toEqual(['//a.test.js'])
  })
})

it('a worker of Node reports its end', async () => {
  await new Promise<void>((resolve) => {
    startNodeThread({ onMessage() {}, onEnd: resolve }).kill()
  })
})
