import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { StorageName } from './library-storages.ts'

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
  const wanted = { ...manifest.dependencies, [pgp]: manifest.devDependencies[pgp] }
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
}

/** Runs the suite over a storage. */
export function runSuite(home: string, storage: StorageName): SuiteResult {
  const report = join(home, `report-${storage}.json`)
  const args = [
    join(top, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--root',
    home,
    '--reporter=json',
    `--outputFile=${report}`,
  ]
  const { stderr } = spawnSync(process.execPath, args, {
    cwd: home,
    encoding: 'utf8',
    env: { ...process.env, WARDSPACE_STORAGE: storage, WARDSPACE_DIST: join(top, 'dist') },
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

const from = (name) => import(join(process.env.WARDSPACE_DIST, name))
const { createWorkspace } = await from('index.js')
const { createFs } = await from('adapters/fs/index.js')
const { memory } = await from('backends/memory/index.js')
const { nodeBackend } = await from('backends/node/index.js')

const OWN = 'dot-git'
const renamed = (path, from, to) => path.split('/').map((name) => (name === from ? to : name)).join('/')
const inside = (path) => (typeof path === 'string' ? renamed(path, '.git', OWN) : path)
const outside = (path) => (typeof path === 'string' ? renamed(path, OWN, '.git') : path)

const onDisk = process.env.WARDSPACE_STORAGE === 'node'
const root = join(import.meta.dirname, '../../root')
if (onDisk) disk.mkdirSync(root)
const workspace = await createWorkspace({
  backend: onDisk ? nodeBackend(root, { stateDir: root + '-state' }) : memory(),
  policy: {
    preset: 'autonomous',
    rules: [
      { name: 'all', action: 'allow', paths: ['**'], overrides: ['secret', 'generated', 'vendored', 'lockfile', 'binary'] },
    ],
  },
  limits: { callsPerMinute: 10_000_000, bytesWrittenPerRun: 1e10 },
})
const own = createFs(workspace).promises
const TWO_PATHS = ['rename', 'copyFile', 'cp']
const promises = {}
for (const [name, act] of Object.entries(own)) {
  if (typeof act !== 'function') continue
  promises[name] = async (path, ...args) => {
    if (name === 'symlink') return act(path, inside(args[0]))
    const value = await act(inside(path), ...(TWO_PATHS.includes(name) ? [inside(args[0]), ...args.slice(1)] : args))
    if (name === 'readdir' && typeof value[0] === 'string') return value.map(outside)
    return name === 'realpath' ? outside(value) : value
  }
}

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
