import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { nodeBackend } from '../../src/backends/node/index.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import type { Backend } from '../../src/storage/backend.ts'
import { faulty } from '../../src/testing/index.ts'
import { bench } from './setup.ts'

/** A memory backend that ignores letter case, like macOS and Windows. */
function ignoringCase(inner: Backend): Backend {
  async function stored(path: Path): Promise<Path> {
    let sha256 = ''
    for (const name of path === '' ? [] : path.split('/')) {
      const stat = await inner.stat(sha256 as Path)
      const names = stat?.type === 'directory' ? (await inner.list(sha256 as Path)).map((entry) => entry.name) : []
      const same = names.find((other) => other.toLowerCase() === name.toLowerCase()) ?? name
      sha256 = sha256 === '' ? same : `${sha256}/${same}`
    }
    return sha256 as Path
  }
  return {
    ...inner,
    capabilities: { ...inner.capabilities, caseSensitive: false, authority: 'shared' },
    canonical: async (path, options) => stored(await inner.canonical(await stored(path as Path), options)),
    stat: async (path) => inner.stat(await stored(path)),
    read: async (path, range) => inner.read(await stored(path), range),
  }
}

describe('a file that is not regular', () => {
  it('is described as such, and is not read, changed, moved, copied or deleted', async () => {
    const root = mkdtempSync(join(tmpdir(), 'other-'))
    const socket = createServer()
    try {
      mkdirSync(join(root, 'd'))
      await new Promise<void>((resolve) => socket.listen(join(root, 'd/s.txt'), resolve))
      const { ok, call, code } = await bench({}, { backend: nodeBackend(root, { stateDir: join(root, '../state') }) })
      expect(await ok('file_info', { path: 'd/s.txt' })).toMatchObject({
        type: 'other',
        readable: false,
        writable: false,
      })
      const unread = await call('search_text', { query: 'x', path: 'd/s.txt' })
      expect(unread).toMatchObject({ code: 'PATH_REJECTED', message: '"d/s.txt" is not a regular file' })
      for (const [tool, input] of [
        ['delete_file', { path: 'd/s.txt' }],
        ['copy_file', { path: 'd', to: 'e' }],
        ['move_file', { path: 'd/s.txt', to: 't.txt' }],
        ['apply_patch', { patch: '--- a/d/s.txt\n+++ b/d/s.txt\n@@ -1 +1 @@\n-x\n+y\n' }],
      ] as const) {
        expect([tool, await code(tool, input)]).toEqual([tool, 'PATH_REJECTED'])
      }
      expect(statSync(join(root, 'd/s.txt')).isSocket()).toBe(true)
      expect(readdirSync(root)).toEqual(['d'])
    } finally {
      socket.close()
      rmSync(root, { recursive: true, force: true })
    }
  })
})

describe('a source that changes during the call', () => {
  it('is not moved or copied', async () => {
    const tree = { 'd/x.txt': 'x\n', 'd/y.txt': 'y\n' }
    for (const to of [null, { type: 'link', target: 'd/x.txt' }] as const) {
      const backend: Backend = faulty(memory(tree), {
        on: 'read',
        path: 'd/x.txt',
        when: 'after',
        nth: 1,
        run: () => backend.commit([{ path: 'd/y.txt' as Path, expect: 'any', to }], { durability: 'durable' }),
      })
      const { call, snapshot } = await bench({}, { backend })
      expect(await call('copy_file', { path: 'd', to: 'e' })).toMatchObject({ code: 'WRITE_CONFLICT', path: 'd/y.txt' })
      expect(Object.keys(await snapshot())).not.toContain('e')
    }
  })
})

describe('move_file', () => {
  it('moves a file with its bytes and mode, and creates parents', async () => {
    const { ok, snapshot, sha } = await bench({ x: { text: '#!', mode: 0o755 } })
    const version = await sha('x')
    expect(await ok('move_file', { path: 'x', to: 'a/b/y' })).toMatchObject({
      type: 'file',
      entries: 1,
      sha256: version,
    })
    expect(await snapshot()).toEqual({ a: 'directory', 'a/b': 'directory', 'a/b/y': 'file 755 #!' })
  })

  it('moves a whole directory, including hidden and ignored names', async () => {
    const { ok, snapshot } = await bench({
      'd/.hidden': 'h',
      'd/.gitignore': 'x',
      'd/x': 'x',
      'd/e/f': 'f',
      'd/l': { link: 'x' },
    })
    expect(await ok('move_file', { path: 'd', to: 'n/d2' })).toMatchObject({ type: 'directory', entries: 7 })
    const after = await snapshot()
    expect(Object.keys(after).sort()).toEqual([
      'n',
      'n/d2',
      'n/d2/.gitignore',
      'n/d2/.hidden',
      'n/d2/e',
      'n/d2/e/f',
      'n/d2/l',
      'n/d2/x',
    ])
    expect(after['n/d2/l']).toBe('link x')
  })

  it('moves a link itself', async () => {
    const { ok, snapshot } = await bench({ 'a.ts': 'a', l: { link: 'a.ts' } })
    expect(await ok('move_file', { path: 'l', to: 'm' })).toMatchObject({ type: 'link', sha256: null })
    expect(await snapshot()).toMatchObject({ m: 'link a.ts' })
    expect(await snapshot()).not.toHaveProperty('l')
  })

  it('keeps the read history of the run at the new path', async () => {
    const { ok } = await bench({ 'a.ts': 'a' })
    await ok('read_file', { path: 'a.ts' })
    await ok('move_file', { path: 'a.ts', to: 'b.ts' })
    await ok('write_file', { path: 'b.ts', content: 'b' })
  })
})

describe('on a storage that ignores letter case', () => {
  it('can change only the letter case of a file or directory name', async () => {
    const inner = memory({ 'readme.md': 'r', 'Dir/x': 'x' })
    const { ok, code, snapshot } = await bench({}, { backend: ignoringCase(inner) })
    await ok('move_file', { path: 'readme.md', to: 'README.md' })
    expect(Object.keys(await snapshot()).sort()).toEqual(['Dir', 'Dir/x', 'README.md'])
    expect(await code('move_file', { path: 'README.md', to: 'README.md' })).toBe('ALREADY_EXISTS')
    expect(await code('copy_file', { path: 'README.md', to: 'readme.MD' })).toBe('ALREADY_EXISTS')
    await ok('move_file', { path: 'Dir', to: 'DIR' })
    expect(Object.keys(await snapshot()).sort()).toEqual(['DIR', 'DIR/x', 'README.md'])
  })
})

describe.each(['move_file', 'copy_file'])('%s refuses', (tool) => {
  it('to overwrite, to go into itself, and missing sources', async () => {
    const { code, call, snapshot, sha } = await bench({
      'a.ts': 'a',
      'b.ts': 'b',
      'd/e/x': 'x',
      l: { link: 'a.ts' },
      gone: { link: 'nowhere' },
    })
    const before = await snapshot()
    const version = await sha('b.ts')
    expect(await code(tool, { path: 'a.ts', to: 'b.ts' })).toBe('ALREADY_EXISTS')
    expect(await code(tool, { path: 'a.ts', to: 'a.ts' })).toBe('ALREADY_EXISTS')
    expect(await code(tool, { path: 'a.ts', to: 'l' })).toBe('ALREADY_EXISTS')
    expect(await code(tool, { path: 'a.ts', to: 'gone' })).toBe('ALREADY_EXISTS')
    expect(await code(tool, { path: 'd', to: 'd/e/y' })).toBe('INVALID_INPUT')
    expect(await code(tool, { path: 'd', to: 'd' })).toBe('ALREADY_EXISTS')
    expect(await code(tool, { path: 'none', to: 'x' })).toBe('NOT_FOUND')
    expect(await code(tool, { path: 'a.ts', to: 'b.ts/x' })).toBe('NOT_A_DIRECTORY')
    expect(await code(tool, { path: 'a.ts', to: 'n/x', createParents: false })).toBe('NOT_FOUND')
    expect(await code(tool, { path: '.', to: 'x' })).toMatch(/PATH_REJECTED|POLICY_DENIED/)
    expect(await code(tool, { path: 'a.ts', to: '.' })).toMatch(/PATH_REJECTED|POLICY_DENIED|ALREADY_EXISTS/)
    expect(await code(tool, { path: 'a.ts', to: 'x', expectedSha256: version })).toBe('WRITE_CONFLICT')
    expect(await code(tool, { path: 'a.ts', to: 'x', expectedSha256: null })).toBe('WRITE_CONFLICT')
    expect(await code(tool, { path: 'd', to: 'x', expectedSha256: version })).toBe('WRITE_CONFLICT')
    expect((await call(tool, { path: 'a.ts', to: 'd' })).hint).toContain('d/a.ts')
    expect(await snapshot()).toEqual(before)
  })

  it('protected files by either name, in every direction', async () => {
    const { code, snapshot } = await bench({
      '.env': 'A=1',
      'cloud/.aws/credentials': 'k',
      'keys/id_rsa': 'k',
      'a.ts': 'a',
      'plain/credentials': 'c',
      l: { link: '.env' },
      'repo/.git/config': 'g',
      'dist/x.js': 'x',
    })
    const before = await snapshot()
    expect(await code(tool, { path: '.env', to: 'env.txt' })).toBe('POLICY_DENIED_SECRET')
    expect(await code(tool, { path: 'a.ts', to: '.env.local' })).toBe('POLICY_DENIED_SECRET')
    expect(await code(tool, { path: 'l', to: 'm' })).toBe('POLICY_DENIED_SECRET')
    // A directory is evaluated entry by entry, because `.aws/` moved to `aws/` would reveal its credentials.
    expect(await code(tool, { path: 'cloud/.aws', to: 'cloud/aws' })).toBe('POLICY_DENIED_SECRET')
    expect(await code(tool, { path: 'cloud', to: 'sky' })).toBe('POLICY_DENIED_SECRET')
    expect(await code(tool, { path: 'keys', to: 'k' })).toBe('POLICY_DENIED_SECRET')
    expect(await code(tool, { path: 'plain', to: '.aws' })).toBe('POLICY_DENIED_SECRET')
    expect(await code(tool, { path: 'repo', to: 'r' })).toBe('POLICY_DENIED')
    expect(await code(tool, { path: 'repo/.git', to: 'g' })).toBe('POLICY_DENIED')
    expect(await code(tool, { path: 'a.ts', to: '.git/hooks/x' })).toBe('POLICY_DENIED')
    expect(await code(tool, { path: 'a.ts', to: 'dist/a.js' })).toBe('POLICY_DENIED')
    expect(await snapshot()).toEqual(before)
  })

  it('a tree with an entry that a rule denies', async () => {
    const policy = { preset: 'autonomous', deniedPaths: ['src/private/**'] } as const
    const { code, snapshot } = await bench({ 'src/private/x': 'x', 'src/y': 'y', 'in/private/z': 'z' }, { policy })
    const before = await snapshot()
    expect(await code(tool, { path: 'src', to: 'other' })).toBe('POLICY_DENIED')
    expect(await code(tool, { path: 'in/private', to: 'src/private' })).toBe('POLICY_DENIED')
    expect(await snapshot()).toEqual(before)
  })

  it('a link whose target would be outside at its new path', async () => {
    const { code, ok, snapshot } = await bench({ 'a/b/l': { link: '../../x' }, x: 'x' })
    const before = await snapshot()
    expect(await code(tool, { path: 'a/b/l', to: 'l' })).toBe('PATH_REJECTED')
    expect(await code(tool, { path: 'a', to: 'a/../b/../c/../l/../../z' })).toBe('PATH_REJECTED')
    expect(await code(tool, { path: 'a/b', to: 'b' })).toBe('PATH_REJECTED')
    expect(await snapshot()).toEqual(before)
    await ok(tool, { path: 'a/b', to: 'a/c' })
  })

  it('a tree over the limits', async () => {
    const tree = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`d/${i}`, '12345']))
    const few = await bench(tree, { limits: { treeEntries: 20 } })
    expect(await few.code(tool, { path: 'd', to: 'e' })).toBe('LIMIT_EXCEEDED')
    const small = await bench(tree, { limits: { treeBytes: 99 } })
    expect(await small.code(tool, { path: 'd', to: 'e' })).toBe('LIMIT_EXCEEDED')
    const enough = await bench(tree, { limits: { treeEntries: 21, treeBytes: 100 } })
    expect(await enough.ok(tool, { path: 'd', to: 'e' })).toMatchObject({ entries: 21 })
  })
})

describe('copy_file', () => {
  it('copies a file, a tree and a link', async () => {
    const { ok, snapshot } = await bench({ x: { text: '#!', mode: 0o755 }, 'd/e': 'e', l: { link: 'x' } })
    const before = await snapshot()
    expect(await ok('copy_file', { path: 'x', to: 'n/x' })).toMatchObject({ sizeBytes: 2, entries: 1 })
    await ok('copy_file', { path: 'd', to: 'd2' })
    await ok('copy_file', { path: 'l', to: 'm' })
    expect(await snapshot()).toEqual({
      ...before,
      n: 'directory',
      'n/x': 'file 755 #!',
      d2: 'directory',
      'd2/e': before['d/e'],
      m: 'link x',
    })
  })
})

describe('delete_file', () => {
  it('deletes a file of the expected version, and a link without its target', async () => {
    const { ok, snapshot, sha } = await bench({ 'a.ts': 'a', 'b.ts': 'b', l: { link: 'b.ts' }, m: { link: 'a.ts' } })
    expect(await ok('delete_file', { path: 'a.ts', expectedSha256: await sha('a.ts') })).toMatchObject({ type: 'file' })
    await ok('delete_file', { path: 'l' })
    await ok('delete_file', { path: 'm' })
    expect(Object.keys(await snapshot())).toEqual(['b.ts'])
  })

  it('refuses directories, other versions, protected targets and missing paths', async () => {
    const { code, call, snapshot } = await bench({
      'd/x': 'x',
      'a.ts': 'a',
      '.env': 'e',
      l: { link: '.env' },
      'package-lock.json': '{}',
    })
    const before = await snapshot()
    expect(await code('delete_file', { path: 'd' })).toBe('IS_DIRECTORY')
    expect(await code('delete_file', { path: '.' })).toMatch(/PATH_REJECTED|IS_DIRECTORY|POLICY_DENIED/)
    expect(await call('delete_file', { path: 'a.ts', expectedSha256: '1'.repeat(64) })).toMatchObject({
      code: 'WRITE_CONFLICT',
      currentSha256: expect.any(String),
    })
    expect(await code('delete_file', { path: 'a.ts', expectedSha256: null })).toBe('WRITE_CONFLICT')
    expect(await code('delete_file', { path: 'none' })).toBe('NOT_FOUND')
    expect(await code('delete_file', { path: '.env' })).toBe('POLICY_DENIED_SECRET')
    expect(await code('delete_file', { path: 'l' })).toBe('POLICY_DENIED_SECRET')
    expect(await code('delete_file', { path: 'package-lock.json' })).toBe('APPROVAL_REQUIRED')
    expect(await snapshot()).toEqual(before)
  })
})

describe('create_directory', () => {
  it('creates parents, and accepts an existing directory', async () => {
    const { ok, snapshot } = await bench({ 'a/x': '' })
    expect(await ok('create_directory', { path: 'a/b/c' })).toMatchObject({ created: true })
    expect(await ok('create_directory', { path: 'a/b' })).toMatchObject({ created: false })
    expect(Object.keys(await snapshot()).sort()).toEqual(['a', 'a/b', 'a/b/c', 'a/x'])
  })

  it('refuses files and protected names', async () => {
    const { code, snapshot } = await bench({ 'a.ts': '', l: { link: 'a.ts' } })
    const before = await snapshot()
    expect(await code('create_directory', { path: 'a.ts' })).toBe('ALREADY_EXISTS')
    expect(await code('create_directory', { path: 'l' })).toBe('ALREADY_EXISTS')
    expect(await code('create_directory', { path: 'a.ts/b' })).toBe('NOT_A_DIRECTORY')
    expect(await code('create_directory', { path: '.git/x' })).toBe('POLICY_DENIED')
    expect(await code('create_directory', { path: '.ssh' })).toBe('POLICY_DENIED_SECRET')
    expect(await snapshot()).toEqual(before)
  })
})
