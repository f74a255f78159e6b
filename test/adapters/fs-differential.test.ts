import { execFileSync } from 'node:child_process'
import * as node from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, posix } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { getSystemErrorMap, isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { Volume } from 'memfs'
import { afterAll, describe, expect, it } from 'vitest'
import { createFs, type WorkspaceFs } from '../../src/adapters/fs/index.ts'
import { memfs } from '../../src/backends/memfs/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { type Backend, createWorkspace } from '../../src/index.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import { times } from '../counts.ts'

type Functions = Readonly<Record<string, (...args: unknown[]) => unknown>>

/** A call: the name of a function, and its arguments. Texts that start with `/` are paths. */
type Call = readonly [name: string, ...args: unknown[]]

/** Directories, files and links: to what exists, to nothing, to themselves, and to one another. */
const files = { f: 'one', 'd/x': 'two', 'd/s/y': 'three' }
const links = {
  ...{ lf: 'f', ld: 'd', ll: 'ld', gone: 'none', within: 'd/s', 'd/up': '../f', 'd/s/top': '../..' },
  ...{ self: 'self', a: 'b', b: 'a', through: 'self/x', slash: 'd/' },
}

function plant(fs: Pick<typeof node, 'mkdirSync' | 'writeFileSync' | 'symlinkSync'>, root: string): void {
  for (const path of ['d/s', 'empty']) fs.mkdirSync(`${root}/${path}`, { recursive: true })
  for (const [path, text] of Object.entries(files)) fs.writeFileSync(`${root}/${path}`, text, { mode: 0o644 })
  for (const [path, target] of Object.entries(links)) fs.symlinkSync(target, `${root}/${path}`)
}

const place = node.realpathSync(node.mkdtempSync(join(tmpdir(), 'wardspace-differential-')))
afterAll(() => remove(place))
/** A copy of Node into itself ends in a tree that is too deep for its `rmSync`. */
const remove = (directory: string) => execFileSync('rm', ['-rf', directory])
let count = 0

/** A storage with the tree, and its directory if it has one. */
interface Storage {
  readonly backend: Backend
  readonly root?: string
}

const backends = {
  memory: (): Storage => ({
    backend: memory({
      ...files,
      ...Object.fromEntries(Object.entries(links).map(([path, link]) => [path, { link }])),
      empty: { directory: true },
    }),
  }),
  memfs(): Storage {
    const volume = new Volume()
    plant(volume as unknown as typeof node, '/root')
    return { backend: memfs(volume, { root: '/root' }) }
  },
  node(): Storage {
    count += 1
    const root = join(place, `own-${count}`)
    plant(node, root)
    return { backend: nodeBackend(root), root }
  },
}

async function openOver(backend: Backend): Promise<{ readonly fs: WorkspaceFs; readonly close: () => Promise<void> }> {
  const workspace = await createWorkspace({ backend, policy: 'autonomous', limits: { callsPerMinute: 1e9 } })
  return { fs: createFs(workspace), close: () => workspace.close() }
}

type Form = 'promise' | 'callback' | 'sync'

const names = fc.constantFrom(...['f', 'd', 'x', 's', 'empty', 'none', 'new', '.', '..'], ...Object.keys(links))
const separator = fc.constantFrom('/', '/', '/', '//', '/./')
const path = fc
  .tuple(
    fc.array(fc.tuple(names, separator), { minLength: 1, maxLength: 4 }),
    fc.constantFrom('', '', '', '/', '/', '//', '/.', '/./', '/..'),
  )
  .map(([parts, end]) => `/${parts.map(([name, between], at) => (at === 0 ? '' : between) + name).join('')}${end}`)
const flags = fc.constantFrom('r', 'r+', 'rs', 'w', 'w+', 'wx', 'wx+', 'a', 'a+', 'ax', 0, 0o101, 0o300, 0o1002)
const yes = fc.boolean()

const copyOptions = fc.record(
  { recursive: yes, dereference: yes, force: yes, errorOnExist: yes, verbatimSymlinks: yes },
  { requiredKeys: [] },
)

const call: fc.Arbitrary<Call> = fc.oneof(
  fc.tuple(fc.constantFrom('readFile'), path, fc.constantFrom('utf8', undefined)),
  fc.tuple(fc.constantFrom('readFile'), path, fc.record({ flag: flags, encoding: fc.constant('utf8') })),
  fc.tuple(fc.constantFrom('stat', 'lstat'), path, fc.record({ bigint: yes })),
  fc.tuple(fc.constantFrom('stat', 'lstat', 'readlink', 'realpath', 'exists', 'opendir', 'unlink', 'openAsBlob'), path),
  fc.tuple(fc.constantFrom('access'), path, fc.constantFrom(0, 1, 2, 4, 7)),
  // With names alone, Node 20 follows links below the directory, without end in a circle. With entries, it takes `..` by its text.
  fc.tuple(
    fc.constantFrom('readdir'),
    path.filter((text) => !text.includes('..')),
    fc.record({ withFileTypes: fc.constant(true), recursive: yes }),
  ),
  fc.tuple(fc.constantFrom('readdir'), path),
  fc.tuple(fc.constantFrom('open'), path, flags),
  fc.tuple(fc.constantFrom('createReadStream', 'createWriteStream'), path, fc.record({ flags })),
  fc.tuple(fc.constantFrom('writeFile', 'appendFile'), path, fc.constantFrom('', 'new text')),
  fc.tuple(fc.constantFrom('writeFile', 'appendFile'), path, fc.constant('x'), fc.record({ flag: flags })),
  fc.tuple(fc.constantFrom('truncate'), path, fc.constantFrom(0, 2, 5)),
  fc.tuple(fc.constantFrom('chmod'), path, fc.constantFrom(0o600, 0o755)),
  fc.tuple(fc.constantFrom('utimes', 'lutimes'), path, fc.constant(1), fc.constant(1)),
  fc.tuple(fc.constantFrom('chown', 'lchown'), path, fc.constant(0), fc.constant(0)),
  fc.tuple(fc.constantFrom('mkdir'), path, fc.record({ recursive: yes })),
  fc.tuple(fc.constantFrom('rmdir'), path),
  fc.tuple(fc.constantFrom('rm'), path, fc.record({ recursive: yes, force: yes })),
  fc.tuple(fc.constantFrom('mkdtemp'), path),
  fc.tuple(fc.constantFrom('symlink'), fc.constantFrom('f', 'd/', 'none', 'self', '/f', '/d/s', '/none'), path),
  fc.tuple(fc.constantFrom('rename'), path, path),
  fc.tuple(fc.constantFrom('copyFile'), path, path, fc.constantFrom(0, 1)),
  fc.tuple(fc.constantFrom('cp'), path, path, copyOptions),
  fc.tuple(fc.constantFrom('cp'), path, path, copyOptions),
) as fc.Arbitrary<Call>

/** Whether a path climbs above the root, where the tests have no tree and a workspace has nothing. */
function leavesRoot(root: string, given: string): boolean {
  let at = root
  for (const name of given.split('/')) {
    if (name === '..' && at === root) return true
    try {
      at = node.realpathSync(name === '..' ? join(at, '..') : `${at}/${name}`)
    } catch {
      at = name === '..' ? dirname(at) : `${at}/${name}`
    }
  }
  return false
}

type Tree = Readonly<Record<string, string>>

/** An entry of a tree. `isResolved`: a link is shown by what it leads to, as `cp` writes it anew. */
function shownEntry(name: string, isResolved: boolean, entry: { mode?: number; bytes?: Uint8Array; target?: string }) {
  const { mode = 0o644, bytes, target } = entry
  if (target !== undefined) return `link ${isResolved ? posix.resolve(posix.dirname(name), target) : target}`
  return bytes === undefined ? 'directory' : `file ${(mode & 0o777).toString(8)} ${Buffer.from(bytes)}`
}

/** Everything below a directory: the type of each entry, and what it holds. */
function treeOf(root: string, isResolved: boolean): Tree {
  const tree: Record<string, string> = {}
  // Above the root of a workspace is its root.
  const within = (target: string) => (root.startsWith(target) ? '/' : target.replace(`${root}/`, '/'))
  for (const entry of node.readdirSync(root, { withFileTypes: true, recursive: true })) {
    const at = join(entry.parentPath, entry.name)
    const name = at.slice(root.length)
    const found = entry.isSymbolicLink()
      ? { target: within(node.readlinkSync(at)) }
      : entry.isFile()
        ? { mode: node.statSync(at).mode, bytes: node.readFileSync(at) }
        : {}
    tree[name] = shownEntry(name, isResolved, found)
  }
  return tree
}

/** The same, of a storage. */
async function storedTree({ backend, root }: Storage, isResolved: boolean, directory = ''): Promise<Tree> {
  if (root !== undefined) return treeOf(root, isResolved)
  const tree: Record<string, string> = {}
  for (const { name, type } of await backend.list(directory as Path)) {
    const at = (directory === '' ? name : `${directory}/${name}`) as Path
    if (type === 'directory') Object.assign(tree, await storedTree({ backend }, isResolved, at))
    const { mode } = (await backend.stat(at)) ?? {}
    const found =
      type === 'link'
        ? { target: await backend.readLink(at) }
        : type === 'file'
          ? { bytes: (await backend.read(at)).bytes, ...(mode === undefined ? {} : { mode }) }
          : {}
    tree[`/${at}`] = shownEntry(`/${at}`, isResolved, found)
  }
  return tree
}

/** Calls a function in one of its forms. */
function run(fs: Functions & { readonly promises: object }, form: Form, [name, ...args]: Call): unknown {
  const { promises } = fs as { readonly promises: Functions }
  const later = promises[name]
  // Without `native`, Node takes `..` and a slash at the end by their text.
  const { native } = (name === 'realpath' ? fs[form === 'sync' ? 'realpathSync' : name] : {}) as Functions
  if (native !== undefined && form === 'sync') return native(...args)
  if (form === 'sync') return fs[`${name}Sync`]?.(...args)
  if (form === 'promise' && later !== undefined) return later.call(promises, ...args)
  if (name === 'openAsBlob' || name.startsWith('create')) return fs[name]?.(...args)
  return new Promise((resolve, reject) => {
    ;(native ?? fs[name])?.(...args, (error: unknown, value: unknown) => {
      if (error instanceof Error) reject(error)
      else resolve(name === 'exists' ? error : value)
    })
  })
}

const typeOf = (entry: Pick<node.Stats, 'isFile' | 'isDirectory' | 'isSymbolicLink'>) =>
  entry.isFile() ? 'file' : entry.isDirectory() ? 'directory' : entry.isSymbolicLink() ? 'link' : 'other'

/** What an open file can do. */
async function useOf(fs: Functions & { readonly promises: object }, opened: number | node.promises.FileHandle) {
  const act = (name: string, ...args: unknown[]): Promise<unknown> =>
    outcome(async () => {
      if (typeof opened === 'number') return run(fs, 'callback', [name, opened, ...args])
      const method = name.replace(/^f(?=stat|sync|truncate)/, '') as 'read'
      const done: unknown = await (opened[method] as (...args: unknown[]) => unknown)(...args)
      return Object(done).bytesRead ?? Object(done).bytesWritten ?? done
    })
  const buffer = Buffer.alloc(8)
  return [
    await act('fstat'),
    [await act('read', buffer, 0, 8, null), String(buffer)],
    await act('write', Buffer.from('W'), 0, 1, null),
    await act('fsync'),
    await act('ftruncate', 2),
    await act('close'),
  ]
}

/** What a stream gives, or takes. */
async function streamed(stream: node.ReadStream | node.WriteStream): Promise<unknown> {
  if ('write' in stream) {
    await new Promise<void>((resolve, reject) => stream.on('error', reject).on('close', resolve).end('streamed'))
    return 'written'
  }
  let text = ''
  for await (const chunk of stream) text += String(chunk)
  return text
}

/** A value in a form that two file systems share. */
async function shown(fs: Functions & { readonly promises: object }, root: string, name: string, given: unknown) {
  const value = given as never
  const bare = (text: string) => (text === root ? '/' : text.startsWith(`${root}/`) ? text.slice(root.length) : text)
  if (name === 'open') return useOf(fs, value)
  if (name === 'mkdtemp') {
    await run(fs, 'promise', ['rmdir', value])
    return bare(String(value).slice(0, -6))
  }
  if (name.startsWith('create')) return streamed(value)
  if (given instanceof Blob) return given.text()
  if (given instanceof Uint8Array) return ['bytes', String(given)]
  if (typeof given === 'string') return name === 'readFile' ? given : bare(given)
  const entryOf = (entry: node.Dirent | string) =>
    typeof entry === 'string' ? entry : `${bare(entry.parentPath)} ${entry.name} ${typeOf(entry)}`
  if (Array.isArray(given)) return given.map(entryOf).sort()
  if (name === 'opendir') {
    const entries: string[] = []
    for await (const entry of value as node.Dir) entries.push(entryOf(entry))
    return entries.sort()
  }
  return given
}

/** The value of a call, or the code of its error. */
async function outcome(act: () => unknown): Promise<unknown> {
  try {
    const value = await act()
    if (typeof Object(value).isFile !== 'function') return value
    const stats = value as node.Stats
    return [typeOf(stats), stats.isFile() ? stats.size : typeof stats.size]
  } catch (error) {
    return `error ${(error as { code?: string }).code ?? String(error)}`
  }
}

async function attempt(fs: object, root: string, form: Form, [name, ...args]: Call): Promise<unknown> {
  const functions = fs as Functions & { readonly promises: object }
  const located = args.map((arg) => (typeof arg === 'string' && arg.startsWith('/') ? root + arg : arg)) as unknown[]
  return outcome(async () => shown(functions, root, name, await run(functions, form, [name, ...located])))
}

const changes = ([name, , options]: Call) =>
  name === 'readFile' && !['r', 'r+', 'rs', 0, undefined].includes(Object(options).flag)

/** The reason of a difference that the guide names. */
function declared([name, ...args]: Call, own: unknown, expected: unknown): string | undefined {
  const [first] = args
  if (own === 'error ELOOP' && changing.has(name)) return 'a link that cannot be followed is neither read nor changed'
  if (own === expected && own === 'error EBADF') return 'what fails changes nothing'
  if (own === expected && own === 'error EISDIR' && name === 'copyFile') return 'what fails changes nothing'
  if (name === 'cp') return declaredCopy(`${own}`, `${expected}`, args[2])
  if (name === 'rm' && own === expected && `${first}`.includes('/top/'))
    return 'Node removes the link that its path leads through'
  const isRemoved = name === 'rm' && (own === 'error EINVAL' || own === 'error ENOTDIR')
  if (isRemoved && /(^|\/)\.?\.?\/*$/.test(String(first))) return 'rm needs the name of what it removes'
  if (name === 'openAsBlob' && /^error /.test(`${own}`) && /^error /.test(`${expected}`))
    return 'openAsBlob has the codes of readFile'
  if (name === 'rename' && own === 'error EACCES') return 'no link leads out of the workspace'
  if (name === 'readdir' && /(^|\/)\.(\/|$)|\/\//.test(String(first)) && args[1] !== undefined)
    return 'parentPath is as the program wrote it'
  return undefined
}

const changing: ReadonlySet<string> = new Set([
  'readlink',
  'unlink',
  'rm',
  'rename',
  'symlink',
  'copyFile',
  'cp',
  'mkdir',
])

/** The same, of `cp`. */
function declaredCopy(own: string, expected: string, options: unknown): string | undefined {
  const { verbatimSymlinks } = Object(options) as { readonly verbatimSymlinks?: boolean }
  if (own === 'error EACCES' && verbatimSymlinks) return 'no link leads out of the workspace'
  if (!own.startsWith('error') || !expected.startsWith('error')) return undefined
  if (own === expected) return 'what fails changes nothing'
  if (own === 'error ERR_FS_CP_EINVAL') return 'a copy into itself is refused before it begins'
  if (own === 'error ERR_FS_EISDIR') return 'cp looks at all of it before it creates the directory of the new path'
  const isLook = (text: string) => /^error (ENOENT|ENOTDIR|ELOOP)$/.test(text)
  return isLook(own) && isLook(expected)
    ? 'Node looks at both paths at once, and either error may be the first'
    : undefined
}

/** The entries that differ between two trees. */
function changed(own: unknown, other: unknown): unknown {
  const [a, b] = [own, other] as Readonly<Record<string, string>>[]
  return [...new Set([...Object.keys(a ?? {}), ...Object.keys(b ?? {})])]
    .filter((path) => a?.[path] !== b?.[path])
    .map((path) => [path, a?.[path], b?.[path]])
}

describe('createFs and node:fs', () => {
  it.each(Object.keys(backends) as (keyof typeof backends)[])('do the same for every path over %s', async (kind) => {
    const differences = new Map<string, string>()
    let storage: Storage | undefined
    let own = {} as WorkspaceFs
    let close = async () => {}
    let root = ''
    let planted: readonly [shown: Tree, resolved: Tree] = [{}, {}]
    const reopen = async () => {
      await close()
      for (const used of [root, storage?.root]) if (used) remove(used)
      storage = backends[kind]()
      const opened = await openOver(storage.backend)
      close = opened.close
      own = opened.fs
      count += 1
      root = join(place, `node-${count}`)
      plant(node, root)
      planted = [treeOf(root, false), treeOf(root, true)]
      return storage
    }
    let isNew = false
    const plan = fc.tuple(fc.constantFrom<Form>('promise', 'callback', 'sync'), call)
    let compared = 0
    const reasons = new Map<string, number>()
    await fc.assert(
      fc.asyncProperty(plan, async ([asked, step]) => {
        const present = isNew && storage !== undefined ? storage : await reopen()
        const [name, ...args] = step
        if (args.some((arg) => typeof arg === 'string' && arg.startsWith('/') && leavesRoot(root, arg))) return
        const isReading = reading.has(name) && !changes(step)
        const form = asked === 'sync' && (kind === 'node' || !isReading) ? 'promise' : asked
        compared += 1
        const isResolved = name === 'cp' || (name === 'symlink' && `${args[0]}`.startsWith('/'))
        const before = planted[isResolved ? 1 : 0]
        const expected = [await attempt(node, root, form, step), isReading ? before : treeOf(root, isResolved)]
        const actual = [await attempt(own, '', form, step), await storedTree(present, isResolved)]
        isNew = isDeepStrictEqual(expected[1], before) && isDeepStrictEqual(actual[1], before)
        if (isDeepStrictEqual(actual, expected)) return
        const reason = declared(step, actual[0], expected[0])
        if (reason !== undefined) reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
        else {
          const text = (value: unknown) =>
            JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? `${part}n` : part))
          const isSame = JSON.stringify(actual[0]) === JSON.stringify(expected[0])
          const trees = isSame ? `, trees ${text(changed(actual[1], expected[1]))}` : ''
          const key = `${name} ${text(actual[0])} / ${text(expected[0])}${trees}`
          const shortest = differences.get(key)
          const label = text(step)
          if (shortest === undefined || label.length < shortest.length) differences.set(key, label)
        }
      }),
      { numRuns: times(60, 20_000) },
    )
    await close()
    expect([...differences].map(([key, label]) => `${label}: ${key}`)).toEqual([])
    const others = [...reasons.values()].reduce((sum, one) => sum + one, 0)
    expect(others, JSON.stringify([...reasons])).toBeLessThan(compared / 10)
    expect(compared).toBeGreaterThan(times(40, 17_000))
  })
})

describe('watch of createFs and of node:fs', () => {
  const paths = [
    '/f',
    '/d',
    '/empty',
    '/lf',
    '/ld',
    '/ll',
    '/within',
    '/gone',
    '/none',
    '/self',
    '/through',
    '/d/s/top',
  ]
  const ends = ['', '/', '//', '/.', '/./', '/..', '/../d', '/../f/', '/x', '/x/', '/s/.']

  /** Whether a watch begins, and the name of the first entry that it reports. */
  async function watchOutcome(promises: typeof node.promises, path: string, change?: () => Promise<void>) {
    const stop = new AbortController()
    const events = promises.watch(path, { signal: stop.signal })[Symbol.asyncIterator]()
    const first = events.next().then(
      ({ value }) => value.filename,
      (error) => (error.name === 'AbortError' ? 'watched' : `error ${error.code}`),
    )
    const early = await Promise.race([first, pause(30)])
    if (early === undefined) await change?.()
    if (early === undefined && change !== undefined) await first
    stop.abort()
    return first
  }

  it('begin, or fail with the same code, for every path', async () => {
    const root = join(place, 'watched')
    plant(node, root)
    const { fs, close } = await openOver(backends.memory().backend)
    const cases = paths.flatMap((path) => ends.map((end) => `${path}${end}`)).filter((path) => !leavesRoot(root, path))
    const outcomes = await Promise.all(
      cases.map(async (path) => [
        path,
        await watchOutcome(fs.promises as never, path),
        await watchOutcome(node.promises, `${root}${path}`),
      ]),
    )
    expect(outcomes.filter(([, own, expected]) => own !== expected)).toEqual([])
    expect(new Set(outcomes.map(([, own]) => own))).toEqual(
      new Set(['watched', 'error ENOENT', 'error ENOTDIR', 'error ELOOP']),
    )
    expect(cases.length).toBeGreaterThan(100)
    await close()
  })

  it.each(['/d', '/d/', '/d//', '/d/.', '/ld/', '/empty/../d', '/d/s/top/d/'])('report names of %s', async (path) => {
    const root = join(place, `watched-${path.replaceAll('/', '-')}`)
    plant(node, root)
    const { fs, close } = await openOver(backends.memory().backend)
    const own = await watchOutcome(fs.promises as never, path, () => fs.promises.writeFile('/d/new', 'n'))
    const real = await watchOutcome(node.promises, `${root}${path}`, () =>
      node.promises.writeFile(`${root}/d/new`, 'n'),
    )
    expect([own, real]).toEqual(['new', 'new'])
    await close()
  })
})

describe('a storage that refuses an access', () => {
  it.each(['EACCES', 'EROFS', 'EBUSY', 'EMFILE', 'EXDEV', 'ENAMETOOLONG', 'ELOOP', 'EIO'])('is %s', async (code) => {
    const volume = Volume.fromJSON({ '/f': 'one' })
    const { fs, close } = await openOver(memfs(volume))
    volume.readFileSync = () => {
      throw Object.assign(new Error(code), { code })
    }
    const { readFileSync } = fs
    for (const read of [() => fs.promises.readFile('/f'), async () => readFileSync('/f')]) {
      const error = await read().catch((thrown: unknown) => thrown)
      const [, text] = [...getSystemErrorMap().values()].find(([name]) => name === code) ?? []
      expect(error).toMatchObject({ code, message: `${code}: ${text}, open '/f'` })
    }
    await close()
  })
})

/** Functions of Node that read at once here, too. */
const reading: ReadonlySet<string> = new Set([
  ...['readFile', 'readdir', 'stat', 'lstat', 'access', 'exists', 'readlink', 'realpath'],
])
