import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { chromium } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundle } from '../../attack/bundle.ts'
import { counted } from '../../coverage/counted.ts'
import { chromiumArgs, chromiumPath } from '../../runtimes/chromium.ts'
import { pageCalls } from '../../runtimes/page-calls.ts'
import type { StreamPageApi } from './page.ts'
import { PeakMemory } from './peak-memory.ts'
import type { Streamed } from './stream-through.ts'

const MIB = 1024 * 1024

/** Mebibytes of the file. */
const COUNT = 2048

/** Mebibytes that a stream may need. */
const BOUND = 512

let directory: string
let server: Server
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'streams-'))
  await build({
    ...{ entryPoints: ['test/backends/streams/page.ts'], outdir: directory, bundle: true, format: 'esm' },
    ...{ target: 'es2022', logLevel: 'error', plugins: counted },
  })
  server = createServer(({ url }, response) => {
    const isScript = url === '/page.js'
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
    const page = '<!doctype html><script type="module" src="/page.js"></script>'
    response.end(isScript ? readFileSync(join(directory, 'page.js')) : page)
  }).listen(0)
})
afterAll(() => {
  server?.close()
  rmSync(directory, { recursive: true, force: true })
})

function check(where: string, { written, read, bytes }: Streamed, peak: number): void {
  expect(read).toBe(written)
  expect(bytes).toBe(COUNT * MIB)
  process.stdout.write(`A stream of ${COUNT} MiB, ${where}: at most ${Math.round(peak / MIB)} MiB\n`)
  expect(peak / MIB).toBeLessThan(BOUND)
}

// The peak of a process is read from /proc, which only Linux has.
describe.skipIf(process.platform !== 'linux')(
  `a stream of ${COUNT} MiB is written and read with bounded memory`,
  () => {
    it('on a disk', async () => {
      const script = await bundle('test/backends/streams/node.ts', directory)
      const root = join(directory, 'root')
      mkdirSync(root)
      const output = execFileSync(process.execPath, [script, root, join(directory, 'state'), String(COUNT)])
      const { peak, ...streamed } = JSON.parse(output.toString()) as Streamed & { readonly peak: number }
      check('disk', streamed, peak)
      rmSync(root, { recursive: true })
    })

    it.each(['inPage', 'inWorker'] as const)('in Chromium, OPFS, %s', async (where) => {
      const profile = join(directory, where)
      // With a profile on the disk: without, the storage of the page is in memory.
      const context = await chromium.launchPersistentContext(profile, {
        ...{ executablePath: await chromiumPath(), args: chromiumArgs, headless: true },
      })
      try {
        const page = await context.newPage()
        await page.goto(`http://localhost:${(server.address() as AddressInfo).port}`)
        await page.waitForFunction(() => 'api' in globalThis)
        const session = await context.browser()?.newBrowserCDPSession()
        const { processInfo = [] } = (await session?.send('SystemInfo.getProcessInfo')) ?? {}
        const peak = new PeakMemory(processInfo.map(({ id }) => id))
        const streamed = await pageCalls<StreamPageApi>()(page, where, COUNT)
        check(where, streamed, peak.read())
      } finally {
        await context.close()
        rmSync(profile, { recursive: true })
      }
    })
  },
)
