import type { ScriptFiles } from './script.ts'

/** What a name leads to, in a `require` or an `import`. */
export type Resolved =
  | { readonly builtin: string }
  | { readonly path: string; readonly format: 'commonjs' | 'module' | 'json' }

/** What asks for a module. */
type How = 'require' | 'import'

/** An error with a code, as Node gives it. */
export function codedError(code: string, message: string): Error & { readonly code: string } {
  return Object.assign(new Error(message), { code })
}

const utf8 = new TextDecoder()

/** Finds modules by Node's rules, in the files of a script. `builtins`: the modules that the engine has itself. */
export function createResolver(files: ScriptFiles, builtins: ReadonlySet<string>) {
  const kinds = new Map<string, 'module' | 'commonjs' | undefined>()

  async function isFile(path: string): Promise<boolean> {
    return files.stat(path).then(
      ({ isFile }) => isFile,
      () => false,
    )
  }

  async function manifestAt(directory: string): Promise<Manifest | undefined> {
    const path = `${directory === '/' ? '' : directory}/package.json`
    if (!(await isFile(path))) return undefined
    const bytes = await files.readFileBuffer(path)
    try {
      return JSON.parse(utf8.decode(bytes)) as Manifest
    } catch {
      throw codedError('ERR_INVALID_PACKAGE_CONFIG', `Invalid package config ${path}`)
    }
  }

  /** What the nearest package.json says of `.js` files. */
  async function kindIn(directory: string): Promise<'module' | 'commonjs' | undefined> {
    if (kinds.has(directory)) return kinds.get(directory)
    const manifest = await manifestAt(directory)
    const own = manifest?.type === 'module' || manifest?.type === 'commonjs' ? manifest.type : undefined
    const kind = manifest !== undefined || directory === '/' ? own : await kindIn(parentOf(directory))
    kinds.set(directory, kind)
    return kind
  }

  async function formatOf(path: string): Promise<Resolved> {
    const real = await files.realpath(path)
    if (real.endsWith('.mjs')) return { path: real, format: 'module' }
    if (real.endsWith('.json')) return { path: real, format: 'json' }
    if (/\.[mc]?tsx?$|\.jsx$/.test(real)) {
      throw codedError('ERR_UNKNOWN_FILE_EXTENSION', `TypeScript and JSX are not run in this shell: ${real}`)
    }
    if (real.endsWith('.cjs')) return { path: real, format: 'commonjs' }
    const kind = await kindIn(parentOf(real))
    if (kind !== undefined) return { path: real, format: kind }
    const text = utf8.decode(await files.readFileBuffer(real))
    return { path: real, format: looksLikeModule(text) ? 'module' : 'commonjs' }
  }

  async function asFile(path: string, guesses: boolean): Promise<Resolved | undefined> {
    const endings = guesses ? ['', '.js', '.json', '.cjs', '.mjs'] : ['']
    for (const ending of endings) if (await isFile(path + ending)) return formatOf(path + ending)
    return undefined
  }

  async function asDirectory(path: string): Promise<Resolved | undefined> {
    const { main } = (await manifestAt(path)) ?? {}
    if (typeof main === 'string') {
      const named = normalize(`${path}/${main}`)
      const found = (await asFile(named, true)) ?? (await asFile(`${named}/index`, true))
      if (found !== undefined) return found
    }
    return asFile(`${path}/index`, true)
  }

  async function asPackage(name: string, from: string, how: How): Promise<Resolved | undefined> {
    const [, own = '', rest = ''] = /^((?:@[^/]+\/)?[^/]+)(.*)$/.exec(name) ?? []
    for (let directory = from; ; directory = parentOf(directory)) {
      const root = `${directory === '/' ? '' : directory}/node_modules/${own}`
      const manifest = await manifestAt(root)
      if (manifest?.exports !== undefined) {
        const target = exported(manifest.exports, `.${rest}`, how)
        if (target === undefined) {
          throw codedError('ERR_PACKAGE_PATH_NOT_EXPORTED', `Package subpath '.${rest}' is not defined by ${root}`)
        }
        return asFile(normalize(`${root}/${target}`), false)
      }
      const found = (await asFile(root + rest, true)) ?? (await asDirectory(root + rest))
      if (found !== undefined) return found
      if (directory === '/') return undefined
    }
  }

  async function selfOrImports(name: string, from: string, how: How): Promise<Resolved | undefined> {
    for (let directory = from; ; directory = parentOf(directory)) {
      const manifest = await manifestAt(directory)
      if (manifest !== undefined) {
        const target = ownTarget(manifest, name, how)
        return target === undefined ? undefined : asFile(normalize(`${directory}/${target}`), false)
      }
      if (directory === '/') return undefined
    }
  }

  return {
    /** @throws an error with a code, where there is nothing of that name */
    async resolve(name: string, from: string, how: How): Promise<Resolved> {
      const bare = name.startsWith('node:') ? name.slice(5) : name
      // The test runner has no name without its scheme.
      if (builtins.has(bare) && name !== 'test') return { builtin: bare }
      if (name.startsWith('node:') || absent.has(bare)) {
        throw codedError('ERR_UNKNOWN_BUILTIN_MODULE', `The module '${name}' is not available in this shell`)
      }
      if (name.startsWith('file://')) return formatOf(decodeURIComponent(name.slice(7)))
      let found: Resolved | undefined
      if (/^\.{0,2}\//.test(name) || name === '.' || name === '..') {
        const path = name.startsWith('/') ? normalize(name) : normalize(`${from}/${name}`)
        const isDirectory = /(?:^|\/)\.{0,2}$/.test(name)
        found = isDirectory ? undefined : await asFile(path, how === 'require')
        if (how === 'require') found ??= await asDirectory(path)
      } else found = (await selfOrImports(name, from, how)) ?? (await asPackage(name, from, how))
      if (found !== undefined) return found
      const code = name.startsWith('#')
        ? 'ERR_PACKAGE_IMPORT_NOT_DEFINED'
        : how === 'import'
          ? 'ERR_MODULE_NOT_FOUND'
          : 'MODULE_NOT_FOUND'
      throw codedError(code, `Cannot find module '${name}' from '${from}'`)
    },
    formatOf,
  }
}

interface Manifest {
  readonly name?: string
  readonly type?: string
  readonly main?: unknown
  readonly exports?: unknown
  readonly imports?: unknown
}

/** What Node has and this engine has not. */
const absent: ReadonlySet<string> = new Set([
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
  'readline',
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

/** What a package's own manifest says of a name that is its own, or that begins with `#`. */
function ownTarget({ name: own, exports, imports }: Manifest, name: string, how: How): string | undefined {
  if (name.startsWith('#')) return exported(imports, name, how)
  if (own === undefined || (name !== own && !name.startsWith(`${own}/`))) return undefined
  return exported(exports, `.${name.slice(own.length)}`, how)
}

/** The target of a package's path, by the conditions of Node. */
function exported(table: unknown, key: string, how: How): string | undefined {
  const isMap = typeof table === 'object' && table !== null && Object.keys(table).some((name) => /^[.#]/.test(name))
  if (!isMap) return key === '.' ? targetOf(table, how) : undefined
  const map = table as Record<string, unknown>
  if (Object.hasOwn(map, key)) return targetOf(map[key], how)
  for (const [pattern, target] of Object.entries(map)) {
    const star = pattern.indexOf('*')
    if (star === -1 || !key.startsWith(pattern.slice(0, star)) || !key.endsWith(pattern.slice(star + 1))) continue
    const middle = key.slice(star, key.length - (pattern.length - star - 1))
    return targetOf(target, how)?.replaceAll('*', () => middle)
  }
  return undefined
}

function targetOf(target: unknown, how: How): string | undefined {
  if (typeof target === 'string') return target
  if (Array.isArray(target)) return target.map((one) => targetOf(one, how)).find((one) => one !== undefined)
  if (typeof target !== 'object' || target === null) return undefined
  for (const [condition, inner] of Object.entries(target)) {
    if (condition !== 'node' && condition !== 'default' && condition !== how) continue
    const found = targetOf(inner, how)
    if (found !== undefined) return found
  }
  return undefined
}

/** Whether a text that nothing says anything about is an ES module. */
export function looksLikeModule(text: string): boolean {
  return /^\s*(?:import\s*(?:[\w*{'"]|\w+\s*,)|export\s*(?:[{*]|default\b|const\b|let\b|var\b|function\b|class\b|async\b))/m.test(
    text,
  )
}

export function parentOf(path: string): string {
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
