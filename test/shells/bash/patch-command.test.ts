import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeFiles } from '../../write-files.ts'
import { shellBench } from '../setup.ts'

const numbers = Array.from({ length: 30 }, (_, i) => `line ${i + 1}\n`).join('')
const before = { 'src/a.txt': numbers, 'src/gone.txt': 'gone\n', 'src/old.txt': numbers.replace('line 9', 'nine') }
const after = {
  'src/a.txt': numbers.replace('line 3\n', 'three\n').replace('line 25\n', 'line 25\nmore\n'),
  'src/new/b.txt': 'fresh\n',
  'src/moved.txt': numbers.replace('line 9', 'neuf'),
}

/** Returns git's patch from one tree to another. */
function patchOf(from: Record<string, string>, to: Record<string, string>): string {
  const directory = mkdtempSync(join(tmpdir(), 'patch-'))
  const git = (...args: string[]) => execFileSync('git', args, { cwd: directory, encoding: 'utf8' })
  const write = (tree: Record<string, string>) => {
    writeFiles(directory, tree)
  }
  try {
    git('init', '-q')
    write(from)
    git('add', '-A')
    git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'before')
    for (const path of Object.keys(from)) rmSync(join(directory, path))
    write(to)
    git('add', '-A')
    return git('diff', '--cached', '-M')
  } finally {
    rmSync(directory, { recursive: true })
  }
}

describe('patch', () => {
  const diff = patchOf(before, after)

  it('applies patches of git, from its input or a file', async () => {
    for (const line of ['patch -p1 < the.patch', 'cat the.patch | patch -p1', 'patch -p1 -i the.patch']) {
      const { run, snapshot } = await shellBench({ ...before, 'the.patch': diff })
      const result = await run(line)
      expect(result).toMatchObject({ ok: true, exitCode: 0, stderr: '' })
      const remaining = await snapshot()
      for (const [path, content] of Object.entries(after)) expect(remaining[path], path).toContain(content)
      expect(Object.keys(remaining)).not.toContain('src/gone.txt')
      expect(Object.keys(remaining)).not.toContain('src/old.txt')
    }
  })

  it('applies all changes or none, and none in a dry run', async () => {
    const { run, snapshot } = await shellBench({ ...before, 'src/old.txt': 'other\n', 'the.patch': diff })
    const untouched = await snapshot()
    expect(await run('patch -p1 < the.patch')).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/^patch: /) })
    expect(await snapshot()).toEqual(untouched)
    const good = await shellBench({ ...before, 'the.patch': diff })
    expect(await good.run('patch --dry-run -p1 < the.patch')).toMatchObject({ exitCode: 0, filesChanged: [] })
  })

  const section = (name: string, hunk: string) => `--- a/${name}\n+++ b/${name}\n${hunk}`
  const create = (name: string) =>
    `diff --git a/${name} b/${name}\nnew file mode 100644\n--- /dev/null\n+++ b/${name}\n@@ -0,0 +1 @@\n+new\n`
  it.each<[label: string, patch: string, expected: object, x: string | undefined]>([
    ['a missing file', section('none', '@@ -1 +1 @@\n-a\n+b\n'), { stderr: /"none": it does not exist/ }, 'a\n'],
    ['a new file that exists', create('x'), { stderr: /"x": it already exists/ }, 'a\n'],
    [
      'two sections for one file',
      section('x', '@@ -1 +1 @@\n-a\n+b\n') + section('x', '@@ -1 +1 @@\n-b\n+c\n'),
      {},
      'c\n',
    ],
    ['a plain diff that creates a missing file', section('y', '@@ -0,0 +1 @@\n+new\n'), {}, 'a\n'],
    ['a plain diff that creates an existing file', section('x', '@@ -0,0 +1 @@\n+new\n'), { stderr: /./ }, 'a\n'],
  ])('handles %s', async (_, patch, { stderr = /^$/ }: { stderr?: RegExp }, x) => {
    const { run, backend } = await shellBench({ x: 'a\n', 'the.patch': patch })
    const result = await run('patch -s -p1 < the.patch')
    expect(result).toMatchObject({ ok: true, exitCode: result.stderr === '' ? 0 : 1, stdout: '' })
    expect(result.stderr).toMatch(stderr)
    expect(new TextDecoder().decode((await backend.read('x' as never)).bytes)).toBe(x)
  })

  it('refuses a patch that is not UTF-8', async () => {
    const patch = Buffer.from('--- a/x.txt\n+++ b/x.txt\n@@ -1 +1 @@\n-a\n+caf\xe9\n', 'latin1')
    const { run, snapshot } = await shellBench({ 'x.txt': 'a\n', 'latin.patch': new Uint8Array(patch) })
    const untouched = await snapshot()
    for (const line of ['patch -p1 < latin.patch', 'patch -p1 -i latin.patch']) {
      expect(await run(line)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('not UTF-8') })
    }
    expect(await snapshot()).toEqual(untouched)
  })

  it('cannot change a protected file', async () => {
    const patch = patchOf({ '.env': 'PASSWORD=hunter2\n' }, { '.env': 'PASSWORD=x\n' })
    const moved = patchOf({ '.env': 'PASSWORD=hunter2\n' }, { 'plain.txt': 'PASSWORD=hunter2\n' })
    const { run, snapshot } = await shellBench({ '.env': 'PASSWORD=hunter2\n', 'a.patch': patch, 'b.patch': moved })
    const untouched = await snapshot()
    for (const line of ['patch -p1 -i a.patch', 'patch -p1 -i b.patch']) {
      expect(await run(line)).toMatchObject({ exitCode: 1, refused: [{ path: '.env', code: 'POLICY_DENIED_SECRET' }] })
    }
    expect(await snapshot()).toEqual(untouched)
    expect(await run('patch -p3 < a.patch')).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('-p3') })
  })

  it('resolves paths in the directory of the call', async () => {
    const { run, backend } = await shellBench({
      'sub/x.txt': 'a\n',
      'p.patch': patchOf({ 'x.txt': 'a\n' }, { 'x.txt': 'b\n' }),
    })
    expect(await run('cd sub && patch -p1 < ../p.patch')).toMatchObject({ ok: true, exitCode: 0 })
    expect(new TextDecoder().decode((await backend.read('sub/x.txt' as never)).bytes)).toBe('b\n')
  })
})
