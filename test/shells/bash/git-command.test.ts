import { execFileSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nodeBackend } from '../../../src/backends/node/index.ts'
import { type ShellBench, shellBench } from '../setup.ts'

const TOKEN = `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`
let base: string
let root: string
let bench: ShellBench
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@b.c', ...args], { cwd: root, encoding: 'utf8' })

beforeAll(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'git-command-')))
  root = join(base, 'project')
  execFileSync('git', ['init', '-qb', 'main', root])
  const write = (path: string, content: string) => writeFileSync(join(root, path), content)
  write('a.txt', 'one\ntwo\n')
  write('gone.txt', 'gone\n')
  write('conf.ts', `const token = '${TOKEN}'\nconst x = 1\n`)
  write('.env', 'PASSWORD=hunter2\n')
  write('private.txt', 'the plan\n')
  write('.gitignore', 'ignored.txt\n')
  git('add', '-Af')
  git('commit', '-qm', `first, with ${TOKEN}`)
  git('commit', '-qm', 'second', '--allow-empty')
  git('branch', 'other')
  git('branch', 'feature/one')
  write('a.txt', 'one\nTWO\n')
  write('conf.ts', `const token = '${TOKEN}'\nconst x = 2\n`)
  write('.env', 'PASSWORD=hunter3\n')
  write('private.txt', 'another plan\n')
  write('ignored.txt', '')
  write('fresh.txt', 'fresh\n')
  rmSync(join(root, 'gone.txt'))
  git('add', 'fresh.txt')
  bench = await shellBench(
    {},
    {
      backend: nodeBackend(root, { stateDir: join(base, 'state') }),
      policy: { preset: 'autonomous', deniedPaths: ['private.txt'] },
    },
  )
})
afterAll(async () => {
  await bench.workspace.close()
  rmSync(base, { recursive: true })
})

describe('git commands that read', () => {
  it('have the output of the real git for visible files', async () => {
    const { run } = bench
    const ordinary = (text: string) =>
      text
        .split('\n')
        .filter((line) => !/\.env|private/.test(line))
        .sort()
    for (const line of [
      'git status --porcelain',
      'git rev-parse HEAD',
      'git rev-parse --abbrev-ref HEAD',
      'git branch --show-current',
      'git branch',
      'git diff --name-only -- a.txt conf.ts',
      'git log --oneline -1',
    ]) {
      const real = execFileSync('sh', ['-c', line], { cwd: root, encoding: 'utf8' })
      const result = await run(line)
      expect(result, line).toMatchObject({ ok: true, exitCode: 0, stderr: '' })
      expect(ordinary(result.stdout), line).toEqual(ordinary(real))
    }
    expect((await run('git log')).stdout).toMatch(/Author: A <a@b\.c>/)
    expect((await run('git diff | patch -p1 --dry-run')).exitCode).not.toBe(0)
  })

  it('show no protected or hidden file and no secret, and are audited', async () => {
    const { run, workspace } = bench
    const lines = [
      'git status',
      'git diff',
      'git diff HEAD',
      'git diff --stat',
      'git log',
      'git log | rev',
      'git diff | rev',
    ]
    const output = JSON.stringify(await Promise.all([...lines, 'git diff -- .env'].map((line) => run(line))))
    for (const text of ['hunter', 'PASSWORD', '.env', 'private', 'plan', TOKEN, [...TOKEN].reverse().join('')]) {
      expect(output.replaceAll('"cwd":"."', ''), text).not.toContain(text)
    }
    expect(output).toContain('REDACTED')
    expect(workspace.auditRecords().some(({ pathsRead }) => pathsRead.includes('a.txt'))).toBe(true)
  })

  it('see the changes of their own command, and name unavailable commands', async () => {
    const { run } = bench
    const result = await run('echo three >> a.txt; git diff -- a.txt; git merge other')
    expect(result.stdout).toContain('+three')
    expect(result).toMatchObject({
      exitCode: 128,
      stderr: expect.stringMatching(/^fatal: git merge is not available in this shell/),
    })
    const bare = await shellBench({ 'a.txt': '' })
    expect(await bare.run('git status')).toMatchObject({ exitCode: 128, stderr: 'fatal: not a git repository\n' })
  })
})
