import type { Backend } from '../../storage/backend.ts'
import { refused, same } from '../assert.ts'
import {
  at,
  type BackendCase,
  type BackendSubject,
  change,
  commit,
  directory,
  file,
  link,
  needs,
  snapshot,
  textAt,
} from './case.ts'

const linksAndPlanting = (subject: BackendSubject) =>
  needs('links')(subject) ?? (subject.plantLink ? undefined : 'the test cannot create a link here')

/** Codes for a read or write through a link. Storages differ in which one they report. */
const NOT_FOLLOWED = ['PATH_REJECTED', 'NOT_A_DIRECTORY', 'NOT_FOUND'] as const
/** Codes for reading a link itself. */
const NOT_READ = ['PATH_REJECTED', 'INVALID_INPUT'] as const

/** Links: stored as entries, resolved by `canonical` only, never leading outside. */
export const linkCases: readonly BackendCase[] = [
  {
    name: 'commit refuses a link if the backend declares no links',
    unless: ({ backend }) => (backend.capabilities.links ? 'the backend has links' : undefined),
    async test({ backend }) {
      await refused(['INVALID_INPUT', 'PATH_REJECTED', 'BACKEND_ERROR'], 'a link', () =>
        commit(backend, change('l', link('f'))),
      )
      same(await snapshot(backend), new Map(), 'tree')
    },
  },
  {
    name: 'commit, stat, list and readLink treat a link as an entry of its own',
    unless: needs('links'),
    async test({ backend }) {
      await commit(backend, change('f', file('x')), change('l', link('f')))
      same((await backend.stat(at('l')))?.type, 'link', 'type')
      same((await backend.stat(at('l')))?.size, 0, 'size')
      same(await backend.readLink(at('l')), 'f', 'target')
      same(
        await backend.list(at('')),
        [
          { name: 'f', type: 'file' },
          { name: 'l', type: 'link' },
        ],
        'list',
      )
      const { applied } = await commit(backend, change('l', null))
      same(applied[0]?.before, { type: 'link', target: 'f' }, 'before')
      same(await textAt(backend, 'f'), 'x', 'the target after the link is deleted')
    },
  },
  {
    name: 'readLink returns the target exactly as it was committed',
    unless: needs('links'),
    async test({ backend }) {
      await commit(backend, change('d', directory))
      for (const target of [
        'none',
        './f',
        '../d/./f',
        'a//b',
        'dir/',
        '..',
        '__proto__',
        'with space',
        'é😀',
        '\ufeffa',
      ]) {
        await commit(backend, change('d/l', link(target)))
        same(await backend.readLink(at('d/l')), target, target)
      }
    },
  },
  {
    name: 'commit refuses a link whose target leads outside the root',
    unless: needs('links'),
    async test({ backend }) {
      await commit(backend, change('d', directory), change('d/e', directory))
      const before = await snapshot(backend)
      for (const [path, target] of [
        ['l', '/etc/passwd'],
        ['l', '/'],
        ['l', '..'],
        ['l', '../x'],
        ['l', 'd/../../x'],
        ['l', './../x'],
        ['d/l', '../..'],
        ['d/e/l', '../../../x'],
        ['d/e/l', '../../d/../../x'],
        ['d/e/l', 'x/../../../../y'],
        ['l', ''],
        ['l', 'a\\b'],
        ['l', 'c:x'],
        ['l', 'a\0b'],
      ] as const) {
        await refused('PATH_REJECTED', `${path} to ${target}`, () => commit(backend, change(path, link(target))))
        await refused('PATH_REJECTED', `${path} to ${target} in a set`, () =>
          commit(backend, change('new', file('x')), change(path, link(target))),
        )
      }
      same(await snapshot(backend), before, 'tree')
    },
  },
  {
    name: 'canonical resolves links to files, directories, the root and other links',
    unless: needs('links'),
    async test({ backend }) {
      await commit(
        backend,
        change('d', directory),
        change('d/e', directory),
        change('d/e/f', file('x')),
        change('toFile', link('d/e/f')),
        change('toDir', link('d')),
        change('d/up', link('..')),
        change('toRoot', link('.')),
        change('chain', link('toDir/e')),
        change('d/e/back', link('../../toDir')),
      )
      for (const [path, expected] of [
        ['toFile', 'd/e/f'],
        ['toDir', 'd'],
        ['toDir/e/f', 'd/e/f'],
        ['d/up', ''],
        ['d/up/d/e', 'd/e'],
        ['toRoot', ''],
        ['toRoot/toRoot/d', 'd'],
        ['chain', 'd/e'],
        ['chain/f', 'd/e/f'],
        ['d/e/back/e/f', 'd/e/f'],
        ['toDir/new', 'd/new'],
        ['chain/new/deep', 'd/e/new/deep'],
      ] as const) {
        same(await backend.canonical(at(path)), expected, path)
      }
    },
  },
  {
    name: 'canonical with noFollow keeps a link at the end of a path and resolves the ones before it',
    unless: needs('links'),
    async test({ backend }) {
      await commit(
        backend,
        change('d', directory),
        change('d/l', link('f')),
        change('toDir', link('d')),
        change('loop', link('loop')),
      )
      const canonicalParent = (path: string) => backend.canonical(at(path), { noFollow: true })
      same(await canonicalParent('toDir'), 'toDir', 'a link')
      same(await canonicalParent('toDir/l'), 'd/l', 'a link behind a link')
      same(await canonicalParent('toDir/new'), 'd/new', 'a missing path behind a link')
      same(await canonicalParent('loop'), 'loop', 'a link to itself')
      same(await canonicalParent('d/l'), 'd/l', 'a dangling link')
    },
  },
  {
    name: 'canonical resolves a dangling link inside the root and keeps the names below it',
    unless: needs('links'),
    async test({ backend }) {
      await commit(backend, change('d', directory), change('d/l', link('../none/x')))
      same(await backend.canonical(at('d/l')), 'none/x', 'the target')
      same(await backend.canonical(at('d/l/below')), 'none/x/below', 'below the target')
    },
  },
  {
    name: 'canonical refuses circular links',
    unless: needs('links'),
    async test({ backend }) {
      await commit(
        backend,
        change('self', link('self')),
        change('a', link('b')),
        change('b', link('a')),
        change('d', directory),
        change('d/x', link('../d/x/y')),
        change('p', link('q/r')),
        change('q', link('p')),
      )
      for (const path of ['self', 'self/below', 'a', 'b', 'a/below', 'd/x', 'p', 'q']) {
        await refused('PATH_REJECTED', path, () => backend.canonical(at(path)))
      }
    },
  },
  {
    name: 'canonical refuses a path through a link to a file',
    unless: needs('links'),
    async test({ backend }) {
      await commit(backend, change('f', file('x')), change('l', link('f')))
      await refused('NOT_A_DIRECTORY', 'below it', () => backend.canonical(at('l/below')))
      await refused('NOT_A_DIRECTORY', 'below it with noFollow', () =>
        backend.canonical(at('l/below'), { noFollow: true }),
      )
    },
  },
  {
    name: 'reads never follow a link, neither at the end of a path nor in its middle',
    unless: needs('links'),
    async test({ backend }) {
      await commit(
        backend,
        change('d', directory),
        change('d/f', file('x')),
        change('toDir', link('d')),
        change('toFile', link('d/f')),
      )
      await refused(NOT_READ, 'read of a link', () => backend.read(at('toFile')))
      await refused(['NOT_A_DIRECTORY', 'PATH_REJECTED'], 'list of a link', () => backend.list(at('toDir')))
      await refused(NOT_FOLLOWED, 'read through a link', () => backend.read(at('toDir/f')))
      await refused(NOT_FOLLOWED, 'list through a link', () => backend.list(at('toDir/sub')))
    },
  },
  {
    name: 'stat finds nothing below a link, whatever it leads to',
    unless: needs('links'),
    async test({ backend }) {
      for await (const target of targetsOfL(backend)) {
        for (const path of BELOW_L) same(await backend.stat(at(path)), undefined, `${path}, where l leads to ${target}`)
      }
    },
  },
  {
    name: 'commit finds nothing below a link, whatever it leads to, and puts a directory in its place',
    unless: needs('links'),
    async test({ backend }) {
      for await (const target of targetsOfL(backend)) {
        for (const path of BELOW_L) {
          const { applied } = await commit(backend, change(path, null))
          same(applied, [{ path, before: null, after: null }], `deletion of ${path}, where l leads to ${target}`)
        }
        const { tag = '' } = (await backend.stat(at('l'))) ?? {}
        const restored = ['l/f', 'l/sub/f'].map((path) => change(path, file('y'), 'absent'))
        await commit(backend, change('l', directory, { tag }), change('l/sub', directory, 'absent'), ...restored)
        same([await textAt(backend, 'l/f'), await textAt(backend, 'd/f')], ['y', 'x'], `contents after ${target}`)
        await commit(backend, ...['l', 'l/f', 'l/sub', 'l/sub/f'].map((path) => change(path, null)))
      }
    },
  },
  {
    name: 'commit never follows a link, neither at the end of a path nor in its middle',
    unless: needs('links'),
    async test({ backend }) {
      await commit(
        backend,
        change('d', directory),
        change('d/f', file('x')),
        change('toDir', link('d')),
        change('toFile', link('d/f')),
      )
      const before = await snapshot(backend)
      await refused(NOT_FOLLOWED, 'create through a link', () => commit(backend, change('toDir/new', file('y'))))
      await refused(NOT_FOLLOWED, 'replace through a link', () => commit(backend, change('toDir/f', file('y'))))
      same(await snapshot(backend), before, 'tree')
      await commit(backend, change('toFile', file('y')))
      same(
        [await textAt(backend, 'toFile'), await textAt(backend, 'd/f')],
        ['y', 'x'],
        'contents of the replaced link and of its target',
      )
    },
  },
  {
    name: 'a directory that contains only a link is not empty',
    unless: needs('links'),
    async test({ backend }) {
      await commit(backend, change('d', directory), change('d/l', link('nowhere')))
      await refused('DIRECTORY_NOT_EMPTY', 'deleting the directory without the link', () =>
        commit(backend, change('d', null)),
      )
      await commit(backend, change('d/l', null), change('d', null))
      same(await snapshot(backend), new Map(), 'tree')
    },
  },
  {
    name: 'commit refuses an entry below a link of the same change set',
    unless: needs('links'),
    async test({ backend }) {
      await refused('NOT_A_DIRECTORY', 'a file', () =>
        commit(backend, change('l', link('x')), change('l/f', file('x'))),
      )
      same(await snapshot(backend), new Map(), 'tree')
    },
  },
  {
    name: 'readLink refuses a path that is not a link',
    async test({ backend }) {
      await commit(backend, change('f', file('x')), change('d', directory))
      await refused('NOT_FOUND', 'a missing path', () => backend.readLink(at('none')))
      await refused(['INVALID_INPUT', 'PATH_REJECTED'], 'a file', () => backend.readLink(at('f')))
      await refused(['IS_DIRECTORY', 'INVALID_INPUT'], 'a directory', () => backend.readLink(at('d')))
    },
  },
  {
    name: 'a link to outside the root, made by another program, is listed and deletable but never followed',
    unless: linksAndPlanting,
    async test({ backend, plantLink }) {
      await commit(backend, change('d', directory))
      const targets = [
        '/',
        '/etc',
        '..',
        '../..',
        '../outside',
        '../../none/such',
        '/none/such',
        'd/../../outside',
        '/dev/null',
        '/proc/self/cwd',
      ]
      for (const target of targets) {
        await plantLink?.('escape', target)
        same((await backend.stat(at('escape')))?.type, 'link', `type of a link to ${target}`)
        same(await backend.canonical(at('escape'), { noFollow: true }), 'escape', 'the link itself')
        await refused('PATH_REJECTED', `canonical of a link to ${target}`, () => backend.canonical(at('escape')))
        await refused('PATH_REJECTED', `canonical below a link to ${target}`, () => backend.canonical(at('escape/x')))
        await refused('PATH_REJECTED', `noFollow below a link to ${target}`, () =>
          backend.canonical(at('escape/x'), { noFollow: true }),
        )
        await refused(NOT_READ, `read of a link to ${target}`, () => backend.read(at('escape')))
        await refused(NOT_FOLLOWED, `read below a link to ${target}`, () => backend.read(at('escape/hostname')))
        await refused(NOT_FOLLOWED, `list of a link to ${target}`, () => backend.list(at('escape')))
        await refused(NOT_FOLLOWED, `write below a link to ${target}`, () =>
          commit(backend, change('escape/wardspace-test', file('x'))),
        )
        same(await backend.stat(at('escape/tmp')), undefined, `stat below a link to ${target}`)
        await commit(backend, change('escape', null))
      }
      same([...(await snapshot(backend)).keys()], ['d'], 'tree')
    },
  },
  {
    name: 'a link inside the root that leads to a link to outside is never followed',
    unless: linksAndPlanting,
    async test({ backend, plantLink }) {
      await commit(backend, change('d', directory), change('inside', link('d/escape')))
      await plantLink?.('d/escape', '../../outside')
      await refused('PATH_REJECTED', 'canonical', () => backend.canonical(at('inside')))
      await refused('PATH_REJECTED', 'canonical below', () => backend.canonical(at('inside/x')))
      same(await backend.canonical(at('inside'), { noFollow: true }), 'inside', 'the first link itself')
    },
  },
]

const BELOW_L = ['l/f', 'l/sub', 'l/sub/f', 'l/d', 'l/l/f', 'other/f', 'l/none'] as const

/** Makes `l` a link to one target after the other: a directory, a file, nothing, circles, the root. */
async function* targetsOfL(backend: Backend): AsyncGenerator<string> {
  await commit(backend, change('d', directory), change('d/f', file('x')), change('d/sub', directory))
  for (const target of ['d', 'd/f', 'none', 'l', 'other', '.']) {
    await commit(backend, change('l', link(target)), change('other', link('l')))
    yield target
  }
}
