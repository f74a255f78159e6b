import { sha256 } from '../../files/hash/sha256.ts'
import type { Backend, Change, Version } from '../../storage/backend.ts'
import { check, refused, same } from '../assert.ts'
import {
  at,
  type BackendCase,
  bytesOf,
  change,
  commit,
  directory,
  file,
  needs,
  snapshot,
  textAt,
  WRONG_SHA,
} from './case.ts'

const shaOf = (text: string) => sha256(bytesOf(text))

/** `commit`: preconditions, atomicity, receipts, moves and concurrency. */
export const commitCases: readonly BackendCase[] = [
  {
    name: 'an empty change set changes nothing',
    async test({ backend }) {
      same((await commit(backend)).applied, [], 'receipt')
      same(await snapshot(backend), new Map(), 'tree')
    },
  },
  {
    name: 'the receipt lists the versions before and after, in the order of the change set',
    async test({ backend }) {
      await commit(backend, change('old', file('old')), change('gone', file('gone')))
      const { applied } = await commit(
        backend,
        change('z/new', file('new')),
        change('old', file('newer'), { sha256: shaOf('old') }),
        change('z', directory),
        change('gone', null),
      )
      same(
        applied.map(({ path }) => path),
        ['z/new', 'old', 'z', 'gone'],
        'paths',
      )
      const versions = applied.map(({ before, after }) => [before, after].map(shortVersion))
      same(
        versions,
        [
          [null, `${shaOf('new')} 3`],
          [`${shaOf('old')} 3`, `${shaOf('newer')} 5`],
          [null, 'directory'],
          [`${shaOf('gone')} 4`, null],
        ],
        'versions',
      )
    },
  },
  {
    name: 'the receipt contains permission bits',
    unless: needs('modes'),
    async test({ backend }) {
      await commit(backend, change('run', file('1', 0o755)))
      const { applied } = await commit(backend, change('run', file('2', 0o644)))
      const [entry] = applied
      same(modeOf(entry?.before), '0o755', 'mode of before')
      same(modeOf(entry?.after), '0o644', 'mode of after')
    },
  },
  {
    name: 'creating an existing directory changes nothing',
    async test({ backend }) {
      await commit(backend, change('d', directory), change('d/f', file('x')))
      const before = await snapshot(backend)
      const { applied } = await commit(backend, change('d', directory))
      same(applied[0]?.before, { type: 'directory' }, 'before')
      same(applied[0]?.after, { type: 'directory' }, 'after')
      same(await snapshot(backend), before, 'tree')
    },
  },
  {
    name: 'deleting a missing path changes nothing',
    async test({ backend }) {
      await commit(backend, change('f', file('x')))
      for (const path of ['none', 'none/below', 'f/below']) {
        const { applied } = await commit(backend, change(path, null))
        same(applied[0], { path, before: null, after: null }, path)
      }
      same([...(await snapshot(backend)).keys()], ['f'], 'tree')
    },
  },
  {
    name: 'commit refuses an entry without a parent directory, and does not create the parent',
    async test({ backend }) {
      await refused('NOT_FOUND', 'a file', () => commit(backend, change('a/b/f', file('x'))))
      await refused('NOT_FOUND', 'a directory', () => commit(backend, change('a/b', directory)))
      await refused('NOT_FOUND', 'one of two parents', () =>
        commit(backend, change('a', directory), change('a/b/f', file('x'))),
      )
      same(await snapshot(backend), new Map(), 'tree')
    },
  },
  {
    name: 'commit refuses an entry below a file',
    async test({ backend }) {
      await commit(backend, change('f', file('x')))
      await refused('NOT_A_DIRECTORY', 'a file', () => commit(backend, change('f/new', file('x'))))
      await refused('NOT_A_DIRECTORY', 'a directory', () => commit(backend, change('f/new', directory)))
      await refused(['NOT_A_DIRECTORY', 'NOT_FOUND'], 'further down', () => commit(backend, change('f/a/b', file('x'))))
      same([...(await snapshot(backend)).keys()], ['f'], 'tree')
    },
  },
  {
    name: 'a change set can create parents and children in any order',
    async test({ backend }) {
      await commit(
        backend,
        change('a/b/c/f', file('x')),
        change('a/b/c', directory),
        change('a', directory),
        change('a/b', directory),
      )
      same(await textAt(backend, 'a/b/c/f'), 'x', 'content')
    },
  },
  {
    name: 'a change set can delete a tree in any order, but only completely',
    async test({ backend }) {
      await commit(
        backend,
        change('d', directory),
        change('d/e', directory),
        change('d/e/f', file('1')),
        change('d/g', file('2')),
      )
      const before = await snapshot(backend)
      await refused('DIRECTORY_NOT_EMPTY', 'deleting all but d/g', () =>
        commit(backend, change('d', null), change('d/e', null), change('d/e/f', null)),
      )
      await refused('DIRECTORY_NOT_EMPTY', 'deleting all but d/e/f', () =>
        commit(backend, change('d', null), change('d/e', null), change('d/g', null)),
      )
      same(await snapshot(backend), before, 'tree')
      await commit(backend, change('d', null), change('d/e/f', null), change('d/g', null), change('d/e', null))
      same(await snapshot(backend), new Map(), 'tree after')
    },
  },
  {
    name: 'commit refuses a change set that contains a path twice',
    async test({ backend }) {
      await refused('INVALID_INPUT', 'twice', () => commit(backend, change('f', file('1')), change('f', file('2'))))
      await refused('INVALID_INPUT', 'created and deleted', () =>
        commit(backend, change('f', file('1')), change('f', null)),
      )
      same(await snapshot(backend), new Map(), 'tree')
    },
  },
  {
    name: 'commit refuses to change the root',
    async test({ backend }) {
      for (const to of [null, directory, file('x')]) {
        await refused(['INVALID_INPUT', 'POLICY_DENIED'], 'the root', () => commit(backend, change('', to)))
      }
    },
  },
  {
    name: 'commit refuses malformed expectations and states',
    async test({ backend }) {
      const broken = [
        { ...change('f', file('x')), expect: { sha256: 'short' } },
        { ...change('f', file('x')), expect: { sha256: 'A'.repeat(64) } },
        { ...change('f', file('x')), expect: {} },
        { ...change('f', file('x')), expect: null },
        { ...change('f', file('x')), to: { type: 'file', bytes: 'text' } },
        { ...change('f', file('x')), to: { type: 'socket' } },
        { ...change('f', file('x', 0o10000)) },
        { ...change('f', file('x', -1)) },
      ] as unknown as Change[]
      for (const [i, malformed] of broken.entries())
        await refused('INVALID_INPUT', `malformed change ${i}`, () => commit(backend, malformed))
      same(await snapshot(backend), new Map(), 'tree')
    },
  },
  {
    name: 'commit refuses paths that are not normalized logical paths',
    async test({ backend }) {
      for (const path of ['../out', 'a/../../out', '/abs', 'a//b', './a', 'a/.', 'a\\b', 'a\0b', 'c:x']) {
        const hostile = { ...change('f', file('x')), path } as unknown as Change
        await refused(['PATH_REJECTED', 'INVALID_INPUT'], path, () => commit(backend, hostile))
      }
      same(await snapshot(backend), new Map(), 'tree')
    },
  },
  {
    name: 'commit refuses an entry below a file or a deleted directory of the same change set',
    async test({ backend }) {
      await commit(backend, change('d', directory))
      await refused('NOT_A_DIRECTORY', 'below a new file', () =>
        commit(backend, change('n', file('x')), change('n/f', file('x'))),
      )
      await refused('NOT_FOUND', 'below a deleted directory', () =>
        commit(backend, change('d', null), change('d/f', file('x'))),
      )
      await refused('NOT_FOUND', 'two levels below a deleted directory', () =>
        commit(backend, change('d', null), change('d/e', directory), change('d/e/f', file('x'))),
      )
      same([...(await snapshot(backend)).keys()], ['d'], 'tree')
    },
  },
  {
    name: 'one wrong expectation anywhere in a change set leaves the whole tree unchanged',
    unless: needs('set'),
    async test({ backend }) {
      await commit(
        backend,
        change('a', file('a')),
        change('b', file('b')),
        change('c', file('c')),
        change('d', directory),
        change('d/x', file('x')),
        change('k', directory),
        change('k/x', file('x')),
      )
      const before = await snapshot(backend)
      const good = [
        change('a', file('A'), { sha256: shaOf('a') }),
        change('b', null, { sha256: shaOf('b') }),
        change('new', directory),
        change('new/f', file('f')),
        change('d/x', file('X')),
      ]
      const bad: [
        Change,
        'WRITE_CONFLICT' | 'ALREADY_EXISTS' | 'NOT_FOUND' | 'IS_DIRECTORY' | 'DIRECTORY_NOT_EMPTY',
      ][] = [
        [change('c', file('C'), WRONG_SHA), 'WRITE_CONFLICT'],
        [change('c', file('C'), 'absent'), 'ALREADY_EXISTS'],
        [change('nowhere/f', file('C')), 'NOT_FOUND'],
        [change('k', file('C')), 'IS_DIRECTORY'],
        [change('k', null), 'DIRECTORY_NOT_EMPTY'],
      ]
      for (const [wrong, code] of bad) {
        for (const position of [0, 2, good.length]) {
          const set = [...good.slice(0, position), wrong, ...good.slice(position)]
          await refused(code, `${code} at position ${position}`, () => commit(backend, ...set))
          same(await snapshot(backend), before, `tree after ${code} at position ${position}`)
        }
      }
    },
  },
  {
    name: 'a commit that was aborted before it started changes nothing',
    async test({ backend }) {
      await commit(backend, change('f', file('1')))
      const controller = new AbortController()
      controller.abort()
      const set = [change('f', file('2')), change('g', file('3'))]
      await refused('ABORTED', 'commit', () =>
        backend.commit(set, { durability: 'relaxed', signal: controller.signal }),
      )
      await refused('ABORTED', 'durable commit', () =>
        backend.commit(set, { durability: 'durable', signal: controller.signal }),
      )
      same([...(await snapshot(backend)).keys()], ['f'], 'tree')
      same(await textAt(backend, 'f'), '1', 'content')
    },
  },
  {
    name: 'commit with durability "durable" stores the changes',
    async test({ backend }) {
      await backend.commit([change('d', directory), change('d/f', file('1'))], { durability: 'durable' })
      await backend.commit([change('d/f', file('2'), { sha256: shaOf('1') })], { durability: 'durable' })
      same(await textAt(backend, 'd/f'), '2', 'content')
    },
  },
  {
    name: 'two files can swap their contents in one change set',
    async test({ backend }) {
      await commit(backend, change('a', file('1')), change('b', file('2')))
      await commit(
        backend,
        change('a', file('2'), { sha256: shaOf('1') }),
        change('b', file('1'), { sha256: shaOf('2') }),
      )
      same([await textAt(backend, 'a'), await textAt(backend, 'b')], ['2', '1'], 'contents')
    },
  },
  {
    name: 'an appended file is complete, with and without sharedPrefix',
    async test({ backend }) {
      await commit(backend, change('log', file('one\n')))
      await commit(
        backend,
        change('log', { type: 'file', bytes: bytesOf('one\ntwo\n'), sharedPrefix: 4 }, { sha256: shaOf('one\n') }),
      )
      await commit(backend, change('log', file('one\ntwo\nthree\n')))
      same(await textAt(backend, 'log'), 'one\ntwo\nthree\n', 'content')
    },
  },
  {
    name: 'a move is a deletion and a creation, with and without the "from" hint',
    async test({ backend }) {
      await commit(backend, change('a', file('1')), change('d', directory))
      await commit(backend, change('a', null, { sha256: shaOf('1') }), change('d/b', file('1'), 'absent', 'a'))
      same([...(await snapshot(backend)).keys()], ['d', 'd/b'], 'tree after a move with the hint')
      await commit(backend, change('c', file('1'), 'absent'), change('d/b', null))
      same([...(await snapshot(backend)).keys()], ['c', 'd'], 'tree after a move without the hint')
      same(await textAt(backend, 'c'), '1', 'content')
    },
  },
  {
    name: 'a move that also changes the content stores the new content',
    async test({ backend }) {
      await commit(backend, change('a', file('old')))
      await commit(backend, change('a', null), change('b', file('new'), 'absent', 'a'))
      same(await textAt(backend, 'b'), 'new', 'content')
      same(await backend.stat(at('a')), undefined, 'the old path')
    },
  },
  {
    name: 'a moved file keeps its permission bits',
    unless: needs('modes'),
    async test({ backend }) {
      await commit(backend, change('run', file('1', 0o755)))
      await commit(backend, change('run', null), change('run2', file('1'), 'absent', 'run'))
      same((await backend.stat(at('run2')))?.mode, 0o755, 'mode of a move without a mode')
      await commit(backend, change('run2', null), change('run3', file('1', 0o640), 'absent', 'run2'))
      same((await backend.stat(at('run3')))?.mode, 0o640, 'mode of a move with a mode')
    },
  },
  {
    name: 'a wrong "from" hint has no effect on the content',
    async test({ backend }) {
      await commit(backend, change('a', file('a')), change('d', directory))
      await commit(backend, change('b', file('b'), 'absent', 'nowhere'))
      await commit(backend, change('c', file('c'), 'absent', 'a'))
      await commit(backend, change('e', file('e'), 'absent', 'd'))
      const contents = await Promise.all(['a', 'b', 'c', 'e'].map((path) => textAt(backend, path)))
      same(contents, ['a', 'b', 'c', 'e'], 'contents')
    },
  },
  {
    name: 'three files can rotate in one change set with crossing "from" hints',
    async test({ backend }) {
      await commit(backend, change('a', file('1')), change('b', file('2')), change('c', file('3')))
      await commit(
        backend,
        change('a', file('3'), 'any', 'c'),
        change('b', file('1'), 'any', 'a'),
        change('c', file('2'), 'any', 'b'),
      )
      const contents = await Promise.all(['a', 'b', 'c'].map((path) => textAt(backend, path)))
      same(contents, ['3', '1', '2'], 'contents')
    },
  },
  {
    name: 'a directory can move with its whole content in one change set',
    async test({ backend }) {
      await commit(
        backend,
        change('old', directory),
        change('old/sub', directory),
        change('old/a', file('a')),
        change('old/sub/b', file('b')),
      )
      await commit(
        backend,
        change('old', null),
        change('old/sub', null),
        change('old/a', null),
        change('old/sub/b', null),
        change('new', directory, 'absent'),
        change('new/sub', directory),
        change('new/a', file('a'), 'absent', 'old/a'),
        change('new/sub/b', file('b'), 'absent', 'old/sub/b'),
      )
      same([...(await snapshot(backend)).keys()].sort(), ['new', 'new/a', 'new/sub', 'new/sub/b'], 'tree')
      same(await textAt(backend, 'new/sub/b'), 'b', 'content')
    },
  },
  {
    name: 'a file can become a directory with files, and back, each in one change set',
    async test({ backend }) {
      await commit(backend, change('x', file('was a file')))
      await commit(backend, change('x', directory, { sha256: shaOf('was a file') }), change('x/y', file('inside')))
      same(await textAt(backend, 'x/y'), 'inside', 'inside')
      const tag = (await backend.stat(at('x')))?.tag as string
      const before = await snapshot(backend)
      await refused('DIRECTORY_NOT_EMPTY', 'deleting all but x/y', () =>
        commit(backend, change('x', file('again'), { tag })),
      )
      await refused('IS_DIRECTORY', 'replacing a full directory with any', () =>
        commit(backend, change('x', file('again')), change('x/y', null)),
      )
      same(await snapshot(backend), before, 'tree')
      await commit(backend, change('x', file('again'), { tag }), change('x/y', null))
      same(await textAt(backend, 'x'), 'again', 'content of the file that replaced the directory')
    },
  },
  {
    name: 'a file that replaces a directory can take the content of a file inside it',
    async test({ backend }) {
      await commit(backend, change('x', directory), change('x/y', file('1')))
      const tag = (await backend.stat(at('x')))?.tag as string
      await commit(backend, change('x/y', null), change('x', file('1'), { tag }, 'x/y'))
      same(await textAt(backend, 'x'), '1', 'content')
      await commit(
        backend,
        change('x', directory, { sha256: shaOf('1') }, 'x'),
        change('x/y', file('1'), 'absent', 'x'),
      )
      same(await textAt(backend, 'x/y'), '1', 'content after the way back')
    },
  },
  {
    name: 'WRITE_CONFLICT reports the current sha256, or null if there is no file',
    async test({ backend }) {
      await commit(backend, change('f', file('present')), change('d', directory))
      const details = async (wrong: Change) =>
        (await refused('WRITE_CONFLICT', wrong.path, () => commit(backend, wrong))).details
      same(
        (await details(change('f', file('x'), WRONG_SHA))).currentSha256,
        shaOf('present'),
        'currentSha256 for another sha256',
      )
      same(
        (await details(change('f', null, { tag: 'no such tag' }))).currentSha256,
        shaOf('present'),
        'currentSha256 for another tag',
      )
      same((await details(change('none', file('x'), WRONG_SHA))).currentSha256, null, 'currentSha256 of a missing path')
      same((await details(change('d', file('x'), WRONG_SHA))).currentSha256, null, 'currentSha256 of a directory')
      same((await details(change('f', file('x'), WRONG_SHA))).path, 'f', 'path')
    },
  },
  {
    name: 'error messages contain logical paths only',
    async test({ backend, physical }) {
      await commit(backend, change('d', directory), change('d/f', file('x')))
      const actions: [() => Promise<unknown>, string][] = [
        [() => backend.read(at('d/none')), 'd/none'],
        [() => backend.read(at('d')), 'd'],
        [() => backend.list(at('d/f')), 'd/f'],
        [() => backend.readLink(at('d/none')), 'd/none'],
        [() => backend.canonical(at('d/f/below')), 'd/f/below'],
        [() => commit(backend, change('d/none/f', file('x'))), 'd/none/f'],
        [() => commit(backend, change('d/f', file('x'), 'absent')), 'd/f'],
        [() => commit(backend, change('d', null)), 'd'],
      ]
      for (const [action, path] of actions) {
        const error = await action().then(
          () => undefined,
          (reason: Error) => reason,
        )
        check(error?.name === 'ToolError', `${path} must be refused`)
        check(error.message.includes(`"${path}"`), `the message must contain "${path}": ${error.message}`)
        same((error as unknown as { details: { path: string } }).details.path, path, 'details.path of the error')
        if (physical !== undefined)
          check(!error.message.includes(physical), `the message contains a physical path: ${error.message}`)
      }
    },
  },
  {
    name: 'committed changes are still there when the storage is reopened',
    unless: needs('persistent'),
    async test({ backend, reopen }) {
      check(reopen, 'the subject of a persistent backend must have reopen()')
      await backend.commit([change('d', directory), change('d/f', file('kept', 0o755)), change('gone', file('x'))], {
        durability: 'durable',
      })
      await backend.commit([change('gone', null)], { durability: 'durable' })
      const before = await snapshot(backend)
      await backend.close()
      const again = await reopen()
      try {
        same(await snapshot(again), before, 'tree')
        await commit(again, change('d/f', file('more'), { sha256: shaOf('kept') }))
        same(await textAt(again, 'd/f'), 'more', 'content after a commit to the reopened storage')
      } finally {
        await again.close()
      }
    },
  },
  {
    name: 'exactly one of 16 concurrent writers with the same expected version wins',
    async test({ backend }) {
      await commit(backend, change('f', file('base')))
      const writers = Array.from({ length: 16 }, (_, i) =>
        commit(backend, change('f', file(`writer ${i}`), { sha256: shaOf('base') })),
      )
      const winner = await onlyWinner(writers, 'WRITE_CONFLICT')
      same(await textAt(backend, 'f'), `writer ${winner}`, 'content')
    },
  },
  {
    name: 'exactly one of 16 concurrent creators of one path wins',
    async test({ backend }) {
      const writers = Array.from({ length: 16 }, (_, i) => commit(backend, change('f', file(`writer ${i}`), 'absent')))
      const winner = await onlyWinner(writers, 'ALREADY_EXISTS')
      same(await textAt(backend, 'f'), `writer ${winner}`, 'content')
    },
  },
  {
    name: 'concurrent commits to different paths all succeed',
    async test({ backend }) {
      await commit(backend, change('d', directory))
      const paths = Array.from({ length: 32 }, (_, i) => `d/f${i}`)
      await Promise.all(paths.map((path) => commit(backend, change(path, file(path), 'absent'))))
      for (const path of paths) same(await textAt(backend, path), path, path)
    },
  },
  {
    name: 'concurrent change sets over the same two files never mix',
    unless: needs('set'),
    async test({ backend }) {
      const sets = Array.from({ length: 16 }, (_, i) =>
        commit(backend, change('a', file(`set ${i}`)), change('b', file(`set ${i}`))),
      )
      await Promise.all(sets)
      same(await textAt(backend, 'a'), await textAt(backend, 'b'), 'both files')
    },
  },
  {
    name: 'concurrent read-modify-write with expected versions loses no update',
    async test({ backend }) {
      await commit(backend, change('count', file('0')))
      await Promise.all(Array.from({ length: 8 }, () => increment(backend, 4)))
      same(await textAt(backend, 'count'), '32', 'count')
    },
  },
]

async function increment(backend: Backend, times: number): Promise<void> {
  for (let count = 0; count < times; ) {
    const text = await textAt(backend, 'count')
    const next = change('count', file(String(Number(text) + 1)), { sha256: shaOf(text) })
    try {
      await commit(backend, next)
      count += 1
    } catch (error) {
      check(
        (error as { code?: string }).code === 'WRITE_CONFLICT',
        `commit: expected WRITE_CONFLICT, got ${String(error)}`,
      )
    }
  }
}

async function onlyWinner(writers: readonly Promise<unknown>[], code: string): Promise<number> {
  const outcomes = await Promise.allSettled(writers)
  const winners = outcomes.flatMap(({ status }, i) => (status === 'fulfilled' ? [i] : []))
  same(winners.length, 1, 'winners')
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') same((outcome.reason as { code: string }).code, code, 'code of a loser')
  }
  return winners[0] as number
}

/** The mode of a file as octal digits. */
function modeOf(version: Version | undefined): string {
  return version?.type === 'file' && version.mode !== undefined ? `0o${version.mode.toString(8)}` : 'no mode'
}

function shortVersion(version: Awaited<ReturnType<typeof commit>>['applied'][number]['before']): string | null {
  if (version === null) return null
  return version.type === 'file' ? `${version.sha256} ${version.size}` : version.type
}
