import { check, same } from '../assert.ts'
import { needs, open, type ShellBench, type ShellCase, until, within } from './case.ts'

/** How a command ends that does not end by itself. */
export const endingCases: readonly ShellCase[] = [
  {
    name: 'a timeout stops a command and drops what it did',
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
    name: 'a cancellation stops a command and drops what it did',
    unless: needs('undo'),
    async test(subject) {
      const { run, snapshot } = await open(subject, { 'a.txt': 'a' })
      const before = await snapshot()
      const stop = new AbortController()
      const running = run('echo b > a.txt; sleep 600', {}, { signal: stop.signal })
      setTimeout(() => stop.abort(), 100)
      same((await within('a cancellation', running)).code, 'ABORTED', 'sleep')
      same((await run('true', {}, { signal: AbortSignal.abort() })).code, 'ABORTED', 'called off before it began')
      same(await snapshot(), before, 'after the cancellation')
    },
  },
  {
    name: 'a loop without an end is stopped',
    unless: needs('undo'),
    async test(subject) {
      const { run, ok, snapshot } = await open(subject)
      const { code } = await within('a loop', run('echo a > a.txt; while :; do :; done', { timeoutMs: 500 }))
      check(code === 'COMMAND_TIMEOUT' || code === 'LIMIT_EXCEEDED', `a loop: expected it to be stopped, got ${code}`)
      same([...(await snapshot()).keys()], [], 'after the loop')
      same((await ok('echo on')).stdout, 'on\n', 'the next command')
    },
  },
  {
    name: 'closing the shell ends what runs',
    async test(subject) {
      const { run } = await open(subject)
      const running = run('sleep 600')
      setTimeout(() => void subject.shell.close(), 100)
      same((await within('close()', running)).code, 'ABORTED', 'sleep')
    },
  },
  {
    name: 'a background command runs beside others, and tells its output once',
    unless: needs('background'),
    async test(subject) {
      const { call, ok, snapshot } = await open(subject, { 'a.txt': 'a\n' })
      const { id, state } = await call('start_command', {
        command: 'sleep 0.2; echo b > b.txt; echo done; echo oops >&2; exit 4',
      })
      same(state, 'running', 'the state at first')
      same((await ok('cat a.txt')).stdout, 'a\n', 'a command beside it')
      const { output, exitCode } = await ended({ call }, id)
      same(exitCode, 4, 'exit code')
      check(output.includes('done\n') && output.includes('oops\n'), `its output: got ${JSON.stringify(output)}`)
      const { stdout, stderr } = await call('check_command', { id })
      same([stdout, stderr], ['', ''], 'output that was told before')
      await until('what it wrote', async () => (await snapshot()).has('b.txt'))
    },
  },
  {
    name: 'a background command that is stopped has ended',
    unless: needs('background'),
    async test(subject) {
      const { call } = await open(subject)
      const { id } = await call('start_command', { command: 'sleep 600' })
      same((await within('stop_command', call('stop_command', { id }))).state, 'ended', 'the state after stop_command')
      same((await call('check_command', { id })).state, 'ended', 'the state later')
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
      same(first.state, 'running', 'the state before')
      await within('close()', workspace.close())
      check((await call('check_command', { id: 'process-1' })).state !== 'running', 'it still runs after close()')
    },
  },
]

/** Waits for the end of a background command, and gathers what it puts out. */
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
