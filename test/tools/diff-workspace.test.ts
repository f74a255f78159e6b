import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { nodeBackend } from '../../src/backends/node/index.ts'
import type { Backend } from '../../src/storage/backend.ts'
import { createWorkspace } from '../../src/workspace/create-workspace.ts'
import { isLong } from '../counts.ts'
import { commitAll, git, loaded, newRepository, temporary, treeAfterApply, treeOfFiles } from '../git/repositories.ts'
import type { Answer } from './setup.ts'

const everything = {
  preset: 'autonomous',
  rules: [
    {
      name: 'all',
      action: 'allow',
      paths: ['**'],
      overrides: ['secret', 'generated', 'vendored', 'lockfile', 'binary', 'mode'],
    },
  ],
} as const

const backends: Readonly<Record<string, (directory: string) => Backend>> = {
  memory: loaded,
  node: (directory) => nodeBackend(directory, { stateDir: temporary() }),
  'node by list and stat': (directory) => {
    const { statDirectories: _, ...backend } = nodeBackend(directory, { stateDir: temporary() })
    return backend
  },
}

async function diffOf(backend: Backend, input = {}, policy: typeof everything | 'autonomous' = everything) {
  const workspace = await createWorkspace({ backend, policy })
  const result: Answer = await workspace.call('diff_workspace', { maxBytes: 4_000_000, ...input })
  await workspace.close()
  if (!result.ok) throw new Error(`${result.code} ${result.message}`)
  return result
}

function writePatch(text: string): string {
  const path = join(temporary(), 'cut.patch')
  writeFileSync(path, text)
  return path
}

function sample(): string {
  const directory = newRepository()
  const write = (path: string, text: string | Uint8Array) => {
    mkdirSync(join(directory, path, '..'), { recursive: true })
    writeFileSync(join(directory, path), text)
  }
  write('a.txt', 'one\ntwo\nthree\n')
  write('crlf.txt', 'one\r\ntwo\r\n')
  write('no-newline.txt', 'last')
  write('deep/er/b.ts', `${Array.from({ length: 60 }, (_, i) => `line ${i}`).join('\n')}\n`)
  write('run.sh', '#!/bin/sh\n')
  write('image.png', Uint8Array.of(137, 80, 0, 1, 2, 3))
  write('latin.txt', Uint8Array.of(0xe9, 10))
  write('gone/x.txt', 'x\n')
  write('gone/y.txt', 'y\n')
  write('moved-from.ts', 'the same\n'.repeat(20))
  write('with space/näme "q".txt', 'odd\n')
  write('becomes-directory', 'file\n')
  write('becomes-file/inner', 'file\n')
  write('becomes-link', 'file\n')
  write('.gitignore', '*.log\n/out/\n!kept.log\n')
  write('tracked.log', 'tracked though ignored\n')
  write('out/tracked', 'tracked below an ignored directory\n')
  symlinkSync('a.txt', join(directory, 'link'))
  symlinkSync('a.txt', join(directory, 'other-link'))
  commitAll(directory)
  return directory
}

function change(directory: string): void {
  const at = (path: string) => join(directory, path)
  writeFileSync(at('a.txt'), 'one\n2\nthree\n')
  writeFileSync(at('crlf.txt'), 'one\r\n2\r\nthree')
  writeFileSync(at('no-newline.txt'), 'last\n')
  renameSync(at('deep/er/b.ts'), at('deep/c.ts'))
  writeFileSync(at('deep/c.ts'), `${readFileSync(at('deep/c.ts'), 'utf8')}more\n`)
  chmodSync(at('run.sh'), 0o755)
  writeFileSync(
    at('image.png'),
    Uint8Array.from({ length: 500 }, (_, i) => (i * 7) % 256),
  )
  writeFileSync(at('latin.txt'), Uint8Array.of(0xe8, 10))
  rmSync(at('gone'), { recursive: true })
  renameSync(at('moved-from.ts'), at('moved-to.ts'))
  writeFileSync(at('with space/näme "q".txt'), 'odder\n')
  rmSync(at('becomes-directory'))
  mkdirSync(at('becomes-directory'))
  writeFileSync(at('becomes-directory/inner'), 'now below\n')
  rmSync(at('becomes-file'), { recursive: true })
  writeFileSync(at('becomes-file'), 'now a file\n')
  rmSync(at('becomes-link'))
  symlinkSync('run.sh', at('becomes-link'))
  rmSync(at('other-link'))
  symlinkSync('run.sh', at('other-link'))
  writeFileSync(at('new file.md'), '# new\n')
  writeFileSync(at('empty'), '')
  writeFileSync(at('x.log'), 'ignored\n')
  writeFileSync(at('kept.log'), 'not ignored\n')
  writeFileSync(at('tracked.log'), 'changed though ignored\n')
  writeFileSync(at('out/tracked'), 'changed\n')
  writeFileSync(at('out/new'), 'ignored\n')
  mkdirSync(at('inner-repository'))
  git(at('inner-repository'), 'init', '-q')
  writeFileSync(at('inner-repository/file'), 'its own\n')
}

describe.each(Object.entries(backends))('diff_workspace over %s', (name, open) => {
  // In `npm test`, the two ways to read a disk share the tests.
  const turn = Object.keys(backends).indexOf(name) - 1
  let place = 0
  const shared = (title: string, run: () => Promise<void>): void => {
    if (isLong || turn < 0 || place++ % 2 === turn) it(title, run)
  }

  shared('returns a patch from which git creates the same tree', async () => {
    const directory = sample()
    change(directory)
    const result = await diffOf(open(directory))
    rmSync(join(directory, 'inner-repository'), { recursive: true })
    expect(treeAfterApply(directory, 'HEAD', result.diff)).toBe(treeOfFiles(directory))
    expect(result.baseCommit).toBe(git(directory, 'rev-parse', 'HEAD').trim())
    git(directory, 'add', '-A')
    const [files, insertions, deletions] = [...git(directory, 'diff', '--cached', '--shortstat').matchAll(/\d+/g)].map(
      Number,
    )
    expect([result.filesChanged, result.insertions, result.deletions]).toEqual([
      files,
      // Git shows the file that is not UTF-8 as text.
      (insertions ?? 0) - 1,
      (deletions ?? 0) - 1,
    ])
    expect(result.stat.map(({ path }: Answer) => path)).toEqual(
      git(directory, '-c', 'core.quotePath=false', 'diff', '--cached', '--name-only', '-z').split('\0').slice(0, -1),
    )
  })

  shared('is empty without changes, also if files were touched', async () => {
    const directory = sample()
    writeFileSync(join(directory, 'a.txt'), 'one\ntwo\nthree\n')
    const result = await diffOf(open(directory))
    expect([result.filesChanged, result.diff, result.truncated]).toEqual([0, '', false])
  })

  shared('reads packed objects and refs, deltas too', async () => {
    const directory = sample()
    for (let round = 0; round < 5; round++) {
      const lines = Array.from({ length: 400 }, (_, i) => `line ${i} ${i % 7 === round ? round : ''}`)
      writeFileSync(join(directory, 'long.txt'), lines.join('\n'))
      commitAll(directory)
    }
    git(directory, 'gc', '-q', '--aggressive', '--prune=now')
    git(directory, 'pack-refs', '--all')
    change(directory)
    rmSync(join(directory, 'inner-repository'), { recursive: true })
    for (const base of ['HEAD', 'HEAD~3', 'main~4', git(directory, 'rev-parse', '--short', 'HEAD^').trim()]) {
      const result = await diffOf(open(directory), { base })
      expect(result.baseCommit).toBe(git(directory, 'rev-parse', base).trim())
      expect(treeAfterApply(directory, base, result.diff)).toBe(treeOfFiles(directory))
    }
  })

  shared('skips submodules, but shows one that a file or a link replaced', async () => {
    const directory = newRepository()
    for (const name of ['kept', 'gone', 'file', 'link']) {
      mkdirSync(join(directory, name))
      git(join(directory, name), 'init', '-q')
      git(join(directory, name), 'commit', '-q', '--allow-empty', '-m', 'inner')
    }
    writeFileSync(join(directory, 'a.txt'), 'a\n')
    git(directory, '-c', 'advice.addEmbeddedRepo=false', 'add', '-A')
    git(directory, 'commit', '-q', '-m', 'x')
    writeFileSync(join(directory, 'kept/inner.txt'), 'not of this repository\n')
    for (const name of ['gone', 'file', 'link']) rmSync(join(directory, name), { recursive: true })
    writeFileSync(join(directory, 'file'), 'now a file\n')
    symlinkSync('a.txt', join(directory, 'link'))
    const result = await diffOf(open(directory))
    expect((result.stat as { path: string }[]).map(({ path }) => path)).toEqual(['file', 'link'])
    const head = git(directory, 'rev-parse', 'HEAD').trim()
    const tree = treeAfterApply(directory, head, result.diff as string)
    const modes = git(directory, 'ls-tree', tree)
      .split('\n')
      .map((row) => row.replace(/ \w+ \w+\t/, ' '))
    expect(modes).toEqual(['100644 a.txt', '100644 file', '160000 gone', '160000 kept', '120000 link', ''])
  })

  shared('names binary files, and leaves out secrets with their number', async () => {
    const directory = sample()
    change(directory)
    writeFileSync(join(directory, '.env'), 'PASSWORD=hunter2\n')
    mkdirSync(join(directory, 'secrets'))
    writeFileSync(join(directory, 'secrets/a'), 'hunter2\n')
    const result = await diffOf(open(directory), {}, 'autonomous')
    expect(result.diff).toContain('Binary files a/image.png and b/image.png differ\n')
    expect(result.diff).not.toContain('hunter2')
    expect(result.diff).not.toContain('GIT binary patch')
    expect(JSON.stringify(result)).not.toContain('.env')
    expect(result.warnings.join()).toContain('2 changed files hidden by policy are left out')
  })

  shared('shows only the requested paths, and only statistics with statOnly', async () => {
    const directory = sample()
    change(directory)
    const result = await diffOf(open(directory), { paths: ['gone', './a.txt'], statOnly: true })
    expect(result.stat).toEqual([
      { path: 'a.txt', status: 'modified', insertions: 1, deletions: 1, binary: false },
      { path: 'gone/x.txt', status: 'deleted', insertions: 0, deletions: 1, binary: false },
      { path: 'gone/y.txt', status: 'deleted', insertions: 0, deletions: 1, binary: false },
    ])
    expect([result.diff, result.truncated]).toEqual(['', false])
  })

  shared('bounds its statistics by maxBytes with statOnly', async () => {
    const directory = sample()
    change(directory)
    const { stat, filesChanged, warnings } = await diffOf(open(directory), { statOnly: true, maxBytes: 200 })
    expect(stat.length).toBeLessThan(filesChanged)
    expect(warnings).toContainEqual(expect.stringMatching(/^stat lists \d of \d+ files/))
  })

  shared('says that a path does not exist, and refuses a glob', async () => {
    const directory = sample()
    change(directory)
    const { warnings, filesChanged } = await diffOf(open(directory), { paths: ['nope', 'gone', 'a.txt', '.'] })
    expect(warnings.filter((warning: string) => warning.includes('exist'))).toEqual([
      '"nope" does not exist, and did not exist before the changes',
    ])
    expect(filesChanged).toBeGreaterThan(2)
    await expect(diffOf(open(directory), { paths: ['*.txt'] })).rejects.toThrow(/^INVALID_INPUT .*globs do not work/)
  })

  shared('is cut at a file or a hunk and stays a valid patch', async () => {
    const directory = sample()
    writeFileSync(
      join(directory, 'deep/er/b.ts'),
      `${Array.from({ length: 60 }, (_, i) => `line ${i}${i % 12 === 0 ? ' changed' : ''}`).join('\n')}\n`,
    )
    writeFileSync(join(directory, 'a.txt'), 'one\n2\nthree\n')
    const whole = await diffOf(open(directory))
    expect(whole.diff.match(/^@@/gm)).toHaveLength(6)
    for (let maxBytes = 1; maxBytes <= whole.diff.length; maxBytes += 97) {
      const cut = await diffOf(open(directory), { maxBytes })
      expect(cut.diff.length).toBeLessThanOrEqual(maxBytes)
      expect(cut.truncated).toBe(true)
      expect(whole.diff.startsWith(cut.diff)).toBe(true)
      expect(cut.diffSha256).toBe(whole.diffSha256)
      if (maxBytes % 3 === 1) treeAfterApply(directory, 'HEAD', cut.diff)
    }
  })

  shared('never shows less with a larger maxBytes, and names the omitted files', async () => {
    const directory = newRepository()
    const lines = (seed: number) => Array.from({ length: 400 }, (_, i) => `${seed} line ${i} of a long file`)
    for (let i = 0; i < 30; i++) writeFileSync(join(directory, `f${i}.txt`), `${lines(i).join('\n')}\n`)
    commitAll(directory)
    for (let i = 0; i < 30; i++) {
      const changed = lines(i).map((line, at) => (at % (5 + i) === 0 ? `${line}, changed` : line))
      writeFileSync(join(directory, `f${i}.txt`), `${changed.join('\n')}\n`)
    }
    writeFileSync(join(directory, 'new.txt'), 'new\n'.repeat(9000))
    const workspace = await createWorkspace({ backend: open(directory), policy: 'autonomous' })
    let previous = 0
    for (const maxBytes of [
      1,
      500,
      5000,
      20_000,
      60_000,
      119_000,
      120_000,
      undefined,
      130_000,
      200_000,
      220_000,
      4e6,
    ]) {
      const cut: Answer = await workspace.call('diff_workspace', maxBytes === undefined ? {} : { maxBytes })
      const bytes = Buffer.byteLength(cut.diff)
      expect(bytes).toBeGreaterThanOrEqual(previous)
      expect(bytes).toBeLessThanOrEqual(maxBytes ?? 120_000)
      expect(cut.truncated).toBe(true)
      if (bytes > 0) git(directory, 'apply', '--check', '-R', writePatch(cut.diff))
      const warning = cut.warnings.find((text: string) => text.startsWith('The diff was cut')) as string
      expect(warning).toMatch(/left out: "|is shown in part/)
      expect(warning.includes('a larger maxBytes')).toBe((maxBytes ?? 120_000) <= 119_000)
      previous = bytes
    }
    expect(previous).toBeGreaterThan(115_000)
  })

  shared('compares with another commit, and refuses an unknown one', async () => {
    const directory = sample()
    const backend = open(directory)
    const workspace = await createWorkspace({ backend, policy: 'autonomous' })
    for (const base of [
      'nothing',
      '../x',
      'refs/../HEAD',
      'deadbeef',
      'HEAD~99',
      'HEAD:a.txt',
      '-x',
      'config',
      'objects',
    ]) {
      expect(await workspace.call('diff_workspace', { base })).toMatchObject({ ok: false, code: 'NOT_FOUND' })
    }
    await workspace.close()
  })

  shared('sees each change made through the workspace', async () => {
    const directory = sample()
    const workspace = await createWorkspace({ backend: open(directory), policy: 'autonomous' })
    const diff = async () => {
      const result: Answer = await workspace.call('diff_workspace', {})
      if (!result.ok) throw new Error(result.message)
      return result
    }
    expect((await diff()).filesChanged).toBe(0)
    for (let i = 0; i < 10; i++) {
      const content = `one\ntwo\n${i}hree\n`
      const read = await workspace.call('read_file', { path: 'a.txt' })
      if (!read.ok) throw new Error(read.message)
      await workspace.call('write_file', { path: 'a.txt', content, expectedSha256: read.sha256 })
      expect((await diff()).diff).toContain(`\n+${i}hree\n`)
    }
    await workspace.call('write_file', { path: 'sub/new.txt', content: 'new\n' })
    await workspace.call('delete_file', { path: 'gone/x.txt' })
    expect((await diff()).stat.map(({ path }: Answer) => path)).toEqual(['a.txt', 'gone/x.txt', 'sub/new.txt'])
    await workspace.call('write_file', { path: '.gitignore', content: 'sub\n', expectedSha256: undefined })
    await workspace.close()
  })
})

describe('without a repository', () => {
  const open: Readonly<Record<string, () => Backend>> = {
    memory: () => memory({ 'a.txt': 'one\n', 'b/c.txt': 'c\n', '.gitignore': '*.log\n' }),
    node: () => {
      const directory = temporary()
      writeFileSync(join(directory, 'a.txt'), 'one\n')
      mkdirSync(join(directory, 'b'))
      writeFileSync(join(directory, 'b/c.txt'), 'c\n')
      writeFileSync(join(directory, '.gitignore'), '*.log\n')
      return nodeBackend(directory, { stateDir: temporary() })
    },
  }
  it.each(Object.entries(open))('%s is compared with its state when it was opened', async (_, make) => {
    const workspace = await createWorkspace({ backend: make(), policy: 'autonomous' })
    const empty = await workspace.call('diff_workspace', {})
    expect(empty).toMatchObject({ ok: true, baseCommit: null, filesChanged: 0, diff: '' })
    await workspace.call('edit_file', { path: 'a.txt', oldText: 'one', newText: 'two' })
    await workspace.call('edit_file', { path: 'a.txt', oldText: 'two', newText: 'three' })
    await workspace.call('move_file', { path: 'b/c.txt', to: 'b/d.txt' })
    await workspace.call('write_file', { path: 'x.log', content: 'ignored\n' })
    await workspace.call('write_file', { path: 'new/er.txt', content: 'new\n' })
    const result: Answer = await workspace.call('diff_workspace', {})
    if (!result.ok) throw new Error(result.message)
    expect(result.stat).toEqual([
      { path: 'a.txt', status: 'modified', insertions: 1, deletions: 1, binary: false },
      { path: 'b/d.txt', oldPath: 'b/c.txt', status: 'renamed', insertions: 0, deletions: 0, binary: false },
      { path: 'new/er.txt', status: 'added', insertions: 1, deletions: 0, binary: false },
    ])
    expect(result.diff).toContain('-one\n+three\n')
    const base = newRepository()
    writeFileSync(join(base, 'a.txt'), 'one\n')
    mkdirSync(join(base, 'b'))
    writeFileSync(join(base, 'b/c.txt'), 'c\n')
    commitAll(base)
    expect(git(base, 'ls-tree', '-r', '--name-only', treeAfterApply(base, 'HEAD', result.diff)).split('\n')).toEqual([
      'a.txt',
      'b/d.txt',
      'new/er.txt',
      '',
    ])
    await workspace.call('edit_file', { path: 'a.txt', oldText: 'three', newText: 'one' })
    expect((await workspace.call('diff_workspace', { paths: ['a.txt'] })) as object).toMatchObject({ filesChanged: 0 })
    await workspace.close()
  })
})

describe('diff_workspace with incomplete information', () => {
  it('reports the number of files with an unknown original', async () => {
    const large = new Uint8Array(16 * 1024 * 1024 + 1)
    // If the backend does not provide its tree, the workspace stores the original state of changed files.
    const { tree: _, ...backend } = memory({ a: large, b: large })
    const workspace = await createWorkspace({ backend, policy: 'autonomous' })
    const warnings: unknown[] = []
    for (const path of ['a', 'b']) {
      await workspace.call('delete_file', { path })
      warnings.push(((await workspace.call('diff_workspace', {})) as Answer).warnings)
    }
    const state = 'had an original too large to keep and'
    expect(warnings).toEqual([[`1 changed file ${state} is left out`], [`2 changed files ${state} are left out`]])
    await workspace.close()
  })

  it('reports the number of files that stat leaves out', async () => {
    const backend = memory({ 'a.txt': 'a\n', 'b.txt': 'b\n' })
    const workspace = await createWorkspace({ backend, policy: 'autonomous', limits: { diffFiles: 1 } })
    for (const path of ['a.txt', 'b.txt']) await workspace.call('append_file', { path, content: 'x\n' })
    expect(await workspace.call('diff_workspace', {})).toMatchObject({
      ...{ ok: true, filesChanged: 2, stat: [{ path: 'a.txt' }] },
      warnings: ['stat lists 1 of 2 files; use paths'],
    })
    await workspace.close()
  })
})
