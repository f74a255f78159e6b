import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright'
import { startPlayground } from '../test/playground/open.ts'

/**
 * What the playground costs whoever opens it for the first time: bytes over the network as a static server sends them,
 * gzipped, and the time until the file tree can be used, in a real browser: here, and as over a phone's network (9 Mbit/s,
 * 60 ms) on a processor four times slower. Fails where the bytes are over the budget; the times are for reading.
 */
const budget: { readonly kilobytes: number } = JSON.parse(
  readFileSync(join(import.meta.dirname, 'first-load-budget.json'), 'utf8'),
)
const playground = await startPlayground()
try {
  const runs = []
  for (let i = 0; i < 3; i++) runs.push(await load(async () => {}))
  const slow = await load(asOnAPhone)
  const fastest = Math.min(...runs.map(({ ms }) => ms))
  const { kilobytes, requests } = runs[0] as Load
  console.log(`First load: ${kilobytes.toFixed(1)} KB in ${requests} requests, budget ${budget.kilobytes} KB`)
  console.log(`Usable tree: ${fastest.toFixed(0)} ms here, ${slow.ms.toFixed(0)} ms as on a phone`)
  if (kilobytes > budget.kilobytes) {
    console.error(`The first load is over its budget of ${budget.kilobytes} KB`)
    process.exitCode = 1
  }
} finally {
  await playground.close()
}

interface Load {
  /** Of 1,000 bytes, with headers. */
  readonly kilobytes: number
  readonly requests: number
  readonly ms: number
}

async function load(prepare: (page: Page) => Promise<void>): Promise<Load> {
  const person = await playground.person()
  const page = await person.newPage()
  await prepare(page)
  await page.goto(playground.url)
  await page.getByRole('treeitem').first().waitFor()
  const ms = await page.evaluate(() => performance.now())
  // What comes by itself beside the tree, such as the terminal, is a part of the first load, too.
  await page.waitForLoadState('networkidle')
  const told = await page.evaluate(() => {
    const entries = [
      ...performance.getEntriesByType('navigation'),
      ...performance.getEntriesByType('resource'),
    ] as PerformanceResourceTiming[]
    const bytes = entries.reduce((sum, { transferSize }) => sum + transferSize, 0)
    return { kilobytes: bytes / 1_000, requests: entries.length }
  })
  await person.close()
  return { ...told, ms }
}

async function asOnAPhone(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate: 4 })
  const perSecond = 9_000_000 / 8
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 60,
    downloadThroughput: perSecond,
    uploadThroughput: perSecond,
  })
}
