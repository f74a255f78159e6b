import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import { bash } from '../../src/shells/bash/index.ts'
import type { Shell, ShellCommand, ShellOutcome } from '../../src/shells/types.ts'
import type { Backend } from '../../src/storage/backend.ts'
import { shellContract } from '../../src/testing/index.ts'

type Break = (good: Shell, backend: Backend) => Partial<Shell>

const outcome = (change: (good: ShellOutcome, command: ShellCommand) => Partial<ShellOutcome>): Break => {
  return (good) => ({
    async run(command) {
      const match = await good.run(command)
      return { ...match, ...change(match, command) }
    },
  })
}

/** Returns an outcome for a failure that must be thrown. */
const hidden = (code: string): Break => {
  return (good) => ({
    run: (command) =>
      good.run(command).catch((error) => {
        if (error.code !== code) throw error
        return { stdout: '', stderr: '', exitCode: 124, cwd: command.cwd }
      }),
  })
}

const files = (change: (command: ShellCommand, backend: Backend) => Partial<ShellCommand['files']>): Break => {
  return (good, backend) => ({
    run: (command) => good.run({ ...command, files: { ...command.files, ...change(command, backend) } }),
  })
}

/** Shells with one fault each, and the case that must find it. */
const faults: Readonly<Record<string, readonly [name: string, fault: Break]>> = {
  'the error output is lost': ['error output is never lost', outcome(() => ({ stderr: '' }))],
  'the error output is mixed in': [
    'stdout and stderr are reported separately',
    outcome(({ stdout, stderr }) => ({ stdout: stdout + stderr, stderr: '' })),
  ],
  'every command succeeds': ['the exit code of a line is that of its last command', outcome(() => ({ exitCode: 0 }))],
  'the directory is read from the output': [
    'keepCwd keeps the directory between calls of one run, whatever the output contains',
    outcome(({ stdout, cwd }) => ({ cwd: (/PWD=\/workspace\/(\w+)/.exec(stdout)?.[1] ?? cwd) as Path })),
  ],
  'the directory is not reported': [
    'a command starts in cwd and reports the directory in which it ended',
    outcome((_, { cwd }) => ({ cwd })),
  ],
  'variables are kept': [
    'variables and functions do not outlive their command',
    (good) => ({ run: (command) => good.run({ ...command, env: { LEFT: 'behind' } }) }),
  ],
  'a timeout is an exit code': ['a timeout stops a command and discards its changes', hidden('COMMAND_TIMEOUT')],
  'files are written outside of the transaction': [
    'a timeout stops a command and discards its changes',
    files((_, backend) => ({
      async write(path, bytes) {
        await backend.commit([{ path: path as Path, expect: 'any', to: { type: 'file', bytes } }], {
          durability: 'relaxed',
        })
      },
    })),
  ],
  'protected files are read without the guard': [
    'no command reads or copies the content of a protected file',
    files((command, backend) => ({
      read: (path) => command.files.read(path).catch(async () => (await backend.read(path as Path)).bytes),
    })),
  ],
  'an attempt is not listed': [
    'each access to a protected file is listed in the result and in the audit',
    files((command) => ({
      async read(path) {
        if (path.includes('.env')) throw command.files.refuse('file:list', path, Object(new Error('no')))
        return command.files.read(path)
      },
    })),
  ],
  'bytes are decoded as text': [
    'commands copy and move bytes unchanged',
    files((command) => ({
      read: async (path) => new TextEncoder().encode(new TextDecoder().decode(await command.files.read(path))),
    })),
  ],
  'lines are not analyzed': [
    'a line that the analysis denies is not started',
    () => ({
      judge: (line, { policy, call }) => ({
        line: { decision: 'allow', commands: [], accesses: [], reasons: [] },
        verdict: policy.evaluate({ ...call, commands: [line] }),
        opens: [],
      }),
    }),
  ],
}

describe('a shell and a backend with few capabilities', () => {
  it('skip the cases of capabilities that either declares absent, with the reason', async () => {
    const create = () => {
      const [good, shell] = [memory(), bash()]
      return {
        backend: { ...good, capabilities: { ...good.capabilities, modes: false } },
        shell: { ...shell, capabilities: { ...shell.capabilities, background: false } },
      }
    }
    const find = (name: string) => shellContract({ name: 'poor', create }).find((one) => one.name === name)
    expect(await find('commands keep the permission bits of a script')?.run()).toEqual({
      skipped: 'the backend does not declare modes',
    })
    expect(await find('a background command is visible only to the run that started it')?.run()).toEqual({
      skipped: 'the shell does not declare background',
    })
    expect(await find('commands copy and move bytes unchanged')?.run()).toEqual({})
  })
})

describe('a broken shell', () => {
  it.each(Object.entries(faults))('fails the contract: %s', async (_, [name, fault]) => {
    const create = (broken: boolean) => () => {
      const backend = memory()
      const good = bash()
      return { backend, shell: broken ? { ...good, ...fault(good, backend) } : good }
    }
    const find = (broken: boolean) =>
      shellContract({ name: 'broken', create: create(broken) }).find((one) => one.name === name)
    await expect(find(false)?.run()).resolves.toEqual({})
    await expect(find(true)?.run()).rejects.toThrow()
  })
})
