import { type ImportKind, type Manifest, selfTarget, targetOfPath } from './package-manifest.ts'
import type { ScriptFiles } from './script.ts'

/** A module that `require` or `import` finds. */
export type ResolvedModule = { readonly builtin: string } | { readonly path: string; readonly format: ModuleFormat }

export type ModuleFormat = 'commonjs' | 'module' | 'json'

/** Finds modules by Node's rules, in the files of a script. */
export interface Resolver {
  /**
   * Finds the module of a name, from a directory.
   *
   * @throws an error with Node's code if no file matches
   */
  resolve(name: string, from: string, kind: ImportKind): Promise<ResolvedModule>
}

/** Makes an error with a code, as Node's own errors have. */
export function codedError(code: string, message: string): Error & { readonly code: string } {
  return Object.assign(new Error(message), { code })
}

const utf8 = new TextDecoder()

/** Creates a resolver. `builtins`: the modules of the guest itself. */
export function createResolver(files: ScriptFiles, builtins: { has(name: string): boolean }): Resolver {
  const packages = new PackageFiles(files)
  return {
    async resolve(name, from, kind) {
      const bare = name.startsWith('node:') ? name.slice(5) : name
      // Node's test runner has no name without its scheme.
      if (builtins.has(bare) && name !== 'test') return { builtin: bare }
      if (name.startsWith('node:') || unavailable.has(bare)) {
        throw codedError('ERR_UNKNOWN_BUILTIN_MODULE', `The module '${name}' is not available in this shell`)
      }
      if (name.startsWith('file://')) return packages.moduleAt(decodeURIComponent(name.slice(7)))
      const isPath = /^\.{0,2}\//.test(name) || name === '.' || name === '..'
      const module = isPath
        ? await resolvePathName(packages, name, from, kind)
        : ((await resolveSelf(packages, name, from, kind)) ?? (await resolvePackage(packages, name, from, kind)))
      if (module !== undefined) return module
      throw codedError(notFoundCode(name, kind), `Cannot find module '${name}' from '${from}'`)
    },
  }
}

function notFoundCode(name: string, kind: ImportKind): string {
  if (name.startsWith('#')) return 'ERR_PACKAGE_IMPORT_NOT_DEFINED'
  return kind === 'import' ? 'ERR_MODULE_NOT_FOUND' : 'MODULE_NOT_FOUND'
}

/** Looks up files, package.json files and formats for one script. */
class PackageFiles {
  readonly #files: ScriptFiles
  /** The format of `.js` files, by directory. */
  readonly #formats = new Map<string, 'module' | 'commonjs' | undefined>()

  constructor(files: ScriptFiles) {
    this.#files = files
  }

  #isFile(path: string): Promise<boolean> {
    return this.#files.stat(path).then(
      ({ isFile }) => isFile,
      () => false,
    )
  }

  async manifestIn(directory: string): Promise<Manifest | undefined> {
    const path = `${directory === '/' ? '' : directory}/package.json`
    if (!(await this.#isFile(path))) return undefined
    const bytes = await this.#files.readFileBuffer(path)
    try {
      return JSON.parse(utf8.decode(bytes)) as Manifest
    } catch {
      throw codedError('ERR_INVALID_PACKAGE_CONFIG', `Invalid package config ${path}`)
    }
  }

  /** Returns the format of `.js` files by the nearest package.json. */
  async #formatIn(directory: string): Promise<'module' | 'commonjs' | undefined> {
    if (this.#formats.has(directory)) return this.#formats.get(directory)
    const manifest = await this.manifestIn(directory)
    const statedFormat = manifest?.type === 'module' || manifest?.type === 'commonjs' ? manifest.type : undefined
    const format = manifest !== undefined || directory === '/' ? statedFormat : await this.#formatIn(dirname(directory))
    this.#formats.set(directory, format)
    return format
  }

  /** Returns the module of an existing file, with its real path. */
  async moduleAt(path: string): Promise<ResolvedModule> {
    const real = await this.#files.realpath(path)
    if (real.endsWith('.mjs')) return { path: real, format: 'module' }
    if (real.endsWith('.json')) return { path: real, format: 'json' }
    if (/\.[mc]?tsx?$|\.jsx$/.test(real)) {
      throw codedError('ERR_UNKNOWN_FILE_EXTENSION', `TypeScript and JSX are not run in this shell: ${real}`)
    }
    if (real.endsWith('.cjs')) return { path: real, format: 'commonjs' }
    const format = await this.#formatIn(dirname(real))
    if (format !== undefined) return { path: real, format }
    const text = utf8.decode(await this.#files.readFileBuffer(real))
    return { path: real, format: looksLikeModule(text) ? 'module' : 'commonjs' }
  }

  /** Finds a file; with `addsExtension`, also by its name without the extension. */
  async file(path: string, addsExtension: boolean): Promise<ResolvedModule | undefined> {
    const extensions = addsExtension ? ['', '.js', '.json', '.cjs', '.mjs'] : ['']
    for (const extension of extensions) {
      if (await this.#isFile(path + extension)) return this.moduleAt(path + extension)
    }
    return undefined
  }

  /** Finds the main file of a directory. */
  async directory(path: string): Promise<ResolvedModule | undefined> {
    const { main } = (await this.manifestIn(path)) ?? {}
    if (typeof main === 'string') {
      const mainPath = normalize(`${path}/${main}`)
      const module = (await this.file(mainPath, true)) ?? (await this.file(`${mainPath}/index`, true))
      if (module !== undefined) return module
    }
    return this.file(`${path}/index`, true)
  }
}

/** `import` takes a path as written; `require` also adds an extension, or takes the main file of a directory. */
async function resolvePathName(
  packages: PackageFiles,
  name: string,
  from: string,
  kind: ImportKind,
): Promise<ResolvedModule | undefined> {
  const path = name.startsWith('/') ? normalize(name) : normalize(`${from}/${name}`)
  const namesDirectory = /(?:^|\/)\.{0,2}$/.test(name)
  const module = namesDirectory ? undefined : await packages.file(path, kind === 'require')
  if (module !== undefined || kind === 'import') return module
  return packages.directory(path)
}

/** Resolves a name that the nearest package.json defines: its own, or one that begins with `#`. */
async function resolveSelf(
  packages: PackageFiles,
  name: string,
  from: string,
  kind: ImportKind,
): Promise<ResolvedModule | undefined> {
  for (let directory = from; ; directory = dirname(directory)) {
    const manifest = await packages.manifestIn(directory)
    if (manifest !== undefined) {
      const target = selfTarget(manifest, name, kind)
      return target === undefined ? undefined : packages.file(normalize(`${directory}/${target}`), false)
    }
    if (directory === '/') return undefined
  }
}

/** Resolves the name of a package in `node_modules` of the directory or of one above it. */
async function resolvePackage(
  packages: PackageFiles,
  name: string,
  from: string,
  kind: ImportKind,
): Promise<ResolvedModule | undefined> {
  const [, packageName = '', subpath = ''] = /^((?:@[^/]+\/)?[^/]+)(.*)/s.exec(name) ?? []
  for (let directory = from; ; directory = dirname(directory)) {
    const root = `${directory === '/' ? '' : directory}/node_modules/${packageName}`
    const manifest = await packages.manifestIn(root)
    if (manifest?.exports !== undefined) {
      const target = targetOfPath(manifest.exports, `.${subpath}`, kind)
      if (target === undefined) {
        throw codedError('ERR_PACKAGE_PATH_NOT_EXPORTED', `Package subpath '.${subpath}' is not defined by ${root}`)
      }
      return packages.file(normalize(`${root}/${target}`), false)
    }
    const module = (await packages.file(root + subpath, true)) ?? (await packages.directory(root + subpath))
    if (module !== undefined) return module
    if (directory === '/') return undefined
  }
}

/** Modules of Node that the guest does not have. */
const unavailable: ReadonlySet<string> = new Set([
  'async_hooks',
  'child_process',
  'cluster',
  'dgram',
  'dns',
  'http',
  'http2',
  'https',
  'inspector',
  'net',
  'querystring',
  'repl',
  'stream',
  'string_decoder',
  'tls',
  'tty',
  'v8',
  'vm',
  'wasi',
  'worker_threads',
  'zlib',
])

/** Whether a text is an ES module, guessed from its import and export statements, if no file extension or package.json says so. */
export function looksLikeModule(text: string): boolean {
  return /^[ \t]*(?:import\s*(?:[\w*{'"]|\w+\s*,)|export\s*(?:[{*]|default\b|const\b|let\b|var\b|function\b|class\b|async\b))/m.test(
    text,
  )
}

/** The directory of an absolute path. */
export function dirname(path: string): string {
  const slash = path.lastIndexOf('/')
  return slash <= 0 ? '/' : path.slice(0, slash)
}

function normalize(path: string): string {
  const names: string[] = []
  for (const name of path.split('/')) {
    if (name === '..') names.pop()
    else if (name !== '' && name !== '.') names.push(name)
  }
  return `/${names.join('/')}`
}
