import { expect } from 'vitest'
import type { WorkspaceFs } from '../../src/adapters/fs/index.ts'

// biome-ignore lint/suspicious/noExplicitAny: the packages are installed by the test, and have no types here
type Untyped = any

/** What a case of a library works with. */
export interface LibraryContext {
  readonly fs: WorkspaceFs
  /** Imports one of the `imports` of the row. */
  load(name: string): Promise<Untyped>
  /** A repository on a server of git. */
  readonly remote: Remote | undefined
}

/** A repository on a server of git, and the module of isomorphic-git that speaks HTTP on this platform. */
export interface Remote {
  readonly url: string
  readonly http: Untyped
}

/** A library of others that works on `wardspace/fs`, without changes. */
export interface LibraryRow {
  readonly name: string
  /** Versions to install, by package. */
  readonly packages: Readonly<Record<string, string>>
  /** What its cases import. Default: the packages. */
  readonly imports?: readonly string[]
  /** Files that are there before each case. */
  readonly files: Readonly<Record<string, string>>
  readonly cases: Readonly<Record<string, (context: LibraryContext) => Promise<void>>>
  /** The cases that call synchronous functions, which some storages do not have. */
  readonly needsSync?: readonly string[]
  /** The cases that talk to a server. */
  readonly needsRemote?: readonly string[]
}

/** What a module of CommonJS exports. */
const defaultOf = (module: Untyped) => module.default ?? module

const program = {
  'tsconfig.json':
    '{ "compilerOptions": { "strict": true, "lib": ["es5"], "types": [], "rootDir": "src", "outDir": "out" }, "include": ["src"] }',
  'src/a.ts': 'export const a: number = 1\n',
  'src/b.ts': "import { a } from './a'\nexport const b: string = a\n",
}

/** A system of the compiler over a file system. What it writes is collected. */
function systemOver(ts: Untyped, fs: WorkspaceFs, written: Map<string, string>) {
  const isFile = (path: string) => fs.statSync(path, { throwIfNoEntry: false })?.isFile() === true
  const isDirectory = (path: string) => fs.statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  const entries = (path: string) =>
    fs.readdirSync(path, { withFileTypes: true }) as { name: string; isFile(): boolean }[]
  const entriesOf = (path: string) => ({
    files: entries(path).flatMap((entry) => (entry.isFile() ? [entry.name] : [])),
    directories: entries(path).flatMap((entry) => (entry.isFile() ? [] : [entry.name])),
  })
  const isLib = (path: string) => path.includes('/node_modules/')
  return {
    ...ts.sys,
    getCurrentDirectory: () => '/',
    fileExists: (path: string) => (isLib(path) ? ts.sys.fileExists(path) : isFile(path)),
    readFile: (path: string) => {
      if (isLib(path)) return ts.sys.readFile(path)
      return isFile(path) ? fs.readFileSync(path, 'utf8') : undefined
    },
    directoryExists: isDirectory,
    getDirectories: (path: string) => entriesOf(path).directories,
    readDirectory: (path: string, ...rest: unknown[]) =>
      ts.matchFiles(path, ...rest.slice(0, 3), true, '/', rest[3], entriesOf, (real: string) => real),
    realpath: (path: string) => (isLib(path) ? path : fs.realpathSync(path)),
    writeFile: (path: string, text: string) => void written.set(path, text),
  }
}

/** The types that the compiler needs. */
const GLOBALS = 'Array Boolean CallableFunction Function IArguments NewableFunction Number Object RegExp String'
  .split(' ')
  .map((name) => `interface ${name}${name === 'Array' ? '<T>' : ''} {}`)
  .join('\n')

/** The texts of all files below a directory, by path. */
async function textsOf(fs: WorkspaceFs, directory: string): Promise<Map<string, string>> {
  const texts = new Map<string, string>()
  for (const name of (await fs.promises.readdir(directory, { recursive: true })) as string[]) {
    const path = `${directory}/${name}`
    if ((await fs.promises.stat(path)).isFile()) texts.set(path, String(await fs.promises.readFile(path, 'utf8')))
  }
  return texts
}

const typescript: LibraryRow = {
  name: 'TypeScript',
  packages: { typescript: '6.0.3' },
  files: program,
  needsSync: ['compiles a project', 'serves an editor: diagnostics, completions and a rename'],
  cases: {
    async 'compiles a project'({ fs, load }) {
      const ts = defaultOf(await load('typescript'))
      const written = new Map<string, string>()
      const system = systemOver(ts, fs, written)
      const parsing = {
        ...system,
        onUnRecoverableConfigFileDiagnostic: (found: unknown) => expect(found).toBeUndefined(),
      }
      const config = ts.getParsedCommandLineOfConfigFile('/tsconfig.json', {}, parsing)
      const host = {
        ...system,
        getSourceFile(path: string, options: Untyped) {
          const text = system.readFile(path)
          return text === undefined ? undefined : ts.createSourceFile(path, text, options)
        },
        getDefaultLibFileName: (options: Untyped) => ts.getDefaultLibFilePath(options),
        getCanonicalFileName: (path: string) => path,
        useCaseSensitiveFileNames: () => true,
        getNewLine: () => '\n',
      }
      const compiled = ts.createProgram({ rootNames: config.fileNames, options: config.options, host })
      const codes = ts.getPreEmitDiagnostics(compiled).map(({ code }: { code: number }) => code)
      expect(codes).toEqual([2322])
      compiled.emit()
      await fs.promises.mkdir('/out', { recursive: true })
      for (const [path, text] of written) await fs.promises.writeFile(path, text)
      expect(await fs.promises.readFile('/out/b.js', 'utf8')).toMatch(/exports\.b|export const b/)
    },
    async 'compiles files that were read before'({ fs, load }) {
      const ts = defaultOf(await load('typescript'))
      const compile = async () => {
        const texts = await textsOf(fs, '/src')
        texts.set('/globals.d.ts', GLOBALS)
        const written = new Map<string, string>()
        const host = {
          getSourceFile: (path: string, options: Untyped) =>
            texts.has(path) ? ts.createSourceFile(path, texts.get(path), options) : undefined,
          fileExists: (path: string) => texts.has(path),
          readFile: (path: string) => texts.get(path),
          directoryExists: () => true,
          getDirectories: () => [],
          getDefaultLibFileName: () => '/globals.d.ts',
          getCurrentDirectory: () => '/',
          getCanonicalFileName: (path: string) => path,
          useCaseSensitiveFileNames: () => true,
          getNewLine: () => '\n',
          writeFile: (path: string, text: string) => void written.set(path, text),
        }
        const options = { strict: true, noLib: true, types: [], rootDir: '/src', outDir: '/out' }
        const compiled = ts.createProgram({ rootNames: [...texts.keys()], options, host })
        compiled.emit()
        for (const [path, text] of written) await fs.promises.writeFile(path, text)
        return ts.getPreEmitDiagnostics(compiled).map(({ code }: { code: number }) => code)
      }
      await fs.promises.mkdir('/out')
      expect(await compile()).toEqual([2322])
      await fs.promises.writeFile('/src/a.ts', "export const a: string = '1'\n")
      expect(await compile()).toEqual([])
      expect(await fs.promises.readFile('/out/a.js', 'utf8')).toMatch(/a = '1'/)
      expect(await fs.promises.readdir('/out')).toEqual(['a.js', 'b.js'])
    },
    async 'serves an editor: diagnostics, completions and a rename'({ fs, load }) {
      const ts = defaultOf(await load('typescript'))
      const system = systemOver(ts, fs, new Map())
      const service = ts.createLanguageService({
        ...system,
        useCaseSensitiveFileNames: () => true,
        getCompilationSettings: () => ({ strict: true, lib: ['lib.es5.d.ts'], types: [] }),
        getScriptFileNames: () => ['/src/a.ts', '/src/b.ts'],
        getScriptVersion: (path: string) => String(fs.statSync(path, { throwIfNoEntry: false })?.ino),
        getScriptSnapshot: (path: string) => {
          const text = system.readFile(path)
          return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
        },
        getDefaultLibFileName: (options: object) => ts.getDefaultLibFilePath(options),
      })
      const codes = () => service.getSemanticDiagnostics('/src/b.ts').map(({ code }: { code: number }) => code)
      expect(codes()).toEqual([2322])
      await fs.promises.writeFile('/src/a.ts', "export const a: string = '1'\n")
      expect(codes()).toEqual([])
      const { entries } = service.getCompletionsAtPosition('/src/b.ts', 10, {})
      expect(entries.map(({ name }: { name: string }) => name)).toContain('a')
      expect(service.findRenameLocations('/src/a.ts', 13, false, false, {})).toHaveLength(3)
    },
  },
}

const prettierPlugins = ['typescript', 'estree', 'babel', 'markdown']

const prettier: LibraryRow = {
  name: 'Prettier',
  packages: { prettier: '3.10.1' },
  imports: ['prettier/standalone', ...prettierPlugins.map((name) => `prettier/plugins/${name}`)],
  files: { 'a.ts': 'const  a={b:1}\n', 'b.json': '{"a":1,\n"b":2}', 'c.md': '*  one\n* two\n' },
  cases: {
    async 'formats each file of a tree in place'({ fs, load }) {
      const { format } = await load('prettier/standalone')
      const plugins = await Promise.all(prettierPlugins.map((name) => load(`prettier/plugins/${name}`)))
      const loaded = plugins.map(defaultOf)
      for (const name of (await fs.promises.readdir('/')) as string[]) {
        const text = await fs.promises.readFile(`/${name}`, 'utf8')
        await fs.promises.writeFile(`/${name}`, await format(text, { filepath: name, plugins: loaded }))
      }
      const read = (name: string) => fs.promises.readFile(name, 'utf8')
      expect([await read('/a.ts'), await read('/b.json'), await read('/c.md')]).toEqual([
        'const a = { b: 1 };\n',
        '{ "a": 1, "b": 2 }\n',
        '- one\n- two\n',
      ])
    },
  },
}

const esbuild: LibraryRow = {
  name: 'esbuild-wasm',
  packages: { 'esbuild-wasm': '0.28.2' },
  files: {
    'src/a.ts': "import { b } from './b.ts'\nimport data from './data.json'\nconsole.log(b, data.c)\n",
    'src/b.ts': 'export const b: number = 1\n',
    'src/data.json': '{ "c": 2 }',
  },
  cases: {
    async 'bundles by a plugin that resolves and loads, and writes the output'({ fs, load }) {
      const { build } = defaultOf(await load('esbuild-wasm'))
      const plugin = {
        name: 'workspace',
        setup(to: Untyped) {
          to.onResolve({ filter: /./ }, async ({ path, importer }: Untyped) => ({
            path: await fs.promises.realpath(new URL(path, `file://${importer || '/'}`).pathname),
            namespace: 'workspace',
          }))
          to.onLoad({ filter: /./, namespace: 'workspace' }, async ({ path }: Untyped) => ({
            contents: await fs.promises.readFile(path),
            loader: path.slice(path.lastIndexOf('.') + 1),
          }))
        },
      }
      const { outputFiles } = await build({
        entryPoints: ['/src/a.ts'],
        bundle: true,
        write: false,
        outdir: '/out',
        plugins: [plugin],
      })
      await fs.promises.mkdir('/out')
      for (const { contents } of outputFiles) await fs.promises.writeFile('/out/a.js', contents)
      expect(await fs.promises.readFile('/out/a.js', 'utf8')).toMatch(/console\.log\(b, /)
    },
  },
}

const unified: LibraryRow = {
  name: 'unified',
  packages: { unified: '11.0.5', 'remark-parse': '11.0.0', 'remark-stringify': '11.0.0', vfile: '6.0.3' },
  files: { 'docs/a.md': '*  one\n*  two\n' },
  cases: {
    async 'reads a file, transforms its tree and writes it'({ fs, load }) {
      const [{ unified }, parse, stringify, { VFile }] = await Promise.all(
        ['unified', 'remark-parse', 'remark-stringify', 'vfile'].map(load),
      )
      const file = new VFile({ path: '/docs/a.md', value: await fs.promises.readFile('/docs/a.md') })
      const loud = () => (tree: Untyped) => {
        for (const item of tree.children[0].children) item.children[0].children[0].value += '!'
      }
      const out = await unified().use(parse.default).use(loud).use(stringify.default).process(file)
      await fs.promises.writeFile(file.path, String(out))
      expect(await fs.promises.readFile('/docs/a.md', 'utf8')).toBe('* one!\n* two!\n')
    },
  },
}

const finished = (stream: Untyped) =>
  new Promise<void>((resolve, reject) => stream.once('finish', resolve).once('error', reject))

const archives: LibraryRow = {
  name: 'yauzl, tar-stream and fflate',
  packages: { yauzl: '3.4.0', 'tar-stream': '3.2.2', fflate: '0.8.3' },
  files: { 'in/a.txt': 'one', 'in/b.txt': 'two'.repeat(50_000) },
  cases: {
    async 'packs a directory as a zip with fflate, and reads it with yauzl by ranges of an open file'({ fs, load }) {
      const { zipSync } = await load('fflate')
      const { RandomAccessReader, fromRandomAccessReader } = defaultOf(await load('yauzl'))
      const names = (await fs.promises.readdir('/in')) as string[]
      const contents = await Promise.all(
        names.map(async (name) => [name, await fs.promises.readFile(`/in/${name}`)] as const),
      )
      await fs.promises.writeFile('/out.zip', zipSync(Object.fromEntries(contents)))
      class Reader extends RandomAccessReader {
        _readStreamForRange(start: number, end: number) {
          return fs.createReadStream('/out.zip', { start, end: end - 1 })
        }
      }
      const { size } = await fs.promises.stat('/out.zip')
      const read: Record<string, number> = {}
      await new Promise<void>((resolve, reject) => {
        fromRandomAccessReader(new Reader(), size, { lazyEntries: true }, (error: unknown, zip: Untyped) => {
          if (error) return reject(error)
          zip.on('entry', (entry: Untyped) =>
            zip.openReadStream(entry, (failure: unknown, stream: Untyped) => {
              if (failure) return reject(failure)
              stream.on('data', (chunk: Uint8Array) => {
                read[entry.fileName] = (read[entry.fileName] ?? 0) + chunk.length
              })
              stream.on('end', () => zip.readEntry())
            }),
          )
          zip.on('end', resolve).on('error', reject)
          zip.readEntry()
        })
      })
      expect(read).toEqual({ 'a.txt': 3, 'b.txt': 150_000 })
    },
    async 'packs and unpacks a tar by streams'({ fs, load }) {
      const tar = defaultOf(await load('tar-stream'))
      const pack = tar.pack()
      const out = fs.createWriteStream('/out.tar') as Untyped
      for (const name of (await fs.promises.readdir('/in')) as string[])
        pack.entry({ name }, await fs.promises.readFile(`/in/${name}`))
      pack.finalize()
      pack.pipe(out)
      await finished(out)
      await fs.promises.mkdir('/back')
      const extract = tar.extract()
      extract.on('entry', (header: Untyped, stream: Untyped, next: () => void) => {
        stream.pipe(fs.createWriteStream(`/back/${header.name}`)).once('finish', next)
      })
      ;(fs.createReadStream('/out.tar') as Untyped).pipe(extract)
      await finished(extract)
      expect(await fs.promises.readFile('/back/b.txt', 'utf8')).toBe('two'.repeat(50_000))
    },
  },
}

const fflate: LibraryRow = {
  name: 'fflate',
  packages: { fflate: '0.8.3' },
  files: { 'in/a.txt': 'one\n', 'in/deep/b.txt': 'two'.repeat(50_000) },
  cases: {
    async 'packs a tree and unpacks it'({ fs, load }) {
      const { zipSync, unzipSync } = await load('fflate')
      const { promises } = fs
      const tree: Record<string, Uint8Array> = {}
      for (const [path, text] of await textsOf(fs, '/in')) tree[path.slice(1)] = new TextEncoder().encode(text)
      await promises.writeFile('/tree.zip', zipSync(tree))
      const unpacked = unzipSync(await promises.readFile('/tree.zip')) as Record<string, Uint8Array>
      for (const [name, bytes] of Object.entries(unpacked)) {
        await promises.mkdir(`/back/${name.slice(0, name.lastIndexOf('/'))}`, { recursive: true })
        await promises.writeFile(`/back/${name}`, bytes)
      }
      expect(await promises.readFile('/back/in/a.txt', 'utf8')).toBe('one\n')
      expect(await promises.readFile('/back/in/deep/b.txt', 'utf8')).toBe('two'.repeat(50_000))
    },
  },
}

const author = { name: 'A', email: 'a@example.com', timestamp: 1_767_225_600, timezoneOffset: 0 }

const isomorphicGit: LibraryRow = {
  name: 'isomorphic-git',
  packages: { 'isomorphic-git': '1.44.11' },
  files: { 'src/a.ts': 'export const a = 1\n' },
  needsRemote: ['clones, commits, pushes and clones again'],
  cases: {
    async 'commits, branches, checks out and logs'({ fs, load }) {
      const git = await load('isomorphic-git')
      const repository = { fs, dir: '/', gitdir: '/history' }
      await git.init({ ...repository, defaultBranch: 'main' })
      await git.add({ ...repository, filepath: 'src/a.ts' })
      const first = await git.commit({ ...repository, message: 'first', author })
      await git.branch({ ...repository, ref: 'other', checkout: true })
      await fs.promises.writeFile('/src/a.ts', 'export const a = 22\n')
      await git.add({ ...repository, filepath: 'src/a.ts' })
      await git.commit({ ...repository, message: 'second', author })
      await git.checkout({ ...repository, ref: 'main' })
      expect(await fs.promises.readFile('/src/a.ts', 'utf8')).toBe('export const a = 1\n')
      const entries = (await git.log({ ...repository, ref: 'other' })) as Untyped[]
      expect(entries.map(({ commit }) => commit.message)).toEqual(['second\n', 'first\n'])
      expect(entries[1].oid).toBe(first)
    },
    async 'clones, commits, pushes and clones again'({ fs, load, remote }) {
      const git = await load('isomorphic-git')
      const server = { http: remote?.http, url: remote?.url }
      const one = { fs, dir: '/one', gitdir: '/one-history' }
      await fs.promises.mkdir('/one')
      await git.clone({ ...server, ...one })
      const [before] = (await git.log(one)) as Untyped[]
      expect(await git.statusMatrix(one)).toEqual([['a.txt', 1, 1, 1]])
      await fs.promises.writeFile('/one/b.txt', 'two\n'.repeat(1000))
      await git.add({ ...one, filepath: 'b.txt' })
      const oid = await git.commit({ ...one, message: 'second', author })
      expect((await git.push({ ...server, ...one })).ok).toBe(true)
      const two = { fs, dir: '/two', gitdir: '/two-history' }
      await fs.promises.mkdir('/two')
      await git.clone({ ...server, ...two })
      expect(((await git.log(two)) as Untyped[]).map((entry) => entry.oid)).toEqual([oid, before.oid])
      expect(await fs.promises.readFile('/two/b.txt', 'utf8')).toBe('two\n'.repeat(1000))
    },
  },
}

const finders: LibraryRow = {
  name: 'fast-glob, enhanced-resolve and graceful-fs',
  packages: { 'fast-glob': '3.3.3', 'enhanced-resolve': '5.27.0', 'graceful-fs': '4.2.12' },
  files: {
    'src/a.ts': '',
    'src/deep/b.ts': '',
    'node_modules/x/package.json': '{ "name": "x", "exports": "./main.js" }',
    'node_modules/x/main.js': '',
  },
  needsSync: ['finds files at once', 'resolves a package at once'],
  cases: {
    async 'finds files'({ fs, load }) {
      const glob = defaultOf(await load('fast-glob'))
      expect((await glob('src/**/*.ts', { fs, cwd: '/' })).sort()).toEqual(['src/a.ts', 'src/deep/b.ts'])
    },
    async 'finds files at once'({ fs, load }) {
      const glob = defaultOf(await load('fast-glob'))
      expect(glob.sync('src/**/*.ts', { fs, cwd: '/' }).sort()).toEqual(['src/a.ts', 'src/deep/b.ts'])
    },
    async 'resolves a package'({ fs, load }) {
      const { ResolverFactory, CachedInputFileSystem } = defaultOf(await load('enhanced-resolve'))
      const resolver = ResolverFactory.createResolver({
        fileSystem: new CachedInputFileSystem(fs, 0),
        conditionNames: ['import'],
      })
      const found = await new Promise((resolve, reject) =>
        resolver.resolve({}, '/src', 'x', {}, (error: unknown, path: unknown) =>
          error ? reject(error) : resolve(path),
        ),
      )
      expect(found).toBe('/node_modules/x/main.js')
    },
    async 'resolves a package at once'({ fs, load }) {
      const { ResolverFactory, CachedInputFileSystem } = defaultOf(await load('enhanced-resolve'))
      const options = { useSyncFileSystemCalls: true, conditionNames: ['import'] }
      const resolver = ResolverFactory.createResolver({ ...options, fileSystem: new CachedInputFileSystem(fs, 0) })
      expect(resolver.resolveSync({}, '/src', 'x')).toBe('/node_modules/x/main.js')
    },
    async 'queues what opens too many files'({ fs, load }) {
      const { gracefulify } = defaultOf(await load('graceful-fs'))
      const graceful = gracefulify({ ...fs })
      const text = await new Promise((resolve, reject) =>
        graceful.readFile('/node_modules/x/package.json', 'utf8', (error: unknown, value: unknown) =>
          error ? reject(error) : resolve(value),
        ),
      )
      expect(text).toMatch(/"name": "x"/)
      const writer = graceful.createWriteStream('/queued.txt')
      await new Promise((resolve, reject) => writer.on('close', resolve).on('error', reject).end('queued'))
      let read = ''
      for await (const chunk of new graceful.ReadStream('/queued.txt', 'utf8')) read += chunk
      expect(read).toBe('queued')
    },
  },
}

/** The libraries that `npm run test:long` runs on each storage. */
export const libraryRows: readonly LibraryRow[] = [
  isomorphicGit,
  typescript,
  prettier,
  esbuild,
  unified,
  fflate,
  archives,
  finders,
]
