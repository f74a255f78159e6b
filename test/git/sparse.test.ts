import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { coneOf, conePatterns, parseCone } from '../../src/git/cone.ts'
import { booleanSetting, withSetting } from '../../src/git/config-file.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import { everyNth } from '../counts.ts'
import { outputOf } from '../run-program.ts'
import { serveGit } from './http-server.ts'
import { commitAll, entriesOf, environment, git, temporary } from './repositories.ts'
import { compareSequences, copyOf, filesIn, open, put, stateOf, template } from './sparse.ts'

describe('a sparse checkout', () => {
  it.each([
    [[]],
    [['src/deep', 'docs']],
    [['src', 'src/deep/x']],
    [['sp ace/in', 'we*rd/in', 'é']],
    [['none/such']],
    [['.']],
  ])('has the files, index, patterns and settings of git for %j', async (directories) => {
    const [ours, theirs] = [copyOf(template), copyOf(template)]
    const { own } = await open(ours)
    expect(await own.sparseDirectories()).toBeUndefined()
    expect(await own.setSparseDirectories(directories)).toEqual({ kept: [] })
    expect(await own.status()).toEqual([])
    git(theirs, 'sparse-checkout', 'set', '--skip-checks', ...directories)
    expect(stateOf(ours)).toEqual(stateOf(theirs))
    for (const name of ['config', 'config.worktree']) {
      expect(readFileSync(join(ours, '.git', name), 'utf8')).toBe(readFileSync(join(theirs, '.git', name), 'utf8'))
    }
    const listed = git(theirs, '-c', 'core.quotePath=false', 'sparse-checkout', 'list').split('\n').slice(0, -1)
    expect(await own.sparseDirectories()).toEqual(listed.map((name) => name.replace(/^"(.*)"$/, '$1')))
    await own.setSparseDirectories(null)
    git(theirs, 'sparse-checkout', 'disable')
    expect(stateOf(ours)).toEqual(stateOf(theirs))
    expect(await own.sparseDirectories()).toBeUndefined()
    expect(await own.status()).toEqual([])
  })

  it('stays equal to that of git in random sequences', () => compareSequences(2))

  it('shows nothing outside as deleted, in memory too', async () => {
    const directory = copyOf(template)
    git(directory, 'sparse-checkout', 'set', 'docs')
    for (const backend of [undefined, memory(entriesOf(directory))]) {
      const { workspace, own, run } = await open(directory, backend === undefined ? {} : { backend })
      expect(await own.status()).toEqual([])
      expect(await workspace.call('diff_workspace', {})).toMatchObject({ filesChanged: 0, diff: '' })
      expect(await workspace.call('diff_workspace', { base: 'two' })).toMatchObject({
        filesChanged: git(directory, 'diff', '--no-renames', '--name-only', 'two').trim().split('\n').length,
      })
      for (const line of ['git diff', 'git diff HEAD', 'git diff --cached', 'git status -s', 'git stash']) {
        expect(await run(line), line).toMatchObject({
          stdout: line === 'git stash' ? 'No local changes to save\n' : '',
        })
      }
      await workspace.files.write('docs/e.md', 'changed\n')
      await run('git commit -qam changed')
      expect((await run('git show --name-status --format=%s')).stdout).toBe('changed\n\nM\tdocs/e.md\n')
      expect((await run('git ls-files 2>&1; git log --oneline | wc -l')).stdout).toMatch(/\s2\n$/)
    }
    expect(git(directory, 'show', '--name-status', '--format=%s')).toBe('changed\n\nM\tdocs/e.md\n')
    expect(git(directory, 'status', '--porcelain')).toBe('')
  })

  it('compares a missing file outside as it is in the index', async () => {
    const directory = copyOf(template)
    git(directory, 'sparse-checkout', 'set', 'docs')
    git(directory, 'reset', '-q', 'two', '--', 'lib')
    const { workspace, run } = await open(directory)
    expect((await run('git status --porcelain')).stdout).toBe(git(directory, 'status', '--porcelain'))
    const diff = git(directory, 'diff', 'HEAD').replace(/^index .*\n/gm, '')
    expect((await run('git diff HEAD')).stdout).toBe(diff)
    expect(await workspace.call('diff_workspace', {})).toMatchObject({ filesChanged: 2, diff })
  })

  it('reads a sparse index, and writes a full one that git takes', async () => {
    const directory = copyOf(template)
    git(directory, 'sparse-checkout', 'set', '--sparse-index', 'docs')
    expect(git(directory, 'ls-files', '--sparse', '-t')).toContain('S src/\n')
    const { own } = await open(directory)
    expect(await own.status()).toEqual([])
    put(directory, 'docs/e.md', 'changed\n')
    await own.add('docs')
    await own.commit({ message: 'changed' })
    expect(git(directory, 'show', '--name-status', '--format=%s')).toBe('changed\n\nM\tdocs/e.md\n')
    expect(git(directory, 'status', '--porcelain')).toBe('')
    git(directory, 'fsck', '--strict')
  })

  it('keeps changed files outside and lists them, and leaves untracked and ignored ones', async () => {
    const directory = copyOf(template)
    put(directory, '.gitignore', '*.log\n')
    commitAll(directory, 'ignore')
    for (const path of ['src/x.log', 'lib/mine', 'docs/e.md']) put(directory, path, 'mine\n')
    const { own } = await open(directory)
    expect(await own.setSparseDirectories(['sp ace'])).toEqual({ kept: ['docs/e.md'] })
    expect(filesIn(directory)).toEqual(
      ['.gitignore', 'README.md', 'docs/e.md', 'lib/mine', 'root.txt', 'sp ace/in/h', 'src/x.log'].sort(),
    )
    // Something else is in the way of a directory: it stays, as with git.
    rmSync(join(directory, 'src'), { recursive: true })
    writeFileSync(join(directory, 'src'), 'mine\n')
    const { kept } = await own.setSparseDirectories(['src/deep'])
    expect(kept).toEqual(['docs/e.md', 'src/a.ts', 'src/deep/b.ts', 'src/deep/x/c.ts'])
    expect(readFileSync(join(directory, 'src'), 'utf8')).toBe('mine\n')
    expect(git(directory, 'status', '--porcelain')).toBe(
      ' M docs/e.md\n D src/a.ts\n D src/deep/b.ts\n D src/deep/x/c.ts\n?? lib/mine\n?? src\n',
    )
  })

  it('is set by a checkout', async () => {
    const [ours, theirs] = [copyOf(template), copyOf(template)]
    const { own } = await open(ours)
    await own.checkout('two', { sparse: ['lib', 'src/deep'] })
    git(theirs, 'checkout', '-q', 'two')
    git(theirs, 'sparse-checkout', 'set', 'lib', 'src/deep')
    expect(stateOf(ours)).toEqual(stateOf(theirs))
  })

  it('refuses files, paths outside and patterns that are not those of cone mode', async () => {
    const directory = copyOf(template)
    const { own } = await open(directory)
    await expect(own.setSparseDirectories(['README.md'])).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    await expect(own.setSparseDirectories(['../x'])).rejects.toMatchObject({ code: 'PATH_REJECTED' })
    await expect(own.setSparseDirectories([1] as never)).rejects.toThrow(TypeError)
    expect(stateOf(directory)).toEqual(stateOf(template))
    git(directory, 'sparse-checkout', 'set', '--no-cone', '*.md')
    expect(await own.status()).toEqual([])
    for (const act of [own.sparseDirectories, () => own.checkout('two'), () => own.add('.'), () => own.stash()]) {
      await expect(act()).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        message: expect.stringContaining('cone mode'),
      })
    }
    await own.setSparseDirectories(['src'])
    expect(await own.sparseDirectories()).toEqual(['src'])
    expect(git(directory, 'status', '--porcelain')).toBe('')
  })

  it('is undone in files as one call, and refused as a whole by policy', async () => {
    const directory = copyOf(template)
    const { own, workspace } = await open(directory, {
      policy: {
        preset: 'autonomous',
        rules: [{ name: 'lib', action: 'deny', tools: ['git_checkout'], paths: ['lib/**'] }],
      },
    })
    await expect(own.setSparseDirectories(['src'])).rejects.toMatchObject({ code: 'POLICY_DENIED' })
    expect(stateOf(directory)).toEqual(stateOf(template))
    await own.setSparseDirectories(['src', 'lib'])
    expect(existsSync(join(directory, 'docs'))).toBe(false)
    const call = workspace.auditRecords().at(-1)
    expect(call?.toolName).toBe('git_checkout')
    await workspace.undo(String(call?.toolCallId))
    expect(existsSync(join(directory, 'docs/e.md'))).toBe(true)
  })
})

describe('a clone over HTTP', () => {
  const root = temporary()
  git(root, 'clone', '-q', '--bare', template, 'x.git')

  it.each([[[]], [['docs', 'src/deep']]])('is sparse with the directories %j', async (directories) => {
    const server = await serveGit(root)
    const ours = temporary()
    const { own } = await open(ours)
    await own.clone(`${server.url}/x.git`, { sparse: directories })
    await server.close()
    const theirs = join(temporary(), 'clone')
    git(root, 'clone', '-q', '--sparse', `file://${join(root, 'x.git')}`, theirs)
    if (directories.length > 0) git(theirs, 'sparse-checkout', 'set', ...directories)
    expect(stateOf(ours)).toEqual(stateOf(theirs))
    expect(await own.status()).toEqual([])
  })
})

describe('git in commands', () => {
  const lines = [
    'git sparse-checkout set docs src/deep && git sparse-checkout list && git status',
    'git sparse-checkout set && git sparse-checkout list && git status',
    'cd src && git sparse-checkout set deep && cd .. && ls',
    'git sparse-checkout set docs && git sparse-checkout add lib && git sparse-checkout list && ls',
    'git sparse-checkout set docs && git sparse-checkout disable && git sparse-checkout init && git sparse-checkout list && ls',
    "git sparse-checkout set 'we*rd'",
    "git sparse-checkout set --skip-checks 'we*rd' && git sparse-checkout list",
    'git sparse-checkout set é && git sparse-checkout list',
    'echo mine > lib/g.js; git sparse-checkout set docs; git status; git checkout -q -f main; git status',
    'git sparse-checkout set docs; git checkout two; git status; ls; git checkout -q -b three; git status -s',
    'git sparse-checkout set docs; git add src/a.ts docs/e.md; git add src; mkdir new; echo n > new/n; git add .; git status -s',
    'git sparse-checkout set docs; mkdir lib; echo d > lib/g.js; git stash; ls; git stash pop; git status -s',
    'git sparse-checkout set docs; echo n > docs/new; git add .; git commit -q -m new; git show --name-status --format=%s',
    'git sparse-checkout list; git sparse-checkout add docs; git sparse-checkout reapply; git sparse-checkout set /docs',
  ]
  it.each(everyNth(lines, 3))('do the same as git: %s', async (line) => {
    const [ours, theirs] = [copyOf(template), copyOf(template)]
    const { run } = await open(ours)
    const result = await run(line)
    const expected = gitWithShell(theirs, line)
    expect(comparable(result.stdout)).toBe(comparable(expected.stdout))
    expect(comparable(result.stderr)).toBe(comparable(expected.stderr))
    expect(result.exitCode).toBe(expected.exitCode)
    expect(stateOf(ours)).toEqual(stateOf(theirs))
  })

  it.each([
    ['git sparse-checkout', 129, 'need a subcommand'],
    ['git sparse-checkout clean', 129, 'git sparse-checkout clean is not available'],
    ['git sparse-checkout set --no-cone "*.md"', 128, 'there is: git sparse-checkout list'],
    ['git sparse-checkout set --stdin', 128, 'there is: git sparse-checkout list'],
    ['git sparse-checkout set ../x', 128, 'outside repository'],
    ['git sparse-checkout set README.md', 128, 'is not a directory'],
  ])('refuse %s', async (line, exitCode, message) => {
    const directory = copyOf(template)
    const { run } = await open(directory)
    expect(await run(line)).toMatchObject({ exitCode, stderr: expect.stringContaining(message) })
    expect(stateOf(directory)).toEqual(stateOf(template))
  })

  it('restore nothing outside', async () => {
    const directory = copyOf(template)
    git(directory, 'sparse-checkout', 'set', 'docs')
    const before = stateOf(directory)
    const { run } = await open(directory)
    for (const line of ['git checkout -- src/a.ts', 'git restore src', 'git checkout HEAD -- lib']) {
      expect((await run(line)).stderr, line).toMatch(/(matches no|did not match any) file/)
    }
    await run('git checkout .; git reset -q; git reset -q --hard')
    expect(stateOf(directory)).toEqual(before)
  })

  it('refuse patterns that are not those of cone mode', async () => {
    const directory = copyOf(template)
    git(directory, 'sparse-checkout', 'set', '--no-cone', '*.md')
    const { run } = await open(directory)
    for (const line of ['list', 'add docs', 'reapply']) {
      expect((await run(`git sparse-checkout ${line}`)).stderr, line).toContain('cone mode')
    }
    expect(await run('git sparse-checkout disable')).toMatchObject({ exitCode: 0 })
    expect(git(directory, 'status', '--porcelain')).toBe('')
  })

  it('show no directory that has only hidden files', async () => {
    const directory = copyOf(template)
    git(directory, 'sparse-checkout', 'set', 'docs', 'lib', 'none')
    const { run } = await open(directory, { policy: { preset: 'autonomous', deniedPaths: ['lib/**'] } })
    expect((await run('git sparse-checkout list')).stdout).toBe('docs\nnone\n')
    await run('git sparse-checkout add src/deep')
    expect(git(directory, 'sparse-checkout', 'list')).toBe('docs\nlib\nnone\nsrc/deep\n')
  })
})

/** What the output of git and of the shell share: advice and hints are their own. */
function comparable(text: string): string {
  return text
    .split('\n')
    .filter((line) => !/^(hint: | {2}\(use )/.test(line))
    .join('\n')
    .replace(/\([0-9a-f]{40}\)/, '(ID)')
}

function gitWithShell(directory: string, line: string) {
  const script = `{ ${line}\n} 2> ../stderr; echo "exit $?"`
  const stdout = outputOf('sh', ['-c', script], { cwd: directory, env: { ...environment, LC_ALL: 'C' } }).toString()
  const [, text = '', exitCode] = /^([\s\S]*)exit (\d+)\n$/.exec(stdout) ?? []
  return { stdout: text, stderr: readFileSync(join(directory, '../stderr'), 'utf8'), exitCode: Number(exitCode) }
}

describe('a cone', () => {
  const names = fc.stringMatching(/^[a-c*?[\] !#é]{1,3}$/).filter((name) => name.trim() !== '')
  const directories = fc.array(
    fc.array(names, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/') as Path),
    { maxLength: 4 },
  )

  it('is read as it was written', () => {
    fc.assert(
      fc.property(directories, (requested) => {
        const cone = coneOf(requested)
        expect(parseCone(conePatterns(cone))?.directories).toEqual(cone.directories)
      }),
    )
  })

  it.each(['', '/*\n', '*.md\n', '/*\n!/*/\n*.md\n', '/*\n!/*/\n/a*/\n', '/*\n!/*/\n!/a/\n', '/*\n!/*/\n/a\n'])(
    'is not made of the patterns %j',
    (text) => {
      expect(parseCone(text)).toBeUndefined()
    },
  )

  it('may have comments and blank lines', () => {
    expect(parseCone('# mine\n\n/*\n!/*/\n/a/\n')?.directories).toEqual(['a'])
  })
})

describe('a setting', () => {
  it.each([
    '',
    '[core]\n\tbare = false\n',
    '[core]\n\tsparseCheckout = true\n[other]\n\tx = 1\n',
    '[CORE] SparseCheckout = "yes" ; comment\n',
    '[core]\n\tsparseCheckout\n',
    '[core "sub"]\n\tsparseCheckout = true\n',
    '[core]\n\tsparseCheckout = off # true\n[core]\n',
    '[core]\n\tsparseCheckout = false\n[core]\n\tsparseCheckout = 1',
  ])('has the value that git reads in %j', (text) => {
    const directory = temporary()
    const read = (content: string) => {
      writeFileSync(join(directory, 'config'), content)
      const get = 'git config --file config --bool core.sparseCheckout || true'
      const value = outputOf('sh', ['-c', get], { cwd: directory, env: environment }).toString().trim()
      return value === '' ? undefined : value === 'true'
    }
    expect(booleanSetting(text, 'core', 'sparseCheckout')).toBe(read(text))
    for (const value of [true, false]) {
      const changed = withSetting(text, 'core', 'sparseCheckout', value)
      expect(booleanSetting(changed, 'core', 'sparseCheckout')).toBe(value)
      expect(read(changed)).toBe(value)
      expect(withSetting(changed, 'core', 'sparseCheckout', value)).toBe(changed)
    }
  })
})
