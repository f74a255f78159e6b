import { check, same } from '../assert.ts'
import { needs, open, type ShellBench, type ShellCase, until, within } from './case.ts'

/** Timeouts, cancellation, closing and background commands. */
export const endingCases: readonly ShellCase[] = [
  {
    name: 'a timeout stops a command and discards its changes',
    unless: needs('undo'),
    async test(subject) {
      const { run, snapshot } = await open(subject, { 'a.txt': 'a' })
      const before = await snapshot()
      const { ok, code } = await within('a timeout', run('echo b > a.txt; sleep 600', { timeoutMs: 300 }))
      same({ ok, code }, { ok: false, code: 'COMMAND_TIMEOUT' }, 'sleep')
      same(await snapshot(), before, 'after the timeout')
    },
  },
  {
    name: 'a cancellation stops a command and discards its changes',
    unless: needs('undo'),
    async test(subject) {
      const { run, snapshot } = await open(subject, { 'a.txt': 'a' })
      const before = await snapshot()
      const stop = new AbortController()
      const running = run('echo b > a.txt; sleep 600', {}, { signal: stop.signal })
      setTimeout(() => stop.abort(), 100)
      same((await within('a cancellation', running)).code, 'ABORTED', 'sleep')
      same((await run('true', {}, { signal: AbortSignal.abort() })).code, 'ABORTED', 'a call with an aborted signal')
      same(await snapshot(), before, 'after the cancellation')
    },
  },
  {
    name: 'an endless loop is stopped and its changes are discarded',
    unless: needs('undo'),
    async test(subject) {
      const { run, ok, snapshot } = await open(subject)
      const { code } = await within('a loop', run('echo a > a.txt; while :; do :; done', { timeoutMs: 500 }))
      check(
        code === 'COMMAND_TIMEOUT' || code === 'LIMIT_EXCEEDED',
        `an endless loop: expected COMMAND_TIMEOUT or LIMIT_EXCEEDED, got ${code}`,
      )
      same([...(await snapshot()).keys()], [], 'after the loop')
      same((await ok('echo on')).stdout, 'on\n', 'the next command')
    },
  },
  {
    name: 'closing the shell aborts running commands',
    async test(subject) {
      const { run } = await open(subject)
      const running = run('sleep 600')
      setTimeout(() => void subject.shell.close(), 100)
      same((await within('close()', running)).code, 'ABORTED', 'sleep')
    },
  },
  {
    name: 'a background command runs beside others and reports each part of its output once',
    unless: needs('background'),
    async test(subject) {
      const { call, ok, snapshot } = await open(subject, { 'a.txt': 'a\n' })
      const { id, state } = await call('start_command', {
        command: 'sleep 0.2; echo b > b.txt; echo done; echo oops >&2; exit 4',
      })
      same(state, 'running', 'state after start_command')
      same((await ok('cat a.txt')).stdout, 'a\n', 'output of a command in the foreground')
      const { output, exitCode } = await ended({ call }, id)
      same(exitCode, 4, 'exit code')
      check(
        output.includes('done\n') && output.includes('oops\n'),
        `output of the background command: expected "done" and "oops", got ${JSON.stringify(output)}`,
      )
      const { stdout, stderr } = await call('check_command', { id })
      same([stdout, stderr], ['', ''], 'output after the last check_command')
      await until('b.txt in the workspace', async () => (await snapshot()).has('b.txt'))
    },
  },
  {
    name: 'stop_command ends a background command',
    unless: needs('background'),
    async test(subject) {
      const { call } = await open(subject)
      const { id } = await call('start_command', { command: 'sleep 600' })
      same((await within('stop_command', call('stop_command', { id }))).state, 'ended', 'state after stop_command')
      same((await call('check_command', { id })).state, 'ended', 'state of a later check_command')
      same((await call('stop_command', { id })).ok, true, 'a second stop_command')
    },
  },
  {
    name: 'closing the workspace ends its background commands',
    unless: needs('background'),
    async test(subject) {
      const { call, workspace } = await open(subject)
      for (let i = 0; i < 5; i++)
        same((await call('start_command', { command: 'sleep 600' })).ok, true, 'start_command')
      const first = await call('check_command', { id: 'process-1' })
      same(first.state, 'running', 'state before close()')
      await within('close()', workspace.close())
      check(
        (await call('check_command', { id: 'process-1' })).state !== 'running',
        'the command must not run after close()',
      )
    },
  },
]

/** Waits for the end of a background command and collects its output. */
async function ended({ call }: Pick<ShellBench, 'call'>, id: string): Promise<{ output: string; exitCode: number }> {
  let output = ''
  let exitCode = -1
  await until(`the end of ${id}`, async () => {
    const { stdout, stderr, state, exitCode: code } = await call('check_command', { id })
    output += `${stdout}${stderr}`
    exitCode = code
    return state === 'ended'
  })
  return { output, exitCode }
}
