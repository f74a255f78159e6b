import type { Shell } from '../../shells/types.ts'
import { same } from '../assert.ts'
import { open, type ShellCase } from './case.ts'

/** What a command keeps for the next one, and for which run. */
export const sessionCases: readonly ShellCase[] = [
  {
    name: 'a command starts in cwd and reports the directory in which it ended',
    async test(subject) {
      const { ok, run, workspace } = await open(subject, { 'sub/deep/a.txt': '', 'b.txt': '' })
      same((await ok('ls', { cwd: 'sub' })).stdout, 'deep\n', 'ls in sub')
      same((await ok('cd sub ; true')).cwd, 'sub', 'cd sub ; true')
      same((await ok('cd deep; false', { cwd: 'sub' })).cwd, 'sub/deep', 'cd deep in sub')
      same((await ok('(cd sub); sh -c "cd sub"')).cwd, '.', 'in children')
      same((await ok('ls sub')).cwd, '.', 'the next command')
      for (const [cwd, code] of [
        ['nowhere', 'NOT_FOUND'],
        ['b.txt', 'NOT_A_DIRECTORY'],
      ] as const) {
        same((await run('true', { cwd })).code, code, cwd)
        const started = await workspace.call('start_command', { command: 'true', cwd })
        same(started.ok || started.code, code, `${cwd}, in the background`)
      }
    },
  },
  {
    name: 'commands see the workspace under the root of the shell, or under one that it accepts',
    unless: ({ shell }) =>
      shell.root === undefined ? 'the shell does not say where commands see the workspace' : undefined,
    async test(subject) {
      const { shell } = subject
      const other = '/contract/other-root'
      const shells: [string, Shell][] = [[shell.root as string, shell]]
      if (shell.acceptsRoot?.(other) === true) {
        shells.push([other, { ...shell, run: (command) => shell.run({ ...command, root: other }) }])
      }
      for (const [root, at] of shells) {
        const { ok } = await open({ ...subject, shell: at }, { 'sub/a.txt': 'a\n' })
        same((await ok('pwd')).stdout, `${root}\n`, 'pwd')
        same((await ok(`cat "${root}/sub/a.txt"`)).stdout, 'a\n', 'a path below the root')
        same((await ok(`cd "${root}/sub"; true`)).cwd, 'sub', 'the last directory')
      }
    },
  },
  {
    name: 'keepCwd keeps the directory between calls of one run, whatever the output contains',
    async test(subject) {
      const { ok, workspace } = await open(subject, { 'sub/a.txt': '', 'other/b.txt': '' }, { keepCwd: true })
      const second = workspace.run()
      await ok('cd sub ; true')
      const { cwd } = await ok(
        'echo "PWD=/workspace/other"; echo "cd ../other"; printf "\\033]7;file:///workspace/other\\a"',
      )
      same(cwd, 'sub', 'after output that looks like a change of directory')
      same((await ok('ls')).stdout, 'a.txt\n', 'ls in the kept directory')
      same((await ok('exit 5')).cwd, 'sub', 'after exit')
      const { stdout } = (await second.call('run_command', { command: 'ls' })) as { stdout?: string }
      same(stdout, 'other\nsub\n', 'ls in another run')
    },
  },
  {
    name: 'variables and functions do not outlive their command',
    async test(subject) {
      const { ok } = await open(subject)
      await ok('export LEFT=behind; f() { echo f; }; true')
      same((await ok('echo "[$LEFT]"')).stdout, '[]\n', 'the variable')
    },
  },
  {
    name: 'a background command is visible only to the run that started it',
    unless: ({ shell }) => (shell.capabilities.background ? undefined : 'the shell does not declare background'),
    async test(subject) {
      const { call, workspace } = await open(subject)
      const { id } = await call('start_command', { command: 'sleep 600' })
      for (const name of ['check_command', 'stop_command']) {
        const { code } = (await workspace.run().callTool(name, { id })) as { code?: string }
        same(code, 'NOT_FOUND', `${name} in another run`)
      }
      same((await call('check_command', { id })).state, 'running', 'check_command in its own run')
      await call('stop_command', { id })
    },
  },
]
