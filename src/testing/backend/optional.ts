import { ToolError } from '../../errors.ts'
import type { DirectoryNode, FileNode, TreeNode } from '../../storage/backend.ts'
import { check, same, sameBytes } from '../assert.ts'
import { at, type BackendCase, change, commit, directory, file, offers, snapshot, textAt, textOf } from './case.ts'

/** The optional methods `scan`, `tree` and `fork`. */
export const optionalCases: readonly BackendCase[] = [
  {
    name: 'scan visits the same bytes and stats as read returns, in the given order',
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
      const visited: string[] = []
      const reads = new Map<string, { bytes: Uint8Array; tag: string }>()
      await backend.scan?.(order, (path, bytes, stat) => {
        visited.push(path)
        reads.set(path, { bytes: bytes.slice(), tag: stat.tag })
        same(stat.size, bytes.length, `size of ${path}`)
        same(stat.type, 'file', `type of ${path}`)
        return true
      })
      same(visited, order, 'visited paths')
      for (const [path, { bytes, tag }] of reads) {
        const read = await backend.read(at(path))
        sameBytes(bytes, read.bytes, path)
        same(tag, read.stat.tag, `tag of ${path}`)
      }
    },
  },
  {
    name: 'scan skips missing paths and non-files, and stops when visit returns false',
    unless: offers('scan'),
    async test({ backend }) {
      await commit(
        backend,
        change('d', directory),
        change('a', file('a')),
        change('b', file('b')),
        change('c', file('c')),
      )
      const visited: string[] = []
      await backend.scan?.(['none', 'd', '', 'a', 'a/below', 'b', 'c'].map(at), (path) => {
        visited.push(path)
        return path !== 'b'
      })
      same(visited, ['a', 'b'], 'visited paths')
      await backend.scan?.([], () => {
        throw new Error('scan visits a path that was not requested')
      })
    },
  },
  {
    name: 'scan rejects with the error that visit throws',
    unless: offers('scan'),
    async test({ backend }) {
      await commit(backend, change('a', file('a')))
      const visitorError = new ToolError('SEARCH_TIMEOUT', 'Cannot go on: it took too long')
      const scanned = backend.scan?.([at('a')], () => {
        throw visitorError
      })
      same(
        await scanned?.then(
          () => 'resolved',
          (error: unknown) => error === visitorError,
        ),
        true,
        'error',
      )
    },
  },
  {
    name: 'the tree contains the same entries, stats and bytes as list, stat and read',
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
        if (node.type === 'file') sameBytes(await contentOf(node), (await backend.read(at(path))).bytes, path)
        if (node.type !== 'directory') return
        const entries = [...node.entries()]
        same(
          entries.map(([name, { type }]) => ({ name, type })),
          await backend.list(at(path)),
          `entries of "${path}"`,
        )
        same(node.get('none'), undefined, 'get() of a missing entry')
        for (const [name, child] of entries) {
          check(node.get(name) === child, `get("${name}") must return the same node as entries()`)
          await compare(path === '' ? name : `${path}/${name}`, child)
        }
      }
      await compare('', tree)
    },
  },
  {
    name: 'tree nodes are immutable, and unchanged subtrees keep their identity',
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
      check(backend.tree?.() === first, 'tree() must return the same root while nothing changes')
      await commit(backend, change('a/f', file('3')))
      const second = backend.tree?.() as DirectoryNode
      check(second !== first, 'tree() must return another root after a commit')
      check(second.get('a') !== first.get('a'), 'a changed directory must be another node')
      check(second.get('b') === first.get('b'), 'an unchanged directory must be the same node')
      const old = (first.get('a') as DirectoryNode).get('f')
      same(old?.type === 'file' && textOf(await contentOf(old)), '1', 'content in the tree from before the commit')
    },
  },
  {
    name: 'a fork contains everything, and neither side sees later commits of the other',
    unless: offers('fork'),
    async test({ backend }) {
      await commit(backend, change('d', directory), change('d/f', file('base')), change('x', file('x', 0o755)))
      const fork = backend.fork?.()
      check(fork, 'fork() must return a backend')
      const base = await snapshot(backend)
      same(await snapshot(fork), base, 'content of a new fork')
      await commit(fork, change('d/f', file('of the fork')), change('new', file('n')))
      same(await snapshot(backend), base, 'content of the original after a commit to the fork')
      await commit(backend, change('d/f', file('of the original')), change('x', null))
      same(await textAt(fork, 'd/f'), 'of the fork', 'content of the fork after a commit to the original')
      same(await textAt(fork, 'x'), 'x', 'content in the fork of a file that the original deleted')
      const again = fork.fork?.()
      check(again, 'a fork must have fork()')
      same(await textAt(again, 'new'), 'n', 'content of a fork of a fork')
      const tags = await Promise.all([backend, fork].map(async (side) => (await side.stat(at('d/f')))?.tag))
      check(tags[0] !== tags[1], 'different contents of one path must have different tags in a fork and its original')
      await again.close()
      await fork.close()
      same(await textAt(backend, 'd/f'), 'of the original', 'content of the original after closing the fork')
    },
  },
]

/** The content of a node, in memory or not. */
async function contentOf(node: FileNode): Promise<Uint8Array> {
  return node.bytes ?? ((await node.load?.()) as Uint8Array)
}
