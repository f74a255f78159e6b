import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { overlay } from '../../src/backends/overlay/index.ts'
import { sha256Text } from '../../src/files/hash/sha256.ts'
import type { Backend, DirectoryNode } from '../../src/storage/backend.ts'
import { at, change, commit, directory, file, snapshot, textAt } from '../../src/testing/backend/case.ts'
import { backendContract, registerContract } from '../../src/testing/index.ts'
import { scale } from '../contract/scale.ts'
import { isLong } from '../counts.ts'

let base = ''
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'overlay-')))
  for (const name of ['root', 'upper']) mkdirSync(join(base, name))
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

const disk = (name: string) => nodeBackend(join(base, name), { stateDir: join(base, `${name}-state`) })

registerContract(
  'an overlay stored on disk, over disk',
  // Slow for each file.
  backendContract({
    scale,
    name: 'overlay',
    create: () => ({
      backend: overlay(disk('root'), disk('upper')),
      reopen: () => overlay(disk('root'), disk('upper')),
      physical: base,
    }),
  }),
  { describe, it },
)

registerContract(
  'an overlay over an overlay',
  // An overlay over memory runs all cases: `test/contract/backends.test.ts`. In `npm test`, this one runs every second one.
  backendContract({ name: 'overlay', create: () => ({ backend: overlay(overlay(memory())) }) }).filter(
    (_, index) => isLong || index % 2 === 0,
  ),
  { describe, it },
)

const below = () =>
  memory({
    'a.txt': 'a\n',
    'd/x': 'x\n',
    'd/sub/y': 'y\n',
    'run.sh': { text: '#!/bin/sh\n', mode: 0o755 },
    link: { link: 'a.txt' },
    empty: { directory: true },
  })

async function acceptAll(draft: ReturnType<typeof overlay>) {
  return draft.accept(await draft.pending(), { durability: 'durable' })
}

describe('an overlay', () => {
  it('never writes to lower before accept', async () => {
    const lower = below()
    const before = lower.tree()
    const draft = overlay(lower)
    await commit(
      draft,
      change('a.txt', file('new')),
      change('d/x', null),
      change('d/sub/y', null),
      change('d/sub', null),
    )
    await commit(draft, change('d', null), change('link', null), change('n', directory), change('n/n', file('n')))
    await commit(draft, change('d', directory), change('d/z', file('z')))
    expect(lower.tree()).toBe(before)
    expect([...(await snapshot(draft)).keys()].sort()).toEqual(['a.txt', 'd', 'd/z', 'empty', 'n', 'n/n', 'run.sh'])
  })

  it('equals lower after accept, and is empty', async () => {
    const lower = below()
    const draft = overlay(lower)
    await commit(
      draft,
      change('a.txt', null),
      change('a.txt2', file('a\n'), 'absent', 'a.txt'),
      change('run.sh', file('2')),
    )
    await commit(draft, change('d/x', null), change('d/sub/y', null), change('d/sub', null), change('d', null))
    await commit(draft, change('d', file('now a file')), change('n', directory), change('n/n', file('n')))
    const before = await snapshot(draft)
    const receipt = await acceptAll(draft)
    expect(await snapshot(lower)).toEqual(before)
    expect((await lower.stat(at('run.sh')))?.mode).toBe(0o755)
    expect(receipt.applied.map(({ path }) => path)).toEqual(
      ['a.txt', 'a.txt2', 'd', 'd/sub', 'd/sub/y', 'd/x', 'n', 'n/n', 'run.sh'].sort(),
    )
    expect(await draft.pending()).toEqual([])
    expect(await snapshot(draft)).toEqual(before)
    expect(draft.tree?.()).toBe(lower.tree())
  })

  it('drops discarded changes', async () => {
    const lower = below()
    const draft = overlay(lower)
    const before = await snapshot(draft)
    await commit(
      draft,
      change('a.txt', null),
      change('d/x', file('2')),
      change('n', directory),
      change('n/n', file('n')),
    )
    await draft.discard()
    expect(await snapshot(draft)).toEqual(before)
    expect(await draft.pending()).toEqual([])
  })

  it('has nothing pending after changes are reverted', async () => {
    const draft = overlay(below())
    await commit(draft, change('a.txt', file('other')), change('d/x', null), change('n', file('n')))
    await commit(draft, change('a.txt', file('a\n')), change('d/x', file('x\n')), change('n', null))
    expect(await draft.pending()).toEqual([])
  })

  it('refuses to accept a set if others changed one of its paths in lower', async () => {
    const others: [string, (lower: Backend) => Promise<unknown>][] = [
      ['a.txt', (lower) => commit(lower, change('a.txt', file('theirs')))],
      ['a.txt', (lower) => commit(lower, change('a.txt', null))],
      ['new', (lower) => commit(lower, change('new', file('theirs')))],
      ['d/theirs', (lower) => commit(lower, change('d/theirs', file('theirs')))],
      ['link', (lower) => commit(lower, change('link', null), change('other', file('o')))],
    ]
    for (const [path, theirs] of others) {
      const lower = below()
      const draft = overlay(lower)
      await commit(draft, change('a.txt', file('ours')), change('new', file('ours')), change('link', file('ours')))
      await commit(draft, change('a.txt', file('ours again')))
      await commit(draft, change('d/x', null), change('d/sub/y', null), change('d/sub', null), change('d', null))
      await theirs(lower)
      const before = await snapshot(lower)
      await expect(acceptAll(draft), path).rejects.toMatchObject({
        code: expect.stringMatching(/^(WRITE_CONFLICT|ALREADY_EXISTS)$/),
        details: { path },
      })
      expect(await snapshot(lower), path).toEqual(before)
      expect(await textAt(draft, 'a.txt')).toBe('ours again')
    }
  })

  it('shows changes by others except in directories that were deleted here', async () => {
    const lower = below()
    const draft = overlay(lower)
    await commit(draft, change('d/x', null), change('d/sub/y', null), change('d/sub', null), change('d', null))
    await commit(lower, change('a.txt', file('theirs')), change('d/late', file('late')), change('empty/e', file('e')))
    expect(await textAt(draft, 'a.txt')).toBe('theirs')
    expect(await textAt(draft, 'empty/e')).toBe('e')
    expect(await draft.stat(at('d/late'))).toBeUndefined()
    await commit(draft, change('d', directory))
    expect(await draft.list(at('d'))).toEqual([])
  })

  it('keeps held paths, whatever happens to them in lower', async () => {
    const lower = below()
    const draft = overlay(lower)
    await commit(draft, change('d/sub/own', file('own')))
    const shown = await snapshot(draft)
    await draft.hold([change('a.txt', null), change('new', file('n')), change('d', null), change('empty', directory)])
    await commit(lower, change('a.txt', file('2')), change('new', file('n')))
    await commit(lower, change('d/x', null), change('d/sub/y', null), change('d/sub', null), change('d', null))
    expect(await snapshot(draft)).toEqual(shown)
    expect((await draft.pending()).map(({ path }) => path)).toEqual(['d/sub/own'])
  })

  it('forks into overlays that share only lower', async () => {
    const lower = below()
    const draft = overlay(lower)
    await commit(draft, change('a.txt', file('1')))
    const fork = draft.fork?.()
    if (fork === undefined) throw new Error('a fork')
    await commit(fork, change('a.txt', file('2')), change('d/x', null))
    await fork.close()
    expect(await textAt(draft, 'a.txt')).toBe('1')
    expect(await textAt(draft, 'd/x')).toBe('x\n')
    expect(await fork.pending()).toHaveLength(2)
  })

  it('shares the tree nodes of unchanged directories', async () => {
    const lower = below()
    const draft = overlay(lower)
    const nodes = () => draft.tree?.() as DirectoryNode
    await commit(draft, change('a.txt', file('1')))
    const first = nodes()
    expect(first.get('d')).toBe(lower.tree().get('d'))
    expect(nodes()).toBe(first)
    await commit(draft, change('d/x', null))
    const second = nodes()
    expect(second).not.toBe(first)
    expect(second.get('d')).not.toBe(first.get('d'))
    expect((second.get('d') as DirectoryNode).get('sub')).toBe((first.get('d') as DirectoryNode).get('sub'))
  })

  it('reserves a name', async () => {
    const draft = overlay(below())
    for (const path of ['.wardspace-overlay', '.wardspace-overlay/x']) {
      await expect(draft.canonical(at(path))).rejects.toMatchObject({ code: 'PATH_REJECTED' })
      await expect(commit(draft, change(path, directory))).rejects.toMatchObject({ code: 'PATH_REJECTED' })
    }
  })

  it('refuses an upper backend with other files', async () => {
    expect(() => overlay(below(), memory({ x: 'x' }))).toThrow(TypeError)
    writeFileSync(join(base, 'upper', 'x'), 'x')
    const draft = overlay(disk('root'), disk('upper'))
    await expect(draft.stat(at('x'))).rejects.toMatchObject({ code: 'BACKEND_ERROR' })
    await draft.close()
  })
})

describe('the work of an overlay', () => {
  it.each([50, 400, ...(isLong ? [1500] : [])])(
    'does not grow with the depth when directories are nested %i deep',
    async (depth) => {
      const upper = memory()
      let changes = 0
      let stats = 0
      const counted: Backend = {
        ...upper,
        commit: (set, options) => {
          changes += set.length
          return upper.commit(set, options)
        },
        stat: (path) => {
          stats += 1
          return upper.stat(path)
        },
      }
      const draft = overlay(memory(), counted)
      let path = ''
      for (let i = 0; i < depth; i++) {
        path = path === '' ? 'd' : `${path}/d`
        expect(await draft.canonical(at(path))).toBe(path)
        await draft.commit([change(path, directory)], { durability: 'relaxed' })
      }
      await draft.commit([change(`${path}/f`, file('x'))], { durability: 'relaxed' })
      expect(changes).toBe(depth + 1)
      expect(stats).toBeLessThanOrEqual(8 * depth)
      expect(await textAt(draft, `${path}/f`)).toBe('x')
      expect(await draft.pending()).toHaveLength(depth + 1)
    },
  )
})

describe('an overlay over backends that lack something', () => {
  const lacking = (
    backend: Backend,
    own: Partial<Backend['capabilities']>,
    without: readonly string[] = [],
  ): Backend => {
    const members = Object.entries(backend).filter(([name]) => !without.includes(name))
    return { ...(Object.fromEntries(members) as unknown as Backend), capabilities: { ...backend.capabilities, ...own } }
  }

  it('refuses a case-insensitive upper over a case-sensitive lower backend', () => {
    const upper = lacking(memory(), { caseSensitive: false })
    expect(() => overlay(below(), upper)).toThrow('overlay(): the upper backend ignores letter case')
    expect(overlay(lacking(below(), { caseSensitive: false }), memory()).capabilities.caseSensitive).toBe(false)
  })

  it('finds changed paths in any letter case if both backends ignore case', async () => {
    const draft = overlay(lacking(below(), { caseSensitive: false }), memory())
    await commit(draft, change('New', directory), change('New/File', file('n')))
    expect(await draft.canonical(at('NEW/fILE'))).toBe('New/File')
    expect(await draft.canonical(at('new/other'))).toBe('New/other')
  })

  it('refuses a link that lower cannot store', async () => {
    const draft = overlay(lacking(below(), { links: false }), memory())
    const linked = commit(draft, change('l', { type: 'link', target: 'a.txt' }))
    await expect(linked).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })

  it('has times only if both backends do, and no permission bits that lower cannot store', async () => {
    const times = (lower: 'set' | 'own' | 'none', upper: 'set' | 'own' | 'none') =>
      overlay(lacking(memory(), { times: lower }), lacking(memory(), { times: upper })).capabilities.times
    expect([times('set', 'set'), times('set', 'own'), times('none', 'set')]).toEqual(['set', 'own', 'none'])
    const draft = overlay(lacking(below(), { modes: false }), memory())
    await commit(draft, change('run.sh', file('2')))
    expect((await draft.stat(at('run.sh')))?.mode).toBe(0o644)
  })

  it('reports no time for a directory without one in lower, and works without trees', async () => {
    const timeless = below()
    const lower: Backend = {
      ...lacking(timeless, { times: 'none' }, ['tree', 'scan', 'fork']),
      async stat(path) {
        const { modifiedAt: _, ...stat } = (await timeless.stat(path)) ?? { type: 'other', size: 0, tag: '' }
        return stat.type === 'other' ? undefined : stat
      },
    }
    const draft = overlay(lower, lacking(memory(), {}, ['tree']))
    const tag = (await draft.stat(at('d')))?.tag
    await commit(draft, change('d/new', file('n')))
    expect(await draft.stat(at('d'))).toEqual({ ...(await lower.stat(at('d'))), tag: expect.anything() })
    expect((await draft.stat(at('d')))?.tag).not.toBe(tag)
    expect(await textAt(draft, 'd/x')).toBe(await textAt(timeless, 'd/x'))
  })

  it('shows nothing for a directory deleted in lower in which a file was deleted here', async () => {
    const lower = memory({ 'd/x': '' })
    const draft = overlay(lower, memory())
    await commit(draft, change('d/x', null))
    await commit(lower, change('d/x', null), change('d', null))
    expect(await draft.stat(at('d'))).toBe(undefined)
  })

  it('hides what others create in a directory that was recreated here', async () => {
    const lower = memory({ 'd/x': '' })
    const draft = overlay(lower, memory())
    await commit(draft, change('d/x', null), change('d', null))
    await commit(draft, change('d', directory))
    await commit(lower, change('d/new', file('theirs')))
    await draft.accept(await draft.pending(), { durability: 'relaxed' })
    expect([...(await snapshot(lower)).keys()]).toEqual(['d', 'd/new'])
    expect(await draft.list(at('d')), 'empty as before').toEqual([])
    expect(await draft.pending()).toEqual([])
  })

  it('scans backends without scan, and stops when visit returns false', async () => {
    const draft = overlay(lacking(below(), {}, ['scan', 'tree']), memory())
    await commit(draft, change('n', file('n')))
    const scan = async (max: number, ...paths: string[]) => {
      const seen: string[] = []
      await draft.scan?.(paths.map(at), (path) => seen.push(path) < max)
      return seen
    }
    expect(await scan(9, 'd', 'a.txt', 'none', 'd/x', 'n')).toEqual(['a.txt', 'd/x', 'n'])
    expect(await scan(1, 'a.txt', 'd/x', 'n')).toEqual(['a.txt'])
  })

  it('reports physical paths of both backends', () => {
    const holding = (location: string) => ({
      ...memory(),
      containsPhysicalPath: (request: string) => request === location,
    })
    const draft = overlay(holding('/lower'), holding('/upper'))
    expect(['/lower', '/upper', '/other'].map((place) => draft.containsPhysicalPath?.(place))).toEqual([
      true,
      true,
      false,
    ])
    expect(overlay(memory(), holding('/upper')).containsPhysicalPath?.('/upper')).toBe(true)
    expect(overlay(holding('/lower'), memory()).containsPhysicalPath?.('/upper')).toBe(false)
  })
})

describe('an overlay under which others change things', () => {
  it('shows its changes after others deleted or replaced their directory in lower', async () => {
    for (const theirs of [null, file('now a file')]) {
      const lower = below()
      const draft = overlay(lower)
      await commit(draft, change('d/new', file('n')))
      await commit(lower, change('d/x', null), change('d/sub/y', null), change('d/sub', null), change('d', null))
      if (theirs !== null) await commit(lower, change('d', theirs))
      expect(await draft.list(at('d'))).toEqual([{ name: 'new', type: 'file' }])
      expect((await draft.stat(at('d')))?.type).toBe('directory')
      const node = (draft.tree as () => DirectoryNode)().get('d') as DirectoryNode
      expect(node.get('new')?.type).toBe('file')
      expect(await textAt(draft, 'd/new')).toBe('n')
    }
  })

  it('shows no directory that others deleted or replaced in the meantime', async () => {
    for (const theirs of [null, file('now a file')]) {
      const lower = memory({ 'a.txt': '', d: { directory: true } })
      const draft = overlay(lower)
      await commit(draft, change('d', directory), change('a.txt', file('1')))
      await commit(lower, change('d', null))
      if (theirs !== null) await commit(lower, change('d', theirs))
      const type = theirs?.type
      expect((await draft.stat(at('d')))?.type).toBe(type)
      expect((await draft.list(at(''))).find(({ name }) => name === 'd')?.type).toBe(type)
      expect((draft.tree as () => DirectoryNode)().get('d')?.type).toBe(type)
      expect((await draft.pending()).map(({ path }) => path)).toEqual(['a.txt'])
    }
  })

  it('conflicts if others deleted or replaced a link that was replaced here', async () => {
    const lower = below()
    let looks = 0
    const draft = overlay({
      ...lower,
      async readLink(path) {
        const target = await lower.readLink(path)
        if (looks++ === 0) await commit(lower, change('link', null))
        return target
      },
    })
    await commit(draft, change('link', file('ours')))
    await expect(acceptAll(draft)).rejects.toMatchObject({ code: 'WRITE_CONFLICT', details: { path: 'link' } })
    await commit(lower, change('link', { type: 'link', target: 'theirs' }))
    await expect(acceptAll(draft)).rejects.toMatchObject({ code: 'WRITE_CONFLICT', details: { path: 'link' } })
    expect(await lower.readLink(at('link'))).toBe('theirs')
    expect(await textAt(draft, 'link')).toBe('ours')
  })

  it('accepts changes of paths that it has not changed', async () => {
    const lower = below()
    const draft = overlay(lower)
    await commit(draft, change('a.txt', file('1')))
    await draft.accept([change('beside', file('b'))], { durability: 'durable' })
    expect([await textAt(lower, 'beside'), await textAt(lower, 'a.txt')]).toEqual(['b', 'a\n'])
    expect(await draft.pending()).toHaveLength(1)
  })

  it('refuses a read with a foreign tag', async () => {
    const lower = below()
    const draft = overlay(lower)
    const tag = (await draft.stat(at('a.txt')))?.tag as string
    await commit(draft, change('a.txt', file('1')))
    await expect(draft.read(at('a.txt'), { start: 0, end: 1, tag })).rejects.toMatchObject({ code: 'WRITE_CONFLICT' })
  })
})

describe('the files that an overlay left on disk', () => {
  const note = { path: 'a', base: null }
  it.each([
    ['no JSON', '{'],
    ['a path that is not normalised', JSON.stringify({ ...note, path: 'a//b' })],
    ['a path of another note', JSON.stringify({ ...note, path: 'b' })],
    ['a base of an unknown type', JSON.stringify({ ...note, base: { type: 'socket' } })],
    ['a file without its sha256', JSON.stringify({ ...note, base: { type: 'file', sha256: 'x' } })],
  ])('is not taken up where a note is broken: %s', async (_what, text) => {
    mkdirSync(join(base, 'upper', '.wardspace-overlay'))
    writeFileSync(join(base, 'upper', '.wardspace-overlay', sha256Text('a')), text)
    const draft = overlay(disk('root'), disk('upper'))
    await expect(draft.stat(at('x'))).rejects.toMatchObject({
      code: 'BACKEND_ERROR',
      message: 'Cannot open the overlay: its upper storage contains other files',
    })
    await draft.close()
  })

  it('is reopened with the tag of a replaced link', async () => {
    symlinkSync('x', join(base, 'root', 'l'))
    const first = overlay(disk('root'), disk('upper'))
    await commit(first, change('l', file('f')))
    const pending = await first.pending()
    await first.close()
    const again = overlay(disk('root'), disk('upper'))
    expect(pending[0]?.expect).toHaveProperty('tag')
    expect(await again.pending()).toEqual(pending)
    await again.close()
  })
})

describe('an overlay over a real directory', () => {
  it('follows no link to outside, directly or through another link', async () => {
    mkdirSync(join(base, 'outside'))
    writeFileSync(join(base, 'outside', 'secret'), 'outside')
    symlinkSync('../outside', join(base, 'root', 'escape'))
    const draft = overlay(disk('root'))
    await commit(draft, change('other', file('x')), change('in', { type: 'link', target: 'escape' }))
    for (const path of ['escape', 'escape/secret', 'in', 'in/secret', 'in/new']) {
      await expect(draft.canonical(at(path)), path).rejects.toMatchObject({ code: 'PATH_REJECTED' })
    }
    await expect(draft.read(at('escape/secret'))).rejects.toMatchObject({ name: 'ToolError' })
    await commit(draft, change('escape', null))
    expect(await draft.stat(at('escape'))).toBeUndefined()
    expect(existsSync(join(base, 'root', 'escape'))).toBe(true)
    await draft.close()
  })

  it('is restored when it is reopened, with the versions it replaced', async () => {
    writeFileSync(join(base, 'root', 'a'), 'old')
    writeFileSync(join(base, 'root', 'b'), 'b')
    const first = overlay(disk('root'), disk('upper'))
    await commit(first, change('a', file('new')), change('b', null), change('d', directory), change('d/f', file('f')))
    const before = await snapshot(first)
    const pending = await first.pending()
    await first.close()
    const again = overlay(disk('root'), disk('upper'))
    expect(await snapshot(again)).toEqual(before)
    expect(await again.pending()).toEqual(pending)
    await acceptAll(again)
    expect(readFileSync(join(base, 'root', 'a'), 'utf8')).toBe('new')
    expect(existsSync(join(base, 'root', 'b'))).toBe(false)
    expect(await again.pending()).toEqual([])
    await again.close()
  })

  it('has nothing pending after a crash between the commit to lower and the cleanup', async () => {
    writeFileSync(join(base, 'root', 'a'), 'old')
    const draft = overlay(disk('root'), disk('upper'))
    await commit(draft, change('a', file('new')))
    writeFileSync(join(base, 'root', 'a'), 'new')
    expect(await draft.pending()).toEqual([])
    await draft.close()
  })
})
