import { execSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { nodeBackend } from '../../../src/backends/node/index.ts'
import { nodeShell } from '../../../src/shells/node/index.ts'
import { createWorkspace } from '../../../src/workspace/create-workspace.ts'
import type { Answer } from '../setup.ts'
import { nodeBench } from './setup.ts'

const tree = { 'conf/x.txt': 'TOKEN7291\n', 'pub/a.txt': 'hello\n', 'notes.txt': 'notes\n' }
const policy = {
  preset: 'autonomous',
  tools: { run_command: 'allow', start_command: 'allow' },
  labels: {
    sources: [{ label: 'restricted', paths: ['conf/**'] }],
    sinks: [{ name: 'published', ceiling: 'public', paths: ['pub/**'] }],
  },
} as const

describe('labels of what processes read', () => {
  it('are those of every file that the process could read', async () => {
    const { run, snapshot } = await nodeBench(tree, {}, { policy })
    const before = await snapshot()
    for (const line of ['cp conf/x.txt pub/', 'mv conf pub/conf', 'ln conf/x.txt pub/x', 'cat c*/x.txt | tee pub/y']) {
      expect(await run(line), line).toMatchObject({ code: 'TAINT_DENIED', sink: 'published' })
    }
    expect(await snapshot()).toEqual(before)
    expect(await run('cat conf/x.txt')).toMatchObject({ stdout: 'TOKEN7291\n', label: 'restricted' })
  })

  it('stay with files that an earlier line left outside of the workspace', async () => {
    const { run, workspace, root } = await nodeBench(tree, {}, { policy })
    const stored = await run('cp conf/x.txt "$TMPDIR/kept"')
    expect(stored).toMatchObject({ ok: true, exitCode: 0, label: 'restricted' })
    rmSync(join(root, 'conf'), { recursive: true })
    const second = workspace.run({ id: 'second' })
    expect(await second.call('run_command', { command: 'cat "$TMPDIR/kept"' })).toMatchObject({ label: 'restricted' })
    const third = workspace.run({ id: 'third' })
    expect(await third.call('run_command', { command: 'cp "$TMPDIR/kept" pub/' })).toMatchObject({
      code: 'TAINT_DENIED',
    })
  })

  it('apply to background commands, whose output has them too', async () => {
    const { workspace, snapshot } = await nodeBench(tree, {}, { policy })
    const before = await snapshot()
    const started = (await workspace.call('start_command', { command: 'cat conf/x.txt; cp conf/x.txt pub/' })) as Answer
    let checked: Answer = {}
    let output = ''
    while (checked.state !== 'ended') {
      checked = (await workspace.call('check_command', { id: started.id })) as Answer
      output += checked.stdout
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    expect(output).toContain('TOKEN7291')
    expect(checked).toMatchObject({ label: 'restricted', exitCode: 126 })
    expect(await snapshot()).toEqual(before)
    expect(workspace.taint.label()).toBe('restricted')
  })

  it('include those of files that only commits contain', async () => {
    const { run, root, workspace } = await nodeBench(tree, {}, { policy })
    const author = '-c user.name=a -c user.email=a@example.com'
    const commands = [
      'git init -q',
      'git add .',
      `git ${author} commit -qm a`,
      'git rm -qr conf',
      `git ${author} commit -qm b`,
    ]
    for (const command of commands) execSync(command, { cwd: root })
    expect(await run('git show HEAD~1:conf/x.txt')).toMatchObject({ stdout: 'TOKEN7291\n', label: 'restricted' })
    expect(workspace.taint.label()).toBe('restricted')
  })

  it('are those of the commands in script files', async () => {
    const labels = {
      sources: [
        { label: 'restricted', paths: ['conf/**'] },
        { label: 'internal', commands: ['date*'] },
      ],
      sinks: [{ name: 'upload', ceiling: 'public', commands: ['tar *'] }],
    } as const
    const scripts = {
      'date.sh': 'date +%Y\n',
      'deep.sh': 'bash date.sh\n',
      'tar.sh': 'tar -cf a.tar notes.txt\n',
      'package.json': JSON.stringify({ scripts: { day: 'date +%Y', pack: 'bash tar.sh' } }),
      'notes.txt': 'notes\n',
    }
    const { root } = await nodeBench(scripts)
    const shell = nodeShell({ root, stateDir: `${root}-state`, sandbox: 'none' })
    const workspace = await createWorkspace({ backend: nodeBackend(root), shell, policy: { ...policy, labels } })
    const lineIn = (command: string, run = workspace.run({})) => run.call('run_command', { command })
    for (const line of ['date +%Y', 'bash date.sh', 'bash deep.sh', 'npm run -s day', 'f() { date; }; f']) {
      expect(await lineIn(line), line).toMatchObject({ ok: true, exitCode: 0, label: 'internal' })
    }
    expect(await lineIn('bash tar.sh')).toMatchObject({ ok: true, exitCode: 0 })
    const reader = workspace.run({})
    expect(await lineIn('date +%Y', reader)).toMatchObject({ label: 'internal' })
    for (const line of ['tar -cf b.tar notes.txt', 'bash tar.sh', 'npm run pack']) {
      expect(await lineIn(line, reader), line).toMatchObject({ code: 'TAINT_DENIED', sink: 'upload' })
    }
    await workspace.close()
    await shell.close()
  })

  it('are public if the process can read no labelled file', async () => {
    const { 'conf/x.txt': _, ...free } = tree
    const { run, workspace } = await nodeBench(free, {}, { policy })
    expect(await run('cat notes.txt | tee pub/y')).toMatchObject({ ok: true, stdout: 'notes\n', label: 'public' })
    expect(workspace.taint.label()).toBe('public')
  })
})
