import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memory } from '../../src/backends/memory/index.ts'
import { ToolError } from '../../src/errors.ts'
import { type Path, parsePath, ROOT } from '../../src/paths/logical-path.ts'
import type { Backend, EntryState, EntryType } from '../../src/storage/backend.ts'
import { visibleFiles, type WalkEntry, type WalkOptions, walk } from '../../src/storage/walk.ts'
import { faulty } from '../../src/testing/index.ts'
import { times } from '../counts.ts'
import { writeFiles } from '../write-files.ts'

const everything = { includeHidden: true, includeIgnored: true }
const usual = { includeHidden: false, includeIgnored: false }

function options(more: Partial<WalkOptions> = {}): WalkOptions {
  return { filters: usual, see: () => true, enter: () => true, revision: 'all', ...more }
}

/** The same backend without `tree`, so it is read directory by directory. */
function untreed(backend: Backend): Backend {
  const { tree: _, scan: __, ...rest } = backend
  return rest
}

const kinds: [string, (backend: Backend) => Backend][] = [
  ['with a tree', (backend) => backend],
  ['without a tree', untreed],
]

async function collect(backend: Backend, start = '', more: Partial<WalkOptions> = {}): Promise<WalkEntry[]> {
  const entries: WalkEntry[] = []
  for await (const entry of walk(backend, start as Path, options(more))) entries.push(entry)
  return entries
}

const paths = async (backend: Backend, start = '', more: Partial<WalkOptions> = {}) =>
  (await collect(backend, start, more)).map(({ path }) => path as string)

async function put(backend: Backend, files: Record<string, EntryState>): Promise<void> {
  const changes = Object.entries(files).map(([path, to]) => ({ path: path as Path, expect: 'any' as const, to }))
  await backend.commit(changes, { durability: 'relaxed' })
}

const file = (text = ''): EntryState => ({ type: 'file', bytes: new TextEncoder().encode(text) })

async function code(work: Promise<unknown>): Promise<string | undefined> {
  try {
    await work
  } catch (error) {
    return error instanceof ToolError ? error.code : String(error)
  }
  return undefined
}

const project = {
  '.env': '',
  '.git/config': '',
  '.github/workflows/ci.yml': '',
  '.gitignore': '*.log\n/out\n!keep.log\nsub/secret*\n',
  'a.txt': '',
  'a/b/c.ts': '',
  'a/.gitignore': 'b.ts\n',
  'a/b.ts': '',
  'a/node_modules/x/index.js': '',
  'a/z.log': '',
  'build/out.js': '',
  'dist/x.js': '',
  'keep.log': '',
  'node_modules/y/.gitignore': '*.md',
  'node_modules/y/index.js': '',
  'node_modules/y/readme.md': '',
  'out/x': '',
  'sub/.git/config': '',
  'sub/build': '',
  'sub/secret.txt': '',
  'target/a': '',
}

describe.each(kinds)('walk over a backend %s', (_, make) => {
  const backend = () => make(memory(project))

  it('omits hidden, ignored and generated entries by default, and sorts the others', async () => {
    expect(await collect(backend())).toEqual([
      { path: 'a', type: 'directory', depth: 1 },
      { path: 'a/b', type: 'directory', depth: 2 },
      { path: 'a/b/c.ts', type: 'file', depth: 3 },
      { path: 'a.txt', type: 'file', depth: 1 },
      { path: 'keep.log', type: 'file', depth: 1 },
      { path: 'sub', type: 'directory', depth: 1 },
      { path: 'sub/build', type: 'file', depth: 2 },
    ])
  })

  it('includes hidden and ignored entries on request, but never .git', async () => {
    const hidden = await paths(backend(), '', { filters: { includeHidden: true, includeIgnored: false } })
    expect(hidden).toContain('.github/workflows/ci.yml')
    expect(hidden).toContain('.env')
    expect(hidden).toContain('a/.gitignore')
    expect(hidden).not.toContain('a/b.ts')
    const ignored = await paths(backend(), '', { filters: { includeHidden: false, includeIgnored: true } })
    expect(ignored).toContain('node_modules/y/index.js')
    expect(ignored).toContain('a/b.ts')
    expect(ignored).toContain('out/x')
    expect(ignored).not.toContain('.env')
    const all = await paths(backend(), '', { filters: everything })
    expect(all.filter((path) => path.includes('.git/') || path.endsWith('.git'))).toEqual([])
    const files = Object.keys(project).filter((path) => !path.includes('.git/'))
    expect(all.filter((path) => files.includes(path)).sort()).toEqual(files.sort())
  })

  it('includes .git only for the call with includeGit', async () => {
    const same = backend()
    const all = await paths(same, '', { filters: everything, includeGit: true })
    const cached = ['', ...all]
    expect(cached).toEqual(expect.arrayContaining(Object.keys(project)))
    expect(await paths(same, '', { filters: everything })).not.toContain('.git')
  })

  it('walks a start that is itself hidden or ignored, with the ignore files above it', async () => {
    expect(await paths(backend(), 'node_modules/y')).toEqual(['node_modules/y/index.js'])
    expect(await paths(backend(), '.github')).toEqual(['.github/workflows', '.github/workflows/ci.yml'])
    expect(await paths(backend(), 'out')).toEqual(['out/x'])
    expect(await paths(backend(), 'sub')).toEqual(['sub/build'])
    expect(await paths(backend(), 'a/b')).toEqual(['a/b/c.ts'])
    expect(await paths(backend(), 'a')).not.toContain('a/z.log')
  })

  it('stops at maxDepth', async () => {
    expect(await paths(backend(), '', { maxDepth: 1 })).toEqual(['a', 'a.txt', 'keep.log', 'sub'])
    expect(await paths(backend(), 'a', { maxDepth: 1 })).toEqual(['a/b'])
  })

  it('enters directories that lead to visible files, and yields only visible entries', async () => {
    const allowlist = {
      see: (path: string, type: EntryType) => type === 'file' && path.startsWith('a/b/'),
      enter: (path: string) => path === 'a' || path.startsWith('a/b'),
    }
    const entered: string[] = []
    const visible = await paths(backend(), '', {
      ...allowlist,
      enter: (path) => {
        entered.push(path)
        return allowlist.enter(path)
      },
    })
    expect(visible).toEqual(['a/b/c.ts'])
    expect(entered).not.toContain('sub/x')
    expect(await paths(backend(), '', { see: () => false, enter: () => true })).toEqual([])
    expect(await paths(backend(), '', { enter: () => false, revision: 'flat' })).toEqual([
      'a',
      'a.txt',
      'keep.log',
      'sub',
    ])
  })

  it('yields links and never follows them', async () => {
    const linked = memory({
      'a/file.txt': '',
      'a/loop': { link: '..' },
      here: { link: 'a' },
      node_modules: { link: 'a' },
    })
    expect((await collect(make(linked))).map(({ path, type }) => [path, type])).toEqual([
      ['a', 'directory'],
      ['a/file.txt', 'file'],
      ['a/loop', 'link'],
      ['here', 'link'],
      ['node_modules', 'link'],
    ])
    expect(await visibleFiles(make(linked), ROOT, options())).toEqual(['a/file.txt'])
    expect(await visibleFiles(make(linked), ROOT, { ...options(), links: true })).toEqual([
      'a/file.txt',
      'a/loop',
      'here',
      'node_modules',
    ])
  })

  it('ignores a link or directory named .gitignore', async () => {
    const odd = memory({
      rules: '*.txt',
      '.gitignore': { link: 'rules' },
      'a/.gitignore/x': '',
      'a/b.txt': '',
      'c.txt': '',
    })
    expect(await visibleFiles(make(odd), ROOT, options())).toEqual(['a/b.txt', 'c.txt', 'rules'])
  })

  it('throws for a start that is not a directory', async () => {
    for (const work of [
      (start: string) => collect(backend(), start),
      (start: string) => visibleFiles(backend(), start as Path, options()),
    ]) {
      expect(await code(work('nowhere'))).toBe('NOT_FOUND')
      expect(await code(work('nowhere/deep'))).toBe('NOT_FOUND')
      expect(await code(work('a.txt'))).toBe('NOT_A_DIRECTORY')
      expect(await code(work('a.txt/x'))).toMatch(/^NOT_(A_DIRECTORY|FOUND)$/)
    }
  })

  it('ends when aborted', async () => {
    expect(await code(collect(backend(), '', { signal: AbortSignal.abort() }))).toBe('ABORTED')
    expect(await code(visibleFiles(backend(), ROOT, options({ signal: AbortSignal.abort() })))).toBe('ABORTED')
  })

  it('lets timers run on a long walk, and then notices an abort', async () => {
    const wide = make(memory(Object.fromEntries(Array.from({ length: 4000 }, (_, i) => [`d${i}/f`, '']))))
    const controller = new AbortController()
    setTimeout(() => controller.abort(), 1)
    const slow = () => {
      const end = performance.now() + 0.05
      while (performance.now() < end);
      return true
    }
    expect(
      await code(visibleFiles(wide, ROOT, options({ signal: controller.signal, see: slow, revision: 'slow' }))),
    ).toBe('ABORTED')
  })

  it('goes 1,000 directories deep', async () => {
    const deep = Array.from({ length: 1000 }, () => 'a').join('/')
    const tree = make(memory({ [`${deep}/x`]: '' }))
    expect(await visibleFiles(tree, ROOT, options())).toEqual([`${deep}/x`])
    expect((await collect(tree)).at(-1)?.depth).toBe(1001)
  })

  it('reflects every change, with and without the cache', async () => {
    const names = ['a', 'b', '.h', 'dist', 'x.log']
    const anyPath = fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'))
    const change = fc.oneof(
      { weight: 4, arbitrary: fc.record({ path: anyPath, text: fc.constantFrom('x', 'y') }) },
      {
        weight: 2,
        arbitrary: fc.record({
          path: fc.constantFrom('.gitignore', 'a/.gitignore', 'a/b/.gitignore'),
          text: fc.constantFrom('b', '/a', '*.log', '!x.log', 'b/a', 'dist', ''),
        }),
      },
      { weight: 1, arbitrary: fc.record({ path: anyPath, text: fc.constant(undefined) }) },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 20 }), async (changes) => {
        const tree = memory()
        const model = new Map<string, string>()
        for (const { path, text } of changes) {
          const parents = path.split('/').map((_, i, parts) => parts.slice(0, i + 1).join('/'))
          const clash =
            [...model.keys()].some((key) => key.startsWith(`${path}/`)) ||
            parents.slice(0, -1).some((parent) => model.has(parent)) ||
            (await tree.stat(path as Path))?.type === 'directory'
          if (clash || (text === undefined && !model.has(path))) continue
          const directories = parents.slice(0, -1).map((parent) => [parent, { type: 'directory' }] as const)
          await put(tree, { ...Object.fromEntries(directories), [path]: text === undefined ? null : file(text) })
          if (text === undefined) model.delete(path)
          else model.set(path, text)
          for (const filters of [usual, everything, { includeHidden: true, includeIgnored: false }]) {
            for (const start of ['', 'a']) {
              if (start !== '' && (await tree.stat(start as Path))?.type !== 'directory') continue
              const warm = await visibleFiles(make(tree), start as Path, options({ filters, revision: 'kept' }))
              const fresh = memory(Object.fromEntries(model))
              // A directory stays when it becomes empty.
              if ((await fresh.stat(start as Path)) === undefined) {
                expect(warm).toEqual([])
                continue
              }
              const cold = await visibleFiles(make(fresh), start as Path, options({ filters }))
              expect(warm).toEqual(cold)
              const entries = (await collect(make(tree), start, { filters, revision: 'kept' })).filter(
                ({ type }) => type === 'file',
              )
              expect(entries.map((entry) => entry.path)).toEqual(warm)
            }
          }
        }
      }),
      { numRuns: times(25, 60) },
    )
  })

  it('sorts by name, with the content of a directory right after it', async () => {
    const part = fc.constantFrom('a', 'a.b', 'a-b', 'A', 'b', 'é', '日', '\u{1F600}', '\uFF21', '__proto__')
    const anyPath = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'))
    await fc.assert(
      fc.asyncProperty(fc.array(anyPath, { maxLength: 20 }), async (list) => {
        const minimal = list.filter((path) => !list.some((other) => other.startsWith(`${path}/`)))
        const tree = make(memory(Object.fromEntries(minimal.map((path) => [path, '']))))
        const byNames = (x: string, y: string) => {
          const [a, b] = [x.split('/'), y.split('/')]
          for (let i = 0; ; i++) {
            const [left, right] = [a[i], b[i]]
            if (left === right) {
              if (left === undefined) return 0
              continue
            }
            if (left === undefined || (right !== undefined && left < right)) return -1
            return 1
          }
        }
        expect(await visibleFiles(tree, ROOT, options())).toEqual([...new Set(minimal)].sort(byNames))
        const all = await paths(tree)
        expect(all).toEqual(all.toSorted(byNames))
      }),
      { numRuns: times(70, 200) },
    )
  })
})

describe('visibleFiles over a tree', () => {
  const many = () =>
    memory(
      Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`d${i % 100}/s${i % 7}/f${i}.ts`, ''])),
    ) as Backend

  it('returns the same array for an unchanged tree without calling the policy again', async () => {
    const tree = many()
    let request = 0
    const counting = options({
      see: () => {
        request += 1
        return true
      },
    })
    const first = await visibleFiles(tree, ROOT, counting)
    expect(first).toHaveLength(2000)
    expect(request).toBeGreaterThan(2000)
    request = 0
    expect(await visibleFiles(tree, ROOT, counting)).toBe(first)
    expect(await visibleFiles(tree.fork?.() ?? tree, ROOT, counting)).toBe(first)
    expect(request).toBe(0)
  })

  it('calls the policy again only in changed directories', async () => {
    const tree = many()
    const requests: string[] = []
    const counting = options({
      see: (path) => {
        requests.push(path)
        return true
      },
    })
    await visibleFiles(tree, ROOT, counting)
    requests.length = 0
    await put(tree, { 'd7/s0/new.ts': file() })
    expect(await visibleFiles(tree, ROOT, counting)).toContain('d7/s0/new.ts')
    // The root's 100 entries, the 7 of d7, and those of d7/s0.
    expect(requests.length).toBeLessThan(130)
    expect(requests).toContain('d7/s0/new.ts')
    expect(requests).not.toContain('d8/s1/f8.ts')
  })

  it('calls the policy again when the revision or the filters differ', async () => {
    const tree = many()
    const all = await visibleFiles(tree, ROOT, options())
    const none = await visibleFiles(tree, ROOT, options({ see: () => false, revision: 'none' }))
    expect(all).toHaveLength(2000)
    expect(none).toHaveLength(0)
    expect(await visibleFiles(tree, ROOT, options())).toBe(all)
    await put(tree, { '.gitignore': file('*.ts') })
    expect(await visibleFiles(tree, ROOT, options())).toHaveLength(0)
    expect(await visibleFiles(tree, ROOT, options({ filters: everything }))).toHaveLength(2001)
  })

  it('evaluates a shared node again under another path', async () => {
    const tree = memory({ 'a/x.ts': '', '.gitignore': '/b/x.ts\n' })
    expect(await visibleFiles(tree, ROOT, options())).toEqual(['a/x.ts'])
    const { bytes } = await tree.read('a/x.ts' as Path)
    await tree.commit(
      [
        { path: 'b' as Path, expect: 'absent', to: { type: 'directory' }, from: 'a' as Path },
        { path: 'b/x.ts' as Path, expect: 'absent', to: { type: 'file', bytes }, from: 'a/x.ts' as Path },
        { path: 'b/y.ts' as Path, expect: 'absent', to: { type: 'file', bytes } },
        { path: 'a' as Path, expect: 'any', to: null },
        { path: 'a/x.ts' as Path, expect: 'any', to: null },
      ],
      { durability: 'relaxed' },
    )
    expect(await visibleFiles(tree, ROOT, options())).toEqual(['b/y.ts'])
  })
})

describe('walk over a backend that fails below the start', () => {
  const failing = (error: Error) =>
    faulty(untreed(memory({ 'a/x': '', 'b/y': '', '.gitignore': '*.log', 'z.log': '' })), {
      on: 'list',
      path: /^a$/,
      error,
    })

  it('skips a directory that cannot be listed, and reports it', async () => {
    for (const reason of ['NOT_FOUND', 'PATH_REJECTED', 'BACKEND_ERROR'] as const) {
      const messages: string[] = []
      const files = await visibleFiles(
        failing(new ToolError(reason, 'no')),
        ROOT,
        options({ skipped: (path, error) => messages.push(`${path} ${error.code}`) }),
      )
      expect(files).toEqual(['b/y'])
      expect(messages).toEqual([`a ${reason}`])
    }
  })

  it('passes on an abort and unexpected errors', async () => {
    expect(await code(visibleFiles(failing(new ToolError('ABORTED', 'no')), ROOT, options()))).toBe('ABORTED')
    expect(await code(visibleFiles(failing(new TypeError('bug')), ROOT, options()))).toBe('TypeError: bug')
  })

  it('continues without an ignore file that cannot be read', async () => {
    const unreadable = failing(new ToolError('NOT_FOUND', 'no'))
    unreadable.inject({ on: 'read', error: 'BACKEND_ERROR' })
    expect(await visibleFiles(unreadable, ROOT, options())).toEqual(['b/y', 'z.log'])
  })
})

describe('ignore rules of a whole tree', () => {
  it('hide the files that git ignores', async () => {
    const names = ['a', 'b', 'c', 'x.ts', 'y.log', 'foo']
    const anyPath = fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 5 }).map((parts) => parts.join('/'))
    const rules = fc
      .array(
        fc.constantFrom(
          'a',
          '/b',
          'c/',
          '*.log',
          '!y.log',
          'a/b',
          '**/foo',
          'foo/**',
          '!foo',
          '/*',
          '!/a',
          'b/*',
          '!b/c',
          '*/x.ts',
        ),
        {
          minLength: 1,
          maxLength: 4,
        },
      )
      .map((lines) => `${lines.join('\n')}\n`)
    const environment = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' }
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyPath, { minLength: 5, maxLength: 40 }),
        rules,
        fc.array(fc.tuple(fc.nat(), rules), { maxLength: 3 }),
        async (list, root, nested) => {
          const files = list.filter((path) => !list.some((other) => other.startsWith(`${path}/`)))
          const directories = files
            .map((path) => path.slice(0, Math.max(0, path.lastIndexOf('/'))))
            .filter((path) => path !== '')
          const tree: Record<string, string> = {
            '.gitignore': root,
            ...Object.fromEntries(files.map((path) => [path, ''])),
          }
          if (directories.length > 0)
            for (const [i, text] of nested) tree[`${directories[i % directories.length]}/.gitignore`] = text
          const disk = mkdtempSync(join(tmpdir(), 'wardspace-walk-'))
          try {
            writeFiles(disk, tree)
            execFileSync('git', ['init', '-q'], { cwd: disk, env: environment })
            const listed = execFileSync('git', ['ls-files', '--others', '--exclude-standard', '-z'], {
              cwd: disk,
              env: environment,
            })
            const theirs = listed
              .toString()
              .split('\0')
              .filter((path) => path !== '')
            for (const make of kinds.map(([, make]) => make)) {
              const ours = await visibleFiles(
                make(memory(tree)),
                ROOT,
                options({ filters: { includeHidden: true, includeIgnored: false } }),
              )
              expect([...ours].sort()).toEqual(theirs.sort())
            }
          } finally {
            rmSync(disk, { recursive: true })
          }
        },
      ),
      { numRuns: 12 },
    )
  })
})

it('parsePath accepts the paths that walks yield', async () => {
  for (const path of await paths(memory(project))) expect(parsePath(path)).toBe(path)
})
