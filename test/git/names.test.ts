import { isUtf8 } from 'node:buffer'
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { git as gitProvider } from '../../src/git/index.ts'
import type { Repository } from '../../src/git/provider.ts'
import { createWorkspaceDiffs } from '../../src/git/workspace-diff.ts'
import { decodeName, encodeName } from '../../src/paths/name-bytes.ts'
import { bash } from '../../src/shells/bash/index.ts'
import { createWorkspace, type WorkspaceOptions } from '../../src/workspace/create-workspace.ts'
import { times } from '../counts.ts'
import { outputOf } from '../run-program.ts'
import { entriesOf, environment, newRepository, temporary } from './repositories.ts'

/** Names in bytes, written as Latin-1. A workspace holds none of them. */
const NAMES = {
  'not UTF-8': 'caf\xe9',
  'cut UTF-8': '\xe2\x82',
  'a surrogate': '\xed\xb3\xa9',
  tab: 'a\tb',
  'line feed': 'a\nb',
  backslash: 'a\\b',
  bidi: 'a\xe2\x80\xaeb',
  colon: 'a:b',
}

const PLACES = [(name: string) => name, (name: string) => `sub/${name}`, (name: string) => `${name}.d/plain.txt`]

/** The content of a file in HEAD, in the index and on disk. `-`: none. */
const STATES = [
  { name: 'unmodified', head: 'one', index: 'one', disk: 'one' },
  { name: 'modified', head: 'one', index: 'one', disk: 'two' },
  { name: 'deleted', head: 'one', index: 'one', disk: '-' },
  { name: 'untracked', head: '-', index: '-', disk: 'one' },
  { name: 'HEAD', head: 'one', index: '-', disk: 'one' },
  { name: 'index', head: '-', index: 'one', disk: 'one' },
  { name: 'gone', head: '-', index: 'one', disk: '-' },
  { name: 'staged', head: 'one', index: 'two', disk: 'one' },
] as const

const FILES = STATES.flatMap((state) =>
  Object.values(NAMES).flatMap((name) => PLACES.map((place) => ({ ...state, path: place(`${state.name} ${name}`) }))),
)

/** What the bytes of a name turn into if they are decoded carelessly: the name of another file, which a workspace holds. */
const TWIN = 'unmodified caf\xef\xbf\xbd'

/** Runs the real git over bytes as Latin-1. */
const git = (cwd: string, args: string[], input = '') =>
  outputOf('git', args, { cwd, env: environment, input: Buffer.from(input, 'latin1') }).toString('latin1')

const idOf = (directory: string, ref: string) => git(directory, ['rev-parse', ref]).trim()

const inBytes = (directory: string, path: string) => Buffer.from(`${directory}/${path}`, 'latin1')

function writeFiles(directory: string, files: Iterable<readonly [path: string, text: string]>): void {
  for (const [path, text] of files) {
    if (path.includes('/')) mkdirSync(inBytes(directory, path.replace(/\/.*/s, '')), { recursive: true })
    writeFileSync(inBytes(directory, path), text)
  }
}

/** A repository with every file in every state, and a branch at which every file of HEAD differs. */
function repository(): string {
  const directory = newRepository()
  const ids = { one: '', two: '' }
  for (const text of ['one', 'two'] as const) {
    ids[text] = git(directory, ['hash-object', '-w', '--stdin'], text).trim()
  }
  const setIndex = (entries: Iterable<readonly [path: string, text: 'one' | 'two' | '-']>) => {
    const lines = [...entries].map(([path, text]) =>
      text === '-' ? `0 ${'0'.repeat(40)}\t${path}\0` : `100644 ${ids[text]}\t${path}\0`,
    )
    git(directory, ['update-index', '-z', '--index-info'], lines.join(''))
  }
  const plain = ['plain.txt', 'sub/plain.txt', TWIN].map((path) => [path, 'one'] as const)
  setIndex([...plain, ...FILES.map(({ path, head }) => [path, head] as const)])
  git(directory, ['commit', '-q', '-m', 'first'])
  git(directory, ['switch', '-q', '-c', 'other'])
  setIndex(FILES.filter(({ head }) => head !== '-').map(({ path }) => [path, 'two'] as const))
  git(directory, ['commit', '-q', '-m', 'second'])
  git(directory, ['symbolic-ref', 'HEAD', 'refs/heads/main'])
  setIndex(FILES.map(({ path, index }) => [path, index] as const))
  writeFiles(directory, [
    ...plain,
    ...FILES.filter(({ disk }) => disk !== '-').map(({ path, disk }) => [path, disk] as const),
  ])
  return directory
}

const isPlain = (path: string) => /^[\w./ -]*$/.test(path) || path === TWIN

/** The entries that a workspace cannot hold, by path. */
const entriesIn = (listed: string) =>
  new Map(
    listed
      .split('\0')
      .map((line) => [line.slice(line.indexOf('\t') + 1), /[0-9a-f]{40}/.exec(line)?.[0]] as const)
      .filter(([path]) => !isPlain(path)),
  )
const inIndex = (directory: string) => entriesIn(git(directory, ['ls-files', '-s', '-z']))
const inTree = (directory: string, ref = 'HEAD') => entriesIn(git(directory, ['ls-tree', '-r', '-z', ref]))

async function open(directory: string, policy: WorkspaceOptions['policy'] = 'autonomous') {
  const workspace = await createWorkspace({
    backend: nodeBackend(directory, { stateDir: temporary() }),
    policy,
    shell: bash(),
    git: gitProvider(),
  })
  onTestFinished(() => workspace.close())
  return { workspace, own: workspace.git as Repository }
}

describe('a name that a workspace cannot hold', () => {
  const source = repository()
  const copy = () => {
    const directory = `${temporary()}/r`
    outputOf('cp', ['-a', source, directory], { cwd: '/' })
    return directory
  }
  const before = { index: inIndex(source), head: inTree(source), other: inTree(source, 'other') }
  const change = (directory: string) => {
    writeFiles(directory, [
      ['plain.txt', 'changed'],
      ['sub/new.txt', 'new'],
    ])
    rmSync(`${directory}/sub/plain.txt`)
  }

  /** Each operation, and what the index has afterwards for the names. */
  const operations: Record<
    string,
    { run: (own: Repository) => Promise<unknown>; index: ReadonlyMap<string, unknown> }
  > = {
    'add of all': { run: (own) => own.add('.'), index: before.index },
    'add of tracked files': { run: (own) => own.add(['.'], { tracked: true }), index: before.index },
    commit: {
      run: async (own) => {
        await own.add('.')
        await own.commit({ message: 'x' })
      },
      index: before.index,
    },
    stash: { run: (own) => own.stash({ untracked: true }), index: before.index },
    'stash and back': {
      run: async (own) => {
        await own.stash({ untracked: true })
        await own.applyStash()
        await own.dropStash()
      },
      index: before.index,
    },
    'restore of the files': { run: (own) => own.restore(['.']), index: before.index },
    'restore of the index': { run: (own) => own.restore(['.'], { from: 'HEAD', only: 'index' }), index: before.head },
    'checkout by force': { run: (own) => own.checkout('main', { force: true }), index: before.head },
    'checkout of another branch by force': {
      run: (own) => own.checkout('other', { force: true }),
      index: before.other,
    },
    'a new sparse checkout': { run: (own) => own.setSparseDirectories(['sub']), index: before.index },
  }

  it.each(Object.entries(operations))('keeps its bytes in index and tree: %s', async (name, { run, index }) => {
    const directory = copy()
    change(directory)
    const { own } = await open(directory)
    await run(own)
    expect(inIndex(directory)).toEqual(index)
    const head = name === 'commit' ? before.index : name.includes('other') ? before.other : before.head
    expect(inTree(directory)).toEqual(head)
    git(directory, ['fsck', '--strict', '--no-dangling'])
    // What another program has left on disk stays as it is.
    const [onDisk, first] = [directory, source].map((at) =>
      outputOf('find', ['.', '-name', '.git', '-prune', '-o', '-print0'], { cwd: at })
        .toString('latin1')
        .split('\0')
        .filter((path) => !isPlain(path))
        .sort(),
    )
    expect(onDisk).toEqual(first)
  })

  it('is decoded to a name of its own, which encodes to the same bytes', () => {
    const run = fc.oneof(
      fc.string({ unit: 'binary', minLength: 1, maxLength: 2 }).map((text) => Buffer.from(text)),
      // Cut within a character, or any bytes.
      fc.constantFrom('é', '€', '\ufffd', '\ufeff', '😀').map((text) => Buffer.from(text).subarray(0, -1)),
      fc.uint8Array({ minLength: 1, maxLength: 2 }).map((bytes) => Buffer.from(bytes)),
    )
    const decoded = new Map<string, string>()
    fc.assert(
      fc.property(fc.array(run, { maxLength: 4 }), (runs) => {
        const bytes = Buffer.concat(runs)
        const name = decodeName(bytes)
        expect(Buffer.from(encodeName(name)).toString('latin1')).toBe(bytes.toString('latin1'))
        expect(decoded.get(name) ?? bytes.toString('latin1')).toBe(bytes.toString('latin1'))
        decoded.set(name, bytes.toString('latin1'))
        const isText = !/\p{Cs}/u.test(name)
        expect(isText).toBe(isUtf8(bytes))
        if (isText) expect(name).toBe(bytes.toString())
      }),
      { numRuns: times(200, 100_000) },
    )
  })

  it('is neither changed nor deleted in a status or diff, which count it', async () => {
    const { workspace, own } = await open(copy())
    const leftOut = (count: number) => ({
      warnings: [`${count} tracked files are left out: a workspace cannot hold their names`],
    })
    expect(await own.status()).toEqual([])
    expect(await workspace.call('diff_workspace', {})).toMatchObject({ filesChanged: 0, ...leftOut(before.head.size) })
    const below = [...before.head.keys()].filter((path) => path.startsWith('sub/')).length
    expect(await workspace.call('diff_workspace', { paths: ['sub'] })).toMatchObject(leftOut(below))
    const all = new Set([...before.head.keys(), ...before.index.keys()]).size
    const staged = FILES.filter(({ head, index }) => head !== index).length
    for (const [command, count] of [
      ['git status --porcelain', all],
      ['git diff', before.index.size],
      ['git diff HEAD -- sub', below],
      ['git diff --cached', staged],
      ['git diff HEAD other', before.head.size],
    ] as const) {
      const result = await workspace.call('run_command', { command })
      expect(result, command).toMatchObject({ stdout: '', exitCode: 0, ...leftOut(count) })
    }
    expect(await workspace.call('run_command', { command: 'git show other' })).toMatchObject(leftOut(before.head.size))
    const range = { base: 'main', head: 'other' }
    expect(await own.pullRequest(range)).toMatchObject({ diff: '', leftOut: before.head.size })
    await expect(own.formatPatch(range)).rejects.toMatchObject({ code: 'PATH_REJECTED' })
    const files = Object.entries(entriesOf(`${source}/.git`)).map(([path, entry]) => [`.git/${path}`, entry] as const)
    const changed = await createWorkspaceDiffs(memory(Object.fromEntries(files))).changed(idOf(source, 'main'))
    expect(changed.map(({ path }) => path).sort()).toEqual(['plain.txt', 'sub/plain.txt', 'unmodified caf\ufffd'])
  })

  it('is counted only where policy shows files', async () => {
    const policy = { preset: 'autonomous', rules: [{ name: 'hidden', action: 'deny', paths: ['sub/**'] }] } as const
    const { workspace } = await open(copy(), policy)
    const count = [...before.head.keys()].filter((path) => !path.startsWith('sub/')).length
    const warnings = [`${count} tracked files are left out: a workspace cannot hold their names`]
    expect(await workspace.call('diff_workspace', {})).toMatchObject({ warnings })
    expect(await workspace.call('run_command', { command: 'git diff HEAD' })).toMatchObject({ warnings })
  })

  it('is that of a file which a checkout skips, quoted as git quotes it', async () => {
    const { workspace } = await open(copy())
    const result = await workspace.call('run_command', { command: 'git checkout -f other' })
    const { stderr } = result as { stderr: string }
    const lines = stderr.split('\n').filter((line) => line.startsWith('warning: '))
    expect(lines.length).toBe(before.head.size)
    expect(lines).toContain('warning: "unmodified caf\\351" is left out: a workspace cannot hold it')
  })
})

describe('a ref that is not UTF-8', () => {
  it('is kept in packed refs and the configuration, and does not become another', async () => {
    const directory = newRepository()
    git(directory, ['commit', '-q', '--allow-empty', '-m', 'x'])
    const id = idOf(directory, 'HEAD')
    const refs = ['refs/heads/caf\xe9', 'refs/heads/one', 'refs/heads/two', 'refs/heads/caf\xef\xbf\xbd']
    git(directory, ['update-ref', '-z', '--stdin'], refs.map((ref) => `create ${ref}\0${id}\0`).join(''))
    git(directory, ['pack-refs', '--all'])
    appendFileSync(`${directory}/.git/config`, Buffer.from('[user]\n\tname = Ren\xe9\n', 'latin1'))
    const { workspace, own } = await open(directory)
    await own.deleteBranch('one')
    await own.setSparseDirectories(null)
    expect(await workspace.call('run_command', { command: 'git branch' })).toMatchObject({
      stdout: '  caf\ufffd\n* main\n  two\n',
    })
    expect(git(directory, ['for-each-ref', '--format=%(refname)'])).toBe(
      ['refs/heads/caf\xe9', 'refs/heads/caf\xef\xbf\xbd', 'refs/heads/main', 'refs/heads/two', ''].join('\n'),
    )
    expect(git(directory, ['config', 'user.name'])).toBe('Ren\xe9\n')
  })

  it.each(['caf\xe9', 'a\xe2\x80\xaeb'])('in HEAD ends a commit without an effect: %j', async (name) => {
    const directory = newRepository()
    git(directory, ['commit', '-q', '--allow-empty', '-m', 'x'])
    git(directory, ['update-ref', '-z', '--stdin'], `create refs/heads/${name}\0${idOf(directory, 'HEAD')}\0`)
    writeFileSync(`${directory}/.git/HEAD`, Buffer.from(`ref: refs/heads/${name}\n`, 'latin1'))
    const refs = git(directory, ['for-each-ref'])
    const { workspace, own } = await open(directory)
    await expect(own.status()).rejects.toMatchObject({ code: 'BACKEND_ERROR' })
    await expect(own.commit({ message: 'x' })).rejects.toMatchObject({ code: 'BACKEND_ERROR' })
    expect(await workspace.call('diff_workspace', {})).toMatchObject({ ok: false, code: 'BACKEND_ERROR' })
    expect(git(directory, ['for-each-ref'])).toBe(refs)
  })
})

describe('an index with files in conflict', () => {
  const directory = newRepository()
  const commit = (text: string) => {
    writeFileSync(`${directory}/a.txt`, `${text}\n`)
    writeFileSync(`${directory}/b.txt`, `${text}\n`)
    git(directory, ['add', '.'])
    git(directory, ['commit', '-q', '-m', text])
  }
  commit('base')
  git(directory, ['branch', '-q', 'topic'])
  commit('ours')
  git(directory, ['checkout', '-q', 'topic'])
  commit('theirs')
  git(directory, ['checkout', '-q', '-'])
  // Unlike a merge, it leaves no MERGE_HEAD.
  expect(() => git(directory, ['cherry-pick', 'topic'])).toThrow()
  const state = () =>
    [
      git(directory, ['ls-files', '-s', '-u']),
      git(directory, ['log', '--format=%H']),
      readFileSync(`${directory}/a.txt`),
    ].join('\n')

  it.each<[string, (own: Repository) => Promise<unknown>]>([
    ['add of another file', (own) => own.add('new.txt')],
    ['add of all', (own) => own.add('.')],
    ['commit', (own) => own.commit({ message: 'x' })],
    ['stash', (own) => own.stash()],
    ['checkout', (own) => own.checkout('topic')],
    ['checkout by force', (own) => own.checkout('topic', { force: true })],
    ['restore of the index', (own) => own.restore(['.'], { from: 'HEAD', only: 'index' })],
    ['a sparse checkout', (own) => own.setSparseDirectories(['sub'])],
  ])('is not written, and the reason is named: %s', async (_, run) => {
    writeFileSync(`${directory}/new.txt`, 'new\n')
    const { own } = await open(directory)
    const before = state()
    await expect(run(own)).rejects.toThrow(/it has 2 files in conflict, such as "a.txt"/)
    expect(state()).toBe(before)
  })
})
