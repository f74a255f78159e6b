import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { deflateSync, inflateSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { ToolError } from '../../src/errors.ts'
import { objectId } from '../../src/files/hash/sha1.ts'
import { createBaseline } from '../../src/git/baseline.ts'
import { EXECUTABLE, FILE, gitMode } from '../../src/git/changed-path.ts'
import {
  checkoutTargets,
  indexAfterCheckout,
  type LocalChange,
  planChanges,
  planRestore,
} from '../../src/git/checkout.ts'
import { compareTrees, sectionsOf, treeOfIndex } from '../../src/git/compare-commits.ts'
import { deletions } from '../../src/git/compare-tree.ts'
import { applyDelta } from '../../src/git/delta.ts'
import { createTextCache, sectionOf } from '../../src/git/diff-section.ts'
import { httpClient } from '../../src/git/http.ts'
import { openRepository } from '../../src/git/index.ts'
import { parseIndexFile } from '../../src/git/index-file.ts'
import { indexFile } from '../../src/git/index-writer.ts'
import { gitFs, makeDirectories, removeRepository } from '../../src/git/isomorphic-fs.ts'
import { type Objects, openObjects } from '../../src/git/objects.ts'
import { openPack } from '../../src/git/pack.ts'
import { openReader } from '../../src/git/reader.ts'
import { parseCommit, resolveCommit } from '../../src/git/refs.ts'
import { findRenames } from '../../src/git/renames.ts'
import { type GitFiles, gitFiles } from '../../src/git/repository-files.ts'
import { readDirectoryStats } from '../../src/git/stat-directories.ts'
import { EMPTY_TREE, type TreeDirectory } from '../../src/git/trees.ts'
import { createWorkspaceDiffs } from '../../src/git/workspace-diff.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import type { Backend, EntryState } from '../../src/storage/backend.ts'
import { createLruCache } from '../../src/util/lru-cache.ts'
import { loadAgain } from '../load-again.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const path = (name: string): Path => name as Path

async function put(backend: Backend, name: string, to: EntryState): Promise<void> {
  const above = name.split('/').slice(0, -1)
  for (const [i] of above.entries()) {
    const directory = path(above.slice(0, i + 1).join('/'))
    if ((await backend.stat(directory)) === undefined)
      await backend.commit([{ path: directory, expect: 'any', to: { type: 'directory' } }], { durability: 'relaxed' })
  }
  await backend.commit([{ path: path(name), expect: 'any', to }], { durability: 'relaxed' })
}

/** The backend with one method that always throws `error`, a ToolError or any other. */
function failing(backend: Backend, name: 'stat' | 'read' | 'list' | 'canonical', error: unknown): Backend {
  return {
    ...backend,
    [name]: async () => {
      throw error
    },
  }
}

const gone = new ToolError('NOT_FOUND', 'gone')
const broken = new Error('broken')

const all = () => true

describe('a delta', () => {
  const base = bytesOf('0123456789')

  it('copies and adds, with offsets and lengths of any number of bytes', () => {
    expect(new TextDecoder().decode(applyDelta(base, Uint8Array.of(10, 4, 0x91, 8, 2, 2, 0x61, 0x62)))).toBe('89ab')
    expect(applyDelta(base, Uint8Array.of(10, 2, 0x9f, 1, 0, 0, 0, 2))).toEqual(bytesOf('12'))
    const large = new Uint8Array(0x1_0000 + 5).fill(7)
    // Two sizes of 65,541; copies 65,536 bytes from 0, then 5 bytes from 0x10000.
    const delta = Uint8Array.of(0x85, 0x80, 4, 0x85, 0x80, 4, 0x80, 0xf4, 1, 5, 0, 0)
    expect(applyDelta(large, delta)).toEqual(large)
  })

  it.each([
    ['ends in its sizes', [0x8a]],
    ['has an unterminated size', [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]],
    ['is made for another base', [9, 1, 1, 0x61]],
    ['contains the reserved command', [10, 1, 0]],
    ['adds more than it contains', [10, 5, 5, 0x61]],
    ['adds more than it declares', [10, 1, 2, 0x61, 0x61]],
    ['copies from outside', [10, 5, 0x91, 8, 5]],
    ['copies from far outside', [10, 5, 0x98, 1, 5]],
    ['copies more than it declares', [10, 1, 0x90, 2]],
    ['produces less than it declares', [10, 5, 1, 0x61]],
  ])('is refused if it %s', (_, delta) => {
    expect(() => applyDelta(base, Uint8Array.from(delta))).toThrow(/a delta/)
  })
})

describe('files of the .git directory', () => {
  type Fs = Record<string, (...args: unknown[]) => Promise<unknown>>
  const fsOf = (backend: Backend) => gitFs(backend).promises as unknown as Fs

  it('are the only files that isomorphic-git can access, and not through links', async () => {
    const backend = memory({ 'a.txt': 'a', '.git/HEAD': 'x\n' })
    await put(backend, '.git/way', { type: 'link', target: '../a.txt' })
    await put(backend, '.git/objects', { type: 'directory' })
    const fs = fsOf(backend)
    for (const name of ['/a.txt', '/', '/.git/../a.txt', '.git/..', '/.gitx/y']) {
      await expect(fs.readFile?.(name), name).rejects.toMatchObject({ code: 'EACCES' })
    }
    await put(backend, '.git/over', { type: 'link', target: 'objects' })
    await expect(fs.readFile?.('.git/over/x')).rejects.toMatchObject({ code: 'ELOOP' })
    await expect(fs.readFile?.('.git/none')).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(fs.stat?.('.git/none')).rejects.toMatchObject({ code: 'ENOENT' })
    expect(await fs.readlink?.('.git/way')).toBe('../a.txt')
    await expect(fs.symlink?.('x', '.git/y')).rejects.toMatchObject({ code: 'EPERM' })
    expect(await fs.readFile?.('.git/HEAD', 'utf8')).toBe('x\n')
    expect(await fs.readFile?.('.git/HEAD', { encoding: 'utf8' })).toBe('x\n')
    expect(await fs.readFile?.('.git/HEAD')).toEqual(bytesOf('x\n'))
    await fs.rename?.('.git/HEAD', '.git/objects/HEAD')
    expect(await fs.readdir?.('.git/objects')).toEqual(['HEAD'])
    await fs.unlink?.('.git/objects/HEAD')
    await fs.rmdir?.('.git/objects')
    await expect(fs.readdir?.('.git/objects')).rejects.toMatchObject({ code: 'ENOENT' })
    const codes = failing(backend, 'read', new ToolError('LIMIT_EXCEEDED', 'much'))
    await expect(fsOf(codes).readFile?.('.git/way')).rejects.toMatchObject({ code: 'EIO' })
    await expect(fsOf(failing(backend, 'read', broken)).readFile?.('.git/way')).rejects.toBe(broken)
  })

  it('have the stats and error codes of node:fs', async () => {
    const backend = memory({ '.git/f': 'x' })
    await put(backend, '.git/l', { type: 'link', target: 'f' })
    const fs = fsOf(backend)
    const kinds = async (name: string) => {
      const stats = (await fs.lstat?.(name)) as {
        type: string
        mode: number
        isFile(): boolean
        isDirectory(): boolean
        isSymbolicLink(): boolean
      }
      return [stats.type, stats.mode >> 12, stats.isFile(), stats.isDirectory(), stats.isSymbolicLink()]
    }
    expect(await kinds('.git')).toEqual(['dir', 0o4, false, true, false])
    expect(await kinds('.git/f')).toEqual(['file', 0o10, true, false, false])
    expect(await kinds('.git/l')).toEqual(['symlink', 0o12, false, false, true])
  })

  it('are read by name, and are missing behind links and other paths', async () => {
    const backend = memory({ '.git/HEAD': 'x', '.git/refs/heads/main': 'y' })
    await put(backend, '.git/way', { type: 'link', target: 'HEAD' })
    const files = gitFiles(backend)
    expect(await files.read('HEAD')).toEqual(bytesOf('x'))
    for (const name of ['none', 'refs', 'way', 'refs/../HEAD', '../a', 'HEAD/x']) {
      expect([name, await files.read(name)]).toEqual([name, undefined])
    }
    expect(await files.list('refs')).toEqual(['heads'])
    expect(await files.list('HEAD')).toEqual([])
    // Deleted between stat and read; then failures other than a missing file.
    expect(await gitFiles(failing(backend, 'read', gone)).read('HEAD')).toBeUndefined()
    expect(await gitFiles(failing(backend, 'canonical', gone)).stat('HEAD')).toBeUndefined()
    await expect(gitFiles(failing(backend, 'read', broken)).read('HEAD')).rejects.toBe(broken)
    await expect(gitFiles(failing(backend, 'canonical', broken)).stat('HEAD')).rejects.toBe(broken)
  })

  it('are removed as a whole, and created with their parent directories', async () => {
    const backend = memory({ 'a.txt': 'a' })
    await removeRepository(backend)
    await makeDirectories(backend, path('.git/refs/heads/main'))
    await makeDirectories(backend, path('.git/refs/heads/other'))
    expect((await backend.stat(path('.git/refs/heads')))?.type).toBe('directory')
    await put(backend, '.git/refs/heads/main', { type: 'file', bytes: bytesOf('x') })
    await removeRepository(backend)
    expect((await backend.list(path(''))).map(({ name }) => name)).toEqual(['a.txt'])
  })
})

describe('directory stats', () => {
  it('are read by stat and list from backends without statDirectories', async () => {
    const own = memory({ 'd/a.txt': 'abc', 'd/e/f': 'x' })
    const { statDirectories: _, ...plain } = own
    const [stats, missing] = await readDirectoryStats(plain, [path('d'), path('none')], () => undefined)
    expect(missing).toBeUndefined()
    expect(stats?.names).toEqual(['a.txt', 'e'])
    expect([stats?.facts[0], stats?.facts[2], stats?.facts[3]]).toEqual([3, 0, 0])
    const shared: Backend = {
      ...plain,
      capabilities: { ...plain.capabilities, authority: 'shared', modes: true },
      async stat(name) {
        const stat = await plain.stat(name)
        if (stat === undefined) return undefined
        const { mode: _mode, modifiedAt: _modifiedAt, ...rest } = stat
        return rest
      },
    }
    const [other] = await readDirectoryStats(shared, [path('d')], () => undefined)
    expect([other?.facts[1], other?.facts[2]]).toEqual([-1, Number.NaN])
    const file = new ToolError('NOT_A_DIRECTORY', 'file')
    expect(await readDirectoryStats(failing(plain, 'list', file), [path('d')], () => undefined)).toEqual([undefined])
    const other2 = new ToolError('LIMIT_EXCEEDED', 'much')
    await expect(readDirectoryStats(failing(plain, 'list', other2), [path('d')], () => undefined)).rejects.toBe(other2)
    await expect(readDirectoryStats(failing(plain, 'list', broken), [path('d')], () => undefined)).rejects.toBe(broken)
  })
})

describe('the baseline of a workspace without a repository', () => {
  it('contains links and files, but no large files', async () => {
    const backend = memory({ 'a.txt': 'a', 'big.bin': 'x' })
    await put(backend, 'l', { type: 'link', target: 'a.txt' })
    await put(backend, 'd', { type: 'directory' })
    await put(backend, 'big.bin', { type: 'file', bytes: new Uint8Array(16 * 1024 * 1024 + 1) })
    const baseline = createBaseline(backend)
    const changes = ['l', 'a.txt', 'big.bin', 'new.txt', 'd', 'l', 'never'].map((name) => ({
      path: path(name),
      expect: 'any' as const,
      to: null,
    }))
    await baseline.note(changes)
    expect(baseline.dropped).toBe(1)
    expect(await baseline.changed()).toEqual([])
    await put(backend, 'l', { type: 'link', target: 'b.txt' })
    await put(backend, 'a.txt', null)
    await put(backend, 'new.txt', { type: 'file', bytes: bytesOf('n'), mode: 0o755 })
    const changed = await baseline.changed()
    expect(changed.map(({ path, old, now }) => [path, old?.mode, now?.mode])).toEqual([
      ['a.txt', 0o100644, undefined],
      ['l', 0o120000, 0o120000],
      ['new.txt', undefined, 0o100755],
    ])
    expect(changed[1]?.now?.id).toBe(objectId('blob', bytesOf('b.txt')))
  })

  it('reads only the files that have changed since the last comparison', async () => {
    const names = Array.from({ length: 20 }, (_, i) => `f${i}.txt`)
    const { tree: _, ...plain } = memory(Object.fromEntries(names.map((name) => [name, 'old\n'])))
    const read: string[] = []
    const backend: Backend = {
      ...plain,
      read(path, range) {
        read.push(path)
        return plain.read(path, range)
      },
    }
    const baseline = createBaseline(backend)
    const change = async (name: string, text: string) => {
      await baseline.note([{ path: path(name), expect: 'any', to: null }])
      await put(backend, name, { type: 'file', bytes: bytesOf(text) })
    }
    for (const name of names) await change(name, 'new\n')
    const first = await baseline.changed()
    for (const [name, text] of [
      ['f3.txt', 'newer\n'],
      ['f5.txt', 'old\n'],
    ] as const)
      await change(name, text)
    read.length = 0
    const second = await baseline.changed()
    expect(read).toEqual(['f3.txt', 'f5.txt'])
    const idsOf = (changed: typeof first) => new Map(changed.map(({ path, now }) => [path, now?.id]))
    const expected = idsOf(first)
    expected.set(path('f3.txt'), objectId('blob', bytesOf('newer\n')))
    expected.delete(path('f5.txt'))
    expect(idsOf(second)).toEqual(expected)
    const unread = second.find((one) => one.path === 'f7.txt')
    expect(await unread?.now?.bytes()).toEqual(bytesOf('new\n'))
  })

  it('treats paths below a file as missing, and passes on other failures', async () => {
    const backend = memory({ 'a.txt': 'a' })
    const change = [{ path: path('a.txt'), expect: 'any' as const, to: null }]
    for (const error of [gone, new ToolError('NOT_A_DIRECTORY', 'file')]) {
      const baseline = createBaseline(failing(backend, 'read', error))
      await baseline.note(change)
      expect(await baseline.changed()).toEqual([])
    }
    for (const error of [broken, new ToolError('LIMIT_EXCEEDED', 'much')]) {
      await expect(createBaseline(failing(backend, 'read', error)).note(change)).rejects.toBe(error)
    }
  })
})

describe('an index', () => {
  const id = 'ab'.repeat(20)
  const files = new Map([
    ['ab', { mode: 0o100644, id, size: 3 }],
    ['a', { mode: 0o100755, id, size: 2 }],
    ['a/b', { mode: 0o120000, id, size: 1 }],
  ])

  it('is sorted by bytes, and can be read again', () => {
    expect([...parseIndexFile(indexFile(files)).entries].map(([name, { mode, size }]) => [name, mode, size])).toEqual([
      ['a', 0o100755, 2],
      ['a/b', 0o120000, 1],
      ['ab', 0o100644, 3],
    ])
  })

  it('omits entries that are intended only, of a merge, or with a long name', () => {
    const one = indexFile(new Map([['a', { mode: 0o100644, id, size: 1 }]]))
    const flagged = (flags: number) => {
      const copy = one.slice()
      new DataView(copy.buffer).setUint16(12 + 60, flags)
      return copy
    }
    expect(parseIndexFile(flagged(1)).entries.size).toBe(1)
    expect(parseIndexFile(flagged(0x1001)).entries.size).toBe(0)
    expect(parseIndexFile(flagged(0x1001)).unmerged.size).toBe(1)
    expect(parseIndexFile(indexFile(new Map([['x'.repeat(4097), { mode: 0o100644, id, size: 1 }]]))).entries.size).toBe(
      0,
    )
    // Version 3 has two more bytes for each entry with the extended flag.
    const extended = (more: number) => {
      const bytes = new Uint8Array(12 + 72 + 20)
      bytes.set(one.subarray(0, 12 + 60))
      const view = new DataView(bytes.buffer)
      view.setUint32(4, 3)
      view.setUint16(12 + 60, 0x4001)
      view.setUint16(12 + 62, more)
      bytes[12 + 64] = 0x61
      return bytes
    }
    expect([...parseIndexFile(extended(0)).entries.keys()]).toEqual(['a'])
    expect(parseIndexFile(extended(0x2000)).entries.size).toBe(0)
  })

  it.each([1, 5])('is refused with version %d', (version) => {
    const bytes = indexFile(files)
    new DataView(bytes.buffer).setUint32(4, version)
    expect(() => parseIndexFile(bytes)).toThrow('its index has an unknown version')
  })

  it.each([
    ['TREE', undefined],
    ['sdir', undefined],
    ['link', /its index is split, and "git update-index --no-split-index" joins it/],
    ['fsmn', /its index has an unknown extension/],
    ['\0\0\0\0', /its index has an unknown extension/],
  ])('with the extension %j', (name, problem) => {
    const plain = indexFile(files)
    const extension = (name: string) => [...bytesOf(name), 0, 0, 0, 2, 1, 2]
    const before = plain.subarray(0, plain.length - 20)
    const bytes = Uint8Array.from([...before, ...extension('REUC'), ...extension(name), ...new Uint8Array(20)])
    if (problem === undefined) expect(parseIndexFile(bytes).entries.size).toBe(3)
    else expect(() => parseIndexFile(bytes)).toThrow(problem)
  })
})

/** Blobs with these contents, under their real ids. */
function objectsOf(...texts: readonly (string | Uint8Array)[]): Objects {
  const all = new Map(
    texts.map((text) => {
      const bytes = typeof text === 'string' ? bytesOf(text) : text
      return [objectId('blob', bytes), bytes]
    }),
  )
  return {
    async read(id) {
      const bytes = all.get(id)
      return bytes === undefined ? undefined : { type: 'blob', bytes }
    },
    async need(id) {
      return all.get(id) as Uint8Array
    },
    knownSize: () => undefined,
    complete: async () => undefined,
  }
}

const blob = (text: string | Uint8Array, mode = 0o100644) => ({
  mode,
  id: objectId('blob', typeof text === 'string' ? bytesOf(text) : text),
})
const SUBMODULE = 0o160000
const LINK = 0o120000

/** The tree with an id for each directory, like the tree of a commit. */
function identified(directory: TreeDirectory): TreeDirectory {
  const directories = new Map([...directory.directories].map(([name, below]) => [name, identified(below)]))
  const content = JSON.stringify([[...directory.files], [...directories].map(([name, { id }]) => [name, id])])
  return { ...directory, directories, id: objectId('blob', bytesOf(content)) }
}

describe('a checkout', () => {
  const bad = Uint8Array.of(0xff, 0xfe)
  const objects = objectsOf('a', 'b', 'target', '/etc/passwd', bad)
  const tree = (files: Record<string, { mode: number; id: string }>) =>
    identified(treeOfIndex(new Map(Object.entries(files)) as never))

  async function planCheckout(
    backend: Backend,
    from: TreeDirectory,
    to: TreeDirectory,
    dirty: readonly LocalChange[] = [],
  ) {
    const { targets, skipped } = checkoutTargets(from, to, dirty, new Map(), false, all)
    const plan = await planChanges(backend, objects, targets)
    return { changes: plan.changes, skipped: [...skipped, ...plan.skipped] }
  }

  it('skips entries that a workspace cannot contain, and keeps modes and links', async () => {
    const backend = memory({ 'old/x': 'a', 'keep/y': 'a', 'keep/z': 'b' })
    const to = tree({
      run: blob('a', 0o100755),
      link: blob('target', LINK),
      out: blob('/etc/passwd', LINK),
      bytes: blob(bad, LINK),
      module: { mode: SUBMODULE, id: 'ab'.repeat(20) },
      '.GIT': blob('a'),
      'sub/.git/config': blob('a'),
    })
    const from = tree({
      'never.txt': blob('a'),
      'old/x': blob('a'),
      'keep/y': blob('a'),
      '.git': blob('b'),
      m: { mode: SUBMODULE, id: 'x' },
    })
    const plan = await planCheckout(backend, from, to)
    expect([...plan.skipped].sort()).toEqual(['.GIT', 'bytes', 'module', 'out', 'sub/.git'])
    expect(plan.changes.map(({ path, to }) => [path, to === null ? null : to.type]).sort()).toEqual([
      ['keep/y', null],
      ['link', 'link'],
      ['old', null],
      ['old/x', null],
      ['run', 'file'],
    ])
    expect(plan.changes.find(({ path }) => path === 'run')?.to).toMatchObject({ mode: 0o755 })
  })

  it('keeps a directory that gets other files', async () => {
    const backend = memory({ 'd/x': 'a' })
    const plan = await planCheckout(backend, tree({ 'd/x': blob('a') }), tree({ 'd/y': blob('b') }))
    expect(plan.changes.map(({ path, to }) => [path, to === null])).toEqual([
      ['d/y', false],
      ['d/x', true],
    ])
  })

  it('restores single files, except paths that a workspace cannot hold', async () => {
    const backend = memory({ 'a.txt': 'a', 'b.txt': 'a' })
    const plan = await planRestore(
      backend,
      objects,
      new Map([
        [path('a.txt'), blob('a')],
        [path('b.txt'), blob('b')],
        [path('module'), { mode: SUBMODULE, id: 'ab'.repeat(20) }],
        [path('x/.git/y'), blob('a')],
      ]),
    )
    expect(plan.changes.map(({ path }) => path)).toEqual(['b.txt'])
    expect(plan.skipped).toEqual(['module', 'x/.git/y'])
  })

  it('is refused if it would discard staged changes', () => {
    const [from, to] = [tree({ a: blob('a') }), tree({ a: blob('b'), c: blob('a') })]
    const staged = (id: string) => new Map([['a', { mode: 0o100644, id, size: 1 }]])
    expect(() => indexAfterCheckout(staged('cd'.repeat(20)), from, to, all)).toThrow('a file was changed')
    expect([...indexAfterCheckout(staged(blob('b').id), from, to, all).keys()]).toEqual(['a', 'c'])
    expect([...indexAfterCheckout(staged(blob('a').id), to, tree({ a: blob('a') }), all).keys()]).toEqual(['a'])
  })

  it('accepts a changed file only if its content and mode equal the target', async () => {
    const backend = memory({ a: 'b' })
    const [from, to] = [tree({ a: blob('a') }), tree({ a: blob('b') })]
    const dirty = (mode: number) => [
      { path: path('a'), old: null, now: { ...blob('b', mode), bytes: () => bytesOf('b') } },
    ]
    await expect(planCheckout(backend, from, to, dirty(0o100644))).resolves.toBeDefined()
    await expect(planCheckout(backend, from, to, dirty(0o100755))).rejects.toMatchObject({
      code: 'WRITE_CONFLICT',
    })
  })

  it('compares files, modes and directories', async () => {
    const [from, to] = [
      tree({ same: blob('a'), gone: blob('b'), mode: blob('a'), 'd/x': blob('a'), '.git/y': blob('a') }),
      tree({ same: blob('a'), mode: blob('a', 0o100755), 'e/x': blob('b'), '.git/y': blob('b') }),
    ]
    const changed = compareTrees(objects, from, to)
    expect(changed.map(({ path, old, now }) => [path, old?.mode ?? null, now?.mode ?? null]).sort()).toEqual([
      ['d/x', 0o100644, null],
      ['e/x', null, 0o100644],
      ['gone', 0o100644, null],
      ['mode', 0o100644, 0o100755],
    ])
    expect(compareTrees(objects, from, from)).toEqual([])
    const previous = { ...from, id: 'ab'.repeat(20) }
    expect(compareTrees(objects, previous, { ...to, id: previous.id })).toEqual([])
    const sections = await sectionsOf(changed)
    expect(sections.map(({ text }) => text.split('\n')[0])).toEqual([
      'diff --git a/d/x b/d/x',
      'diff --git a/gone b/e/x',
      'diff --git a/mode b/mode',
    ])
  })
})

describe('resolveCommit', () => {
  const ids = {
    one: '1'.repeat(40),
    two: '2'.repeat(40),
    tag: '3'.repeat(40),
    tree: '4'.repeat(40),
    odd: '5'.repeat(40),
    loop: '6'.repeat(40),
  }
  const commits: Readonly<Record<string, { type: 'commit' | 'tag' | 'tree'; text: string }>> = {
    [ids.one]: { type: 'commit', text: `tree ${ids.tree}\nparent ${ids.two}\n\nmessage` },
    [ids.two]: { type: 'commit', text: `tree ${ids.tree}` },
    [ids.tag]: { type: 'tag', text: `object ${ids.one}\ntype commit\n` },
    [ids.tree]: { type: 'tree', text: '' },
    [ids.odd]: { type: 'tag', text: 'nothing' },
    [ids.loop]: { type: 'tag', text: `object ${ids.loop}\n` },
  }
  const objects: Objects = {
    ...objectsOf(),
    async read(id) {
      const match = commits[id]
      return match === undefined ? undefined : { type: match.type, bytes: bytesOf(match.text) }
    },
    need: async (id) => bytesOf(commits[id]?.text ?? ''),
  }
  const refs: Readonly<Record<string, string>> = {
    HEAD: 'ref: refs/heads/main',
    'refs/heads/main': ids.one,
    'refs/tags/v1': ids.tag,
    'refs/tags/odd': ids.odd,
    'refs/tags/tree': ids.tree,
    'refs/tags/loop': ids.loop,
    'packed-refs': `# packed\n${ids.two} refs/heads/packed\n^${ids.one}\n`,
  }
  const files: GitFiles = {
    read: async (name) => (refs[name] === undefined ? undefined : bytesOf(refs[name])),
    stat: async () => undefined,
    list: async () => [],
  }

  it.each([
    ['@', ids.one],
    ['HEAD', ids.one],
    ['main', ids.one],
    ['@^', ids.two],
    ['main~', ids.two],
    ['main~1', ids.two],
    ['main~0', ids.one],
    ['v1', ids.one],
    ['packed', ids.two],
    ['v1^', ids.two],
    [ids.two, ids.two],
  ])('resolves %s', async (name, id) => {
    expect(await resolveCommit(files, objects, name)).toBe(id)
  })

  it.each(['@~2', '@^^', 'odd', 'loop', 'tree', '9'.repeat(40), 'none', 'a//b', '../HEAD', '@{1}', ''])(
    'refuses %s',
    async (name) => {
      await expect(resolveCommit(files, objects, name)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    },
  )

  it('parseCommit reads the parents of a commit without a message', () => {
    expect(parseCommit(bytesOf(`tree ${ids.tree}\nparent ${ids.one}`))).toEqual({ tree: ids.tree, parents: [ids.one] })
    expect(parseCommit(bytesOf(`tree ${ids.tree}\n\nparent ${ids.one}\n`))).toEqual({ tree: ids.tree, parents: [] })
  })
})

describe('createLruCache', () => {
  it('keeps the latest values up to its size, and drops the oldest first', () => {
    const sizes = createLruCache<string, { readonly size: number }>(10, ({ size }) => size)
    const keys = () => [...'abcd'].filter((key) => sizes.get(key) !== undefined).join('')
    for (const key of 'abc') sizes.put(key, { size: 3 })
    expect(keys()).toBe('abc')
    // Setting a key again makes it the latest, and counts its size once.
    sizes.put('a', { size: 4 })
    expect(keys()).toBe('abc')
    sizes.put('d', { size: 1 })
    expect(keys()).toBe('acd')
    sizes.put('b', { size: 5 })
    expect(keys()).toBe('abd')
    sizes.put('c', { size: 11 })
    expect(keys()).toBe('')
    sizes.put('a', { size: 9 })
    expect(keys()).toBe('a')
  })

  it('keeps what a list keeps, from whose start the oldest are taken', () => {
    const puts = fc.array(fc.tuple(fc.constantFrom(...'abcdef'), fc.integer({ min: 0, max: 12 })), { maxLength: 40 })
    fc.assert(
      fc.property(puts, (all) => {
        const cache = createLruCache<string, { readonly size: number }>(10, ({ size }) => size)
        let list: (readonly [string, number])[] = []
        for (const [key, size] of all) {
          cache.put(key, { size })
          list = [...list.filter(([other]) => other !== key), [key, size]]
          while (list.reduce((sum, [, one]) => sum + one, 0) > 10) list.shift()
          const kept = [...'abcdef'].filter((one) => cache.get(one) !== undefined)
          expect(kept).toEqual(list.map(([one]) => one).sort())
        }
      }),
    )
  })
})

describe('createTextCache', () => {
  it('keeps the latest texts that fit, but no large texts and no texts without an id', () => {
    const cache = createTextCache()
    const textOf = (size: number) => ({ original: 'x'.repeat(size), text: '', marks: [] })
    cache.set('', textOf(1))
    cache.set('large', textOf(1024 * 1024 + 1))
    for (let i = 0; i < 10; i++) cache.set(`${i}`, textOf(1024 * 1024))
    const isCached = ['', 'large', '0', '1', '2', '9'].map((id) => cache.get(id) !== undefined)
    expect(isCached).toEqual([false, false, false, false, true, true])
    const first = cache.get('9')
    cache.set('9', textOf(1))
    expect(cache.get('9')).toBe(first)
  })
})

describe('requests over HTTP', async () => {
  const server = createServer((request, response) => {
    const url = request.url ?? ''
    if (url.startsWith('/to/'))
      response.writeHead(302, { location: `/to/${Number(url.slice(4)) - 1}`.replace('/to/0', '/end') })
    else if (url === '/nowhere') response.writeHead(302)
    else if (url === '/none') response.writeHead(204)
    else if (url === '/cut') {
      response.writeHead(200, { 'content-length': '100' })
      response.write('part')
      setImmediate(() => response.destroy())
      return
    } else if (url === '/slow') {
      response.writeHead(200)
      response.write('part')
      return
    }
    request.on('data', (chunk) => response.write(chunk))
    request.on('end', () => response.end(url))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  server.unref()
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const allBranches = { onLeftOut: () => {} }

  async function fetchFrom(where: string, options: object = {}, signal?: AbortSignal, hosts?: (url: URL) => void) {
    const { body, statusCode } = await httpClient(
      { url: new URL(base), operation: 'fetch', signal, requireHost: hosts },
      allBranches,
    ).request({ url: base + where, ...options })
    let text = ''
    for await (const chunk of body as AsyncIterable<Uint8Array>) text += new TextDecoder().decode(chunk)
    return [statusCode, text]
  }

  it('return the body, or none', async () => {
    expect(await fetchFrom('/x', { method: 'POST', body: [bytesOf('a'), bytesOf('b')] })).toEqual([200, 'ab/x'])
    expect(await fetchFrom('/none')).toEqual([204, ''])
    for (const method of ['GET', 'POST']) {
      const cut = { code: 'BACKEND_ERROR', message: expect.stringContaining('ended before the answer was complete') }
      await expect(fetchFrom('/cut', method === 'GET' ? {} : { method, body: [] })).rejects.toMatchObject(cut)
    }
  })

  it('name the server that cannot be reached', async () => {
    const url = new URL('http://127.0.0.1:1/')
    const request = httpClient({ url, operation: 'fetch' }, allBranches).request({ url: url.href })
    await expect(request).rejects.toMatchObject({
      code: 'BACKEND_ERROR',
      message: 'Cannot continue with git: the server 127.0.0.1:1 cannot be reached',
    })
  })

  it('follow a few redirects, each to an allowed host, and none with a body', async () => {
    const hosts: string[] = []
    expect(await fetchFrom('/to/2', {}, undefined, (url) => hosts.push(url.pathname))).toEqual([200, '/end'])
    expect(hosts).toEqual(['/to/2', '/to/1', '/end'])
    const refused = { code: 'BACKEND_ERROR', message: expect.stringContaining('redirects elsewhere') }
    await expect(fetchFrom('/to/9', {}, undefined, () => {})).rejects.toMatchObject(refused)
    await expect(fetchFrom('/nowhere', {}, undefined, () => {})).rejects.toMatchObject(refused)
    await expect(fetchFrom('/to/1', { method: 'POST', body: [] }, undefined, () => {})).rejects.toMatchObject(refused)
    const denied = () => {
      throw gone
    }
    await expect(fetchFrom('/x', {}, undefined, denied)).rejects.toBe(gone)
  })

  it('end when they are cancelled before, during and while a body arrives', async () => {
    await expect(fetchFrom('/x', {}, AbortSignal.abort())).rejects.toMatchObject({ code: 'ABORTED' })
    const onTheWay = new AbortController()
    const hosts = () => onTheWay.abort()
    await expect(fetchFrom('/x', {}, onTheWay.signal, hosts)).rejects.toMatchObject({ code: 'ABORTED' })
    const late = new AbortController()
    const access = { url: new URL(base), operation: 'fetch', signal: late.signal } as const
    const { body } = await httpClient(access, allBranches).request({ url: `${base}/slow`, method: 'POST' })
    const read = (async () => {
      for await (const _ of body as AsyncIterable<Uint8Array>) late.abort()
    })()
    await expect(read).rejects.toMatchObject({ code: 'ABORTED' })
  })
})

type Inflate = typeof import('../../src/git/inflate.ts')
type Packs = typeof import('../../src/git/pack.ts')

/** The modules that inflate and that read packs, as they are on a platform with another `process.getBuiltinModule`. */
async function modulesWithout(getBuiltinModule: unknown): Promise<Inflate & Packs> {
  const own = process.getBuiltinModule
  Object.assign(process, { getBuiltinModule })
  try {
    const inflating = await loadAgain<Inflate>('src/git/inflate.ts')
    vi.doMock('../../src/git/inflate.ts', () => inflating)
    return { ...inflating, ...(await loadAgain<Packs>('src/git/pack.ts')) }
  } finally {
    vi.doUnmock('../../src/git/inflate.ts')
    Object.assign(process, { getBuiltinModule: own })
  }
}

describe('zlib without Node', () => {
  it.each([
    ['no module', undefined],
    [
      'a module that throws',
      () => {
        throw new Error('no module')
      },
    ],
  ])('%s', async (_, getBuiltinModule) => {
    const { inflate, deflate, inflated } = await modulesWithout(getBuiltinModule)
    const bytes = new Uint8Array(100_000).fill(7)
    expect(await inflate(await deflate(bytes), bytes.length)).toEqual(bytes)
    await expect(inflate(deflateSync(bytes), 99_999)).rejects.toThrow('More bytes than allowed')
    await expect(inflate(Uint8Array.of(1, 2, 3, 4, 5, 6), 100)).rejects.toThrow()
    await expect(inflated(Uint8Array.of(1, 2, 3, 4, 5, 6), 100)).rejects.toThrow('an object is damaged')
  })
})

describe('a section', () => {
  const token = (letter: string) => `token = "ghp_${letter.repeat(36)}"\n`
  const side = (content: string | Uint8Array | undefined, mode = 0o100644) => {
    const bytes = typeof content === 'string' ? bytesOf(content) : content
    return { mode, id: bytes === undefined ? '' : objectId('blob', bytes), bytes: () => bytes }
  }
  const binary = (byte: number) => Uint8Array.of(0, 1, 2, byte)

  it('that shows only redaction marks is included', async () => {
    const changed = { path: path('a.txt'), old: side(token('a')), now: side(token('b')) }
    expect(await sectionsOf([changed])).toMatchObject([{ text: '', redacted: true }])
    const same = { path: path('b.txt'), old: side('a\n'), now: side('a\n') }
    expect(await sectionsOf([same])).toEqual([])
  })

  it('of binary content states the difference, or has the whole content if requested and available', async () => {
    const changed = { path: path('a.bin'), old: side(binary(1)), now: side(binary(2)) }
    expect((await sectionsOf([changed]))[0]).toMatchObject({
      binary: true,
      text: 'diff --git a/a.bin b/a.bin\nBinary files a/a.bin and b/a.bin differ\n',
    })
    const whole = await sectionOf(changed, () => true, createTextCache())
    expect(whole.text).toContain(`index ${changed.old.id}..${changed.now.id} 100644\nGIT binary patch\n`)
    // Content that is too large is only named, even if requested.
    for (const [old, now] of [
      [undefined, 'text\n'],
      ['text\n', undefined],
      [undefined, undefined],
    ] as const) {
      const one = { path: path('a.bin'), old: side(old), now: side(now) }
      expect((await sectionOf(one, () => true, createTextCache())).text).toContain('Binary files a/a.bin and b/a.bin')
    }
    const deleted = await sectionOf({ ...changed, now: null }, () => true, createTextCache())
    expect(deleted.text).toContain(`index ${changed.old.id}..${'0'.repeat(40)}\nGIT binary patch\n`)
    const large = { path: path('a.txt'), old: null, now: side(new Uint8Array(16 * 1024 * 1024 + 1).fill(0x61)) }
    expect(await sectionOf(large, () => false, createTextCache())).toMatchObject({ binary: true, insertions: 0 })
  })

  it('of a cached text that became binary is made from its bytes', async () => {
    const texts = createTextCache()
    const old = side('a\n')
    await sectionOf({ path: path('a'), old, now: side('b\n') }, () => false, texts)
    const section = await sectionOf({ path: path('a'), old, now: side(binary(1)) }, () => true, texts)
    expect(section.text).toContain('GIT binary patch')
    expect(section.binary).toBe(true)
  })

  it('pairs equally similar files by name, in a stable order', async () => {
    const text = (i: number) => `${Array.from({ length: 30 }, (_, line) => `line ${line} of them\n`).join('')}${i}\n`
    const gone = ['z', 'y'].map((name) => ({ path: path(name), old: side(text(0)), now: null }))
    const fresh = ['b', 'a', 'c'].map((name, i) => ({ path: path(name), old: null, now: side(text(i + 1)) }))
    for (const order of [
      [...gone, ...fresh],
      [...fresh.toReversed(), ...gone.toReversed()],
    ]) {
      const matches = await findRenames(order)
      const pairs = matches
        .map(({ path, from }) => [from ?? null, path] as const)
        .sort(([, a], [, b]) => (a < b ? -1 : 1))
      expect(pairs).toEqual([
        ['y', 'a'],
        ['z', 'b'],
        [null, 'c'],
      ])
    }
  })
})

describe('changes of many files', () => {
  const side = (content: string) => ({
    mode: FILE,
    id: objectId('blob', bytesOf(content)),
    bytes: () => bytesOf(content),
  })

  it('are paired only by equal content if there are too many to compare', async () => {
    const like = 'a line\nanother line\n'
    const fresh = [
      { path: path('new/like.txt'), old: null, now: side(`${like}x\n`) },
      { path: path('new/same.txt'), old: null, now: side('the same\n') },
    ]
    const gone = [
      { path: path('old/like.txt'), old: side(like), now: null },
      { path: path('old/same.txt'), old: side('the same\n'), now: null },
    ]
    const more = Array.from({ length: 1000 }, (_, i) => ({ path: path(`old/${i}`), old: side(`${i}\n`), now: null }))
    const pairs = async (all: typeof gone) =>
      (await findRenames([...fresh, ...all])).flatMap((one) => one.from ?? []).sort()
    expect(await pairs(gone)).toEqual(['old/like.txt', 'old/same.txt'])
    expect(await pairs([...gone, ...more])).toEqual(['old/same.txt'])
  })

  it('are paired only by equal content beyond a total size', async () => {
    const bytes = new Uint8Array(4 * 1024 * 1024)
    const of = (id: string) => ({ mode: FILE, id, bytes: () => bytes })
    const all = Array.from({ length: 16 }, (_, i) => ({ path: path(`old/${i}`), old: of(`old ${i}`), now: null }))
    const fresh = { path: path('new/0'), old: null, now: of('new') }
    expect((await findRenames([fresh, ...all.slice(0, 1)])).map(({ from }) => from)).toEqual(['old/0'])
    expect((await findRenames([fresh, ...all])).every((one) => one.from === undefined)).toBe(true)
  })

  it('skip paths that a workspace cannot hold in a deleted directory', () => {
    const id = 'ab'.repeat(20)
    const entries = ['d/a', 'd/module', 'd/.git', 'd/e/b'].map((name) => [
      name,
      { mode: name === 'd/module' ? SUBMODULE : FILE, id, size: 0 },
    ])
    const messages: Path[] = []
    deletions(objectsOf(), treeOfIndex(new Map(entries as never)), path(''), (one) => messages.push(one.path))
    expect(messages).toEqual(['d/a', 'd/e/b'])
  })
})

describe('a pack', () => {
  const ofs = (back: number) => (back < 128 ? [back] : [0x80 | ((back >> 7) - 1), back & 127])
  type Entry = { readonly id: string; readonly raw: Uint8Array }

  function head(type: number, size: number): number[] {
    const bytes = [(type << 4) | (size & 15)]
    for (let rest = size >> 4; rest > 0; rest >>= 7) {
      bytes[bytes.length - 1] = (bytes.at(-1) as number) | 0x80
      bytes.push(rest & 127)
    }
    return bytes
  }

  const entry = (
    id: string,
    type: number,
    content: Uint8Array,
    more: readonly number[] = [],
    size = content.length,
  ): Entry => ({
    id,
    raw: Uint8Array.from([...head(type, size), ...more, ...deflateSync(content)]),
  })

  /** A pack of these entries with its index of version 2. `large` stores the offsets in the table of 64-bit offsets. */
  function filesOf(entries: readonly Entry[], large = false): GitFiles & { readonly all: Map<string, Uint8Array> } {
    let at = 12
    const offsets = new Map<string, number>()
    for (const { id, raw } of entries) {
      offsets.set(id, at)
      at += raw.length
    }
    const pack = new Uint8Array(at + 20)
    for (const { id, raw } of entries) pack.set(raw, offsets.get(id))
    const sorted = entries.map(({ id }) => id).sort()
    const index = new Uint8Array(
      8 + 1024 + 24 * sorted.length + 4 * sorted.length + (large ? 8 * sorted.length : 0) + 40,
    )
    const view = new DataView(index.buffer)
    view.setUint32(0, 0xff744f63)
    view.setUint32(4, 2)
    for (let i = 0; i < 256; i++) {
      view.setUint32(8 + 4 * i, sorted.filter((id) => Number.parseInt(id.slice(0, 2), 16) <= i).length)
    }
    for (const [i, id] of sorted.entries()) {
      index.set(Buffer.from(id, 'hex'), 1032 + 20 * i)
      const small = 1032 + 24 * sorted.length + 4 * i
      const offset = offsets.get(id) as number
      view.setUint32(small, large ? 0x8000_0000 + i : offset)
      if (large) view.setUint32(1032 + 28 * sorted.length + 8 * i + 4, offset)
    }
    const all = new Map([
      ['objects/pack/p.idx', index],
      ['objects/pack/p.pack', pack],
    ])
    return {
      all,
      read: async (name, range) => {
        const result = all.get(name)
        return result === undefined || range === undefined ? result : result.slice(range.start, range.end)
      },
      stat: async (name) => {
        const bytes = all.get(name)
        return bytes === undefined ? undefined : { type: 'file', size: bytes.length, tag: '' }
      },
      list: async () => [],
    }
  }

  const [a, b, c, missing] = ['0a', 'ab', 'ff', 'ee'].map((start) => start.padEnd(40, '1')) as [
    string,
    string,
    string,
    string,
  ]
  const text = bytesOf('0123456789'.repeat(3))
  /** A delta from `text` to its first two bytes. */
  const delta = Uint8Array.of(30, 2, 0x90, 2)
  const elsewhere = async () => undefined

  async function read(
    files: GitFiles,
    id: string,
    from: (id: string) => Promise<undefined | { type: 'blob'; bytes: Uint8Array }> = elsewhere,
  ) {
    const pack = await openPack(files, 'p')
    const offset = pack?.find(id)
    if (pack === undefined || offset === undefined) return undefined
    const object = await pack.read(offset, from)
    return [object.type, new TextDecoder().decode(object.bytes)]
  }

  it('reads objects and deltas, from either table of offsets', async () => {
    const base = entry(a, 3, text)
    const byPlace = entry(b, 6, delta, ofs(base.raw.length))
    const byId = entry(c, 7, delta, [...Buffer.from(a, 'hex')])
    for (const large of [false, true]) {
      const files = filesOf([base, byPlace, byId], large)
      expect(await read(files, a)).toEqual(['blob', '0123456789'.repeat(3)])
      expect(await read(files, b)).toEqual(['blob', '01'])
      expect(await read(files, c)).toEqual(['blob', '01'])
      expect(await read(files, missing)).toBeUndefined()
    }
    // The base may be outside of the pack.
    const apart = filesOf([entry(c, 7, delta, [...Buffer.from(a, 'hex')])])
    expect(await read(apart, c, async () => ({ type: 'blob', bytes: text }))).toEqual(['blob', '01'])
  })

  it.each<[string, GitFiles, string]>([
    ['a delta has no base', filesOf([entry(c, 7, delta, [...Buffer.from(missing, 'hex')])]), c],
    ['a delta has no base', filesOf([entry(c, 6, delta, ofs(5))]), c],
    ['a pack is cut short', filesOf([{ id: c, raw: Uint8Array.of(0x74, 1, 2, 3) }]), c],
    ['an object does not have the size in its header', filesOf([entry(c, 3, text, [], 31)]), c],
    ['an object is damaged', filesOf([entry(c, 3, text, [], 29)]), c],
    ['an object of an unknown type', filesOf([entry(c, 5, text)]), c],
    ['an object is damaged', filesOf([{ id: c, raw: Uint8Array.of(0xb0) }]), c],
  ])('is refused: %s', async (why, files, id) => {
    await expect(read(files, id)).rejects.toThrow(why)
  })

  it('is read with asynchronous inflating', async () => {
    const fresh = await modulesWithout(undefined)
    const base = entry(a, 3, text)
    const pack = await fresh.openPack(filesOf([base, entry(b, 6, delta, ofs(base.raw.length))]), 'p')
    const object = await pack?.read(pack.find(b) as number, elsewhere)
    expect(object?.bytes).toEqual(bytesOf('01'))
  })

  it('caches delta bases that fit, and reads the others again', async () => {
    const sizeOf = (size: number): number[] => (size < 128 ? [size] : [(size & 127) | 128, ...sizeOf(size >>> 7)])
    const start = (size: number) => Uint8Array.of(...sizeOf(size), 2, 0x90, 2)
    const sizes = [5_000_000, ...Array<number>(9).fill(4_000_000)]
    const bases = sizes.map((size, i) => entry(`${i}0`.padEnd(40, '1'), 3, new Uint8Array(size).fill(48 + i)))
    const deltas = bases.map(({ id }, i) =>
      entry(id.replace('0', 'f'), 7, start(sizes[i] as number), [...Buffer.from(id, 'hex')]),
    )
    const files = filesOf([...bases, ...deltas])
    const pack = await openPack(files, 'p')
    for (let round = 0; round < 2; round++) {
      for (const [i, { id }] of deltas.entries()) {
        const object = await pack?.read(pack.find(id) as number, elsewhere)
        expect(new TextDecoder().decode(object?.bytes)).toBe(`${i}${i}`)
      }
    }
  })

  it('finds at most two ids with a prefix', async () => {
    const ids = ['00aa', '00ab', '00ac', 'ffaa'].map((id) => id.padEnd(40, '0'))
    const pack = await openPack(filesOf(ids.map((id) => entry(id, 3, text))), 'p')
    expect(pack?.withPrefix('00ab')).toEqual([ids[1]])
    expect(pack?.withPrefix('00a')).toEqual(ids.slice(0, 2))
    expect(pack?.withPrefix('ffab')).toEqual([])
    expect(pack?.withPrefix('ff')).toEqual([ids[3]])
  })

  it('is searched again after a repack, and followed to other packs a limited number of times', async () => {
    const renamed = (name: string, entries: readonly Entry[]) =>
      [...filesOf(entries).all].map(([key, bytes]) => [key.replace('/p.', `/${name}.`), bytes] as const)
    const filesWith = (all: Map<string, Uint8Array>): GitFiles => ({
      ...filesOf([]),
      read: async (name, range) => {
        const bytes = all.get(name)
        return bytes === undefined || range === undefined ? bytes : bytes.slice(range.start, range.end)
      },
      stat: async (name) => {
        const bytes = all.get(name)
        return bytes === undefined ? undefined : { type: 'file', size: bytes.length, tag: '' }
      },
      list: async () => [...all.keys()].map((key) => key.slice('objects/pack/'.length)),
    })
    const all = new Map(renamed('p', [entry(a, 3, text)]))
    const objects = openObjects(filesWith(all))
    const textOf = async (id: string) => new TextDecoder().decode((await objects.read(id))?.bytes)
    expect(await textOf(a)).toBe('0123456789'.repeat(3))
    for (const key of [...all.keys()]) all.delete(key)
    for (const [key, bytes] of renamed('q', [entry(a, 3, bytesOf('anew'))])) all.set(key, bytes)
    expect(await textOf(a)).toBe('anew')
    const circle = new Map([
      ...renamed('p', [entry(a, 7, delta, [...Buffer.from(b, 'hex')])]),
      ...renamed('q', [entry(b, 7, delta, [...Buffer.from(a, 'hex')])]),
    ])
    await expect(openObjects(filesWith(circle)).read(a)).rejects.toThrow('a chain of deltas has no end')
  })

  it('is refused with an invalid index, and if it is cut short', async () => {
    const files = filesOf([entry(a, 3, text)])
    const index = files.all.get('objects/pack/p.idx') as Uint8Array
    new DataView(index.buffer).setUint32(4, 1)
    await expect(openPack(files, 'p')).rejects.toThrow('has an unknown version')
    expect(await openPack(files, 'other')).toBeUndefined()
    const cut = filesOf([entry(a, 3, text)])
    const stat = cut.stat
    const short: GitFiles = {
      ...cut,
      stat,
      read: async (name, range) =>
        name.endsWith('.pack') ? (await cut.read(name, range))?.slice(0, 5) : cut.read(name),
    }
    await expect(read(short, a)).rejects.toThrow('a pack is missing or cut short')
    // After several reads, the pack is loaded completely if possible.
    const pack = await openPack(short, 'p')
    for (let i = 0; i < 100; i++)
      await expect(pack?.read(pack.find(a) as number, elsewhere)).rejects.toThrow('missing or cut short')
  })
})

/** A pack in the format that a server sends, from objects with their headers. */
function packOf(objects: readonly Uint8Array[]): Uint8Array {
  const types = ['', 'commit', 'tree', 'blob']
  const head = Buffer.alloc(12)
  head.write('PACK')
  head.writeUInt32BE(2, 4)
  head.writeUInt32BE(objects.length, 8)
  const parts: Uint8Array[] = [head]
  for (const object of objects) {
    const end = object.indexOf(0)
    const [type = ''] = new TextDecoder().decode(object.subarray(0, end)).split(' ')
    const body = object.subarray(end + 1)
    const size = body.length
    const kind = types.indexOf(type) << 4
    parts.push(Uint8Array.from(size < 16 ? [kind | size] : [0x80 | kind | (size & 15), size >> 4]), deflateSync(body))
  }
  const whole = Buffer.concat(parts)
  return Buffer.concat([whole, createHash('sha1').update(whole).digest()])
}

describe('a repository in memory', () => {
  async function createRepository() {
    const backend = memory({ 'a.txt': 'one\n', 'b.txt': 'b\n' })
    const repository = openRepository(
      {
        backend,
        mayRead: () => true,
        now: () => 1_767_225_600_000,
        async change(changes) {
          await backend.commit(changes, { durability: 'relaxed' })
        },
      },
      { author: { name: 'A', email: 'a@example.com' } },
    )
    await repository.init()
    await repository.add('.')
    const first = await repository.commit({ message: 'first' })
    return { backend, repository, first }
  }

  it('commits with a new or the last message, and not during a merge', async () => {
    const { backend, repository, first } = await createRepository()
    await expect(repository.commit({} as never)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    await put(backend, 'a.txt', { type: 'file', bytes: bytesOf('two\n') })
    await repository.add('a.txt')
    const amended = await repository.commit({ amend: true } as never)
    expect(amended).not.toBe(first)
    expect(await repository.log({ depth: 5 })).toMatchObject([{ commit: amended, parents: [], message: 'first\n' }])
    await put(backend, '.git/MERGE_HEAD', { type: 'file', bytes: bytesOf(`${first}\n`) })
    await expect(repository.commit({ message: 'x' })).rejects.toThrow('a merge is in progress')
  })

  it('has no last message before the first commit', async () => {
    const backend = memory({})
    const repository = openRepository({ backend, mayRead: () => true, now: () => 0, change: async () => {} } as never, {
      author: { name: 'A', email: 'a@example.com' },
    })
    await repository.init()
    await expect(repository.commit({ amend: true } as never)).rejects.toThrow('without a message')
    for (const message of ['', ' \n']) await expect(repository.commit({ message })).rejects.toThrow('without a message')
  })

  it('keeps submodules in the index, but not files that became directories', async () => {
    const { backend, repository } = await createRepository()
    await put(backend, 'x', { type: 'file', bytes: bytesOf('x\n') })
    await put(backend, 'sub/y.txt', { type: 'file', bytes: bytesOf('y\n') })
    expect((await repository.add('.')).staged).toEqual(['sub/y.txt', 'x'])
    await put(backend, 'x', null)
    await put(backend, 'x', { type: 'directory' })
    await put(backend, 'sub/.git/HEAD', { type: 'file', bytes: bytesOf('ref: refs/heads/main\n') })
    await repository.add('.')
    const { entries } = parseIndexFile((await backend.read(path('.git/index'))).bytes)
    expect([...entries.keys()]).toEqual(['a.txt', 'b.txt', 'sub/y.txt'])
  })

  it('reports missing objects, and hides the details of internal failures', async () => {
    const { backend, repository, first } = await createRepository()
    await repository.commit({ message: 'second' })
    await put(backend, `.git/objects/${first.slice(0, 2)}/${first.slice(2)}`, null)
    await expect(repository.log()).rejects.toMatchObject({ code: 'NOT_FOUND', message: expect.stringContaining(first) })
    const failing = { ...memory({}), commit: () => Promise.reject(new Error('at /home/someone/disk.ts')) }
    const other = openRepository({
      backend: failing,
      mayRead: () => true,
      now: () => 0,
      change: async () => {},
    } as never)
    await expect(other.init()).rejects.toMatchObject({
      code: 'BACKEND_ERROR',
      message: 'Cannot init: an unexpected failure',
    })
  })

  it.each(['READ_ONLY', 'NO_SPACE', 'LIMIT_EXCEEDED'] as const)('reports %s of the storage as it is', async (code) => {
    const backend = { ...memory({}), commit: () => Promise.reject(new ToolError(code, 'the reason')) }
    const other = openRepository({ backend, mayRead: () => true, now: () => 0, change: async () => {} } as never)
    await expect(other.init()).rejects.toMatchObject({ code, message: 'the reason' })
  })

  it('reads the trees of many commits', async () => {
    const { backend, repository, first } = await createRepository()
    const reader = openReader(backend)
    const tree = await reader.tree(first)
    for (let i = 0; i < 17; i++) {
      const commit = await repository.commit({ message: `${i}` })
      expect([...(await reader.tree(commit)).files.keys()]).toEqual(['a.txt', 'b.txt'])
    }
    expect(await reader.tree(first)).toEqual(tree)
  })

  it('is cloned from a server without a default branch, but not from an empty one', async () => {
    const source = await createRepository()
    const objects: Uint8Array[] = []
    for (const { name: folder } of await source.backend.list(path('.git/objects'))) {
      if (folder.length !== 2) continue
      for (const { name } of await source.backend.list(path(`.git/objects/${folder}`))) {
        objects.push(inflateSync((await source.backend.read(path(`.git/objects/${folder}/${name}`))).bytes))
      }
    }
    const pack = packOf(objects)
    const line = (...parts: (string | Uint8Array)[]) => {
      const content = Buffer.concat(parts.map((part) => Buffer.from(part)))
      return Buffer.concat([Buffer.from((content.length + 4).toString(16).padStart(4, '0')), content])
    }
    let refs: readonly string[] = []
    const sent: (string | null)[] = []
    vi.stubGlobal('fetch', async (_: string, { method, headers }: RequestInit) => {
      sent.push(new Headers(headers).get('x-for'))
      if (method === 'POST')
        return new Response(Buffer.concat([line('NAK\n'), line('\x01', pack), Buffer.from('0000')]))
      const able = '\0side-band-64k ofs-delta\n'
      const reports =
        refs.length === 0 ? [`${'0'.repeat(40)} capabilities^{}`] : refs.map((name) => `${source.first} ${name}`)
      const lines = reports.map((one, i) => line(`${one}${i === 0 ? able : '\n'}`))
      return new Response(
        Buffer.concat([line('# service=git-upload-pack\n'), Buffer.from('0000'), ...lines, Buffer.from('0000')]),
        { headers: { 'content-type': 'application/x-git-upload-pack-advertisement' } },
      )
    })
    try {
      for (const [inputs, branch] of [
        [['HEAD', 'refs/heads/HEAD', 'refs/heads/next'], 'next'],
        [['HEAD'], 'main'],
      ] as const) {
        refs = inputs
        const backend = memory({})
        const cloned = openRepository({
          backend,
          mayRead: () => true,
          now: () => 0,
          async change(changes) {
            await backend.commit(changes, { durability: 'relaxed' })
          },
        })
        await cloned.clone('http://git.example/x.git', { headers: { 'x-for': 'me' } })
        expect(await cloned.currentBranch()).toBe(branch)
        expect(await cloned.log()).toMatchObject([{ commit: source.first, message: 'first\n' }])
        expect(await cloned.status()).toEqual([])
      }
      expect(sent).toEqual(['me', 'me', 'me', 'me'])
      refs = []
      const backend = memory({})
      const none = openRepository({ backend, mayRead: () => true, now: () => 0, change: async () => {} })
      await expect(none.clone('http://git.example/x.git')).rejects.toMatchObject({
        code: 'NOT_FOUND',
        message: 'Cannot clone: the remote has no such branch',
      })
      expect(await backend.list(path(''))).toEqual([])
    } finally {
      vi.unstubAllGlobals()
    }
  })

  it('compares a backend without a tree: ignored directories, changing contents, many bytes', async () => {
    const { tree: _, fork: __, statDirectories: ___, ...own } = memory({ '.gitignore': 'out/\n', 'a.txt': 'one\n' })
    let reading = own.read
    const backend: Backend = { ...own, read: (of, range) => reading(of, range) }
    const host = { backend, mayRead: () => true, now: () => 0, change: async () => {} }
    const repository = openRepository(host)
    await repository.init()
    await repository.add('.')
    await repository.commit({ message: 'first' })
    const diffs = createWorkspaceDiffs(backend)
    await put(own, 'out/made.js', { type: 'file', bytes: bytesOf('made\n') })
    const everything = { wants: () => true, sees: () => true, knows: () => true, withBinary: () => false }
    await diffs.beforeCommit([{ path: path('b.txt'), expect: 'any', to: null }])
    const paths = async () => (await diffs.diff(everything)).sections.map((section) => section.path)
    expect(await paths()).toEqual([])
    // A file that could not be read during the comparison, and is unchanged, is not reported.
    await put(own, 'a.txt', { type: 'file', bytes: bytesOf('two\n') })
    await put(own, 'a.txt', { type: 'file', bytes: bytesOf('one\n') })
    let missed = 0
    reading = async (of, range) => {
      if (of !== 'a.txt' || missed++ > 0) return own.read(of, range)
      throw gone
    }
    expect(await paths()).toEqual([])
    expect(missed).toBeGreaterThan(1)
    reading = own.read
    // Content that does not fit into the cache during the comparison is read again for the diff.
    for (const name of ['x', 'y', 'z']) {
      await put(own, name, { type: 'file', bytes: new Uint8Array(12 * 1024 * 1024).fill(name.charCodeAt(0)) })
    }
    const changed = await createWorkspaceDiffs(backend).changedFrom(EMPTY_TREE)
    const firsts = await Promise.all(changed.map(async ({ path, now }) => [path, (await now?.bytes())?.at(-1)]))
    expect(firsts.sort()).toEqual([
      ['.gitignore', 10],
      ['a.txt', 10],
      ['x', 0x78],
      ['y', 0x79],
      ['z', 0x7a],
    ])
  })

  it('reports changed, deleted and staged files, and adds only tracked files with tracked', async () => {
    const { backend, repository } = await createRepository()
    await put(backend, 'a.txt', { type: 'file', bytes: bytesOf('two\n') })
    await put(backend, 'b.txt', null)
    await put(backend, 'c.txt', { type: 'file', bytes: bytesOf('c\n') })
    const reported = async () => (await repository.status()).map(({ path, status, staged }) => [path, status, staged])
    expect(await reported()).toEqual([
      ['a.txt', 'modified', false],
      ['b.txt', 'deleted', false],
      ['c.txt', 'added', false],
    ])
    expect((await repository.add('.', { tracked: true })).staged).toEqual(['a.txt', 'b.txt'])
    expect(await reported()).toEqual([
      ['a.txt', 'modified', true],
      ['b.txt', 'deleted', true],
      ['c.txt', 'added', false],
    ])
    // Entries that are restored, or were added and then removed, leave the index.
    await repository.add('c.txt')
    await put(backend, 'c.txt', null)
    await put(backend, 'a.txt', { type: 'file', bytes: bytesOf('one\n') })
    await repository.add('nothing/at/all')
    expect(await reported()).toEqual([['b.txt', 'deleted', true]])
    await repository.add('.', { tracked: true })
    await repository.add('.')
    await put(backend, 'b.txt', { type: 'file', bytes: bytesOf('b\n') })
    await repository.add('.', { tracked: true })
    await repository.add('.')
    expect(await reported()).toEqual([])
  })

  it('deletes branches, but not the current one', async () => {
    const { repository } = await createRepository()
    await repository.branch('other')
    await expect(repository.deleteBranch('main')).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    await expect(repository.deleteBranch('none')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await repository.deleteBranch('other')
    expect(await repository.branches()).toEqual(['main'])
  })

  it('reads only changed files again, if the backend knows that the names are unchanged', async () => {
    const {
      tree: _,
      fork: __,
      statDirectories: ___,
      ...own
    } = memory({ 'a.txt': 'one\n', 'b.txt': 'b\n', 'd/x.txt': 'x\n' })
    const read: string[] = []
    const backend: Backend = {
      ...own,
      async read(of, range) {
        if (!of.startsWith('.git/')) read.push(of)
        return own.read(of, range)
      },
      async statDirectories(directories, cached) {
        const now = await readDirectoryStats(own, directories, cached)
        return now.map((one, i) => {
          const names = cached(directories[i] as Path)?.names
          return one && { ...one, names: names?.join() === one.names.join() ? (names ?? one.names) : one.names }
        })
      },
    }
    const repository = openRepository({ backend, mayRead: () => true, now: () => 0, change: async () => {} })
    await repository.init()
    await repository.add('.')
    await repository.commit({ message: 'first' })
    const diffs = createWorkspaceDiffs(backend)
    const everything = { wants: () => true, sees: () => true, knows: () => true, withBinary: () => false }
    const report = async () => {
      read.length = 0
      const paths = (await diffs.diff(everything)).sections.map((section) => section.path)
      return [paths, [...new Set(read)].sort()]
    }
    await report()
    expect(await report()).toEqual([[], []])
    await put(own, 'a.txt', { type: 'file', bytes: bytesOf('two\n') })
    expect(await report()).toEqual([['a.txt'], ['a.txt']])
    await put(own, 'b.txt', null)
    expect(await report()).toEqual([['a.txt', 'b.txt'], []])
  })

  it('has no current branch if a commit is checked out', async () => {
    const { repository, first } = await createRepository()
    expect(await repository.currentBranch()).toBe('main')
    await repository.checkout(first)
    expect(await repository.currentBranch()).toBe(undefined)
  })

  it('treats files that disappear or cannot be read during a comparison as different', async () => {
    const {
      tree: _,
      fork: __,
      statDirectories: ___,
      ...own
    } = memory({ '.gitignore': 'ignored\n', 'a.txt': 'one\n', 'd/x.txt': 'x\n', ignored: '' }, { clock: () => 1_000 })
    const methods = { ...own }
    const repository = openRepository(
      {
        backend: {
          ...own,
          ...Object.fromEntries(
            ['stat', 'list', 'read'].map((name) => [
              name,
              (...values: []) => (methods[name as 'list'] as (...all: unknown[]) => unknown)(...values),
            ]),
          ),
        } as Backend,
        mayRead: () => true,
        now: () => 1_767_225_600_000,
        async change(changes) {
          await own.commit(changes, { durability: 'relaxed' })
        },
      },
      { author: { name: 'A', email: 'a@example.com' } },
    )
    await repository.init()
    await repository.add('.')
    await repository.commit({ message: 'first' })
    const statuses = async () => (await repository.status()).map(({ path, status }) => [path, status])
    expect(await statuses()).toEqual([])
    // A known directory, and a new one, disappear between being listed and being read.
    await put(own, 'new/y.txt', { type: 'file', bytes: bytesOf('y\n') })
    methods.list = async (of) => {
      if (of === 'd' || of === 'new') throw gone
      return own.list(of)
    }
    expect(await statuses()).toEqual([['d/x.txt', 'deleted']])
    methods.list = own.list
    await put(own, 'new/y.txt', null)
    await put(own, 'new', null)
    // git ignores entries that are not files, links or directories.
    methods.list = async (of) => [
      ...(await own.list(of)),
      ...(of === '' ? [{ name: 'socket', type: 'other' as const }] : []),
    ]
    expect(await statuses()).toEqual([])
    methods.list = own.list
    // An ignore file that cannot be read hides nothing.
    await put(own, '.gitignore', { type: 'file', bytes: bytesOf('ignored\nmore\n') })
    methods.read = async (of, range) => {
      if (of === '.gitignore') throw gone
      return own.read(of, range)
    }
    expect(await statuses()).toEqual([
      ['.gitignore', 'modified'],
      ['ignored', 'added'],
    ])
    methods.read = own.read
    await put(own, '.gitignore', { type: 'file', bytes: bytesOf('ignored\n') })
    // A file is renamed to a name of the same length.
    await put(own, 'a.txt', null)
    await put(own, 'b.txt', { type: 'file', bytes: bytesOf('one\n') })
    expect(await statuses()).toEqual([
      ['a.txt', 'deleted'],
      ['b.txt', 'added'],
    ])
    // A large file differs without being read; a file that cannot be read is not added.
    methods.stat = async (of) => {
      const stat = await own.stat(of)
      return stat && of === 'b.txt' ? { ...stat, size: 1e12, tag: 'large' } : stat
    }
    methods.read = async (of, range) => {
      if (of === 'b.txt') throw gone
      return own.read(of, range)
    }
    expect(await statuses()).toEqual([
      ['a.txt', 'deleted'],
      ['b.txt', 'added'],
    ])
    await expect(repository.add('.')).rejects.toMatchObject({ code: 'FILE_TOO_LARGE' })
  })

  it('restores files and the index from a commit, or files from the index', async () => {
    const { backend, repository, first } = await createRepository()
    const statuses = async () => (await repository.status()).map(({ path, status, staged }) => [path, status, staged])
    await put(backend, 'a.txt', { type: 'file', bytes: bytesOf('two\n') })
    await put(backend, 'new.txt', { type: 'file', bytes: bytesOf('n\n') })
    await repository.add('.')
    await repository.restore(['.'], { from: first, only: 'index' })
    expect(await statuses()).toEqual([
      ['a.txt', 'modified', false],
      ['new.txt', 'added', false],
    ])
    await repository.restore(['.'], { only: 'index' })
    await repository.add('.')
    await repository.restore(['.'], { from: first, overlay: true })
    expect(await statuses()).toEqual([['new.txt', 'added', true]])
    await repository.restore(['.'], { from: first })
    expect(await statuses()).toEqual([])
    await put(backend, 'b.txt', null)
    await repository.restore(['b.txt'])
    await repository.restore(['b.txt'])
    expect(await statuses()).toEqual([])
    await expect(repository.restore(['none'])).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('incomplete objects', () => {
  const files = {
    list: async (folder: string) =>
      folder === 'objects/pack' ? ['gone.idx', 'x.pack'] : ['c'.repeat(38), 'd'.repeat(38), 'cc'],
    read: async () => undefined,
    stat: async () => undefined,
  } as unknown as GitFiles

  it('are found by a prefix of their id, and are missing if their file is missing', async () => {
    const objects = openObjects(files)
    expect(await objects.complete('abcc')).toBe(`ab${'c'.repeat(38)}`)
    for (const prefix of ['abee', 'ab', 'zzzz', 'abc'.repeat(20)])
      expect(await objects.complete(prefix)).toBeUndefined()
    expect(await objects.read('no id')).toBeUndefined()
    expect(await objects.read('a'.repeat(40))).toBeUndefined()
    await expect(objects.need('a'.repeat(40), 'blob')).rejects.toThrow(`object ${'a'.repeat(40)} is missing`)
  })
})

describe('the mode of a file', () => {
  it('is the mode of the base if the file has no permission bits', () => {
    expect([gitMode(undefined, EXECUTABLE), gitMode(undefined, FILE), gitMode(undefined, undefined)]).toEqual([
      ...[EXECUTABLE, FILE, FILE],
    ])
    expect([gitMode(0o755, FILE), gitMode(0o644, EXECUTABLE)]).toEqual([EXECUTABLE, FILE])
  })
})
