import { describe, expect, it } from 'vitest'
import { bash } from '../../../src/shells/bash/index.ts'
import type { Shell } from '../../../src/shells/types.ts'
import { type Answer, shellBench, unjudged } from '../../shells/setup.ts'
import { until } from '../../until.ts'

describe('a background command', () => {
  it('runs in parallel with other calls, and commits its changes as one call that can be undone', async () => {
    const { run, workspace, snapshot } = await shellBench({ 'a.txt': 'a\n' })
    const call = (name: string, input: object) => workspace.callTool(name as string, input) as Promise<Answer>
    const before = await snapshot()
    const started = await call('start_command', {
      command: 'sleep 0.2; echo b > b.txt; echo done; echo oops >&2; exit 4',
    })
    expect(started).toMatchObject({ ok: true, id: 'process-1', state: 'running' })
    expect(await run('cat a.txt')).toMatchObject({ ok: true, stdout: 'a\n' })
    let last: Answer = {}
    let [stdout, stderr] = ['', '']
    await until('the command', async () => {
      last = await call('check_command', { id: 'process-1' })
      stdout += last.stdout
      stderr += last.stderr
      return last.state === 'ended'
    })
    expect(last).toMatchObject({ ok: true, state: 'ended', exitCode: 4 })
    expect([stdout, stderr]).toEqual(['done\n', 'oops\n'])
    expect(await call('check_command', { id: 'process-1' })).toMatchObject({ stdout: '', stderr: '' })
    expect(Object.keys(await snapshot())).toEqual(expect.arrayContaining(['b.txt']))
    const [record] = workspace
      .auditRecords()
      .filter(({ pathsWritten, phase }) => phase === 'outcome' && pathsWritten.length > 0)
    expect(record?.pathsWritten).toEqual(['b.txt'])
    expect(await workspace.undo(record?.toolCallId as string)).toMatchObject({ ok: true })
    expect(await snapshot()).toEqual(before)
  })

  it('requests approval of a read while its time limit is suspended, and of its changes at its end', async () => {
    const rules = [
      { name: 'reading', action: 'ask', permissions: ['file:read'], paths: ['a.txt'] },
      { name: 'writing', action: 'ask', permissions: ['file:write:*'], paths: ['b.txt'] },
    ] as const
    const requests: string[] = []
    const { workspace, snapshot } = await shellBench(
      { 'a.txt': 'a\n' },
      {
        policy: { preset: 'autonomous', rules },
        approve: ({ verdict }) => {
          const names = verdict.rules.filter(({ source }) => source === 'rule').map(({ name }) => name)
          requests.push(...new Set(names))
          return names.includes('reading') ? 'allow' : { deny: 'not that' }
        },
      },
    )
    const before = await snapshot()
    await workspace.call('start_command', { command: 'cat a.txt; cat a.txt > b.txt' })
    let last: Answer = {}
    let stdout = ''
    await until('the command', async () => {
      last = await workspace.call('check_command', { id: 'process-1' })
      stdout += last.stdout
      return last.state === 'ended'
    })
    expect(requests).toEqual(['reading', 'writing'])
    // The output of the approved read is shown while the command runs.
    expect(stdout).toBe('a\n')
    expect(last).toMatchObject({
      state: 'ended',
      exitCode: 126,
      stderr: expect.stringContaining('not that'),
    })
    expect(await snapshot()).toEqual(before)
  })

  it.each(['bash s.sh', 'cat .env; echo x > locked/y', 'rm locked/y', 'echo ok; bash s.sh; bash s.sh'])(
    'lists what was refused as the foreground does: %s',
    async (command) => {
      const { workspace, run } = await shellBench(
        { 's.sh': 'rm v\necho after\n', v: 'v', '.env': 'A=1\n', 'locked/y': '1' },
        { policy: { preset: 'autonomous', readOnlyPaths: ['locked/**'], commands: { deny: ['rm v'] } } },
      )
      const foreground = await run(command)
      const started = await workspace.call('start_command', { command })
      let last: Answer = {}
      await until('the command', async () => {
        last = await workspace.call('check_command', { id: (started as unknown as { id: string }).id })
        return last.state === 'ended'
      })
      expect(foreground.refused).not.toEqual([])
      expect(last.refused).toEqual(foreground.refused)
    },
  )

  it('stores the complete output if a result shows only a part of it', async () => {
    const { workspace } = await shellBench({})
    const call = (name: string, input: object) => workspace.callTool(name as string, input) as Promise<Answer>
    await call('start_command', { command: 'seq 1 40000' })
    let last: Answer = {}
    await until('the command', async () => {
      last = await call('check_command', { id: 'process-1' })
      return last.state === 'ended'
    })
    expect(last).toMatchObject({ truncated: true, outputUri: expect.stringMatching(/^artifact:/) })
    expect(await call('read_file', { path: last.outputUri, maxLines: 1 })).toMatchObject({ content: '1\n' })
  })

  it('changes nothing if it is stopped', async () => {
    const { workspace, snapshot } = await shellBench({ 'a.txt': 'a\n' })
    const before = await snapshot()
    await workspace.call('start_command', { command: 'echo b > a.txt; sleep 60' })
    expect(await workspace.call('stop_command', { id: 'process-1' })).toMatchObject({
      ok: true,
      state: 'ended',
      exitCode: 143,
    })
    expect(await snapshot()).toEqual(before)
  })

  it('ends with its run, which can start no other, while other runs continue', async () => {
    const shell = unjudged(bash())
    const { workspace } = await shellBench({}, { shell })
    const run = workspace.run()
    await workspace.call('start_command', { command: 'sleep 600' })
    await run.call('start_command', { command: 'echo b > b.txt; sleep 600' })
    const late = run.call('start_command', { command: 'sleep 600' })
    await run.close()
    expect(await late).toMatchObject({ code: 'ABORTED' })
    expect(await run.call('start_command', { command: 'sleep 600' })).toMatchObject({ code: 'ABORTED' })
    expect(await workspace.call('check_command', { id: 'process-1' })).toMatchObject({ state: 'running' })
    expect(await workspace.call('read_file', { path: 'b.txt' })).toMatchObject({ code: 'NOT_FOUND' })
    await workspace.close()
  })

  it('belongs to its run, and ends with the workspace', async () => {
    const shell = unjudged(bash())
    let running = 0
    const counted: Shell = {
      ...shell,
      run(command) {
        running += 1
        return shell.run(command).finally(() => {
          running -= 1
        })
      },
    }
    const { workspace } = await shellBench({}, { shell: counted })
    const other = workspace.run()
    for (let i = 0; i < 50; i++) await workspace.call('start_command', { command: 'sleep 600' })
    expect(await other.call('check_command', { id: 'process-1' })).toMatchObject({ ok: false, code: 'NOT_FOUND' })
    for (let i = 1; i <= 25; i++) await workspace.call('stop_command', { id: `process-${i}` })
    const states = async () => {
      const matches: string[] = []
      for (let i = 1; i <= 50; i++) {
        const { state } = (await workspace.call('check_command', { id: `process-${i}` })) as Answer
        matches.push(state)
      }
      return matches
    }
    expect((await states()).filter((state) => state === 'running')).toHaveLength(25)
    expect(running).toBe(25)
    await workspace.close()
    expect(running).toBe(0)
  })

  it('is evaluated like any command, and limited in number', async () => {
    const { workspace } = await shellBench({ '.env': 'PASSWORD=x\n' }, { limits: { processes: 2 } })
    await workspace.call('start_command', { command: 'cat .env; sleep 600' })
    await workspace.call('start_command', { command: 'sleep 600' })
    expect(await workspace.call('start_command', { command: 'sleep 600' })).toMatchObject({ code: 'LIMIT_EXCEEDED' })
    expect(await workspace.call('start_command', { command: 'sudo ls', cwd: 'nowhere' })).toMatchObject({ ok: false })
    const { stdout } = (await workspace.call('stop_command', { id: 'process-1' })) as Answer
    expect(stdout).not.toContain('PASSWORD')
    expect(workspace.auditRecords().flatMap(({ refusals }) => refusals ?? [])).toContainEqual({
      permission: 'file:read',
      path: '.env',
      code: 'POLICY_DENIED_SECRET',
    })
    await workspace.close()
  })
})
