import { sha256 } from '../../files/hash/sha256.ts'
import { isUint8Array } from '../../util/bytes.ts'
import { check, refused, same, sameBytes } from '../assert.ts'
import { at, type BackendCase, bytesOf, change, commit, directory, file, needs, textAt, textOf } from './case.ts'

/** `stat`, `list`, `read`, `canonical` and `close`. */
export const readCases: readonly BackendCase[] = [
  {
    name: 'an empty backend has a root directory without entries',
    async test({ backend }) {
      same((await backend.stat(at('')))?.type, 'directory', 'type of the root')
      same(await backend.list(at('')), [], 'entries of the root')
      same(await backend.canonical(at('')), '', 'canonical root')
    },
  },
  {
    name: 'capabilities are complete and have the right types',
    async test({ backend: { capabilities } }) {
      for (const name of ['links', 'modes', 'caseSensitive', 'persistent'] as const) {
        same(typeof capabilities[name], 'boolean', `type of capability ${name}`)
      }
      check(['set', 'own', 'none'].includes(capabilities.times), 'times')
      check(['sole', 'shared'].includes(capabilities.authority), 'authority')
      check(['set', 'file'].includes(capabilities.atomic), 'atomic')
    },
  },
  {
    name: 'stat returns type and size, and undefined for a missing path',
    async test({ backend }) {
      await commit(backend, change('d', directory), change('d/f', file('12345')))
      const stat = await backend.stat(at('d/f'))
      same(stat?.type, 'file', 'type')
      same(stat?.size, 5, 'size')
      same((await backend.stat(at('d')))?.type, 'directory', 'type of the directory')
      same((await backend.stat(at('d')))?.size, 0, 'size of the directory')
      same(await backend.stat(at('none')), undefined, 'stat of a missing path')
      same(await backend.stat(at('none/below')), undefined, 'stat below a missing path')
      same(await backend.stat(at('d/f/below')), undefined, 'stat below a file')
    },
  },
  {
    name: 'read returns exactly the committed bytes',
    async test({ backend }) {
      const all = Uint8Array.from({ length: 256 }, (_, i) => i)
      await commit(backend, change('bin', file(all)))
      const { bytes, stat } = await backend.read(at('bin'))
      check(isUint8Array(bytes), 'bytes must be a Uint8Array')
      sameBytes(bytes, all, 'content')
      same(stat, await backend.stat(at('bin')), 'stat returned by read')
    },
  },
  {
    name: 'an empty file has size 0 and reads as no bytes',
    async test({ backend }) {
      const { applied } = await commit(backend, change('empty', file('')))
      same((await backend.stat(at('empty')))?.size, 0, 'size')
      same((await backend.read(at('empty'))).bytes.length, 0, 'bytes')
      same((await backend.read(at('empty'), { start: 0, end: 10 })).bytes.length, 0, 'a range of it')
      same(applied[0]?.after?.type === 'file' && applied[0].after.sha256, sha256(new Uint8Array(0)), 'sha256')
    },
  },
  {
    name: 'read returns a file of 5 MB, whole and in ranges',
    async test({ backend }) {
      const big = pseudoRandom(5_000_000)
      await commit(backend, change('big', file(big.slice())))
      sameBytes((await backend.read(at('big'))).bytes, big, 'whole')
      for (const [start, end] of [
        [0, 1],
        [4_095, 4_097],
        [1_048_575, 1_048_577],
        [2_000_000, 3_500_001],
        [4_999_990, 5_000_000],
      ] as const) {
        sameBytes(
          (await backend.read(at('big'), { start, end })).bytes,
          big.subarray(start, end),
          `range ${start}..${end}`,
        )
      }
    },
  },
  {
    name: 'read takes a half-open range and clips it to the file',
    async test({ backend }) {
      await commit(backend, change('f', file('0123456789')))
      const range = async (start: number, end: number) => textOf((await backend.read(at('f'), { start, end })).bytes)
      same(await range(0, 10), '0123456789', 'all')
      same(await range(2, 5), '234', 'middle')
      same(await range(8, 100), '89', 'past the end')
      same(await range(10, 20), '', 'at the end')
      same(await range(50, 60), '', 'beyond the end')
      same(await range(3, 3), '', 'an empty range')
      same((await backend.read(at('f'), { start: 2, end: 5 })).stat.size, 10, 'size returned with a range')
    },
  },
  {
    name: 'read of a range accepts the current tag and refuses a stale one with WRITE_CONFLICT',
    async test({ backend }) {
      await commit(backend, change('f', file('first')))
      const tag = (await backend.stat(at('f')))?.tag as string
      same(textOf((await backend.read(at('f'), { start: 0, end: 2, tag })).bytes), 'fi', 'a range with the current tag')
      await commit(backend, change('f', file('other')))
      const error = await refused('WRITE_CONFLICT', 'a range with a stale tag', () =>
        backend.read(at('f'), { start: 0, end: 2, tag }),
      )
      same(error.details.path, 'f', 'details.path of the error')
      same(error.details.currentSha256, sha256(bytesOf('other')), 'details.currentSha256 of the error')
    },
  },
  {
    name: 'read refuses a path that is not a file',
    async test({ backend }) {
      await commit(backend, change('d', directory), change('f', file('x')))
      await refused('NOT_FOUND', 'reading a missing path', () => backend.read(at('none')))
      await refused('NOT_FOUND', 'reading below a missing path', () => backend.read(at('none/below')))
      await refused('IS_DIRECTORY', 'reading a directory', () => backend.read(at('d')))
      await refused('IS_DIRECTORY', 'reading the root', () => backend.read(at('')))
      await refused('NOT_A_DIRECTORY', 'reading below a file', () => backend.read(at('f/below')))
      await refused('NOT_FOUND', 'reading a range of a missing path', () =>
        backend.read(at('none'), { start: 0, end: 1 }),
      )
    },
  },
  {
    name: 'list refuses a path that is not a directory',
    async test({ backend }) {
      await commit(backend, change('f', file('x')))
      await refused('NOT_FOUND', 'listing a missing path', () => backend.list(at('none')))
      await refused('NOT_A_DIRECTORY', 'listing a file', () => backend.list(at('f')))
      await refused('NOT_A_DIRECTORY', 'listing below a file', () => backend.list(at('f/below')))
    },
  },
  {
    name: 'list returns names and types of one directory, sorted by UTF-16 code units',
    async test({ backend }) {
      const names = ['b', 'a', '10', '9', 'a.b', 'a-b', 'ab', '_', 'é', 'z', '中', '😀', '\uff5e']
      await commit(
        backend,
        change('d', directory),
        ...names.map((name) => change(`d/${name}`, file(name))),
        change('d/sub', directory),
        change('d/sub/x', file('x')),
      )
      const expected = [...names, 'sub'].sort((a, b) => (a < b ? -1 : 1))
      same(
        (await backend.list(at('d'))).map(({ name }) => name),
        expected,
        'names',
      )
      same((await backend.list(at('d'))).find(({ name }) => name === 'sub')?.type, 'directory', 'type')
      same(await backend.list(at('')), [{ name: 'd', type: 'directory' }], 'the root')
    },
  },
  {
    name: 'bytes returned by read do not change with later commits',
    async test({ backend }) {
      await commit(backend, change('f', file('before')))
      const whole = (await backend.read(at('f'))).bytes
      const part = (await backend.read(at('f'), { start: 0, end: 3 })).bytes
      await commit(backend, change('f', file('after!')))
      await backend.read(at('f'))
      await commit(backend, change('f', null))
      same(textOf(whole), 'before', 'whole')
      same(textOf(part), 'bef', 'part')
    },
  },
  {
    name: 'a tag changes exactly when the content changes, even if the size stays the same',
    async test({ backend }) {
      const tag = async (path: string) => (await backend.stat(at(path)))?.tag
      await commit(backend, change('f', file('aaaa')), change('g', file('g')))
      const first = await tag('f')
      same(typeof first, 'string', 'type of a tag')
      same(await tag('f'), first, 'tag without a change')
      await commit(backend, change('g', file('other')))
      same(await tag('f'), first, 'tag after a commit to another file')
      await commit(backend, change('f', file('bbbb')))
      check((await tag('f')) !== first, 'the tag must change when the content changes')
    },
  },
  {
    name: 'permission bits are stored, and kept when a file is replaced without a mode',
    unless: needs('modes'),
    async test({ backend }) {
      const mode = async (path = 'run') => (await backend.stat(at(path)))?.mode
      await commit(backend, change('run', file('1', 0o755)), change('plain', file('2')))
      same(await mode(), 0o755, 'mode of a new file')
      await commit(backend, change('run', file('3')))
      same(await mode(), 0o755, 'mode after a replacement without a mode')
      await commit(backend, change('run', file('4', 0o600)))
      same(await mode(), 0o600, 'mode after a replacement with a mode')
      const plain = await mode('plain')
      check(plain !== undefined, 'a file committed without a mode must have permission bits')
      same(plain & 0o111, 0, 'executable bits of a file committed without a mode')
      same(plain & 0o600, 0o600, 'owner bits of a file committed without a mode')
    },
  },
  {
    name: 'commit sets modifiedAt to the time that it is given',
    unless: needs('times'),
    async test({ backend }) {
      for (const time of [1_700_000_000_123, 1_234_567_890_999, 1]) {
        await backend.commit([change('f', file(String(time)))], { durability: 'relaxed', at: time })
        same((await backend.stat(at('f')))?.modifiedAt, time, 'modifiedAt')
      }
    },
  },
  {
    name: 'canonical returns a path without links unchanged, missing names included',
    async test({ backend }) {
      await commit(backend, change('d', directory), change('d/f', file('x')))
      for (const path of ['d', 'd/f', 'd/none', 'd/none/below/deep', 'none', 'none/below']) {
        same(await backend.canonical(at(path)), path, `canonical ${path}`)
        same(await backend.canonical(at(path), { noFollow: true }), path, `canonical ${path} with noFollow`)
      }
    },
  },
  {
    name: 'canonical refuses a path through a file',
    async test({ backend }) {
      await commit(backend, change('f', file('x')))
      await refused('NOT_A_DIRECTORY', 'below a file', () => backend.canonical(at('f/below')))
      await refused('NOT_A_DIRECTORY', 'deep below a file', () => backend.canonical(at('f/below/deep')))
      await refused('NOT_A_DIRECTORY', 'below a file with noFollow', () =>
        backend.canonical(at('f/below'), { noFollow: true }),
      )
    },
  },
  {
    name: 'close can be called twice',
    async test({ backend }) {
      await commit(backend, change('f', file('x')))
      await backend.close()
      await backend.close()
    },
  },
]

function pseudoRandom(length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let state = 42
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    bytes[i] = state >>> 24
  }
  return bytes
}

/** Names that are valid, although they look special. */
const oddNames = [
  '__proto__',
  'constructor',
  'hasOwnProperty',
  'toString',
  'valueOf',
  '__defineGetter__',
  '..foo',
  '...',
  '.a',
  'a.',
  '[id].tsx',
  '{a,b}',
  '*',
  '?',
  '!',
  '#',
  '$HOME',
  '~',
  '%2e%2e',
  '&#46;',
  "it's",
  'with space',
  ' leading',
  'trailing ',
  '-rf',
  '--',
  '😀',
  '👩‍👩‍👧',
  'ﬁ',
  '．．',
  '日本語',
  'null',
  'undefined',
  'NaN',
  '0',
  '-1',
  'con',
  'aux.txt',
  'a;b',
  'a|b',
  'a&b',
  '"quoted"',
  '<x>',
  '\ufeffa',
]

/** Names: special characters, length, letter case, Unicode normalization. */
export const nameCases: readonly BackendCase[] = [
  {
    name: 'file names with special characters are taken literally',
    async test({ backend }) {
      await commit(backend, ...oddNames.map((name) => change(name, file(`of ${name}`))))
      for (const name of oddNames) same(await textAt(backend, name), `of ${name}`, name)
      same(
        (await backend.list(at(''))).map(({ name }) => name),
        [...oddNames].sort((a, b) => (a < b ? -1 : 1)),
        'list',
      )
      await commit(backend, ...oddNames.map((name) => change(name, null)))
      same(await backend.list(at('')), [], 'after deleting them')
    },
  },
  {
    name: 'directory names with special characters are taken literally',
    async test({ backend }) {
      await commit(
        backend,
        ...oddNames.flatMap((name) => [change(name, directory), change(`${name}/x`, file(`in ${name}`))]),
      )
      for (const name of oddNames) same(await textAt(backend, `${name}/x`), `in ${name}`, name)
    },
  },
  {
    name: 'stat finds no entry under a name that was never committed',
    async test({ backend }) {
      await commit(backend, change('d', directory))
      for (const name of oddNames) {
        same(await backend.stat(at(name)), undefined, name)
        same(await backend.stat(at(`d/${name}`)), undefined, `d/${name}`)
      }
    },
  },
  {
    name: 'names of 255 bytes work, with characters of one and of several bytes',
    async test({ backend }) {
      for (const name of ['n'.repeat(255), `${'é'.repeat(127)}x`, `${'😀'.repeat(63)}abc`]) {
        check(bytesOf(name).length === 255, 'the test name must have 255 bytes')
        await commit(backend, change(name, file('long')))
        await commit(backend, change(name, file('longer'), { sha256: sha256(bytesOf('long')) }))
        same(await textAt(backend, name), 'longer', 'content')
        await commit(backend, change(name, null))
      }
      same(await backend.list(at('')), [], 'entries after deleting all')
    },
  },
  {
    name: 'names that differ in letter case are different entries',
    unless: needs('caseSensitive'),
    async test({ backend }) {
      await commit(backend, change('Readme', file('1')), change('README', file('2')), change('readme', file('3')))
      same(await textAt(backend, 'Readme'), '1', 'Readme')
      same(await textAt(backend, 'README'), '2', 'README')
      same(await backend.canonical(at('readMe')), 'readMe', 'canonical of a spelling that does not exist')
    },
  },
  {
    name: 'composed and decomposed names are different entries',
    unless: needs('caseSensitive'),
    async test({ backend }) {
      await commit(backend, change('caf\u00e9', file('composed')), change('cafe\u0301', file('decomposed')))
      same(await textAt(backend, 'caf\u00e9'), 'composed', 'composed')
      same(await textAt(backend, 'cafe\u0301'), 'decomposed', 'decomposed')
    },
  },
]
