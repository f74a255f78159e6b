import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { deepagentsSandbox } from '../../dist/adapters/deepagents/index.js'
import { memory } from '../../dist/backends/memory/index.js'
import { createWorkspace } from '../../dist/index.js'
import { bash } from '../../dist/shells/bash/index.js'
import { packedTarball } from '../runtimes/packed.ts'
import { doorRows } from './door-rows.ts'
import { install } from './install-row.ts'

/**
 * The standard tests of deepagents for sandboxes, `libs/standard-tests` of its repository. They are not published as a package: the
 * variable has a directory with a clone of github.com/langchain-ai/deepagentsjs.
 */
const suite = join(process.env.WARDSPACE_SUITES ?? '', 'deepagentsjs/libs/standard-tests/src/index.ts')
const isThere = process.env.WARDSPACE_SUITES !== undefined && existsSync(suite)

/** The tests that are left out, with the reason. */
const leftOut: Readonly<Record<string, string>> = {
  'should match basic wildcard pattern': 'wants relative paths; the tool of deepagents promises absolute ones',
  'should match character class patterns': 'wants relative paths; the tool of deepagents promises absolute ones',
  'should include directories in results': 'wants directories; the tool of deepagents promises files',
}

const home = mkdtempSync(join(tmpdir(), 'wardspace-suites-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))

let tried = 0
const reached: string[] = []

/** Registers a test, unless it is left out. */
function testUnlessLeftOut(name: string, act: () => void | Promise<void>, timeout?: number): void {
  if (leftOut[name] !== undefined) {
    reached.push(name)
    // The name of the test contains the reason.
    it.skip(`${name}: ${leftOut[name]}`, act)
    return
  }
  tried += 1
  it(name, act, timeout)
}

async function createSandbox({ initialFiles = {} }: { initialFiles?: Readonly<Record<string, string>> } = {}) {
  const files = Object.entries(initialFiles).map(([path, text]) => [path.replace(/^\/workspace\//, ''), text])
  const workspace = await createWorkspace({
    backend: memory(Object.fromEntries(files)),
    shell: bash(),
    policy: 'autonomous',
  })
  const sandbox = {
    ...deepagentsSandbox(workspace),
    isRunning: true,
    async close() {
      await workspace.close()
      sandbox.isRunning = false
    },
  }
  return sandbox
}

type Sandbox = Awaited<ReturnType<typeof createSandbox>>

if (isThere) {
  const row = doorRows.find(({ name }) => name === 'deepagents')
  if (row === undefined) throw new Error('There is no row for deepagents')
  const { directory } = install(row, packedTarball(), home)
  const outfile = join(directory, 'suite.mjs')
  await build({
    ...{ entryPoints: [suite], outfile, bundle: true, format: 'esm', platform: 'node', tsconfigRaw: '{}' },
    alias: { deepagents: createRequire(join(directory, 'suite.mjs')).resolve('deepagents').replace(/cjs$/, 'js') },
    external: ['@langchain/*', 'langchain'],
    logLevel: 'error',
  })
  const { sandboxStandardTests } = await import(pathToFileURL(outfile).href)
  sandboxStandardTests({
    name: 'deepagentsSandbox',
    runner: { describe, it: testUnlessLeftOut, expect, beforeAll, afterAll },
    timeout: 120_000,
    createSandbox,
    closeSandbox: (sandbox: Sandbox) => sandbox.close(),
    resolvePath: (name: string) => `/workspace/${name}`,
  })
}

// The suite is not published: without a clone there is nothing to run.
it.skipIf(!isThere)('the standard tests of deepagents for sandboxes are tried, but for those that are left out', () => {
  console.log(`standard tests of deepagents: ${tried} tried, ${reached.length} left out`)
  expect(reached.toSorted()).toEqual(Object.keys(leftOut).toSorted())
  expect(tried).toBeGreaterThan(80)
})
