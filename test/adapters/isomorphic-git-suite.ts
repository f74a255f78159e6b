import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pagePackages } from './bundle-libraries.ts'
import type { StorageName } from './library-storages.ts'
import type { OpfsStorageName } from './library-storages-opfs.ts'

const top = join(import.meta.dirname, '../..')

/** What became of the cases of a suite. */
export interface SuiteResult {
  readonly passed: number
  readonly failed: readonly { readonly name: string; readonly message: string }[]
  readonly skipped: number
}

const COPY = { recursive: true, verbatimSymlinks: true }

/** Prepares the own tests of isomorphic-git in a directory, from a clone of its repository. */
export function prepareSuite(clone: string, home: string): void {
  for (const name of ['src', '__tests__', 'package.json']) cpSync(join(clone, name), join(home, name), COPY)
  const manifest = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'))
  const pgp = '@isomorphic-git/pgp-plugin'
  const wanted = { ...pagePackages, ...manifest.dependencies, [pgp]: manifest.devDependencies[pgp] }
  writeFileSync(join(home, 'package.json'), JSON.stringify({ private: true, type: 'module', dependencies: wanted }))
  execFileSync('npm', ['install', '--silent', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: home })
  // The runner is ours.
  if (!existsSync(join(home, 'node_modules/vitest'))) {
    symlinkSync(join(top, 'node_modules/vitest'), join(home, 'node_modules/vitest'))
  }
  mkdirSync(join(home, 'http'), { recursive: true })
  writeFileSync(join(home, '__tests__/__helpers__/FixtureFS.js'), fixtureModule)
  writeFileSync(join(home, 'globals.js'), globalsModule)
  writeFileSync(join(home, 'vitest.config.js'), configModule)
  for (const [name, text] of Object.entries(pageModules)) writeFileSync(join(home, name), text)
}

/** Runs the suite over a storage. */
export function runSuite(
  home: string,
  storage: StorageName | OpfsStorageName,
  browser?: { readonly path: string; readonly args: readonly string[] },
): SuiteResult {
  const report = join(home, `report-${storage.replace(' ', '-')}.json`)
  const args = [
    join(top, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--root',
    home,
    ...(browser === undefined ? [] : ['--config', join(home, 'page.config.js')]),
    '--reporter=json',
    `--outputFile=${report}`,
  ]
  const { stderr } = spawnSync(process.execPath, args, {
    cwd: home,
    encoding: 'utf8',
    env: {
      ...process.env,
      ...{ WARDSPACE_STORAGE: storage, WARDSPACE_DIST: join(top, 'dist') },
      ...(browser && { WARDSPACE_BROWSER: JSON.stringify(browser) }),
    },
    maxBuffer: 1 << 28,
  })
  if (!existsSync(report)) throw new Error(`The suite has no report: ${stderr.slice(-2000)}`)
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as { readonly testResults: readonly FileReport[] }
  const cases = testResults.flatMap(({ name, message, assertionResults }) => {
    const file = name.split('/').at(-1) ?? name
    if (assertionResults.length === 0) return [{ status: 'failed', fullName: file, failureMessages: [message] }]
    return assertionResults.map((one) => ({ ...one, fullName: `${file}: ${one.fullName}` }))
  })
  const failed = cases.filter(({ status }) => status === 'failed')
  return {
    passed: cases.filter(({ status }) => status === 'passed').length,
    failed: failed.map(({ fullName, failureMessages }) => ({ name: fullName, message: failureMessages.join('\n') })),
    skipped: cases.filter(({ status }) => status !== 'failed' && status !== 'passed').length,
  }
}

interface FileReport {
  readonly name: string
  readonly message: string
  readonly assertionResults: readonly {
    readonly status: string
    readonly fullName: string
    readonly failureMessages: readonly string[]
  }[]
}

/** What the suite takes from its own runner, of which it skips some cases itself with `xit` and `xdescribe`. */
const globalsModule = `
import { describe, it, vi } from 'vitest'
Object.assign(globalThis, { jest: vi, xit: it.skip, xdescribe: describe.skip })
`

const configModule = `
export default {
  resolve: {
    alias: [
      { find: /^isomorphic-git$/, replacement: 'ROOT/src/index.js' },
      { find: /^isomorphic-git\\/http$/, replacement: 'ROOT/src/http/node/index.js' },
      { find: /^isomorphic-git\\/(.+)$/, replacement: 'ROOT/src/$1' },
      { find: '@jest/globals', replacement: 'vitest' },
    ].map((alias) => ({ ...alias, replacement: alias.replacement.replace('ROOT', import.meta.dirname) })),
  },
  test: {
    globals: true,
    include: ['__tests__/test-*.js', '__tests__/server-only.test-*.js'],
    // Each case again in a submodule, which its helper clones from a server.
    exclude: ['__tests__/*-in-submodule.js'],
    setupFiles: ['./globals.js'],
    testTimeout: 60_000,
    // One workspace for all files: each would load the library again.
    isolate: false,
    maxWorkers: 1,
  },
}
`

/**
 * Takes the place of the fixtures that the suite has for other file systems. One workspace holds all fixtures. As
 * \`.git\` does not exist for a program, it has another name there.
 */
const fixtureModule = `
import * as disk from 'node:fs'
import { join } from 'node:path'
import { FileSystem } from 'isomorphic-git/internal-apis'
import { settings, wrap } from '../../wrap.js'

const from = (name) => import(join(process.env.WARDSPACE_DIST, name))
const { createWorkspace } = await from('index.js')
const { createFs } = await from('adapters/fs/index.js')
const { memory } = await from('backends/memory/index.js')
const { nodeBackend } = await from('backends/node/index.js')

const onDisk = process.env.WARDSPACE_STORAGE === 'node'
const root = join(import.meta.dirname, '../../root')
if (onDisk) disk.mkdirSync(root)
const backend = onDisk ? nodeBackend(root, { stateDir: root + '-state' }) : memory()
const workspace = await createWorkspace({ backend, ...settings })
const promises = wrap(createFs(workspace).promises)

const fixtures = join(import.meta.dirname, '../__fixtures__')
let count = 0

async function put(fixture) {
  const directory = '/' + ++count + '-' + fixture
  await promises.mkdir(directory)
  const source = join(fixtures, fixture)
  if (disk.existsSync(source)) await copy(source, directory)
  return directory
}

async function copy(source, target) {
  for (const entry of disk.readdirSync(source, { withFileTypes: true })) {
    const [from, to] = [join(source, entry.name), target + '/' + entry.name]
    if (entry.isDirectory()) {
      await promises.mkdir(to)
      await copy(from, to)
    } else if (entry.isSymbolicLink()) await promises.symlink(disk.readlinkSync(from), to)
    else await promises.writeFile(to, disk.readFileSync(from), { mode: disk.statSync(from).mode & 0o777 })
  }
}

export async function makeFixture(fixture) {
  const _fs = { promises }
  const fs = new FileSystem(_fs)
  return { _fs, fs, dir: await put(fixture), gitdir: await put(fixture + '.git') }
}
`

/** The file system that the suite gets, and the settings of the workspace. */
const wrapModule = `
const OWN = 'dot-git'
const renamed = (path, from, to) => path.split('/').map((name) => (name === from ? to : name)).join('/')
export const inside = (path) => (typeof path === 'string' ? renamed(path, '.git', OWN) : path)
export const outside = (path) => (typeof path === 'string' ? renamed(path, OWN, '.git') : path)

export const settings = {
  policy: {
    preset: 'autonomous',
    rules: [
      { name: 'all', action: 'allow', paths: ['**'], overrides: ['secret', 'generated', 'vendored', 'lockfile', 'binary'] },
    ],
  },
  limits: { callsPerMinute: 10_000_000, bytesWrittenPerRun: 1e10 },
}

const TWO_PATHS = ['rename', 'copyFile', 'cp']
export function wrap(own) {
  const promises = {}
  for (const [name, act] of Object.entries(own)) {
    if (typeof act !== 'function') continue
    promises[name] = async (path, ...args) => {
      if (name === 'symlink') return act(path, inside(args[0]))
      const value = await act(inside(path), ...(TWO_PATHS.includes(name) ? [inside(args[0]), ...args.slice(1)] : args))
      if (name === 'readdir' && typeof value[0] === 'string') return value.map(outside)
      return name === 'realpath' || name === 'mkdtemp' ? outside(value) : value
    }
  }
  return promises
}
`

/** What the suite needs in a page. Files of the clone come from the server of the page. */
const pageModules = {
  'wrap.js': wrapModule,
  'page-globals.js': `${globalsModule}
import { Buffer } from 'buffer'
import process from 'process'
process.versions = { node: '20.19.0' }
Object.assign(globalThis, { Buffer, process, global: globalThis })
globalThis.setImmediate ??= (run, ...args) => setTimeout(run, 0, ...args)
`,
  'page-fs.js': `
import { createWorkspace } from 'DIST/index.js'
import { createFs } from 'DIST/adapters/fs/index.js'
import { opfs } from 'DIST/backends/opfs/index.js'
import { settings, wrap } from './wrap.js'

const layout = import.meta.env.WARDSPACE_STORAGE.split(' ')[1]
const name = 'suite-' + Math.random().toString(36).slice(2)
export const backend = await opfs({ name, layout, ...(layout === 'packed' && { access: 'sync' }) })
const workspace = await createWorkspace({ backend, ...settings })
export const promises = wrap(createFs(workspace).promises)
await promises.mkdir('/tmp')

/** Reads a file of the clone. */
export function readFileSync(path, encoding) {
  const request = new XMLHttpRequest()
  request.open('GET', '/raw' + path, false)
  request.overrideMimeType('text/plain; charset=x-user-defined')
  request.send()
  const bytes = globalThis.Buffer.from(request.responseText, 'latin1')
  return encoding === undefined ? bytes : bytes.toString(encoding)
}
export default { promises, readFileSync }
`,
  'page-os.js': "export const tmpdir = () => '/tmp'",
  'page-url.js': 'export const fileURLToPath = (url) => new URL(url).pathname',
  'page-fixtures.js': `
import { FileSystem } from 'isomorphic-git/internal-apis'
import { backend, promises } from './page-fs.js'
import { inside } from './wrap.js'

let count = 0

/** Plants a fixture in one commit: what is tested comes after it. */
async function put(fixture) {
  const directory = ++count + '-' + inside(fixture)
  const entries = await (await fetch('/fixture/' + fixture)).json()
  const changes = [{ path: directory, expect: 'absent', to: { type: 'directory' } }]
  for (const [path, { base64, mode, link }] of entries) {
    const to = link !== undefined ? { type: 'link', target: inside(link) } : base64 === undefined ? { type: 'directory' } : {
      ...{ type: 'file', mode, bytes: Uint8Array.from(globalThis.Buffer.from(base64, 'base64')) },
    }
    changes.push({ path: directory + '/' + inside(path), expect: 'absent', to })
  }
  await backend.commit(changes, { durability: 'relaxed' })
  return '/' + directory
}

export async function makeFixture(fixture) {
  const _fs = { promises }
  const fs = new FileSystem(_fs)
  return { _fs, fs, dir: await put(fixture), gitdir: await put(fixture + '.git') }
}
`,
  'page.config.js': `
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'

const root = import.meta.dirname
const dist = process.env.WARDSPACE_DIST
const modules = join(dist, '../node_modules')
const { playwright } = await import(pathToFileURL(join(modules, '@vitest/browser-playwright/dist/index.js')))
const { path: executablePath, args } = JSON.parse(process.env.WARDSPACE_BROWSER)

function entriesOf(fixture) {
  const source = join(root, '__tests__/__fixtures__', fixture)
  if (!existsSync(source)) return []
  return readdirSync(source, { recursive: true }).sort().map((name) => {
    const at = join(source, name)
    const stat = lstatSync(at)
    if (stat.isSymbolicLink()) return [name, { link: readlinkSync(at) }]
    if (stat.isDirectory()) return [name, {}]
    return [name, { mode: stat.mode & 0o777, base64: readFileSync(at, 'base64') }]
  })
}

const clone = {
  name: 'files of the clone',
  configureServer({ middlewares }) {
    middlewares.use('/fixture', ({ url }, response) => {
      response.end(JSON.stringify(entriesOf(decodeURIComponent(url.slice(1)))))
    })
    middlewares.use('/raw', ({ url }, response) => {
      const at = join(root, decodeURIComponent(new URL(url, 'http://localhost').pathname))
      response.statusCode = existsSync(at) ? 200 : 404
      response.end(existsSync(at) ? readFileSync(at) : '')
    })
  },
}

const here = (name) => join(root, name)
const dependencies = ['async-lock', 'clean-git-ref', 'crc-32', 'diff3', 'ignore', 'pako', 'pify', 'readable-stream', 'sha.js/sha1.js']
export default {
  plugins: [clone],
  define: { global: 'globalThis', 'import.meta.env.WARDSPACE_STORAGE': JSON.stringify(process.env.WARDSPACE_STORAGE) },
  server: { fs: { strict: false } },
  resolve: {
    alias: [
      { find: /^isomorphic-git$/, replacement: here('src/index.js') },
      { find: /^isomorphic-git\\/http$/, replacement: here('src/http/web/index.js') },
      { find: /^isomorphic-git\\/(.+)$/, replacement: here('src') + '/$1' },
      { find: /^.*\\/FixtureFS\\.js$/, replacement: here('page-fixtures.js') },
      { find: /^DIST/, replacement: dist },
      { find: '@jest/globals', replacement: 'vitest' },
      { find: /^(?:node:)?fs$/, replacement: here('page-fs.js') },
      { find: /^(?:node:)?os$/, replacement: here('page-os.js') },
      { find: /^(?:node:)?url$/, replacement: here('page-url.js') },
      { find: /^(?:node:)?path(?:\\/posix)?$/, replacement: here('node_modules/path/path.js') },
      { find: /^process$/, replacement: here('node_modules/process/browser.js') },
      { find: /^buffer$/, replacement: here('node_modules/buffer/index.js') },
    ],
  },
  optimizeDeps: { include: [...dependencies, 'buffer', 'process', 'path', '@isomorphic-git/pgp-plugin'] },
  test: {
    globals: true,
    include: ['__tests__/test-*.js'],
    // Each case again in a submodule, which its helper clones from a server.
    exclude: ['__tests__/*-in-submodule.js'],
    setupFiles: ['./page-globals.js'],
    testTimeout: 120_000,
    isolate: false,
    fileParallelism: false,
    browser: {
      enabled: true,
      headless: true,
      screenshotFailures: false,
      provider: playwright({ launchOptions: { executablePath, args } }),
      instances: [{ browser: 'chromium' }],
    },
  },
}
`,
}
