import type { Backend, Change } from '../../storage/backend.ts'
import { check, refused, same } from '../assert.ts'
import {
  at,
  type BackendCase,
  type BackendSubject,
  change,
  commit,
  directory,
  file,
  link,
  snapshot,
  WRONG_SHA,
} from './case.ts'

const sourceOf = (subject: BackendSubject) => (subject as BackendSubject & { source: Backend }).source

async function fill(source: Backend): Promise<void> {
  await commit(source, change('d', directory), change('d/f', file('12345')), change('run', file('x', 0o755)))
  if (source.capabilities.links) await commit(source, change('l', link('d')))
}

/** One change set of every kind, including one without effect. */
const everyChange: readonly (readonly Change[])[] = [
  [],
  [change('new', file('x'))],
  [change('new', directory)],
  [change('new', link('d'))],
  [change('d/f', file('other'))],
  [change('d/f', file('other'), WRONG_SHA)],
  [change('d/f', null)],
  [change('d', directory)],
  [change('none', null)],
  [change('d/f', null), change('g', file('12345'), 'absent', 'd/f')],
]

/** The contract of a read-only backend over a writable source. */
export const readOnlyCases: readonly BackendCase[] = [
  {
    name: 'reads return the same as those of the source',
    async test(subject) {
      const { backend } = subject
      const source = sourceOf(subject)
      await fill(source)
      same(await snapshot(backend), await snapshot(source), 'tree')
      for (const path of ['', 'd', 'd/f', 'run', 'l', 'none'].map(at)) {
        same(await backend.stat(path), await source.stat(path), `stat of ${path}`)
        same(await backend.canonical(path), await source.canonical(path), `canonical ${path}`)
        same(
          await backend.canonical(path, { noFollow: true }),
          await source.canonical(path, { noFollow: true }),
          `canonical ${path}, noFollow`,
        )
      }
      same((await backend.read(at('d/f'), { start: 1, end: 3 })).bytes, new Uint8Array([50, 51]), 'a range')
      same(backend.capabilities, source.capabilities, 'capabilities')
    },
  },
  {
    name: 'reads fail with the same codes as those of the source',
    async test(subject) {
      const { backend } = subject
      await fill(sourceOf(subject))
      await refused('NOT_FOUND', 'reading a missing path', () => backend.read(at('none')))
      await refused('IS_DIRECTORY', 'reading a directory', () => backend.read(at('d')))
      await refused('NOT_A_DIRECTORY', 'listing a file', () => backend.list(at('d/f')))
      await refused('NOT_FOUND', 'the link of nothing', () => backend.readLink(at('none')))
      await refused('NOT_A_DIRECTORY', 'canonical below a file', () => backend.canonical(at('d/f/x')))
    },
  },
  {
    name: 'every commit is refused with READ_ONLY and changes nothing',
    async test(subject) {
      const { backend } = subject
      const source = sourceOf(subject)
      await fill(source)
      const before = await snapshot(source)
      for (const changes of everyChange) {
        for (const durability of ['durable', 'relaxed'] as const) {
          await refused('READ_ONLY', `change of ${changes[0]?.path}`, () => backend.commit(changes, { durability }))
        }
      }
      same(await snapshot(source), before, 'tree')
    },
  },
  {
    name: 'reads show later commits to the source',
    async test(subject) {
      const { backend } = subject
      const source = sourceOf(subject)
      await fill(source)
      await commit(source, change('d/f', file('later')))
      same(await snapshot(backend), await snapshot(source), 'tree')
    },
  },
  {
    name: 'optional methods exist if the source has them, and a fork is read-only too',
    async test(subject) {
      const { backend } = subject
      const source = sourceOf(subject)
      await fill(source)
      for (const method of ['scan', 'tree', 'fork'] as const) {
        same(backend[method] !== undefined, source[method] !== undefined, method)
      }
      if (source.tree) check(backend.tree?.() === source.tree(), 'tree() must return the tree of the source')
      const visited: string[] = []
      await backend.scan?.([at('d/f')], (path) => visited.push(path) > 0)
      same(visited, source.scan ? ['d/f'] : [], 'paths visited by scan')
      const fork = backend.fork?.()
      if (fork) await refused('READ_ONLY', 'a commit to the fork', () => commit(fork, change('new', file('x'))))
    },
  },
]
