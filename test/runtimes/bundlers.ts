import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { chromium, type Page } from 'playwright'
import { commandsUnder, configUnder, policyOfGuide } from './bundler-guide.ts'
import {
  clientComponent,
  edgeRouteModule,
  pageModule,
  resultOfComponent,
  routeModule,
  serverComponent,
  workerModule,
} from './bundler-programs.ts'
import { chromiumArgs, chromiumPath } from './chromium.ts'
import { filesBelow, pageOf } from './consumer.ts'
import { onPage } from './host-chromium.ts'
import { packedTarball } from './packed.ts'

/** The versions that the guides are tested with, of everything that they install. */
export const versions: Readonly<Record<string, string>> = {
  '@rollup/plugin-commonjs': '29.0.3',
  '@rollup/plugin-node-resolve': '16.0.3',
  buffer: '6.0.3',
  bun: '1.4.5',
  esbuild: '0.28.2',
  'isomorphic-git': '1.44.11',
  next: '16.4.6',
  react: '19.3.1',
  'react-dom': '19.3.1',
  rollup: '4.68.7',
  vite: '8.3.8',
  webpack: '5.112.2',
  'webpack-cli': '7.3.1',
  wrangler: '4.86.0',
}

/** A bundler of the guides, and how what it builds is opened. */
export interface Bundler {
  readonly name: string
  readonly guide: 'browser' | 'edge'
  /** Its heading in the guide. */
  readonly heading: string
  readonly platform: 'Chromium' | 'workerd' | 'Node' | 'edge runtime'
  /** The files of the project. */
  readonly files: Readonly<Record<string, string>>
  /**
   * How the documented commands begin that build and serve, with a space if arguments follow. A build that no command serves is
   * served as files.
   */
  readonly build?: string
  readonly serve?: string
  /** The path to open. */
  readonly path?: string
  /** The installed package whose version is shown. */
  readonly package: string
}

const index = { 'index.html': pageOf('/src/main.js')[1], 'src/main.js': pageModule }
const main = { 'src/main.js': pageModule }
const nextApp = {
  'app/layout.jsx': 'export default ({ children }) => <html><body>{children}</body></html>\n',
  'app/page.jsx': "import Client from './client'\n\nexport default () => <Client />\n",
  'app/client.jsx': clientComponent,
  'app/component/page.jsx': serverComponent,
  'app/route/route.js': routeModule,
  'app/edge/route.js': edgeRouteModule,
  'next.config.mjs': configUnder('browser', '### Next', 'js'),
}
const page = { guide: 'browser', platform: 'Chromium' } as const
const vite = { ...page, heading: '### Vite', package: 'vite' }
const webpack = { ...page, heading: '### webpack', package: 'webpack' }
const next = {
  guide: 'browser',
  heading: '### Next',
  package: 'next',
  files: nextApp,
  build: 'npx next build',
  serve: 'npx next start',
} as const

export const bundlers: readonly Bundler[] = [
  { ...vite, name: 'Vite, build', files: index, build: 'npx vite build' },
  // Another object than the files of the build, which are deleted before.
  { ...vite, name: 'Vite, dev', files: { ...index }, serve: 'npx vite' },
  ...['production', 'development'].map((mode) => ({
    ...webpack,
    name: `webpack, ${mode}`,
    files: { ...main },
    build: `npx webpack --mode ${mode} `,
  })),
  ...['esbuild', 'Rollup', 'Bun'].map((name) => ({
    ...page,
    name,
    heading: `### ${name}`,
    package: name.toLowerCase(),
    files: { ...main },
    build: `npx ${name.toLowerCase()} `,
  })),
  { ...next, name: 'Next, client component', platform: 'Chromium', path: '/' },
  { ...next, name: 'Next, server component', platform: 'Node', path: '/component' },
  { ...next, name: 'Next, route', platform: 'Node', path: '/route' },
  { ...next, name: 'Next, edge route', platform: 'edge runtime', path: '/edge' },
  {
    name: 'wrangler',
    guide: 'edge',
    heading: '## Bundlers',
    package: 'wrangler',
    platform: 'workerd',
    files: { 'wrangler.jsonc': configUnder('edge', '## Bundlers', 'jsonc'), 'src/main.js': workerModule },
    serve: 'npx wrangler dev',
  },
]

/** A directory outside of the clone in which npm has installed the packed package and all bundlers. */
export interface BundlerProjects {
  /** Runs the program of a row and returns its results by feature, or the reason why there are none. */
  resultsOf(bundler: Bundler): Promise<unknown>
  remove(): void
}

export function installBundlers(): BundlerProjects {
  const home = mkdtempSync(join(tmpdir(), 'wardspace-bundlers-'))
  const names = bundlers.flatMap(({ guide, heading }) => [
    ...installedBy(commandsUnder(guide, heading)),
    ...installedBy(commandsUnder('browser', '# In a browser app')),
  ])
  const chosen = [...new Set(names)].filter((name) => versions[name] !== undefined)
  writeFileSync(join(home, 'package.json'), '{ "private": true, "type": "module" }')
  const packages = [packedTarball(), ...chosen.map((name) => `${name}@${versions[name]}`)]
  execFileSync('npm', ['install', '--silent', '--no-audit', '--no-fund', ...packages], { cwd: home, stdio: 'ignore' })
  return {
    resultsOf: (bundler) => resultsOf(bundler, home),
    remove: () => rmSync(home, { recursive: true, force: true }),
  }
}

const installedBy = (commands: readonly string[]): string[] =>
  commands
    .filter((line) => line.startsWith('npm install '))
    .flatMap((line) => line.split(' ').slice(2))
    .filter((word) => !word.startsWith('-'))

/** The files of the last row, which the next one replaces or shares. */
let current: Bundler['files'] = {}

async function resultsOf(
  { guide, heading, files, build, serve, platform, path = '/' }: Bundler,
  home: string,
): Promise<unknown> {
  const commands = commandsUnder(guide, heading)
  const documented = (start: string) => {
    const command = commands.find((line) => line === start || (start.endsWith(' ') && line.startsWith(start)))
    if (command === undefined) throw new Error(`The guide has no command ${start}`)
    return command
  }
  if (current !== files) {
    for (const name of readdirSync(home)) {
      if (!/^(node_modules|package.*)$|\.tgz$/.test(name)) rmSync(join(home, name), { recursive: true })
    }
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(home, name)), { recursive: true })
      writeFileSync(join(home, name), text)
    }
    current = files
    if (build !== undefined) {
      const { status, stdout, stderr } = spawnSync('sh', ['-c', documented(build)], {
        cwd: home,
        encoding: 'utf8',
        env: environment,
      })
      if (status !== 0) return `${stdout}${stderr}`.slice(-2000)
    }
  }
  if (serve === undefined) return openFiles(join(home, 'dist'))
  const port = await freePort()
  const [program = '', ...words] = documented(serve).split(' ')
  const server = spawn(program, [...words, '--port', String(port)], {
    cwd: home,
    env: environment,
    stdio: 'ignore',
    detached: true,
  })
  try {
    await answered(`http://localhost:${port}/none`)
    const address = `http://localhost:${port}${path}`
    if (platform === 'Chromium') return await openAddress(address)
    const response = await fetch(address)
    const body = await response.text()
    return JSON.parse(response.headers.get('content-type')?.startsWith('text/html') ? resultOfComponent(body) : body)
  } finally {
    end(server)
  }
}

const environment = {
  ...process.env,
  NO_COLOR: '1',
  NODE_ENV: undefined,
  VITEST: undefined,
  NEXT_TELEMETRY_DISABLED: '1',
  WRANGLER_SEND_METRICS: 'false',
}

function openFiles(directory: string): Promise<unknown> {
  const files = filesBelow(directory)
  return onPage(
    (path) => files[path] ?? (path === '/' ? (files['/index.html'] ?? pageOf('/main.js')) : undefined),
    resultOf,
    { 'content-security-policy': policyOfGuide() },
  )
}

async function openAddress(address: string): Promise<unknown> {
  const browser = await chromium.launch({ executablePath: await chromiumPath(), args: chromiumArgs })
  try {
    const page = await browser.newPage()
    await page.goto(address)
    return await resultOf(page)
  } finally {
    await browser.close()
  }
}

/** Waits for the result of the page. Playwright's own way to wait needs `eval`, which the policy forbids. */
async function resultOf(page: Page): Promise<unknown> {
  const end = performance.now() + 240_000
  while (performance.now() < end) {
    const result = await page.evaluate('globalThis.result')
    if (result !== undefined) return result
    await pause(250)
  }
  return 'The page has no result'
}

async function answered(address: string): Promise<void> {
  for (let attempt = 0; attempt < 120; attempt++) {
    if (
      await fetch(address).then(
        () => true,
        () => false,
      )
    )
      return
    await pause(500)
  }
}

/** Ends a server and the processes that it has started. */
function end({ pid }: ChildProcess): void {
  if (pid !== undefined) process.kill(-pid, 'SIGKILL')
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}
