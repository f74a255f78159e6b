import { ToolError } from '../../errors.ts'
import type { DirectoryNode, TreeNode } from '../../storage/backend.ts'
import { check, same, sameBytes } from '../assert.ts'
import { at, type BackendCase, change, commit, directory, file, offers, snapshot, textAt, textOf } from './case.ts'

/** What a backend may offer beyond the minimum: scan, tree, fork. */
export const optionalCases: readonly BackendCase[] = [
  {
    name: 'scan hands out what read gives, in the order given',
    unless: offers('scan'),
    async test({ backend }) {
      await commit(
        backend,
        change('d', directory),
        change('d/b', file('bee')),
        change('a', file('')),
        change('c', file('x'.repeat(100_000))),
      )
      const order = ['d/b', 'a', 'c', 'd/b'].map(at)
      const seen: string[] = []
      const reads = new Map<string, { bytes: Uint8Array; tag: string }>()
      await backend.scan?.(order, (path, bytes, stat) => {
        seen.push(path)
        reads.set(path, { bytes: bytes.slice(), tag: stat.tag })
        same(stat.size, bytes.length, `size of ${path}`)
        same(stat.type, 'file', `type of ${path}`)
        return true
      })
      same(seen, order, 'order')
      for (const [path, { bytes, tag }] of reads) {
        const read = await backend.read(at(path))
        sameBytes(bytes, read.bytes, path)
        same(tag, read.stat.tag, `tag of ${path}`)
      }
    },
  },
  {
    name: 'scan passes over what is gone or no file, and ends when told to',
    unless: offers('scan'),
    async test({ backend }) {
      await commit(
        backend,
        change('d', directory),
        change('a', file('a')),
        change('b', file('b')),
        change('c', file('c')),
      )
      const seen: string[] = []
      await backend.scan?.(['none', 'd', '', 'a', 'a/below', 'b', 'c'].map(at), (path) => {
        seen.push(path)
        return path !== 'b'
      })
      same(seen, ['a', 'b'], 'seen')
      await backend.scan?.([], () => {
        throw new Error('scan visits what nobody asked for')
      })
    },
  },
  {
    name: 'what visit throws comes out of scan',
    unless: offers('scan'),
    async test({ backend }) {
      await commit(backend, change('a', file('a')))
      const thrown = new ToolError('SEARCH_TIMEOUT', 'Cannot go on: it took too long')
      const scanned = backend.scan?.([at('a')], () => {
        throw thrown
      })
      same(
        await scanned?.then(
          () => 'went through',
          (error: unknown) => error === thrown,
        ),
        true,
        'error',
      )
    },
  },
  {
    name: 'the tree holds what list, stat and read tell',
    unless: offers('tree'),
    async test({ backend }) {
      await commit(
        backend,
        change('d', directory),
        change('d/e', directory),
        change('d/b', file('bee')),
        change('a', file('a')),
        change('__proto__', file('p')),
      )
      const tree = backend.tree?.() as DirectoryNode
      async function compare(path: string, node: TreeNode): Promise<void> {
        same(node.stat, await backend.stat(at(path)), `stat of "${path}"`)
        if (node.type === 'file') sameBytes(node.bytes, (await backend.read(at(path))).bytes, path)
        if (node.type !== 'directory') return
        const entries = [...node.entries()]
        same(
          entries.map(([name, { type }]) => ({ name, type })),
          await backend.list(at(path)),
          `entries of "${path}"`,
        )
        same(node.get('none'), undefined, 'an entry that is not there')
        for (const [name, child] of entries) {
          check(node.get(name) === child, `get("${name}") is the entry`)
          await compare(path === '' ? name : `${path}/${name}`, child)
        }
      }
      await compare('', tree)
    },
  },
  {
    name: 'tree nodes never change, and are the same ones where nothing changed',
    unless: offers('tree'),
    async test({ backend }) {
      await commit(
        backend,
        change('a', directory),
        change('a/f', file('1')),
        change('b', directory),
        change('b/g', file('2')),
      )
      const first = backend.tree?.() as DirectoryNode
      check(backend.tree?.() === first, 'the same root while nothing changes')
      await commit(backend, change('a/f', file('3')))
      const second = backend.tree?.() as DirectoryNode
      check(second !== first, 'another root after a commit')
      check(second.get('a') !== first.get('a'), 'another directory where something changed')
      check(second.get('b') === first.get('b'), 'the same directory where nothing changed')
      const old = (first.get('a') as DirectoryNode).get('f')
      same(old?.type === 'file' && textOf(old.bytes), '1', 'the old tree')
    },
  },
  {
    name: 'a fork has everything, and neither sees what the other commits',
    unless: offers('fork'),
    async test({ backend }) {
      await commit(backend, change('d', directory), change('d/f', file('base')), change('x', file('x', 0o755)))
      const fork = backend.fork?.()
      check(fork, 'a fork')
      const base = await snapshot(backend)
      same(await snapshot(fork), base, 'the fork at first')
      await commit(fork, change('d/f', file('of the fork')), change('new', file('n')))
      same(await snapshot(backend), base, 'the original after a commit to the fork')
      await commit(backend, change('d/f', file('of the original')), change('x', null))
      same(await textAt(fork, 'd/f'), 'of the fork', 'the fork after a commit to the original')
      same(await textAt(fork, 'x'), 'x', 'what the original deleted')
      const again = fork.fork?.()
      check(again, 'a fork of a fork')
      same(await textAt(again, 'new'), 'n', 'content of the fork of a fork')
      const tags = await Promise.all([backend, fork].map(async (one) => (await one.stat(at('d/f')))?.tag))
      check(tags[0] !== tags[1], 'two contents of one path have two tags, in forks too')
      await again.close()
      await fork.close()
      same(await textAt(backend, 'd/f'), 'of the original', 'the original after closing the fork')
    },
  },
]
