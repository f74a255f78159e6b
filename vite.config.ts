import { readdirSync, readFileSync, realpathSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { playwright } from '@vitest/browser-playwright'
import { defineConfig, type TestProjectConfiguration } from 'vitest/config'
import { bundlePackages, isExternal } from './build/bundle-packages.ts'
import { chunkFile, chunkGroups, cssTarget, entryModules } from './build/chunks.ts'
import { pureDefinitions } from './build/pure-definitions.ts'
import { shortenPackages } from './build/shorten-packages.ts'
import { LongestFirst } from './test/order.ts'
import { chromiumArgs, chromiumPath } from './test/runtimes/chromium.ts'

/** Most code of a test runs a few times. To optimize it takes a quarter of the time of both processors. Later versions lack the switch. */
const optimizeLater = process.version.startsWith('v20.') ? ['--interrupt-budget=1000000'] : []

export default defineConfig(async () => ({
  plugins: [bundlePackages(), pureDefinitions(), shortenPackages()],
  ssr: { noExternal: true as const },
  build: {
    target: 'es2022',
    cssTarget,
    outDir: 'dist',
    emptyOutDir: true,
    minify: false,
    sourcemap: true,
    ssr: true,
    rollupOptions: {
      input: entryModules(),
      external: isExternal,
      // The names of the modules are in the source maps.
      experimental: { attachDebugInfo: 'none' as const },
      // A slow machine is no reason for a warning.
      checks: { pluginTimings: false },
      output: {
        entryFileNames: '[name].js',
        chunkFileNames: chunkFile,
        sourcemapExcludeSources: true,
        codeSplitting: { groups: chunkGroups },
        // The comments of the documentation are in the declarations.
        comments: { jsdoc: false, legal: true, annotation: true },
      },
    },
  },
  test: {
    // Tests wait for disks, processes and browsers: with a worker per processor, one of two would often be idle.
    maxWorkers: Math.min(availableParallelism(), 4) + 2,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'node',
          include: ['test/**/*.test.ts'],
          // Loading every module again for each file would take as long as half of the tests.
          isolate: false,
          setupFiles: ['test/equal-bytes.ts', 'test/fixed-seed.ts'],
          // Most values of a test live for a moment. With more room for new ones, fewer are copied by the garbage collector.
          execArgv: ['--max-semi-space-size=64', '--liftoff-only', ...optimizeLater],
          // As in the built package, the engine of scripts is compiled once.
          alias: [
            {
              find: /^.*\/packages\/quickjs-emscripten\.ts$/,
              replacement: resolve('test/shells/bash/compiled-engine.ts'),
            },
          ],
          testTimeout: 180_000,
          hookTimeout: 60_000,
          expect: { poll: { timeout: 60_000 } },
        },
      },
      {
        test: {
          name: 'long',
          include: ['test/**/*.long.ts', ...counted('.test.ts')],
          setupFiles: ['test/equal-bytes.ts'],
          env: { WARDSPACE_COUNTS: 'all' },
          testTimeout: 3_600_000,
          hookTimeout: 60_000,
          expect: { poll: { timeout: 60_000 } },
        },
      },
      ...(process.env.VITEST === undefined
        ? []
        : [
            await inBrowser('browser', ['test/**/*.browser.ts'], countsOfRun),
            await inBrowser('long in a browser', counted('.browser.ts'), { WARDSPACE_COUNTS: 'all' }),
          ]),
    ],
  },
}))

/** The test files that do something fewer times, or smaller, in `npm test` than they can: see `test/counts.ts`. */
function counted(ending: string): string[] {
  return readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending) && /\/(counts|scale)\.ts'/.test(readFileSync(`test/${name}`, 'utf8')))
    .map((name) => `test/${name}`)
}

const codePackages = [
  ...'commands language merge search state view lang-css lang-html lang-javascript lang-json lang-markdown'
    .split(' ')
    .map((name) => `@codemirror/${name}`),
  '@lezer/highlight',
]

/** The setting of `test/counts.ts` for pages, which do not see the variables of the process. */
const { WARDSPACE_COUNTS } = process.env
const countsOfRun = WARDSPACE_COUNTS === undefined ? {} : { WARDSPACE_COUNTS }

/** Tests in a real Chromium, on a page of their own origin. */
async function inBrowser(
  name: string,
  include: string[],
  env: Record<string, string>,
): Promise<TestProjectConfiguration> {
  return {
    server: { fs: { allow: ['.', realpathSync('node_modules')] } },
    // Its file of WebAssembly lies beside it, where a bundled module would not find it. What elements load when they are shown
    // is prepared before: a page would be loaded again for it.
    optimizeDeps: {
      include: ['@xterm/xterm', '@xterm/addon-fit', ...codePackages],
      exclude: ['quickjs-emscripten', '@jitl/quickjs-wasmfile-release-asyncify'],
    },
    test: {
      name,
      include,
      env,
      setupFiles: ['test/equal-bytes.ts'],
      testTimeout: 180_000,
      hookTimeout: 60_000,
      expect: { poll: { timeout: 60_000 } },
      // As in Node, a module is loaded once.
      isolate: false,
      browser: {
        enabled: true,
        headless: true,
        screenshotFailures: false,
        provider: playwright({ launchOptions: { executablePath: await chromiumPath(), args: chromiumArgs } }),
        instances: [{ browser: 'chromium', name: `${name} (chromium)` }],
      },
    },
  }
}
