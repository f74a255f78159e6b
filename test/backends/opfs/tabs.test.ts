import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { type BrowserContext, chromium, type Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isLong, times } from '../../counts.ts'
import { counted } from '../../coverage/counted.ts'
import { chromiumArgs, chromiumPath } from '../../runtimes/chromium.ts'
import { pageCalls } from '../../runtimes/page-calls.ts'
import type { Layout, PageApi } from './page.ts'

/** Pages and workers of Chromium that are terminated while they write. */
let directory: string
let server: Server
let context: BrowserContext
let origin: string

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'opfs-tabs-'))
  await build({
    entryPoints: ['test/backends/opfs/page.ts', 'src/backends/opfs/worker.ts'],
    entryNames: '[name]',
    outdir: directory,
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2022',
    logLevel: 'error',
    plugins: counted,
  })
  server = createServer(({ url }, response) => {
    const script = /^\/([\w-]+\.js)$/.exec(url ?? '')?.[1]
    response.setHeader('content-type', script === undefined ? 'text/html' : 'text/javascript')
    response.end(
      script === undefined
        ? '<!doctype html><script type="module" src="/page.js"></script>'
        : readFileSync(join(directory, script)),
    )
  }).listen(0)
  origin = `http://localhost:${(server.address() as AddressInfo).port}`
  context = await chromium.launchPersistentContext(join(directory, 'profile'), {
    executablePath: await chromiumPath(),
    args: chromiumArgs,
    headless: true,
  })
})

afterAll(async () => {
  await context?.close()
  server?.close()
  rmSync(directory, { recursive: true, force: true })
})

async function openPage(): Promise<Page> {
  const page = await context.newPage()
  await page.goto(origin)
  await page.waitForFunction(() => 'api' in globalThis)
  return page
}

const ask = pageCalls<PageApi>()

describe.each<Layout>(['packed', 'files'])('OPFS %s', (layout) => {
  it.runIf(isLong || layout === 'files')(
    'has each set completely or not at all when a worker is terminated while writing',
    async () => {
      const page = await openPage()
      // Several workspaces concurrently; the kills of each one are sequential.
      const max = times(2, 20)
      const kills = async (name: string): Promise<void> => {
        let last = 0
        for (let kill = 0; kill < max; kill++) {
          const acknowledged = await ask(page, 'writeAndKill', name, layout, last, (kill * 7) % 23)
          const rounds = await ask(page, 'rounds', name, layout)
          expect(new Set(rounds).size, `all of one set after kill ${kill}: ${rounds}`).toBe(1)
          last = rounds[0] as number
          expect(last).toBeGreaterThanOrEqual(acknowledged)
        }
        const names = (await ask(page, 'names', name)).filter((one) => !/^(files|state)$/.test(one))
        const expected =
          layout === 'packed' ? ['journal-0', 'journal-1'] : ['files/a', 'files/b', 'files/d', 'files/d/c']
        expect(names, 'no temporary files').toEqual(expected)
      }
      await Promise.all(Array.from({ length: times(3, 5) }, (_, i) => kills(`killed-${layout}-${i}`)))
      await page.close()
    },
  )

  it('lets exactly one of two pages win that expect the same version', async () => {
    const pages = [await openPage(), await openPage()] as const
    let present = 'start'
    await ask(pages[0], 'write', `raced-${layout}`, layout, 'counter', present)
    const wins = [0, 0]
    for (let round = 0; round < times(6, 100); round++) {
      const texts = [`one ${round}`, `two ${round}`] as const
      const won = await Promise.all(
        ([0, 1] as const).map((i) => ask(pages[i], 'race', `raced-${layout}`, layout, present, texts[i])),
      )
      expect(won.filter(Boolean), `winners of round ${round}`).toHaveLength(1)
      const winner = won[0] ? 0 : 1
      wins[winner] = (wins[winner] as number) + 1
      present = texts[winner]
      expect(await ask(pages[round % 2 === 0 ? 0 : 1], 'read', `raced-${layout}`, layout, 'counter')).toBe(present)
    }
    const messages = await ask(pages[1], 'changes')
    expect(messages).toContainEqual({ paths: ['counter'] })
    await Promise.all(pages.map((page) => page.close()))
  })

  it.runIf(isLong || layout === 'packed')(
    'has a patch of 20 files completely or not at all when the page is closed',
    async () => {
      const name = `patched-${layout}`
      const looking = await openPage()
      await ask(looking, 'patch', name, layout, 0)
      await ask(looking, 'close', name)
      let round = 0
      const outcomes = new Set<string>()
      // One page waits for the result; others repeat until one is closed before its patch is applied.
      const delays = [undefined, ...[8, 20, 50, 3].slice(0, times(1, 4)), ...Array<number>(30).fill(0)]
      for (let i = 0; i < delays.length && (i < times(3, 6) || outcomes.size < 2); i++) {
        const delay = delays[i]
        const closing = await openPage()
        // Opened and loaded first, so that the time measures only the patch.
        await ask(closing, 'load', name, layout)
        const patching = ask(closing, 'patch', name, layout, round + 1).catch(() => undefined)
        if (delay === undefined) await patching
        else await new Promise((resolve) => setTimeout(resolve, delay))
        await closing.close()
        const answer = await patching
        const texts = new Set(await ask(looking, 'patched', name, layout))
        expect(texts.size, `all of one round after ${delay} ms`).toBe(1)
        const now = Number(/^round (\d+)\nrest\n$/.exec([...texts][0] as string)?.[1])
        expect([round, round + 1]).toContain(now)
        if (answer === 20) expect(now, 'acknowledged patches are applied').toBe(round + 1)
        outcomes.add(now === round ? 'old' : 'new')
        round = now
      }
      expect([...outcomes].sort(), 'both outcomes occurred').toEqual(['new', 'old'])
      await looking.close()
    },
  )

  it('refuses with NO_SPACE when the quota is reached, and loses nothing', async () => {
    const page = await openPage()
    const { usage = 0 } = await page.evaluate(() => navigator.storage.estimate())
    const session = await context.newCDPSession(page)
    await session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: usage + 3_000_000 })
    const filled = await ask(page, 'fill', `full-${layout}`, layout)
    await session.send('Storage.overrideQuotaForOrigin', { origin })
    expect(filled).toEqual({ code: 'NO_SPACE', names: 0, whole: true })
    await ask(page, 'write', `full-${layout}`, layout, 'after', 'there is room again')
    expect(await ask(page, 'read', `full-${layout}`, layout, 'after')).toBe('there is room again')
    await page.close()
  })
})
