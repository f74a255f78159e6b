import { mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { nodeBackend } from '../../../src/backends/node/index.ts'
import { childOf, type Path, ROOT } from '../../../src/paths/logical-path.ts'
import type { Backend } from '../../../src/storage/backend.ts'
import { visibleFiles, walk } from '../../../src/storage/walk.ts'
import { writeFiles } from '../../write-files.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

function tree(files: Record<string, string>, grounding?: 'recheck') {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'descend-')))
  closers.push(() => rmSync(base, { recursive: true, force: true }))
  writeFiles(base, { 'root/x': '', 'outside/secret': 'secret', ...files })
  const backend = nodeBackend(join(base, 'root'), { stateDir: join(base, 'state'), ...(grounding && { grounding }) })
  closers.push(() => backend.close())
  return { base, root: join(base, 'root'), backend }
}

const everything = { see: () => true, enter: () => true, revision: 'test' }
const hiding = { filters: { includeHidden: false, includeIgnored: false }, ...everything }

/** Walks the complete tree; `before` is called when a directory is visited. */
async function tour(backend: Backend, before: (directory: Path) => void = () => {}) {
  const messages: string[] = []
  const skipped: [string, string][] = []
  await backend.walk?.(ROOT, {
    visit(directory, entries) {
      messages.push(...entries.map(({ name }) => childOf(directory, name)))
      before(directory)
      return entries.filter(({ type }) => type === 'directory').map(({ name }) => name)
    },
    skipped(directory, error) {
      skipped.push([directory, error.code])
    },
  })
  return { told: messages, skipped }
}

describe.each([undefined, 'recheck'] as const)('walking a tree on disk (%s)', (grounding) => {
  it('finds the same files as single listings', async () => {
    const { root, backend } = tree(
      {
        'root/.gitignore': '*.log\n/out/\n',
        'root/a/.gitignore': '!kept.log\n',
        'root/a/kept.log': '',
        'root/a/lost.log': '',
        'root/a/b/c.ts': '',
        'root/a.b/z': '',
        'root/out/o': '',
        'root/node_modules/m': '',
        'root/\u{1f600}/e': '',
        'root/\uff5e/t': '',
        [`root/${'d/'.repeat(60)}deep`]: '',
      },
      grounding,
    )
    symlinkSync('../outside', join(root, 'link'))
    for (const options of [hiding, { ...hiding, maxDepth: 2 }, { ...hiding, links: true }]) {
      const files = await visibleFiles(backend, ROOT, options)
      const singly: string[] = []
      for await (const { path, type } of walk(backend, ROOT, options))
        if (type === 'file' || ('links' in options && type === 'link')) singly.push(path)
      expect(files).toEqual(singly)
      expect(files).toContain('a/kept.log')
      expect(files).not.toContain('a/lost.log')
    }
  })

  it('follows no link that replaces a listed directory', async () => {
    const { base, root, backend } = tree({ 'root/d/inside': '', 'root/e/f': '' }, grounding)
    const { told, skipped } = await tour(backend, (directory) => {
      if (directory !== ROOT) return
      renameSync(join(root, 'd'), join(base, 'gone'))
      symlinkSync('../outside', join(root, 'd'))
    })
    expect(told).toEqual(['d', 'e', 'x', 'e/f'])
    expect(skipped.map(([path]) => path)).toEqual(['d'])
  })

  // Without pinned directories, a moved directory is indistinguishable from a deleted one.
  it.skipIf(grounding === 'recheck')('reports a directory that was moved away during the walk as skipped', async () => {
    const { base, root, backend } = tree({ 'root/d/e/f': '', 'root/d/g/h': '' })
    const { skipped } = await tour(backend, (directory) => {
      if (directory === 'd/e') renameSync(join(root, 'd'), join(base, 'outside/d'))
    })
    expect(skipped).toContainEqual(['d', 'PATH_REJECTED'])
    renameSync(join(base, 'outside/d'), join(root, 'd'))
    const files = await visibleFiles(backend, ROOT, {
      ...hiding,
      enter(path) {
        if (path === 'd/g') renameSync(join(root, 'd'), join(base, 'outside/d'))
        return true
      },
    })
    expect(files).toEqual(['x'])
  })

  it('passes on errors of the visitor, and those of list for the start', async () => {
    const { backend } = tree({ 'root/d/e/f': '' }, grounding)
    const mine = new RangeError('mine')
    await expect(
      tour(backend, (directory) => {
        if (directory === 'd/e') throw mine
      }),
    ).rejects.toBe(mine)
    const visitor = { visit: () => [], skipped() {} }
    await expect(backend.walk?.('none' as Path, visitor)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(backend.walk?.('x' as Path, visitor)).rejects.toMatchObject({ code: 'NOT_A_DIRECTORY' })
  })
})
