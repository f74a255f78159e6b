import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright'
import { startPlayground } from '../test/playground/open.ts'

/**
 * Measures the first load of the playground in a real browser: gzipped bytes as a static server sends them, and the time
 * until the file tree is usable, on this machine and with a phone's network (9 Mbit/s, 60 ms) and a processor four times
 * slower. Fails if the bytes or the requests exceed the budget. The times are only printed.
 */
const budget: { readonly kilobytes: number; readonly requests: number } = JSON.parse(
  readFileSync(join(import.meta.dirname, 'first-load-budget.json'), 'utf8'),
)
const playground = await startPlayground()
try {
  const runs = []
  for (let i = 0; i < 3; i++) runs.push(await load(async () => {}))
  const slow = await load(asOnAPhone)
  const fastest = Math.min(...runs.map(({ ms }) => ms))
  const { kilobytes, requests } = runs[0] as Load
  console.log(
    `First load: ${kilobytes.toFixed(1)} KB in ${requests} requests, budget ${budget.kilobytes} KB in ${budget.requests}`,
  )
  console.log(`Usable tree: ${fastest.toFixed(0)} ms here, ${slow.ms.toFixed(0)} ms as on a phone`)
  if (kilobytes > budget.kilobytes || requests > budget.requests) {
    console.error(`The first load is over its budget of ${budget.kilobytes} KB in ${budget.requests} requests`)
    process.exitCode = 1
  }
} finally {
  await playground.close()
}

interface Load {
  /** KB of 1,000 bytes, including headers. */
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
  // The first load includes parts that load without interaction, such as the terminal.
  await page.waitForLoadState('networkidle')
  const total = await page.evaluate(() => {
    const entries = [
      ...performance.getEntriesByType('navigation'),
      ...performance.getEntriesByType('resource'),
    ] as PerformanceResourceTiming[]
    const bytes = entries.reduce((sum, { transferSize }) => sum + transferSize, 0)
    return { kilobytes: bytes / 1_000, requests: entries.length }
  })
  await person.close()
  return { ...total, ms }
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
