import { execFileSync, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BuildFailure, build as esbuild } from 'esbuild'
import webpack from 'webpack'

const top = join(import.meta.dirname, '../..')
const modules = join(top, 'node_modules')

/** A project as a user would begin it: a page, a module, and the packed package among its dependencies; no configuration. */
export interface Project {
  readonly directory: string
  remove(): void
}

export function newProject(main: string): Project {
  const directory = mkdtempSync(join(tmpdir(), 'wardspace-consumer-'))
  const files = {
    'package.json': '{ "name": "consumer", "private": true, "type": "module" }',
    'index.html':
      '<!doctype html><title>consumer</title><body></body><script type="module" src="/src/main.js"></script>',
    'src/main.js': main,
  }
  mkdirSync(join(directory, 'src'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text)
  install(directory)
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) }
}

/** What `npm install` of the packed tarball would leave, with the dependencies linked instead of fetched. */
function install(directory: string): void {
  const own = join(directory, 'node_modules/wardspace')
  mkdirSync(own, { recursive: true })
  const packed = execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', directory], {
    cwd: top,
    encoding: 'utf8',
  })
  execFileSync('tar', ['-xzf', join(directory, packed.trim()), '--strip-components=1', '-C', own])
  const { dependencies } = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8'))
  for (const name of Object.keys(dependencies)) {
    const link = join(directory, 'node_modules', name)
    mkdirSync(join(link, '..'), { recursive: true })
    symlinkSync(join(modules, name), link)
  }
}

/** What a build gives: the page's files by path, and whatever it complained of. */
export interface Built {
  readonly files: Readonly<Record<string, readonly [type: string, body: Uint8Array | string]>>
  readonly complaints: string
}

/** The builds that a user would run, each without a line of configuration. */
export const builds: Readonly<Record<string, (directory: string) => Promise<Built>>> = {
  async vite(directory) {
    const complaints = run(directory, join(modules, 'vite/bin/vite.js'), ['build', '--logLevel', 'warn'])
    return { files: filesBelow(join(directory, 'dist')), complaints: withoutSizes(complaints) }
  },
  async esbuild(directory) {
    const how = { entryPoints: ['src/main.js'], bundle: true, splitting: true, format: 'esm' as const, outdir: 'dist' }
    const { errors, warnings } = await esbuild({ ...how, absWorkingDir: directory, logLevel: 'silent' }).catch(
      (failure: BuildFailure) => failure,
    )
    const complaints = [...errors, ...warnings].map(({ text }) => text).join('\n')
    return { files: { ...filesBelow(join(directory, 'dist')), '/': pageOf('/main.js') }, complaints }
  },
  async webpack(directory) {
    const entry = './src/main.js'
    const output = { path: join(directory, 'dist') }
    const stats = await new Promise<webpack.Stats | undefined>((resolve, reject) => {
      webpack({ mode: 'production', context: directory, entry, output }, (error, done) =>
        error === null ? resolve(done) : reject(error),
      )
    })
    const { errors = [], warnings = [] } = stats?.compilation ?? {}
    const complaints = [...errors, ...warnings]
      .map(({ name, message }) => `${name}: ${message}`)
      .filter((text) => !/SizeLimit|NoAsyncChunks/.test(text))
    return {
      files: { ...filesBelow(join(directory, 'dist')), '/': pageOf('/main.js') },
      complaints: complaints.join('\n'),
    }
  },
}

const pageOf = (script: string) =>
  ['text/html', `<!doctype html><title>consumer</title><script type="module" src="${script}"></script>`] as const

/** Vite's advice on large chunks is about size, which has a budget of its own. */
function withoutSizes(text: string): string {
  return text.includes('larger than 500 kB') ? text.slice(0, text.indexOf('(!) Some chunks')).trim() : text
}

function run(directory: string, script: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
    cwd: directory,
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1', VITEST: undefined, NODE_ENV: undefined },
  })
  const said = `${stdout}${stderr}`.trim()
  return status === 0 ? said : `exit code ${status}\n${said}`
}

function filesBelow(directory: string): Built['files'] {
  const types: Readonly<Record<string, string>> = { html: 'text/html', js: 'text/javascript', mjs: 'text/javascript' }
  const found: Record<string, readonly [string, Uint8Array]> = {}
  if (!existsSync(directory)) return found
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const type = types[entry.name.split('.').at(-1) ?? ''] ?? 'application/octet-stream'
    found[path.slice(directory.length)] = [type, readFileSync(path)]
  }
  const index = found['/index.html']
  return index === undefined ? found : { ...found, '/': index }
}
