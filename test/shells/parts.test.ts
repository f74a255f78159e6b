import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory.ts'
import { ToolError } from '../../src/errors.ts'
import { type Path, ROOT } from '../../src/paths/logical-path.ts'
import { compilePolicy } from '../../src/policy/policy.ts'
import { bash } from '../../src/shells/bash.ts'
import type { CommandFilesOptions } from '../../src/shells/command-files.ts'
import { lineJudge } from '../../src/shells/judging.ts'
import { lineProcess } from '../../src/shells/line-process.ts'
import { createMarks } from '../../src/shells/marks.ts'
import { createProcesses } from '../../src/shells/processes.ts'
import { type Made, replay } from '../../src/shells/replay.ts'
import { createRunningCommands } from '../../src/shells/running.ts'
import type { ShellProcess } from '../../src/shells/shell.ts'
import type { Backend } from '../../src/vfs/backend.ts'
import { filesOver } from './setup.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const path = (text: string) => text as Path

/** Refuses whatever lies at or below a path. */
const refusing = (below: string): CommandFilesOptions['judge'] => {
  return (access) => {
    if (access.path.startsWith(below)) throw new ToolError('POLICY_DENIED', `Nothing below ${below}`)
  }
}

describe('the files of a command', () => {
  it('take a fault of the judge for no refusal', async () => {
    const judge = () => {
      throw new TypeError('a fault')
    }
    const files = filesOver(memory({ 'a.txt': 'a' }), { judge })
    await expect(files.read('a.txt')).rejects.toThrow(TypeError)
    expect(files.refusals).toEqual([])
  })

  it('do not tell a hidden file from nothing by a path through it', async () => {
    const see = (one: Path) => !one.startsWith('hidden')
    const sight = () => ({ see, enter: see, revision: 'some' })
    const files = filesOver(memory({ hidden: 'h', shown: 's' }), { sight })
    expect(await files.stat('hidden/below')).toBeUndefined()
    await expect(files.stat('shown/below')).rejects.toMatchObject({ code: 'NOT_A_DIRECTORY' })
  })

  it('make nothing where there is no directory', async () => {
    const files = filesOver(memory({ 'a.txt': 'a' }))
    await expect(files.write('none/b.txt', bytes('b'))).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(files.write('a.txt/b.txt', bytes('b'))).rejects.toMatchObject({ code: 'NOT_A_DIRECTORY' })
    await expect(files.remove('none')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('note the refusal of a write that the line announced as the making of a file', async () => {
    const files = filesOver(memory(), { judge: refusing('.env') })
    await expect(files.reach({ permission: 'file:write', path: '.env' })).rejects.toMatchObject({
      code: 'POLICY_DENIED',
    })
    expect(files.refusals).toMatchObject([{ permission: 'file:write:create', path: '.env', code: 'POLICY_DENIED' }])
  })

  it('refuse a whole change set for a hidden file, and do not name it', async () => {
    const see = (one: Path) => one !== 'hidden'
    const sight = () => ({ see, enter: see, revision: 'some' })
    const backend = memory({ hidden: 'h', 'a.txt': 'a' })
    const files = filesOver(backend, { sight })
    const gone = (name: string) => ({ path: path(name), expect: 'any', to: null }) as const
    await expect(files.apply([gone('a.txt'), gone('hidden')])).rejects.toMatchObject({ code: 'POLICY_DENIED' })
    expect(files.refusals).toMatchObject([{ permission: 'file:delete', path: '.', code: 'POLICY_DENIED' }])
    expect((await backend.list(ROOT)).map(({ name }) => name)).toEqual(['a.txt', 'hidden'])
  })

  it('search over a backend that has no way of its own, files alone, until a visit has enough', async () => {
    const { scan: _, ...backend } = memory({ 'a.txt': 'a', 'b.txt': 'b', 'c.txt': 'c', d: { directory: true } })
    const files = filesOver(backend)
    const seen: string[] = []
    await files.scan(['d', 'a.txt', 'b.txt', 'c.txt'].map(path), undefined, (one, content) => {
      seen.push(`${one} ${new TextDecoder().decode(content)}`)
      return one !== 'b.txt'
    })
    expect(seen).toEqual(['a.txt a', 'b.txt b'])
  })

  it('end a search with their command', async () => {
    const files = filesOver(memory({ 'a.txt': 'a' }), { signal: AbortSignal.abort() })
    await expect(files.scan([path('a.txt')], undefined, () => true)).rejects.toMatchObject({ code: 'ABORTED' })
  })

  it('move nothing that is no file, directory or link', async () => {
    const inner = memory({ pipe: '' })
    const stat: Backend['stat'] = async (one) => {
      const found = await inner.stat(one)
      return one === 'pipe' && found !== undefined ? { ...found, type: 'other' } : found
    }
    await expect(filesOver({ ...inner, stat }).rename('pipe', 'b')).rejects.toMatchObject({
      code: 'PATH_REJECTED',
      message: '"pipe" is no ordinary file',
    })
    expect(await inner.stat(path('pipe'))).toBeDefined()
  })
})

describe('what a command has made, done once more', () => {
  const made = (name: string, after: Made['after']): Made => ({ path: path(name), before: null, after })
  const directory = (name: string) => made(name, { type: 'directory' })
  const file = (name: string) => made(name, { type: 'file', bytes: bytes('x') })

  it('leaves out what is refused with all that is below it, and tells of the refusals alone', async () => {
    const backend = memory()
    const judge: CommandFilesOptions['judge'] = (access) => {
      if (access.path === 'd') throw new ToolError('POLICY_DENIED', 'Not that one')
    }
    const files = filesOver(backend, { judge })
    const leftOut = await replay(files, [directory('d'), file('d/x'), file('e')])
    expect([...leftOut]).toEqual(['d', 'd/x'])
    expect(files.refusals.map((one) => one.path)).toEqual(['d'])
    expect((await backend.list(ROOT)).map(({ name }) => name)).toEqual(['e'])
  })

  it.each<[why: string, files: ReturnType<typeof filesOver>, expected: object]>([
    ['its directory is missing', filesOver(memory()), { code: 'NOT_FOUND' }],
    ['it was stopped', filesOver(memory(), { signal: AbortSignal.abort() }), { code: 'ABORTED' }],
    [
      'something is at fault',
      filesOver(memory(), {
        judge() {
          throw new TypeError('a fault')
        },
      }),
      { message: 'a fault' },
    ],
  ])('fails where %s', async (_, files, expected) => {
    await expect(replay(files, [file('d/x')])).rejects.toMatchObject(expected)
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

  it('are forgotten once they have ended and there are twice as many as may run', async () => {
    const processes = createProcesses(1, new Set())
    const running = await processes.add('one', ending().process, 0)
    for (const line of ['two', 'three', 'four']) await processes.add(line, ending(0).process, 0)
    expect(processes.get(running.id).line).toBe('one')
    for (const id of ['process-2', 'process-3']) expect(() => processes.get(id)).toThrow('There is no background')
    expect(processes.get('process-4').line).toBe('four')
  })

  it('that begin while all are ended are ended as well', async () => {
    const processes = createProcesses(1, new Set())
    const late = ending()
    await processes.close()
    await expect(processes.add('late', late.process, 0)).rejects.toMatchObject({ code: 'ABORTED' })
    expect(late.stopped).toEqual(['stopped'])
  })

  it('of a line read no input, and tell of a fault without its words', async () => {
    const process = lineProcess('bash', async () => {
      throw new TypeError('/home/someone')
    })
    await expect(process.write('x')).rejects.toMatchObject({ code: 'SHELL_UNAVAILABLE' })
    await process.ended
    expect([process.output(), process.exitCode]).toEqual([{ stdout: '', stderr: 'The command failed\n' }, 126])
  })

  it('are ended at once where they were called off before they began, or their shell was', async () => {
    const commands = createRunningCommands()
    const run = async (how: { signal?: AbortSignal }) => {
      let end = (_: string) => {}
      const ended = new Promise<string>((resolve) => {
        end = resolve
      })
      return commands.untilEnd(ended, () => end('killed'), { timeoutMs: 60_000, ...how })
    }
    expect(await run({ signal: AbortSignal.abort() })).toMatchObject({ end: 'killed', cut: { code: 'ABORTED' } })
    commands.stop()
    expect(await run({})).toMatchObject({ end: 'killed', cut: { code: 'ABORTED' } })
  })
})

it('a line that opens the root opens it by its name', () => {
  const call = { tool: 'run_command', input: {}, accesses: [] }
  const policy = compilePolicy({ preset: 'autonomous' })
  expect(lineJudge({})('cat < .', { cwd: ROOT, policy, call }).opens).toEqual([{ permission: 'file:read', path: '.' }])
})

it('what only looks like a secret is given as it is', () => {
  const text = bytes('ghp_ is the start of a token')
  expect(createMarks().hide(text, path('a.md'))).toBe(text)
})

it('bash gives a line its input', async () => {
  const shell = bash()
  const command = { line: 'cat; echo end', cwd: ROOT, env: {}, stdin: 'given\n', timeoutMs: 60_000, now: () => 0 }
  expect(await shell.run({ ...command, files: filesOver(memory()) })).toMatchObject({ stdout: 'given\nend\n' })
  await shell.close()
})
