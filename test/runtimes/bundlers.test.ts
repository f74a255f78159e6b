import { join } from 'node:path'
import { build } from 'esbuild'
import { Miniflare } from 'miniflare'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isLong } from '../counts.ts'
import { edgeRouteModule, expectedOfWorker, workerModule } from './bundler-programs.ts'
import { type Installed, install } from './consumer.ts'
import { runAtEdge } from './host-edge-runtime.ts'
import { COMPATIBILITY_DATE } from './host-workerd.ts'

describe('a program of a user', () => {
  let installed: Installed
  let modules: {
    readonly type: 'CompiledWasm' | 'ESModule'
    readonly path: string
    readonly contents: string | Uint8Array
  }[]
  beforeAll(async () => {
    installed = install(['isomorphic-git', 'buffer'])
    // wrangler bundles with esbuild, these conditions, and WebAssembly as modules. The long tests run wrangler itself.
    const { outputFiles } = await build({
      absWorkingDir: installed.project('worker', workerModule),
      entryPoints: ['src/main.js'],
      bundle: true,
      write: false,
      format: 'esm',
      target: 'es2024',
      conditions: ['workerd', 'worker', 'browser'],
      external: ['node:*'],
      loader: { '.wasm': 'copy' },
      outdir: 'out',
      logLevel: 'error',
    })
    modules = outputFiles
      .map(({ path, contents }) => ({
        type: path.endsWith('.wasm') ? ('CompiledWasm' as const) : ('ESModule' as const),
        path: join('/', path.split('/').at(-1) ?? ''),
        contents: path.endsWith('.wasm') ? contents : new TextDecoder().decode(contents),
      }))
      // The first module is the worker.
      .sort((a, b) => a.type.length - b.type.length)
  }, 300_000)
  afterAll(() => installed.remove())

  it.each([['no flag', []], ...(isLong ? [['nodejs_compat', ['nodejs_compat']] as const] : [])] as const)(
    'bundled as wrangler does runs files, git, commands and node in workerd with %s',
    async (_, compatibilityFlags) => {
      const worker = new Miniflare({
        compatibilityDate: COMPATIBILITY_DATE,
        compatibilityFlags: [...compatibilityFlags],
        modules,
        modulesRoot: '/',
      })
      try {
        const response = await worker.dispatchFetch('http://localhost/')
        expect(await response.json()).toEqual(expectedOfWorker)
      } finally {
        await worker.dispose()
      }
    },
    180_000,
  )

  it('runs files, git, commands and node on an edge route of a server', async () => {
    const { GET, runtime } = await runAtEdge(installed.project('edge', edgeRouteModule), 'src/main.js')
    expect(runtime).toBe('edge')
    const response = await (GET as () => Promise<Response>)()
    expect(await response.json()).toEqual(expectedOfWorker)
  }, 60_000)
})
