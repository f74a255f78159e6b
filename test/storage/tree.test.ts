import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Path } from '../../src/paths/logical-path.ts'
import type { DirectoryNode, FileNode, Stat, TreeNode } from '../../src/storage/backend.ts'
import {
  directoryNode,
  forEachDifference,
  nodeAt,
  nodeFinder,
  TreeEditor,
  withEntry,
  withNodeAt,
  withoutEntry,
} from '../../src/storage/tree.ts'
import { isLong, times } from '../counts.ts'

const stat = (tag: string): Stat => ({ type: 'directory', size: 0, tag })
const node = (tag: string): FileNode => ({
  type: 'file',
  bytes: new Uint8Array(0),
  stat: { type: 'file', size: 0, tag },
})
const names = (directory: DirectoryNode) => Array.from(directory.entries(), ([name]) => name)
const touch = (parent: DirectoryNode) => ({ ...parent.stat, tag: `${parent.stat.tag}+` })

describe('a directory node', () => {
  it('equals a sorted Map after the same changes, and leaves earlier nodes unchanged', () => {
    const name = fc.oneof(
      fc.integer({ min: 0, max: 400 }).map((n) => `n${n}`),
      fc.constantFrom('__proto__', 'constructor', '', 'é', '😀', '\uffff', 'hasOwnProperty'),
    )
    const step = fc.record({ name, put: fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, fc.constant(false)) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 600, size: 'max' }), (steps) => {
        const model = new Map<string, TreeNode>()
        let directory = directoryNode(stat('0'))
        const versions: [DirectoryNode, string[]][] = []
        for (const [i, { name, put }] of steps.entries()) {
          if (put) {
            const file = node(String(i))
            model.set(name, file)
            directory = withEntry(directory, name, file)
          } else {
            model.delete(name)
            directory = withoutEntry(directory, name)
          }
          expect(directory.get(name)).toBe(model.get(name))
          if (i % 97 === 0) versions.push([directory, names(directory)])
        }
        expect(names(directory)).toEqual([...model.keys()].sort((a, b) => (a < b ? -1 : 1)))
        for (const [name, file] of model) expect(directory.get(name)).toBe(file)
        for (const [version, was] of versions) expect(names(version)).toEqual(was)
      }),
      { numRuns: times(15, 60) },
    )
  })

  it('reports the entries that differ from an older, newer or foreign directory', () => {
    const step = fc.record({ name: fc.integer({ min: 0, max: 300 }).map((n) => `n${n}`), put: fc.boolean() })
    const grown = (start: DirectoryNode, steps: readonly { name: string; put: boolean }[], mark: string) =>
      steps.reduce(
        (directory, { name, put }, i) =>
          put ? withEntry(directory, name, node(`${mark}${i}`)) : withoutEntry(directory, name),
        start,
      )
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 400, size: 'max' }),
        fc.array(step, { maxLength: 60, size: 'max' }),
        fc.boolean(),
        (first, second, foreign) => {
          const before = grown(directoryNode(stat('0')), first, 'a')
          let after = grown(before, second, 'b')
          if (foreign) {
            const entries = [...after.entries()]
            const { type, stat: own, get } = after
            after = { type, stat: own, get: get.bind(after), entries: () => entries }
          }
          const matches: [string, TreeNode | undefined, TreeNode | undefined][] = []
          forEachDifference(before, after, (...one) => matches.push(one))
          const all = [...new Set([...names(before), ...names(after)])].sort((a, b) => (a < b ? -1 : 1))
          expect(matches).toEqual(
            all
              .filter((name) => before.get(name) !== after.get(name))
              .map((name) => [name, before.get(name), after.get(name)]),
          )
        },
      ),
      { numRuns: times(20, 80) },
    )
  })

  it('keeps few chunks after many removals, and copies little of 10,000 entries', () => {
    const all = Array.from({ length: 10_000 }, (_, i) => `f${String(i).padStart(5, '0')}`)
    let directory = directoryNode(
      stat('0'),
      all.map((name) => [name, node(name)] as const),
    )
    const chunks = (one: DirectoryNode) => (one as unknown as { chunks: { names: string[] }[] }).chunks
    const changed = withEntry(directory, 'f05000', node('new'))
    const shared = chunks(changed).filter((chunk, i) => chunk === chunks(directory)[i]).length
    expect(shared).toBe(chunks(directory).length - 1)
    expect(Math.max(...chunks(directory).map((chunk) => chunk.names.length))).toBeLessThanOrEqual(64)
    for (const [i, name] of all.entries()) if (i % 50 !== 0) directory = withoutEntry(directory, name)
    expect(names(directory)).toHaveLength(200)
    expect(chunks(directory).length).toBeLessThan(40)
  })

  it('is the same node if nothing is removed', () => {
    const directory = directoryNode(stat('0'), [['a', node('a')]])
    expect(withoutEntry(directory, 'b')).toBe(directory)
    expect(withoutEntry(directoryNode(stat('0')), 'b').get('b')).toBeUndefined()
  })
})

describe('a tree', () => {
  const at = (path: string) => path as Path
  const build = () => {
    let root = directoryNode(stat('root'))
    for (const [path, child] of [
      ['a', directoryNode(stat('a'))],
      ['a/b', directoryNode(stat('b'))],
      ['a/b/f', node('f')],
      ['c', directoryNode(stat('c'))],
    ] as const) {
      root = withNodeAt(root, at(path), child, (parent) => parent.stat)
    }
    return root
  }

  it('finds existing paths and no others', () => {
    const root = build()
    expect(nodeAt(root, at(''))).toBe(root)
    expect(nodeAt(root, at('a/b/f'))?.stat.tag).toBe('f')
    for (const path of ['x', 'a/x', 'a/b/f/x', 'a/', '/a', 'a//b', '__proto__', 'a/constructor']) {
      expect(nodeAt(root, at(path)), path).toBeUndefined()
    }
  })

  it('changes the stat only of the directory whose names changed', () => {
    const root = build()
    const replaced = withNodeAt(root, at('a/b/f'), node('f2'), touch)
    expect(nodeAt(replaced, at('a/b'))?.stat.tag).toBe('b')
    const created = withNodeAt(root, at('a/b/g'), node('g'), touch)
    expect(nodeAt(created, at('a/b'))?.stat.tag).toBe('b+')
    expect(nodeAt(created, at('a'))?.stat.tag).toBe('a')
    const removed = withNodeAt(root, at('a/b/f'), undefined, touch)
    expect(nodeAt(removed, at('a/b'))?.stat.tag).toBe('b+')
    const retyped = withNodeAt(root, at('a/b/f'), directoryNode(stat('d')), touch)
    expect(nodeAt(retyped, at('a/b'))?.stat.tag).toBe('b+')
    for (const tree of [replaced, created, removed, retyped]) expect(nodeAt(tree, at('c'))).toBe(nodeAt(root, at('c')))
    expect(nodeAt(root, at('a/b/f'))?.stat.tag).toBe('f')
  })

  it('is the same tree if an absent path is removed', () => {
    const root = build()
    for (const path of ['x', 'a/x', 'x/y/z', 'a/b/f/x']) expect(withNodeAt(root, at(path), undefined, touch)).toBe(root)
  })

  it.runIf(isLong)('accepts a path of 2,000 names', () => {
    let root = directoryNode(stat('root'))
    const path = Array.from({ length: 2000 }, () => 'd')
    for (let depth = 1; depth <= 2000; depth++) {
      root = withNodeAt(root, at(path.slice(0, depth).join('/')), directoryNode(stat(String(depth))), touch)
    }
    expect(nodeAt(root, at(path.join('/')))?.stat.tag).toBe('2000')
  })
})

describe('a tree editor', () => {
  const part = fc.constantFrom('a', 'b', 'ab', 'd', '__proto__')
  const path = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join('/') as Path)
  const step = fc.record({ path, kind: fc.constantFrom('file', 'directory', 'remove', 'get') })

  it('changes and finds nodes as the same changes one by one', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200, size: 'max' }), (steps) => {
        const editor = new TreeEditor(directoryNode(stat('0')))
        let root = directoryNode(stat('0'))
        for (const [i, { path, kind }] of steps.entries()) {
          const value =
            kind === 'file' ? node(String(i)) : kind === 'directory' ? directoryNode(stat(String(i))) : undefined
          if (kind === 'get') {
            expect(editor.get(path)).toEqual(nodeAt(root, path))
            continue
          }
          const slash = path.lastIndexOf('/')
          const hasParent = slash === -1 || nodeAt(root, path.slice(0, slash) as Path)?.type === 'directory'
          const set = () => editor.set(path, value, touch)
          if (!hasParent && value !== undefined) expect(set).toThrow('must be a directory')
          else {
            set()
            root = withNodeAt(root, path, value, touch)
          }
        }
        expect(editor.finish()).toEqual(root)
        const find = nodeFinder(root)
        for (const { path } of steps) expect(find(path)).toBe(nodeAt(root, path))
      }),
      { numRuns: times(25, 100) },
    )
  })

  it('costs a change of a nested chain what its path costs', () => {
    const chain = Array.from({ length: 2000 }, (_, i) => `${'q/'.repeat(i)}q`)
    const cost = (paths: readonly string[]) => {
      const start = process.cpuUsage()
      const editor = new TreeEditor(directoryNode(stat('0')))
      for (const path of paths) editor.set(path as Path, directoryNode(stat('1')), touch)
      for (const path of [...paths].reverse()) editor.set(path as Path, undefined, touch)
      editor.finish()
      return process.cpuUsage(start).user
    }
    const least = (paths: readonly string[]) => Math.min(...Array.from({ length: 9 }, () => cost(paths)))
    // All paths of a chain of twice the length have four times the characters. A cost of each step for each path would be 8, in any round.
    let factor = Number.POSITIVE_INFINITY
    for (let round = 0; round < 4 && factor >= 6; round++) factor = least(chain) / least(chain.slice(0, 1000))
    expect(factor).toBeLessThan(6)
  })
})
