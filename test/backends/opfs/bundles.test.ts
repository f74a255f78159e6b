import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { onPage } from '../../runtimes/host-chromium.ts'

/** A page that uses the built package: does the worker start without configuration? */
const built = join(import.meta.dirname, '../../../dist')
let directory: string

const page = (from: string): string => `
import { opfs } from '${from}/backends/opfs/index.js'
const backend = await opfs({ name: 'bundled', persist: false })
const path = 'a.txt'
await backend.commit(
  [{ path, expect: 'any', to: { type: 'file', bytes: new TextEncoder().encode('stored') } }],
  { durability: 'durable' },
)
const { bytes } = await backend.read(path)
globalThis.told = { ...(await backend.info()), text: new TextDecoder().decode(bytes) }
await backend.close()
`

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'opfs-bundles-'))
  writeFileSync(join(directory, 'index.html'), '<!doctype html><script type="module" src="/main.js"></script>')
  writeFileSync(join(directory, 'main.js'), page(built))
})

afterAll(() => rmSync(directory, { recursive: true, force: true }))

describe('worker of a packed workspace', () => {
  it('starts from unbundled modules', async () => {
    await expectWorker((path) => {
      if (path === '/') return html(readFileSync(join(directory, 'index.html')))
      if (path === '/main.js') return script(page(''))
      return script(readFileSync(join(built, path)))
    })
  })

  it('starts from a build by Vite', async () => {
    const { build } = await import('vite')
    const outDir = join(directory, 'vite')
    await build({
      root: directory,
      configFile: false,
      logLevel: 'error',
      build: { outDir, minify: false, target: 'es2022' },
    })
    await expectWorker((path) =>
      path === '/' ? html(readFileSync(join(outDir, 'index.html'))) : script(readFileSync(join(outDir, path))),
    )
  })

  it('starts from a build by webpack', async () => {
    const { default: webpack } = await import('webpack')
    const path = join(directory, 'webpack')
    mkdirSync(path)
    const compiler = webpack({ mode: 'none', entry: join(directory, 'main.js'), output: { path, filename: 'main.js' } })
    await new Promise<void>((resolve, reject) => {
      compiler?.run((error, stats) => {
        if (error !== null || stats?.hasErrors()) reject(error ?? new Error(stats?.toString('errors-only')))
        else resolve()
      })
    })
    await expectWorker((request) =>
      request === '/' ? html(readFileSync(join(directory, 'index.html'))) : script(readFileSync(join(path, request))),
    )
  })

  it('is not used if a bundler omits it, which info() reports', async () => {
    const { build } = await import('esbuild')
    const { outputFiles } = await build({
      entryPoints: [join(directory, 'main.js')],
      bundle: true,
      format: 'esm',
      write: false,
      logLevel: 'error',
    })
    const reported = await toldBy((path) => {
      if (path === '/') return html(readFileSync(join(directory, 'index.html')))
      return path === '/main.js' ? script(outputFiles[0]?.contents ?? '') : undefined
    })
    expect(reported).toMatchObject({ access: 'async', inWorker: false, text: 'stored' })
    expect(reported).toHaveProperty('warnings', [expect.stringContaining('No worker')])
  })
})

type Find = Parameters<typeof onPage>[0]

async function expectWorker(find: Find): Promise<void> {
  expect(await toldBy(find)).toMatchObject({ access: 'sync', inWorker: true, warnings: [], text: 'stored' })
}

function toldBy(find: Find): Promise<unknown> {
  const safe: Find = (path) => {
    try {
      return find(path)
    } catch {
      return undefined
    }
  }
  return onPage(safe, async (page) => {
    await page.waitForFunction(() => 'told' in globalThis, undefined, { timeout: 50_000 })
    return page.evaluate(() => (globalThis as unknown as { told: unknown }).told)
  })
}

function html(body: string | Uint8Array): readonly [string, string | Uint8Array] {
  return ['text/html', body]
}

function script(body: string | Uint8Array): readonly [string, string | Uint8Array] {
  return ['text/javascript', body]
}
