import { Volume } from 'memfs'
import { describe, expect, it } from 'vitest'
import { memfs } from '../../src/backends/memfs/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { ToolError } from '../../src/errors.ts'
import type { Backend, DirectoryNode } from '../../src/storage/backend.ts'
import { mounts } from '../../src/storage/mounts.ts'
import { readOnly } from '../../src/storage/read-only.ts'
import {
  at,
  change,
  commit,
  directory,
  file,
  link,
  snapshot,
  textAt,
  WRONG_SHA,
} from '../../src/testing/backend/case.ts'
import { faulty } from '../../src/testing/index.ts'

const refusal = async (action: Promise<unknown>): Promise<ToolError> => {
  const error = await action.then(
    () => undefined,
    (reason) => reason,
  )
  expect(error).toBeInstanceOf(ToolError)
  return error
}
const codeOf = async (action: Promise<unknown>) => (await refusal(action)).code
/** The same backend, declared as persistent. */
const lasting = (backend: Backend): Backend => ({
  ...backend,
  capabilities: { ...backend.capabilities, persistent: true },
})

describe('mounts()', () => {
  it('shows one tree, with mount points that the backend below lacks', async () => {
    const backend = mounts({
      '': memory({ a: '1', 'z/x': '2' }),
      'notes/mine': memory({ n: '3' }),
      'z/deep/er': memory({ d: '4' }),
    })
    expect([...(await snapshot(backend)).keys()].sort()).toEqual([
      'a',
      'notes',
      'notes/mine',
      'notes/mine/n',
      'z',
      'z/deep',
      'z/deep/er',
      'z/deep/er/d',
      'z/x',
    ])
    expect(await textAt(backend, 'z/deep/er/d')).toBe('4')
    for (const path of ['notes', 'notes/mine', 'z/deep', 'z/deep/er']) {
      expect((await backend.stat(at(path)))?.type, path).toBe('directory')
      expect(await backend.canonical(at(path))).toBe(path)
      expect(await codeOf(backend.read(at(path)))).toBe('IS_DIRECTORY')
      expect(await codeOf(backend.readLink(at(path)))).toBe('IS_DIRECTORY')
    }
  })

  it('uses the mount with the longest path, and hides the files of the backend below it', async () => {
    const root = memory({ 'notes/hidden': 'x', 'notes/in/hidden': 'x', other: { link: 'notes/hidden' } })
    const backend = mounts({ '': root, notes: memory({ seen: '1' }), 'notes/in': memory({ inner: '2' }) })
    expect([...(await snapshot(backend)).keys()].sort()).toEqual([
      'notes',
      'notes/in',
      'notes/in/inner',
      'notes/seen',
      'other',
    ])
    expect(await backend.stat(at('notes/hidden'))).toBeUndefined()
    expect(await codeOf(backend.read(at('notes/hidden')))).toBe('NOT_FOUND')
    await commit(backend, change('notes/hidden', file('above')))
    expect(await textAt(root, 'notes/hidden')).toBe('x')
  })

  it('shows a directory in place of a file or link that is a parent of a mount', async () => {
    const backend = mounts({
      '': memory({ x: 'file', y: { link: 'x' } }),
      'x/m': memory({ f: '1' }),
      'y/m': memory({ f: '2' }),
    })
    expect([...(await snapshot(backend)).keys()].sort()).toEqual(['x', 'x/m', 'x/m/f', 'y', 'y/m', 'y/m/f'])
    expect((await backend.stat(at('x')))?.type).toBe('directory')
  })

  it('routes each change to its backend, and returns the receipt in order with full paths', async () => {
    const root = memory()
    const notes = memory()
    const backend = mounts({ '': root, notes })
    const { applied } = await commit(
      backend,
      change('notes/a', file('1')),
      change('b', file('2')),
      change('notes', directory),
      change('notes/d', directory),
    )
    expect(applied.map(({ path }) => path)).toEqual(['notes/a', 'b', 'notes', 'notes/d'])
    expect(applied[2]?.before).toBe(applied[2]?.after)
    expect(await snapshot(notes)).toEqual(
      new Map([
        ['a', `file ${0o644} 1 1`],
        ['d', 'directory'],
      ]),
    )
    expect([...(await snapshot(root)).keys()]).toEqual(['b'])
  })

  it('creates the parents of a mount in the backend below when a file is written there', async () => {
    const root = memory()
    const backend = mounts({ '': root, 'x/y/m': memory() })
    const { applied } = await commit(backend, change('x/y/f', file('1')))
    expect(applied.map(({ path }) => path)).toEqual(['x/y/f'])
    expect([...(await snapshot(root)).keys()].sort()).toEqual(['x', 'x/y', 'x/y/f'])
    expect(await codeOf(commit(backend, change('x/none/f', file('1'))))).toBe('NOT_FOUND')
  })

  it('refuses to write, delete or replace a mount point or a parent of one', async () => {
    const backend = mounts({ '': memory(), 'x/m': memory({ f: '1' }) })
    const before = await snapshot(backend)
    for (const path of ['x', 'x/m']) {
      for (const to of [null, file('x'), link('y')]) {
        expect(await codeOf(commit(backend, change(path, to))), path).toBe('POLICY_DENIED')
        expect(await codeOf(commit(backend, change('new', file('1')), change(path, to))), path).toBe('POLICY_DENIED')
      }
      expect(await codeOf(commit(backend, change(path, directory, 'absent')))).toBe('ALREADY_EXISTS')
      expect(await codeOf(commit(backend, change(path, directory, WRONG_SHA)))).toBe('WRITE_CONFLICT')
      await commit(backend, change(path, directory))
      await commit(backend, change(path, directory, { tag: (await backend.stat(at(path)))?.tag ?? '' }))
    }
    expect(await codeOf(commit(backend, change('x', null), change('x/m', null), change('x/m/f', null)))).toBe(
      'POLICY_DENIED',
    )
    expect(await snapshot(backend)).toEqual(before)
  })

  it('keeps links within their backend', async () => {
    const root = memory({
      'd/f': '1',
      toNotes: { link: 'notes/n' },
      toMount: { link: 'notes' },
      fine: { link: 'd/f' },
      up: { link: '.' },
    })
    const notes = memory({ n: '2', own: { link: 'n' }, top: { link: '.' } })
    const backend = mounts({ '': root, notes })
    expect(await backend.canonical(at('fine'))).toBe('d/f')
    expect(await backend.canonical(at('notes/own'))).toBe('notes/n')
    expect(await backend.canonical(at('notes/top'))).toBe('notes')
    expect(await backend.canonical(at('notes/top/new'))).toBe('notes/new')
    expect(await backend.canonical(at('toNotes'), { noFollow: true })).toBe('toNotes')
    for (const path of ['toNotes', 'toMount', 'toMount/n', 'up/notes', 'up/notes/n']) {
      expect(await codeOf(backend.canonical(at(path))), path).toBe('PATH_REJECTED')
    }
    for (const [path, target] of [
      ['notes/l', '../d/f'],
      ['notes/l', '..'],
      ['l', 'notes/n'],
      ['l', 'notes'],
      ['d/l', '../notes/n'],
    ] as const) {
      expect(await codeOf(commit(backend, change(path, link(target)))), `${path} to ${target}`).toBe('PATH_REJECTED')
    }
    await commit(backend, change('notes/l', link('n')), change('d/l', link('f')))
    expect(await notes.readLink(at('l'))).toBe('n')
  })

  it('reports errors with full paths', async () => {
    const backend = mounts({ '': memory(), 'a/notes': memory({ f: 'x', l: { link: 'l' } }) })
    const actions: [Promise<unknown>, string, string][] = [
      [backend.read(at('a/notes/none')), 'a/notes/none', 'Cannot read "a/notes/none": it does not exist'],
      [backend.list(at('a/notes/f')), 'a/notes/f', 'Cannot list "a/notes/f": it is a file'],
      [backend.canonical(at('a/notes/l')), 'a/notes/l', 'Path "a/notes/l" leads through too many links'],
      [
        commit(backend, change('a/notes/f', file('y'), 'absent')),
        'a/notes/f',
        'Cannot create "a/notes/f": it already exists',
      ],
    ]
    for (const [action, path, message] of actions) {
      const error = await refusal(action)
      expect(error.details.path).toBe(path)
      expect(error.message).toBe(message)
    }
  })

  it('refuses a set over two persistent backends, and accepts one persistent with volatile ones', async () => {
    const [a, b, c] = [memory(), memory(), memory()]
    const backend = mounts({ '': lasting(a), b: lasting(b), c })
    const error = await refusal(
      commit(backend, change('x', file('1')), change('b/x', file('2')), change('c/x', file('3'))),
    )
    expect(error.code).toBe('INVALID_INPUT')
    expect(error.message).toContain('two persistent mounts')
    for (const part of [a, b, c]) expect(await snapshot(part)).toEqual(new Map())
    await commit(backend, change('x', file('1')), change('c/x', file('3')))
    await commit(backend, change('b/x', file('2')), change('c/y', file('3')))
    expect([...(await snapshot(backend)).keys()].sort()).toEqual(['b', 'b/x', 'c', 'c/x', 'c/y', 'x'])
  })

  it('counts persistent backends of nested mounts', async () => {
    const backend = mounts({ '': lasting(memory()), in: mounts({ '': memory(), b: lasting(memory()) }) })
    expect(await codeOf(commit(backend, change('x', file('1')), change('in/b/x', file('2'))))).toBe('INVALID_INPUT')
    await commit(backend, change('x', file('1')), change('in/x', file('2')))
    expect(await codeOf(commit(backend, change('in/b', null)))).toBe('POLICY_DENIED')
  })

  it.each([
    ['memory', () => memory()],
    ['memfs', () => memfs(new Volume())],
  ])('leaves nothing half done when one of several backends refuses (%s)', async (_, make) => {
    const parts = [make(), make(), make()] as const
    const fill = [
      change('f', file('old', 0o755)),
      change('d', directory),
      change('d/x', file('x')),
      change('l', link('f')),
    ]
    for (const part of parts) await commit(part, ...fill)
    const backend = mounts({ '': lasting(parts[0]), b: parts[1], c: parts[2] })
    const before = await snapshot(backend)
    const everything = (at_: string) => [
      change(`${at_}f`, directory, { sha256: '' }),
      change(`${at_}new`, file('n')),
      change(`${at_}d/x`, null),
      change(`${at_}d`, null),
      change(`${at_}l`, file('no link')),
      change(`${at_}e`, directory),
      change(`${at_}e/f`, file('e')),
    ]
    const sha256 = (await commit(parts[0], change('probe', file('old')))).applied[0]?.after
    await commit(parts[0], change('probe', null))
    if (sha256?.type !== 'file') throw new Error('no file')
    const good = (at_: string) =>
      everything(at_).map((one) => (one.path === `${at_}f` ? { ...one, expect: { sha256: sha256.sha256 } } : one))
    for (const bad of ['', 'b/', 'c/']) {
      const set = [...good('b/'), ...good('c/'), ...good(''), change(`${bad}wrong`, file('x'), WRONG_SHA)]
      expect(await codeOf(commit(backend, ...set))).toBe('WRITE_CONFLICT')
      expect(await snapshot(backend)).toEqual(before)
    }
    await commit(backend, ...good('b/'), ...good('c/'), ...good(''))
    expect([...(await snapshot(backend)).keys()].filter((path) => path.endsWith('e/f'))).toHaveLength(3)
  })

  it('keeps the changes of another writer when a set is rolled back, and reports them', async () => {
    const side = memory({ f: 'old' })
    const main = memory()
    const racing = faulty(lasting(main), {
      on: 'commit',
      run: () => commit(side, change('f', file('of another writer'))),
      error: 'NO_SPACE',
    })
    const backend = mounts({ '': racing, m: side })
    const error = await refusal(commit(backend, change('x', file('1')), change('m/f', file('2'))))
    expect(error.code).toBe('BACKEND_ERROR')
    expect(error.message).toContain('"m"')
    expect(error.details.hint).toContain('stayed')
    expect(await textAt(side, 'f')).toBe('of another writer')
  })

  it('restores files without permission bits', async () => {
    const own = memory({ a: 'old' })
    const bare: Backend = {
      ...own,
      async stat(path) {
        const { mode: _, ...stat } = (await own.stat(path)) ?? { type: 'other', size: 0, tag: '' }
        return stat.type === 'other' ? undefined : stat
      },
    }
    const backend = mounts({ '': bare, m: faulty(memory(), { on: 'commit', error: 'NO_SPACE' }) })
    const both = commit(backend, change('a', file('new')), change('m/b', file('x')))
    await expect(both).rejects.toMatchObject({ code: 'NO_SPACE' })
    expect(await textAt(own, 'a')).toBe('old')
  })

  it('leaves a read-only part unchanged', async () => {
    const backend = mounts({ '': memory(), fixed: readOnly(memory({ f: '1' })) })
    expect(await codeOf(commit(backend, change('new', file('x')), change('fixed/f', null)))).toBe('READ_ONLY')
    expect([...(await snapshot(backend)).keys()].sort()).toEqual(['fixed', 'fixed/f'])
  })

  it('runs commits over several backends one after another', async () => {
    const backend = mounts({ '': memory(), b: memory() })
    await Promise.all(
      Array.from({ length: 20 }, (_, i) => commit(backend, change('f', file(`${i}`)), change('b/f', file(`${i}`)))),
    )
    expect(await textAt(backend, 'f')).toBe(await textAt(backend, 'b/f'))
  })

  it('scans all backends in the given order', async () => {
    const { scan: _, ...without } = memory({ g: '4' })
    const backend = mounts({ '': memory({ a: '1', b: '2' }), m: memory({ f: '3' }), n: without })
    const paths: string[] = []
    await backend.scan?.(
      ['b', 'm/f', 'n/g', 'm', 'none', 'a', 'm/none', 'm/f'].map(at),
      (path, bytes) => paths.push(`${path}=${new TextDecoder().decode(bytes)}`) < 5,
    )
    expect(paths).toEqual(['b=2', 'm/f=3', 'n/g=4', 'a=1', 'm/f=3'])
    const first: string[] = []
    await backend.scan?.(['b', 'm/f', 'n/g'].map(at), (path) => first.push(path) < 2)
    expect(first).toEqual(['b', 'm/f'])
  })

  it('has a tree if all parts have one, with nodes that stay the same while the parts do', async () => {
    const notes = memory({ n: '1' })
    const backend = mounts({
      '': memory({ 'x/a': '1', z: '2', '__proto__/f': '3' }),
      'x/notes': notes,
      'v/w': memory(),
    })
    const tree = () => backend.tree?.() as DirectoryNode
    const first = tree()
    expect(tree()).toBe(first)
    async function compare(path: string, node: DirectoryNode): Promise<void> {
      expect(
        Array.from(node.entries(), ([name, { type }]) => ({ name, type })),
        path,
      ).toEqual(await backend.list(at(path)))
      for (const [name, child] of node.entries()) {
        expect(node.get(name)).toBe(child)
        if (child.type === 'directory') await compare(path === '' ? name : `${path}/${name}`, child)
      }
    }
    await compare('', first)
    await commit(backend, change('x/notes/m', file('2')))
    const second = tree()
    expect(second).not.toBe(first)
    expect(second.get('x')).not.toBe(first.get('x'))
    expect(second.get('v')).toBe(first.get('v'))
    expect(second.get('__proto__')).toBe(first.get('__proto__'))
    await compare('', second)
    expect(first.get('x')).toMatchObject({ type: 'directory' })
    expect(mounts({ '': memory(), m: memfs(new Volume()) }).tree).toBeUndefined()
  })

  it('forks if all parts do', async () => {
    const backend = mounts({ '': memory({ a: '1' }), m: memory({ b: '2' }) })
    const fork = backend.fork?.() as Backend
    await commit(fork, change('m/b', file('3')))
    expect([await textAt(backend, 'm/b'), await textAt(fork, 'm/b')]).toEqual(['2', '3'])
    expect(mounts({ '': memory(), m: memfs(new Volume()) }).fork).toBeUndefined()
  })

  it('declares a capability only if all parts have it, and links if any has', () => {
    const full = memory()
    const poor: Backend = {
      ...full,
      capabilities: {
        links: false,
        modes: false,
        times: 'none',
        caseSensitive: false,
        authority: 'shared',
        persistent: true,
        atomic: 'file',
      },
    }
    expect(mounts({ '': full, m: full }).capabilities).toEqual(full.capabilities)
    expect(mounts({ '': full, m: poor }).capabilities).toEqual({
      links: true,
      modes: false,
      times: 'none',
      caseSensitive: false,
      authority: 'shared',
      persistent: false,
      atomic: 'file',
    })
  })

  it('throws a TypeError for invalid tables', () => {
    expect(() => mounts({})).toThrow(TypeError)
    expect(() => mounts({ a: memory() })).toThrow(TypeError)
    for (const path of ['/abs', '../up', 'a\\b', 'c:x'])
      expect(() => mounts({ '': memory(), [path]: memory() }), path).toThrow(TypeError)
    expect(() => mounts({ '': memory(), 'a/b': memory(), 'a//b': memory() })).toThrow(TypeError)
    expect(() => mounts({ '': memory(), '.': memory() })).toThrow(TypeError)
    expect(() => mounts({ '': memory(), 'a/b': memory(), a: mounts({ '': memory(), b: memory() }) })).toThrow(TypeError)
  })
})
