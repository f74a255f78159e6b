import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { memory } from '../../../src/backends/memory/index.ts'
import { createWorkspace, ToolError } from '../../../src/index.ts'
import { ROOT } from '../../../src/paths/logical-path.ts'
import { nodeShell } from '../../../src/shells/node/index.ts'
import { until } from '../../until.ts'
import { filesOver } from '../setup.ts'
import { isAlive, nodeBench } from './setup.ts'

describe('nodeShell() without a sandbox', () => {
  it('asks about a command by default', async () => {
    const { run } = await nodeBench({}, {}, { policy: 'autonomous' })
    expect(await run('echo a')).toMatchObject({ ok: false, code: 'APPROVAL_REQUIRED' })
  })

  it('declares that it is neither guarded nor confined', async () => {
    const { root } = await nodeBench()
    const shell = nodeShell({ root, sandbox: 'none' })
    expect(shell.capabilities).toMatchObject({ processes: true, guarded: false, confined: false, undo: true })
    await shell.close()
  })

  it('passes on only variables of the allowlist and of its options', async () => {
    process.env.PLANTED_TOKEN = 'planted-in-the-environment'
    try {
      const { run } = await nodeBench({}, { env: { ADDED: 'yes' }, shell: 'sh' })
      const { stdout } = await run('env; echo "home: $HOME"; echo "read by: $0"')
      expect(stdout).toContain('read by: sh\n')
      expect(stdout).toContain('ADDED=yes')
      expect(stdout).not.toContain('planted-in-the-environment')
      expect(stdout).not.toContain(`home: ${process.env.HOME}\n`)
    } finally {
      delete process.env.PLANTED_TOKEN
    }
  })

  it('passes the line to the shell as one argument', async () => {
    const { run } = await nodeBench()
    const line = 'printf "%s|" "a b" \'$x\' "`echo c`" \\"; echo "$(printf \'d\\n\')"; cd /'
    expect(await run(line)).toMatchObject({ stdout: 'a b|$x|c|"|d\n', exitCode: 0, cwd: '.' })
    expect((await run('echo "')).exitCode).toBe(2)
  })
})

describe('a command that writes in place', () => {
  it('gets its refused changes reverted and listed', async () => {
    const tree = { '.env': 'KEY=planted\n', '.git/config': '[core]\n', 'a.txt': 'a\n' }
    const { run, root, workspace } = await nodeBench(tree)
    const result = await run(
      'echo x > .env; rm -r .git; echo b >> a.txt; mkfifo pipe; ln -s /etc/passwd out; mkdir -p new/.ssh; echo k > new/.ssh/id_rsa; cd new/.ssh',
    )
    // The final directory was refused, so it does not exist.
    expect(result.cwd).toBe('.')
    expect(result.filesChanged).toEqual(['a.txt', 'new'])
    const refused = (result.refused as { path: string; code: string }[]).map(({ path, code }) => `${path} ${code}`)
    expect(refused).toEqual(
      expect.arrayContaining(['.env POLICY_DENIED_SECRET', 'pipe PATH_REJECTED', 'out PATH_REJECTED']),
    )
    expect(refused.some((one) => one.startsWith('.git'))).toBe(true)
    expect(readFileSync(join(root, '.env'), 'utf8')).toBe('KEY=planted\n')
    expect(readFileSync(join(root, '.git/config'), 'utf8')).toBe('[core]\n')
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('a\nb\n')
    for (const path of ['pipe', 'out', 'new/.ssh/id_rsa']) expect(existsSync(join(root, path)), path).toBe(false)
    expect(
      workspace
        .auditRecords()
        .at(-1)
        ?.refusals?.some(({ path }) => path === '.env'),
    ).toBe(true)
  })

  it('keeps a concurrent commit of a tool when it is cancelled', async () => {
    const { run, root, workspace } = await nodeBench({ 'a.txt': 'a\n', 'b.txt': 'b\n' })
    const stop = new AbortController()
    const running = run('echo x > a.txt; : > started; sleep 600', {}, { signal: stop.signal })
    await until('the command', () => existsSync(join(root, 'started')))
    const edited = await workspace.call('edit_file', { path: 'b.txt', oldText: 'b', newText: 'edited' })
    expect(edited.ok).toBe(true)
    stop.abort()
    expect(await running).toMatchObject({ ok: false, code: 'ABORTED' })
    expect(readFileSync(join(root, 'b.txt'), 'utf8')).toBe('edited\n')
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('a\n')
    expect(existsSync(join(root, 'started'))).toBe(false)
  })

  it('cannot hide a change by keeping the size and times of the file', async () => {
    const { run, root, workspace } = await nodeBench({ 'a.txt': 'one\n' })
    const { atime, mtime } = statSync(join(root, 'a.txt'))
    writeFileSync(join(root, 'stamp'), `${atime.getTime()} ${mtime.getTime()}`)
    const { callId, filesChanged } = await run('cp -p a.txt t; printf "two\\n" > a.txt; touch -r t a.txt; rm t')
    expect(filesChanged).toEqual(['a.txt'])
    await workspace.undo(callId)
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('one\n')
  })

  it('is refused before it starts if the workspace exceeds shadowBytes', async () => {
    const { run, root } = await nodeBench({ 'a.txt': 'a'.repeat(2000) }, { shadowBytes: 1000 })
    expect(await run('rm a.txt')).toMatchObject({ ok: false, code: 'LIMIT_EXCEEDED', limit: 'shadowBytes' })
    expect(existsSync(join(root, 'a.txt'))).toBe(true)
  })
})

describe('processes of nodeShell()', () => {
  it('end with the command, also those that ignore SIGTERM or left the group', async () => {
    const { run } = await nodeBench({}, { graceMs: 50 })
    const { stdout } = await run(
      `sleep 600 & echo $!; sh -c 'trap "" TERM; echo $$; while :; do sleep 0.1; done' & setsid sh -c 'echo $$; exec sleep 600' & sleep 0.5`,
    )
    const pids = stdout.trim().split('\n').map(Number)
    expect(pids).toHaveLength(3)
    // A process that left its group is found by its mark, which only Linux shows.
    for (const pid of process.platform === 'linux' ? pids : pids.slice(0, 2)) expect(isAlive(pid), `${pid}`).toBe(false)
  })

  it('in the background end with stop_command and close(): 50 lines with children leave no process', async () => {
    const { workspace, close } = await nodeBench()
    const call = (name: string, input: object) =>
      workspace.callTool(name as string, input) as Promise<Record<string, string>>
    const ids: string[] = []
    for (let i = 0; i < 50; i++) {
      const { id } = await call('start_command', { command: 'sleep 600 & echo $! $$; wait' })
      ids.push(id as string)
    }
    const pids: number[] = []
    for (const id of ids) {
      let output = ''
      await until('the process', async () => {
        output += (await call('check_command', { id })).stdout
        return output.includes('\n')
      })
      pids.push(...output.trim().split(' ').map(Number))
    }
    expect(new Set(pids).size).toBe(100)
    expect(pids.every(isAlive)).toBe(true)
    await Promise.all(ids.slice(0, 25).map((id) => call('stop_command', { id })))
    expect(pids.map(isAlive)).toEqual(pids.map((_, i) => i >= 50))
    await close()
    expect(pids.filter(isAlive)).toEqual([])
  })

  it('keep the end of long output, and their error output', async () => {
    const { run } = await nodeBench()
    const { stdout, stderr, truncated } = await run(
      'echo first; yes abcdefgh | head -c 20000000; echo last; echo oops >&2',
    )
    expect(stdout.endsWith('last\n')).toBe(true)
    expect(stdout).not.toContain('first')
    expect(stderr).toBe('oops\n')
    expect(truncated).toBe(true)
  })

  it('take input, and report the number of the signal that ended them', async () => {
    const { root, workspace, backend } = await nodeBench()
    await workspace.close()
    expect(backend).toBeDefined()
    const { startChild } = await import('../../../src/shells/node/child.ts')
    const env = { PATH: process.env.PATH ?? '' }
    const options = { cwd: root, env, mark: crypto.randomUUID(), graceMs: 1000 }
    const deaf = await startChild({
      ...options,
      argv: ['/bin/sh', '-c', 'exec <&-; echo deaf; exec sleep 600'],
      stdin: { open: true },
    })
    await until('the output', () => deaf.output().stdout === 'deaf\n')
    await expect(deaf.write('x')).rejects.toMatchObject({ code: 'SHELL_UNAVAILABLE' })
    deaf.stop()
    const child = await startChild({ ...options, argv: ['cat'], stdin: { open: true } })
    await child.write('é over two writes\n')
    let output = ''
    await until('the process', () => {
      output += child.output().stdout
      return output.endsWith('\n')
    })
    expect(output).toBe('é over two writes\n')
    child.stop()
    expect([await deaf.ended, await child.ended].map(({ exitCode }) => exitCode)).toEqual([143, 143])
    await expect(child.write('x')).rejects.toMatchObject({ code: 'SHELL_UNAVAILABLE' })
    await expect(startChild({ ...options, argv: ['/no/such/program'] })).rejects.toMatchObject({
      code: 'SHELL_UNAVAILABLE',
      message: expect.not.stringContaining('/no/such'),
    })
  })

  it('in the background report that their changes were refused or not committed', async () => {
    const { root } = await nodeBench()
    const shell = nodeShell({ root, sandbox: 'none', stateDir: `${root}-state` })
    const files = filesOver(memory())
    const command = { line: 'cat', cwd: ROOT, env: {}, stdin: 'given\n', timeoutMs: 60_000, files, now: () => 0 }
    expect(await shell.run(command)).toMatchObject({ stdout: 'given\n', exitCode: 0 })
    const failures = [new ToolError('READ_ONLY', 'Nothing may change'), new TypeError('/home/someone')]
    const results: string[] = []
    for (const error of failures) {
      const started = await shell.start?.({ ...command, line: ':', keep: () => Promise.reject(error) })
      await started?.ended
      results.push(`${started?.exitCode} ${started?.output().stderr}`)
    }
    expect(results).toEqual(['126 Nothing may change\n', '126 The command failed\n'])
    await shell.close()
  })

  it('do not start after close()', async () => {
    const { root } = await nodeBench()
    const shell = nodeShell({ root, sandbox: 'none' })
    const { nodeBackend: directory } = await import('../../../src/backends/node/index.ts')
    const policy = { preset: 'autonomous', tools: { run_command: 'allow' } } as const
    const workspace = await createWorkspace({ backend: directory(root), shell, policy })
    await shell.close()
    expect(await workspace.call('run_command', { command: 'echo a' })).toMatchObject({ code: 'SHELL_UNAVAILABLE' })
    await workspace.close()
  })
})
