import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright'
import { type Served, serve } from '../../playground/server/serve.ts'
import { chromiumArgs, chromiumPath } from '../runtimes/chromium.ts'

const top = join(import.meta.dirname, '../..')

/** How many times slower than here the pages run: `WARDSPACE_SLOWDOWN=4` shows what a slow machine would show. */
const slowdown = Number(process.env.WARDSPACE_SLOWDOWN ?? 1)

async function slow(context: BrowserContext, page: Page): Promise<void> {
  const devtools = await context.newCDPSession(page)
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: slowdown })
}

/** The size of a page that is opened. */
export const viewport = { width: 1400, height: 900 }

/** The built playground on a real server, with one real browser. */
export interface Playground {
  readonly url: string
  /** The directory of the built files. */
  readonly directory: string
  readonly browser: Browser
  /**
   * Opens a browser context with empty storage, like that of a new user.
   *
   * @param keeps allows service workers, so that the page's own one stores the whole build, for tests without a network
   * @param motion whether the person wants motion; if not, the scripted model does not wait between words
   */
  person(keeps?: 'keeps the page', motion?: 'reduce' | 'no-preference'): Promise<BrowserContext>
  /** Loads a page of the playground, in a new context by default. */
  open(context?: BrowserContext, query?: string): Promise<Page>
  close(): Promise<void>
}

/**
 * @param root directory of a page to build and serve, by default the playground
 * @param other a playground whose browser is used and not closed
 */
export async function startPlayground(
  root = join(top, 'playground'),
  other?: Promise<Playground>,
): Promise<Playground> {
  const directory = await built(root)
  const server: Served = await serve(directory)
  const browser =
    (await other)?.browser ?? (await chromium.launch({ executablePath: await chromiumPath(), args: chromiumArgs }))
  const person: Playground['person'] = async (keeps, motion = 'reduce') => {
    const context = await browser.newContext({
      viewport,
      reducedMotion: motion,
      serviceWorkers: keeps === undefined ? 'block' : 'allow',
    })
    // The machine may be busy with other tests.
    context.setDefaultTimeout(90_000)
    if (slowdown > 1) context.on('page', (page) => void slow(context, page))
    return context
  }
  return {
    url: server.url,
    directory,
    browser,
    person,
    async open(context, query = '') {
      const page = await (context ?? (await person())).newPage()
      await page.goto(`${server.url}${query}`)
      return page
    },
    async close() {
      if (other === undefined) await browser.close()
      await server.close()
    },
  }
}

/**
 * Returns the folder of the built page. Builds it if its inputs have changed. Only one process builds at a time; the
 * others wait for it.
 */
async function built(root: string): Promise<string> {
  const home = join(tmpdir(), `wardspace-playground-${stamp(root)}`)
  const lock = `${home}.lock`
  for (;;) {
    if (existsSync(join(home, 'index.html'))) return home
    try {
      mkdirSync(lock)
    } catch {
      const since = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()
      // A process that was killed during the build leaves its lock.
      if (Date.now() - since > 180_000) rmSync(lock, { recursive: true, force: true })
      await new Promise((resolve) => setTimeout(resolve, 100))
      continue
    }
    const { NODE_ENV } = process.env
    try {
      if (existsSync(join(home, 'index.html'))) return home
      // Vitest sets it to `test`, with which the build differs from the published one.
      process.env.NODE_ENV = 'production'
      const { build } = await import('vite')
      const outDir = `${home}.${process.pid}`
      const { default: config } = await import('../../playground/vite.config.ts')
      const isOwn = root !== config.root
      await build({
        ...config,
        root,
        configFile: false,
        logLevel: 'error',
        // A test page is a single page without a service worker.
        build: { ...config.build, outDir, ...(isOwn && { rollupOptions: { input: join(root, 'index.html') } }) },
      })
      renameSync(outDir, home)
      return home
    } finally {
      if (NODE_ENV === undefined) delete process.env.NODE_ENV
      else process.env.NODE_ENV = NODE_ENV
      rmSync(lock, { recursive: true, force: true })
    }
  }
}

/** A hash of all inputs of a page: its files, the playground's, the built library, the elements, this file and the package versions. */
function stamp(root: string): string {
  const hash = createHash('sha256')
  for (const file of [join(top, 'package-lock.json'), join(top, 'package.json'), import.meta.filename]) {
    hash.update(readFileSync(file))
  }
  const inputs = ['playground', 'dist', 'src/ui', 'src/elements'].map((folder) => join(top, folder))
  for (const folder of new Set([root, ...inputs])) {
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
    for (const name of names) {
      const file = join(folder, name)
      if (name === 'dist' || name.startsWith('dist/')) continue
      if (name.endsWith('.d.ts') || !statSync(file).isFile()) continue
      hash.update(`${name}\0`).update(readFileSync(file))
    }
  }
  return hash.digest('hex').slice(0, 16)
}
