import { execFileSync, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import webpack from 'webpack'
import { commandsUnder } from './bundler-guide.ts'
import { packedTarball } from './packed.ts'

const top = join(import.meta.dirname, '../..')
const modules = join(top, 'node_modules')

/** A directory for projects of users, with the packed package installed in it. */
export interface Installed {
  /** The directory that contains `node_modules`. */
  readonly directory: string
  /** Directory of the unpacked package. */
  readonly package: string
  /** The packed file's size in bytes. */
  readonly packedBytes: number
  /** Creates a user's project with a page and a module, without configuration. Returns its directory. */
  project(name: string, main: string): string
  remove(): void
}

/**
 * Installs the packed tarball like `npm install`, but links other packages instead of fetching them. zod is there for own tools.
 *
 * @param peers further packages that such a project has
 */
export function install(peers: readonly string[] = []): Installed {
  const home = mkdtempSync(join(tmpdir(), 'wardspace-consumer-'))
  const own = join(home, 'node_modules/wardspace')
  mkdirSync(own, { recursive: true })
  const tarball = packedTarball()
  execFileSync('tar', ['-xzf', tarball, '--strip-components=1', '-C', own])
  for (const name of ['zod', ...peers]) {
    const link = join(home, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(join(modules, name), link)
  }
  // Deno looks for packages next to a manifest.
  writeFileSync(join(home, 'package.json'), '{ "private": true, "type": "module" }')
  return {
    directory: home,
    package: own,
    packedBytes: statSync(tarball).size,
    project(name, main) {
      const directory = join(home, name)
      mkdirSync(join(directory, 'src'), { recursive: true })
      const files = {
        'package.json': `{ "name": "${name}", "private": true, "type": "module" }`,
        'index.html': pageOf('/src/main.js')[1],
        'src/main.js': main,
      }
      for (const [file, text] of Object.entries(files)) writeFileSync(join(directory, file), text)
      return directory
    },
    remove: () => rmSync(home, { recursive: true, force: true }),
  }
}

/** The files of a page, by path: a content type and a body. */
type Files = Readonly<Record<string, readonly [type: string, body: Uint8Array | string]>>

/** The result of a build: the page, and the warnings of the bundler. */
export interface Built {
  readonly files: Files
  readonly complaints: string
}

/** The builds that a user would run, without configuration. The command of esbuild is that of the guide. */
export const builds: Readonly<Record<string, (directory: string) => Promise<Built>>> = {
  async vite(directory) {
    const complaints = run(directory, join(modules, '.bin/vite'), 'build', '--logLevel', 'warn')
    const files = filesBelow(join(directory, 'dist'))
    return {
      files: { ...files, '/': files['/index.html'] ?? pageOf('/none.js') },
      complaints: withoutAdvice(complaints),
    }
  },

  async esbuild(directory) {
    const command = commandsUnder('browser', '### esbuild').find((line) => line.startsWith('npx esbuild ')) ?? ''
    const words = command.split(' ').slice(2)
    const complaints = run(directory, join(modules, '.bin/esbuild'), ...words, '--log-level=warning')
    return page(join(directory, 'dist'), complaints === '' ? [] : [complaints])
  },
}

/** Builds by webpack, which is slow. */
export const longBuilds: typeof builds = {
  webpack: (directory) => buildByWebpack(directory, 'development'),
  'webpack for production': (directory) => buildByWebpack(directory, 'production'),
}

async function buildByWebpack(directory: string, mode: 'development' | 'production'): Promise<Built> {
  const output = { path: join(directory, 'out-webpack') }
  const stats = await new Promise<webpack.Stats | undefined>((resolve, reject) => {
    webpack({ mode, context: directory, entry: './src/main.js', output }, (error, done) =>
      error === null ? resolve(done) : reject(error),
    )
  })
  const { errors = [], warnings = [] } = stats?.compilation ?? {}
  const messages = [...errors, ...warnings].map(({ name, message }) => `${name}: ${message}`)
  return page(
    output.path,
    messages.filter((text) => !/SizeLimitWarning|webpack performance recommendations/.test(text)),
  )
}

/** The built page of a user. */
function page(directory: string, complaints: readonly string[]): Built {
  return { files: { ...filesBelow(directory), '/': pageOf('/main.js') }, complaints: complaints.join('\n') }
}

export function pageOf(script: string): readonly [string, string] {
  const text = `<!doctype html><title>consumer</title><body></body><script type="module" src="${script}"></script>`
  return ['text/html', text]
}

/** Ignores Vite's advice on large chunks, since sizes have their own budget, and its timings, which depend on the machine. */
function withoutAdvice(text: string): string {
  const advice = [
    /(\[plugin builtin:vite-reporter\]\s*)?\(!\) Some chunks are larger than 500 kB[\s\S]*?(?=\n\n|$)/,
    /\[PLUGIN_TIMINGS\][\s\S]*?for more details\./,
  ]
  return advice.reduce((left, one) => left.replace(one, ''), text).trim()
}

function run(directory: string, program: string, ...args: readonly string[]): string {
  const env = { ...process.env, NO_COLOR: '1', VITEST: undefined, NODE_ENV: undefined }
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd: directory,
    encoding: 'utf8',
    env,
  })
  const output = `${stdout}${stderr}`.trim()
  return status === 0 ? output : `exit code ${status}\n${output}`
}

const types: Readonly<Record<string, string>> = { html: 'text/html', js: 'text/javascript' }

export function filesBelow(directory: string): Files {
  const match: Record<string, readonly [string, Uint8Array]> = {}
  if (!existsSync(directory)) return match
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const type = types[entry.name.split('.').at(-1) ?? ''] ?? 'application/octet-stream'
    match[path.slice(directory.length)] = [type, readFileSync(path)]
  }
  return match
}
