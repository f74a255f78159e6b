import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rgPath } from '@vscode/ripgrep'
import { afterAll, describe, expect, it } from 'vitest'
import { ownTime } from '../../own-time.ts'
import { writeFiles } from '../../write-files.ts'
import { shellBench } from '../setup.ts'

const tree: Record<string, string> = {
  'a.ts': 'foo\nbar\nfoobar\n\nFOO\nlast foo',
  'src/b.ts': 'const foo = (x) => x + 1\nfoo()\n// food\nx\ny\nz\nw\nfoo again\n',
  'src/deep/c.js': 'no\nnothing\n',
  'src/deep/d.md': 'a|b\n(c)\nfoo?\nf+\n[x]\n',
  '.hidden/e.ts': 'foo hidden\n',
  'node_modules/p/i.js': 'foo module\n',
  'ignored.log': 'foo log\n',
  '.gitignore': '*.log\nnode_modules\n',
  'crlf.txt': 'foo\r\nbar\r\nfoo\r\n',
  'empty.txt': '',
  'bin.dat': 'foo\0bar\nfoo\n',
  'lead.txt': '\nfoo\n',
  'umlaut.txt': 'größe foo\nÄ\n',
}

const directory = mkdtempSync(join(tmpdir(), 'wardspace-search-'))
writeFiles(directory, tree)
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const grep = [
  ['-r', 'foo', '.'],
  ['-r', 'foo'],
  ['-rn', 'foo', 'src'],
  ['-rn', 'foo', 'src/'],
  ['-rni', 'FOO', '.'],
  ['-rl', 'foo', '.'],
  ['-rL', 'foo', 'src'],
  ['-rc', 'foo', '.'],
  ['-rw', 'foo', '.'],
  ['-rx', 'foo', 'a.ts', 'src'],
  ['-rv', 'foo', 'src'],
  ['-rvc', 'o', 'src', 'a.ts', 'crlf.txt'],
  ['-rh', 'foo', '.'],
  ['-rE', 'fo+|ba?r', '.'],
  ['-r', 'fo\\+\\|ba\\?r', '.'],
  ['-r', 'a|b', '.'],
  ['-r', '(c)', '.'],
  ['-rF', 'foo?', '.'],
  ['-rF', '[x]', '.'],
  ['-r', '\\<foo\\>', '.'],
  ['-r', '^foo', '.'],
  ['-r', 'foo$', 'src', 'a.ts'],
  ['-rn', '-A1', 'bar', 'a.ts', 'src'],
  ['-rn', '-C', '2', 'foo', 'src'],
  ['-rn', '-B1', 'again', 'src'],
  ['-r', '-m1', 'foo', '.'],
  ['-rq', 'foo', '.'],
  ['-rq', 'nowhere', '.'],
  ['-r', 'nowhere', '.'],
  ['-r', 'foo', 'missing'],
  ['-r', '--include=*.ts', 'foo', '.'],
  ['-r', '--exclude=*.ts', 'foo', '.'],
  ['-r', '--exclude-dir=node_modules', 'foo', '.'],
  ['-rI', 'foo', '.'],
  ['-r', '-e', 'foo', '.'],
  ['-r', '[[:digit:]]', '.'],
  ['-r', 'größe', '.'],
  ['-rhc', 'foo', 'a.ts'],
  ['-rv', '-m1', 'o', 'src'],
  ['-rvc', '-m1', 'o', 'src'],
  ['-r', '[^a]o', '.'],
  ['-r', '*foo', '.'],
  ['-r', '^*f', '.'],
  ['-r', 'l\\.x\\|again', '.'],
  ['-rwF', 'x', '.'],
  ['-rn', '-A1', 'FOO', 'a.ts', 'src'],
  ['-rn', '-B1', 'foo', 'lead.txt', 'src'],
  ['-rn', '-C1', 'foo', 'src/b.ts', 'a.ts'],
]

const rg = [
  ['foo'],
  ['foo', '.'],
  ['foo', 'src'],
  ['-n', 'foo'],
  ['-ni', 'FOO', 'src'],
  ['-S', 'foo'],
  ['-S', 'FOO'],
  ['-l', 'foo'],
  ['-c', 'foo'],
  ['-w', 'foo'],
  ['-F', 'foo?'],
  ['-v', 'foo', 'src/b.ts'],
  ['-n', 'foo', 'a.ts'],
  ['-H', 'foo', 'a.ts'],
  ['foo', 'a.ts', 'src/b.ts'],
  ['-n', '-C1', 'foobar|again'],
  ['-n', '-A2', 'bar', 'a.ts'],
  ['-g', '*.ts', 'foo'],
  ['-g', '!*.ts', 'foo'],
  ['-g', 'src/**', 'foo'],
  ['-t', 'ts', 'foo'],
  ['--hidden', 'foo'],
  ['--no-ignore', 'foo'],
  ['-uu', 'foo'],
  ['--files'],
  ['--files', '-g', '*.ts'],
  ['-m1', 'foo'],
  ['-q', 'foo'],
  ['nowhere'],
  ['foo', 'missing'],
  ['-e', 'foo', 'src'],
  ['--files-without-match', 'foo', 'src'],
  ['-I', 'foo', 'src'],
  ['-g', '/a.ts', 'foo'],
]

const quoted = (args: readonly string[]) => args.map((arg) => `'${arg}'`).join(' ')
const sorted = (text: string) => text.split('\n').sort()

describe.each([
  ['grep', grep],
  ['rg', rg],
] as const)('%s', (name, table) => {
  it.each(table.map((args) => [args.join(' '), args] as const))('%s: as the real command', async (_, args) => {
    const { run } = await shellBench(tree)
    const ours = await run(`${name} ${quoted(args)}`)
    const more = name === 'rg' ? ['--no-require-git', '--sort', 'path'] : []
    const real = spawnSync(name === 'rg' ? rgPath : 'grep', [...more, ...args], {
      cwd: directory,
      encoding: 'utf8',
      input: undefined,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, LC_ALL: 'C.UTF-8' },
    })
    expect(ours.exitCode, ours.stderr).toBe(real.status)
    // The real command lists files in the order of the file system, the built-in one in its own order.
    expect(sorted(ours.stdout)).toEqual(sorted(real.stdout))
    expect(ours.stderr === '').toBe(real.stderr === '')
  })
})

describe('grep and rg calls that our search does not support', () => {
  it('are left to the interpreter', async () => {
    const { run } = await shellBench(tree)
    expect(await run("grep -rno 'fo*' src/b.ts | head -1")).toMatchObject({ stdout: expect.stringContaining('foo') })
    expect(await run('echo foo | grep foo')).toMatchObject({ stdout: 'foo\n', exitCode: 0 })
    expect(await run('echo foo | rg foo')).toMatchObject({ stdout: expect.stringContaining('foo\n'), exitCode: 0 })
    expect(await run("cat a.ts | grep -c 'foo'")).toMatchObject({ stdout: '3\n' })
    expect(await run("grep -rh '\\(o\\)\\1' a.ts")).toMatchObject({
      stderr: expect.stringContaining('invalid regular expression'),
    })
    expect(await run('grep -r -A x foo a.ts')).toMatchObject({ ok: true })
    expect(await run("grep -r 'a[b' a.ts")).toMatchObject({ stdout: '' })
  })
})

describe('grep and rg', () => {
  it('list no file that only may contain a match', async () => {
    const { run } = await shellBench({ 'a.txt': 'foobar\n', 'b.txt': 'foo\n', 'empty.txt': '', 'star.txt': '(*b)\n' })
    expect(await run("grep -rl 'foo$' .")).toMatchObject({ stdout: './b.txt\n' })
    expect(await run('grep -rvl zzz . | sort')).toMatchObject({ stdout: './a.txt\n./b.txt\n./star.txt\n' })
    expect(await run("grep -rh '\\(*b\\)' .")).toMatchObject({ stdout: '(*b)\n' })
  })

  it('show nothing that policy hides or protects', async () => {
    const policy = { preset: 'autonomous', deniedPaths: ['src/deep'] } as const
    const { run } = await shellBench({ ...tree, '.env': 'foo=secret\n', 'src/.env.local': 'foo=secret\n' }, { policy })
    for (const line of ['grep -r foo .', 'rg -uuu foo', 'grep -rc . .', 'rg --files -uu', 'grep -rL zzz .']) {
      const { stdout } = await run(line)
      expect(stdout, line).not.toMatch(/env|deep/)
      expect(stdout, line).toContain('b.ts')
    }
  })

  it.each([
    'rg -o foo src',
    'cd src/deep && rg --stats foo',
    'rg --json foo ..',
    'rg -U foo /',
    'rg -r bar foo src/b.ts',
  ])('report no refusal for the ignore files that rg looks for above the root: %s', async (line) => {
    const { run } = await shellBench(tree)
    expect((await run(line)).refused).toBeUndefined()
  })

  it('take linear time', async () => {
    const { run } = await shellBench({ 'a.txt': `${'a'.repeat(50_000)}\n` })
    const start = ownTime()
    await run("grep -rE '(a+)+$b' .; rg '(a|a)*b' .")
    expect(ownTime() - start).toBeLessThan(3000)
  })
})
