import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memory } from '../../../src/backends/memory/index.ts'
import { codex } from '../../../src/dialects/codex/index.ts'
import { deepagents } from '../../../src/dialects/deepagents/index.ts'
import type { Dialect } from '../../../src/dialects/define.ts'
import { pythonHarness } from '../../../src/dialects/python-harness/index.ts'
import { snakeCase } from '../../../src/dialects/snake-case/index.ts'
import { bash } from '../../../src/shells/bash/index.ts'
import type { Shell } from '../../../src/shells/types.ts'
import { createWorkspace } from '../../../src/workspace/create-workspace.ts'
import { times } from '../../counts.ts'
import { expectSameUnderRoots, rootLines } from './root-lines.ts'

const tree = { 'a.txt': 'a\n', 'src/b.txt': 'b\n' }
const open = (dialect: Dialect, shell: Shell = bash({ worker: false })) =>
  createWorkspace({ backend: memory(tree), policy: 'autonomous', shell, dialect })

describe('the root of bash()', () => {
  it('changes neither the effect nor the output of a line, except for its name', async () => {
    const roots = ['/workspace', '/home/user/proj-1']
    const same = fc.asyncProperty(rootLines, (line) => expectSameUnderRoots(line, roots))
    await fc.assert(same, { numRuns: times(4, 60), endOnFailure: true })
  })

  it.each([
    '/',
    '/tmp',
    '/usr',
    '/bin',
    '/usr/bin/x',
    '/dev/shm',
    '/proc/1',
    '',
    'repo',
    '/a/',
    '/a//b',
    '/a/../b',
    '/a*',
    '/a\\b',
    '/a\nb',
  ])('cannot be %j', (root) =>
    expect(() => bash({ root })).toThrow(/^Option "root" of bash\(\) must be an absolute path/),
  )

  it.each(['/repo', '/usr/src/app', '/tmp/w', '/home/user/my project', '/über/ß'])('can be %j', async (root) => {
    const workspace = await createWorkspace({
      backend: memory(tree),
      policy: 'autonomous',
      shell: bash({ root, worker: false }),
    })
    const command = `pwd; cat "${root}/a.txt"; ls "${root.slice(0, root.lastIndexOf('/') + 1)}"; cat /workspace/a.txt`
    const [, ...above] = root.split('/')
    expect(await workspace.call('run_command', { command })).toMatchObject({
      stdout:
        `${root}\na\n${above.length === 1 ? `dev\n${above[0]}\ntmp` : root.startsWith('/tmp/') ? '' : above.at(-1)}\n`.replace(
          '\n\n',
          '\n',
        ),
      stderr: 'cat: /workspace/a.txt: No such file or directory\n',
    })
  })
})

describe('a dialect and bash()', () => {
  it.each<[string, string, () => Dialect, Shell | undefined]>([
    ['the roots of the dialect', '/testbed', () => snakeCase({ '/testbed': '' }), undefined],
    ['the root of the shell', '/testbed', () => snakeCase(), bash({ root: '/testbed', worker: false })],
    ['both', '/testbed', () => snakeCase({ '/testbed': '' }), bash({ root: '/testbed', worker: false })],
    ['neither', '/workspace', () => snakeCase(), undefined],
  ])('agree on the root that %s name', async (_, root, dialect, shell) => {
    const workspace = await open(dialect(), shell)
    const run = async (command: string, cwd?: string) =>
      (await workspace.call('run_command', { command, ...(cwd === undefined ? {} : { cwd }) })).output as Record<
        string,
        unknown
      >
    expect(await run('pwd; cd src; echo ~')).toMatchObject({ stdout: `${root}\n${root}\n`, cwd: `${root}/src` })
    expect(await run(`cat ${root}/a.txt > ${root}/c.txt`, `${root}/src`)).toMatchObject({
      ok: true,
      files_changed: [`${root}/c.txt`],
    })
    expect((await workspace.call('read_file', { path: `${root}/c.txt` })).output).toMatchObject({ content: 'a\n' })
    expect((await workspace.call('list_directory', { path: 'src' })).output).toMatchObject({
      entries: [{ path: `${root}/src/b.txt` }],
    })
    await workspace.close()
  })

  it('judges lines with the name that the dialect has', async () => {
    const policy = {
      preset: 'autonomous',
      rules: [{ name: 'no writes', action: 'deny', permissions: ['file:change'], paths: ['src/**'] }],
    } as const
    const workspace = await createWorkspace({
      backend: memory(tree),
      policy,
      shell: bash(),
      dialect: codex({ '/repo': '' }),
    })
    const shell = (line: string) => workspace.call('shell', { command: ['bash', '-lc', line] })
    expect(await shell('cd /repo && echo x > /repo/c.txt && cat < /repo/a.txt')).toMatchObject({ isError: false })
    expect(await shell('echo x > /repo/src/b.txt')).toMatchObject({ failure: { code: 'POLICY_DENIED' } })
    expect(await shell('echo x > /workspace/c.txt')).toMatchObject({ failure: { code: 'COMMAND_DENIED' } })
    await workspace.close()
  })

  it('share the paths of the shell if the dialect has no name for the workspace', async () => {
    const workspace = await open(pythonHarness())
    expect((await workspace.call('read_file', { path: '/workspace/a.txt' })).isError).toBe(false)
    await workspace.close()
  })

  it.each<[string, Dialect, Shell]>([
    [
      'The dialect "snake-case" has the root "/y", but commands of the shell "bash" see the workspace at "/x". Add "/x": "" to the roots of the dialect.',
      snakeCase({ '/y': '' }),
      bash({ root: '/x' }),
    ],
    [
      'The root "/workspace" of the dialect "snake-case" is "src", but commands of the shell "bash" see the whole workspace there. Give one of them another root.',
      snakeCase({ '/workspace': 'src' }),
      bash(),
    ],
    [
      'The dialect "codex" has the root "/dev/x", but commands of the shell "bash" see the workspace at "/workspace". Add "/workspace": "" to the roots of the dialect.',
      codex({ '/dev/x': '' }),
      bash(),
    ],
  ])('are refused together: %s', async (message, dialect, shell) => {
    await expect(open(dialect, shell)).rejects.toThrow(new TypeError(message))
  })

  it('are left alone where the dialect has the root /', async () => {
    const workspace = await open(deepagents())
    expect((await workspace.call('execute', { command: 'cat a.txt' })).isError).toBe(false)
    await workspace.close()
  })
})
