import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { ToolError } from '../../src/errors.ts'
import { classifyPath } from '../../src/files/classify/index.ts'
import { createDocumentCache } from '../../src/files/text/document.ts'
import { AccessIndex, coveringAccess } from '../../src/guard/access-index.ts'
import { classifyBoth } from '../../src/guard/guard-accesses.ts'
import { createGuardedFiles } from '../../src/guard/guarded-files.ts'
import type { LogicalPath, Path } from '../../src/paths/logical-path.ts'
import type { GuardedAccess } from '../../src/policy/access.ts'
import type { Backend, Change, EntryState } from '../../src/storage/backend.ts'
import { canonical } from '../../src/storage/canonical-path.ts'
import { mounts } from '../../src/storage/mounts.ts'
import { readOnly } from '../../src/storage/read-only.ts'
import { forEachDifference, withNodeAt } from '../../src/storage/tree.ts'
import { walk } from '../../src/storage/walk.ts'
import { faulty } from '../../src/testing/index.ts'

const at = (path: string): Path => path as Path
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const broken = new Error('broken')

function access(path: string, more: Partial<GuardedAccess> = {}): GuardedAccess {
  return {
    permission: 'file:read',
    asked: path as LogicalPath,
    path: at(path),
    classification: classifyPath(path as LogicalPath),
    recursive: false,
    ...more,
  }
}

function viewOf(backend: Backend, accesses: readonly GuardedAccess[], hidden: readonly string[] = []) {
  return createGuardedFiles({
    backend,
    accesses,
    documents: createDocumentCache(1000),
    describesFiles: false,
    notesVisits: false,
    showsStats: false,
    requireAllowed: () => {},
    visibility: () => ({ see: (path: Path) => !hidden.includes(path), enter: () => true, revision: 'all' }),
    signal: undefined,
    onRead: () => {},
    onTarget: () => {},
  })
}

const everything = { includeHidden: true, includeIgnored: true }

describe('guarded files', () => {
  it('reach granted paths only', async () => {
    const view = viewOf(memory({ 'a.txt': 'a', 'd/b.txt': 'b', 'dd/c.txt': 'c' }), [
      access('a.txt'),
      access('d', { recursive: true }),
    ])
    expect((await view.stat(at('d/b.txt')))?.size).toBe(1)
    const refused = { code: 'POLICY_DENIED', message: '"dd/c.txt" was not part of the plan of the call' }
    expect(() => view.stat(at('dd/c.txt'))).toThrow(expect.objectContaining(refused))
    await expect(view.read(at('dd/c.txt'), 10)).rejects.toMatchObject(refused)
    await expect(
      view.scan(
        [at('dd/c.txt')],
        () => true,
        () => true,
      ),
    ).rejects.toMatchObject(refused)
    await expect(view.candidates(at('dd'), everything)).rejects.toMatchObject({ code: 'POLICY_DENIED' })
  })

  it('return a file as start of a walk, or nothing if it is hidden', async () => {
    const backend = memory({ 'a.txt': 'a', 'b.txt': 'b' })
    const view = viewOf(backend, [access('a.txt'), access('b.txt')], ['b.txt'])
    expect(await view.candidates(at('a.txt'), everything)).toEqual(['a.txt'])
    expect(await view.candidates(at('b.txt'), everything)).toEqual([])
  })

  it('walk to the requested depth, and until they are cancelled', async () => {
    const view = viewOf(memory({ 'd/e/f.txt': 'x' }), [access('d', { recursive: true })])
    const names = async (depth?: number) => {
      const paths: string[] = []
      for await (const { path } of view.walk(at('d'), 'list', everything, depth)) paths.push(path)
      return paths
    }
    expect(await names(1)).toEqual(['d/e'])
    expect(await names()).toEqual(['d/e', 'd/e/f.txt'])
  })

  it('scan files one by one without a scan of the backend, until the visitor stops', async () => {
    const own = memory({ 'a.txt': 'a', 'b.txt': 'b', 'c.txt': 'c' })
    await own.commit([{ path: at('d'), expect: 'any', to: { type: 'directory' } }], { durability: 'relaxed' })
    const { scan: _, ...plain } = own
    const paths = ['a.txt', 'd', 'gone.txt', 'b.txt', 'c.txt'].map(at)
    for (const backend of [own, plain]) {
      const view = viewOf(
        backend,
        paths.map((path) => access(path)),
      )
      const seen: string[] = []
      const visit = (until: string) => (path: Path, bytes: Uint8Array) => {
        seen.push(`${path} ${new TextDecoder().decode(bytes)}`)
        return path !== until
      }
      const files = backend === own ? paths.filter((path) => /^[abc]/.test(path)) : paths
      await view.scan(files, () => true, visit(''))
      await view.scan(files, (path) => path !== 'a.txt', visit('b.txt'))
      await view.scan(files, (path) => (path === 'b.txt' ? undefined : true), visit(''))
      expect(seen).toEqual(['a.txt a', 'b.txt b', 'c.txt c', 'b.txt b', 'a.txt a'])
    }
  })

  it('emptiedDirectories skips paths that are no longer directories', async () => {
    const base = memory({ 'd/e/f.txt': 'x', 'g/h.txt': 'y' })
    const backend: Backend = {
      ...base,
      stat: async (path) => (path === 'g' ? { type: 'file', size: 1, tag: 'other' } : base.stat(path)),
    }
    const view = viewOf(backend, [access('d/e/f.txt'), access('g/h.txt')])
    const emptied = async (kept: string[]) =>
      (await view.emptiedDirectories(['d/e/f.txt', 'g/h.txt'].map(at), new Set(kept.map(at)))).map(({ path }) => path)
    expect(await emptied([])).toEqual(['d/e', 'd'])
    expect(await emptied(['d'])).toEqual(['d/e'])
  })
})

describe('grants', () => {
  it('classify by the stricter of two names', () => {
    const kind = (requestedPath: string, path: string) => classifyBoth(requestedPath as LogicalPath, at(path)).kind
    expect(kind('a.txt', 'a.txt')).toBe(classifyPath('a.txt' as LogicalPath).kind)
    expect(kind('.env', 'a.txt')).toBe('SECRET_LIKE')
    expect(kind('a.txt', '.env')).toBe('SECRET_LIKE')
    expect(kind('.git/config', '.env')).toBe('GIT_INTERNAL')
    expect(kind('.env', '.git/config')).toBe('GIT_INTERNAL')
    expect(kind('dist/a.js', 'package-lock.json')).toBe('GENERATED')
    expect(kind('package-lock.json', 'dist/a.js')).toBe('GENERATED')
    expect(kind('package-lock.json', 'a.txt')).toBe('LOCKFILE')
    // A file that is binary by its name is not read as text. This removes no other protection.
    for (const protection of ['.env', 'dist/a.js', 'vendor/a.c', 'package-lock.json', '.git/config']) {
      expect(kind(protection, 'a.png')).toBe(kind(protection, protection))
      expect(kind('a.png', protection)).toBe(kind(protection, protection))
    }
    expect(kind('a.png', 'a.txt')).toBe('BINARY')
    expect(kind('a.txt', 'a.png')).toBe('BINARY')
    expect(kind('a.txt', 'package-lock.json')).toBe('LOCKFILE')
  })

  it('cover a change, its new parents, and directories above that become empty', () => {
    const granted = [access('d/e/f.txt', { permission: 'file:write:create' })]
    const change = (path: string, to: EntryState, expectation: Change['expect'] = 'any'): Change => ({
      path: at(path),
      expect: expectation,
      to,
    })
    const index = new AccessIndex(granted)
    expect(coveringAccess(index, change('d/e/f.txt', null), null)).toBe(granted[0])
    expect(coveringAccess(index, change('d/e', { type: 'directory' }), null)).toBeUndefined()
    expect(coveringAccess(index, change('d', null, { tag: '1' }), { type: 'directory' })).toBeUndefined()
    for (const other of [
      change('x', null),
      change('x', { type: 'directory' }),
      change('d/e', { type: 'directory' }, 'absent'),
      change('d', { type: 'link', target: 'x' }),
    ]) {
      expect(() => coveringAccess(index, other, null)).toThrow('was not part of the plan of the call')
    }
  })
})

describe('a read-only backend', () => {
  it('keeps the capabilities of the backend', async () => {
    const backend = memory({ 'a.txt': 'a' })
    const able = {
      ...backend,
      seen: [] as string[],
      statDirectories(this: { seen: string[] }) {
        this.seen.push('statDirectories')
        return []
      },
      walk(this: { seen: string[] }) {
        this.seen.push('walk')
      },
      containsPhysicalPath(this: { seen: string[] }, path: string) {
        this.seen.push(path)
        return true
      },
    }
    const reading = readOnly(able as never)
    expect(await reading.statDirectories?.([], () => undefined)).toEqual([])
    await reading.walk?.(at('x'), {} as never)
    expect(reading.containsPhysicalPath?.('/x')).toBe(true)
    expect(able.seen).toEqual(['statDirectories', 'walk', '/x'])
    const { scan: _scan, tree: _tree, fork: _fork, statDirectories: _glance, ...plain } = backend
    expect(Object.keys(readOnly(plain))).not.toContain('scan')
  })
})

describe('an error of a backend', () => {
  const throwing = (error: unknown): Backend => {
    const { tree: _tree, scan: _scan, ...own } = memory({ 'd/.gitignore': 'x', 'd/a.txt': 'a' })
    return {
      ...own,
      async stat(path) {
        if (path === 'way/a.txt') throw error
        return path === 'way' ? { type: 'link', size: 1, tag: 'x' } : own.stat(path)
      },
      readLink: async () => 'd',
      async read(path, range) {
        if (path === 'd/.gitignore') throw error
        return own.read(path, range)
      },
    }
  }

  it('rejects a link if it is a refusal, and passes through otherwise', async () => {
    for (const code of ['PATH_REJECTED', 'NOT_A_DIRECTORY'] as const) {
      expect(await canonical(throwing(new ToolError(code, 'no')), 'way/a.txt' as LogicalPath)).toBe('d/a.txt')
    }
    for (const error of [broken, new ToolError('BACKEND_ERROR', 'no')]) {
      await expect(canonical(throwing(error), 'way/a.txt' as LogicalPath)).rejects.toBe(error)
    }
  })

  it('when reading an ignore file hides nothing if it is a refusal, and passes through otherwise', async () => {
    const names = async (error: unknown) => {
      const paths: string[] = []
      const options = {
        filters: { includeHidden: false, includeIgnored: false },
        see: () => true,
        enter: () => true,
        revision: 'all',
      }
      for await (const { path } of walk(throwing(error), at('d'), options)) paths.push(path)
      return paths
    }
    expect(await names(new ToolError('FILE_TOO_LARGE', 'large'))).toEqual(['d/a.txt'])
    await expect(names(broken)).rejects.toBe(broken)
    const aborted = new ToolError('ABORTED', 'stop')
    await expect(names(aborted)).rejects.toBe(aborted)
  })

  it('passes through a mount unchanged if it is not a refusal of a path', async () => {
    const part = { ...memory({ 'a.txt': 'a' }) }
    const whole = (error: unknown) =>
      mounts({
        '': memory(),
        m: {
          ...part,
          read: async () => {
            throw error
          },
        },
      })
    await expect(whole(broken).read(at('m/a.txt'))).rejects.toBe(broken)
    const general = new ToolError('BACKEND_ERROR', 'no')
    await expect(whole(general).read(at('m/a.txt'))).rejects.toBe(general)
    await expect(
      whole(new ToolError('BACKEND_ERROR', 'no', { path: at('a.txt') })).read(at('m/a.txt')),
    ).rejects.toMatchObject({
      details: { path: 'm/a.txt' },
    })
  })
})

describe('several mounts', () => {
  const lasting = (backend: Backend): Backend => ({
    ...backend,
    capabilities: { ...backend.capabilities, persistent: true },
  })
  const plain = (backend: Backend): Backend => {
    const { scan: _scan, tree: _tree, ...rest } = backend
    return rest
  }

  it('contain the files of each mount', () => {
    const holding: Backend = { ...memory(), containsPhysicalPath: (path) => path === '/there' }
    const backend = mounts({ '': memory(), a: holding, b: memory() })
    expect([backend.containsPhysicalPath?.('/there'), backend.containsPhysicalPath?.('/elsewhere')]).toEqual([
      true,
      false,
    ])
  })

  it('are scanned in order until the visitor stops, without directories', async () => {
    const backend = mounts({
      '': plain(memory({ 'r.txt': 'r', 'd/x': 'x' })),
      bb: plain(memory({ '1': 'b1', '2': 'b2' })),
      aa: memory({ '1': 'a1' }),
    })
    const visited: string[] = []
    const scan = (until: string, ...paths: string[]) =>
      backend.scan?.(paths.map(at), (path) => {
        visited.push(path)
        return path !== until
      })
    await scan('', 'r.txt', 'd', 'gone', 'bb', 'bb/1', 'bb/2', 'aa/1')
    await scan('bb/1', 'r.txt', 'bb/1', 'bb/2', 'aa/1')
    expect(visited).toEqual(['r.txt', 'bb/1', 'bb/2', 'aa/1', 'r.txt', 'bb/1'])
  })

  it('show a tree with sorted entries, including mounts', async () => {
    const tree = mounts({ '': memory({ b: '1', d: '2' }), c: memory({ x: '3' }), a: memory(), e: memory() }).tree?.()
    expect([...(tree?.entries() ?? [])].map(([name]) => name)).toEqual(['a', 'b', 'c', 'd', 'e'])
  })

  it('roll back the first commit, directories included, if another is refused', async () => {
    const first = memory({ 'a.txt': 'a', 'd/x.txt': 'x' })
    const second = lasting(faulty(memory(), { on: 'commit', from: 1, error: 'NO_SPACE' }))
    const backend = mounts({ '': first, m: second })
    const set = (to: EntryState): Change[] => [
      { path: at('d'), expect: 'any', to: { type: 'directory' } },
      { path: at('a.txt'), expect: 'any', to },
      { path: at('m/y'), expect: 'any', to: { type: 'file', bytes: bytesOf('y') } },
    ]
    await expect(
      backend.commit(set({ type: 'file', bytes: bytesOf('b') }), { durability: 'relaxed' }),
    ).rejects.toMatchObject({
      code: 'NO_SPACE',
    })
    expect(new TextDecoder().decode((await first.read(at('a.txt'))).bytes)).toBe('a')
    expect((await first.stat(at('d/x.txt')))?.type).toBe('file')
  })

  it('report a conflict with another writer', async () => {
    for (const other of [null, { type: 'file', bytes: bytesOf('other') }] as const) {
      const first = memory({ 'a.txt': 'a' })
      const second = lasting({
        ...memory(),
        async commit() {
          await first.commit([{ path: at('a.txt'), expect: 'any', to: other }], { durability: 'relaxed' })
          throw new ToolError('NO_SPACE', 'full')
        },
      })
      const backend = mounts({ '': first, m: second })
      const set: Change[] = [
        { path: at('a.txt'), expect: 'any', to: { type: 'file', bytes: bytesOf('mine!') } },
        { path: at('m/y'), expect: 'any', to: { type: 'file', bytes: bytesOf('y') } },
      ]
      await expect(backend.commit(set, { durability: 'relaxed' })).rejects.toThrow('another writer came in between')
    }
  })
})

describe('a tree', () => {
  it('accepts no entry below a file', () => {
    const root = memory({ 'a.txt': 'a' }).tree?.()
    if (root === undefined) throw new Error('no tree')
    const touch = () => root.stat
    expect(withNodeAt(root, at('a.txt/x'), undefined, touch)).toBe(root)
    expect(() => withNodeAt(root, at('a.txt/x'), root, touch)).toThrow('must be a directory')
    expect(() => withNodeAt(root, at('none/x'), root, touch)).toThrow('must be a directory')
  })

  it('differs from an unrelated tree in all entries', () => {
    const root = memory({ 'a.txt': 'a' }).tree?.()
    if (root === undefined) throw new Error('no tree')
    const foreign = { type: 'directory' as const, stat: root.stat, get: () => undefined, entries: function* () {} }
    const differences: unknown[][] = []
    forEachDifference(root, foreign as never, ((...difference: unknown[]) => differences.push(difference)) as never)
    forEachDifference(foreign as never, root, ((...difference: unknown[]) => differences.push(difference)) as never)
    expect(differences.length).toBe(2)
  })
})
