import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Page, Response } from 'playwright'
import { beforeAll, describe, expect, it } from 'vitest'
import { contentSecurityPolicy } from '../../playground/server/policy.ts'
import { serve } from '../../playground/server/serve.ts'
import { isLong } from '../counts.ts'
import { button, settled } from './person.ts'
import { usePlayground } from './shared.ts'

const playground = usePlayground()

const offline = (page: Page): Promise<unknown> =>
  page
    .waitForFunction(() => document.documentElement.dataset.offline !== undefined)
    .then(() => page.evaluate(() => document.documentElement.dataset.offline))

describe('the page', () => {
  let page: Page
  let response: Response | null

  beforeAll(async () => {
    page = await (await playground.person()).newPage()
    response = await page.goto(playground.url)
  })

  it('is isolated from other origins and contains the policy of its headers', async () => {
    expect(response?.headers()).toMatchObject({
      'content-security-policy': `${contentSecurityPolicy()}; frame-ancestors 'none'`,
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-embedder-policy': 'require-corp',
    })
    expect(await page.title()).toBe('Wardspace playground')
    expect(await page.evaluate(() => globalThis.crossOriginIsolated)).toBe(true)
    const meta = page.locator('meta[http-equiv="Content-Security-Policy"]')
    expect(await meta.getAttribute('content')).toBe(contentSecurityPolicy())
  })

  it('does not let its own scripts reach another origin or evaluate text', async () => {
    await page.evaluate(async () => {
      const broken = new Set<string>()
      Object.assign(globalThis, { broken })
      document.addEventListener('securitypolicyviolation', (event) => broken.add(event.effectiveDirective))
      await fetch('http://127.0.0.1:9/').catch(() => {})
      new Image().src = 'http://127.0.0.1:9/x.png'
      const frame = document.createElement('iframe')
      frame.src = 'http://127.0.0.1:9/'
      const script = document.createElement('script')
      script.textContent = 'globalThis.ran = true'
      document.body.append(frame, script)
    })
    const broken = () => page.evaluate(() => [...(globalThis as unknown as { broken: Set<string> }).broken].sort())
    await expect.poll(broken).toEqual(['connect-src', 'frame-src', 'img-src', 'script-src-elem'])
    expect(await page.evaluate(() => 'ran' in globalThis)).toBe(false)
  })

  it('says what is not loaded without a network, and advises no reload until there is one', async () => {
    await settled(page)
    await page.context().setOffline(true)
    const words = /^This browser is offline, and this part .* Reload the page once you are online\.$/
    const says = (place: string) => page.locator(place).getByRole('alert').filter({ hasText: words }).first().waitFor()
    await page.getByRole('treeitem', { name: 'README.md' }).click()
    await says('wardspace-editor')
    await button(page, 'Run').click()
    await says('wardspace-chat')
    await page.keyboard.press('Alt+7')
    await says('.stage')
    for (const text of await page.getByRole('alert').allTextContents()) expect(text.trim()).toMatch(words)
    await page.context().setOffline(false)
  })

  it.runIf(isLong)('is isolated from the second load on if the host sends no headers', async () => {
    const server = createServer(({ url = '/' }, response) => {
      const path = url === '/' ? 'index.html' : url.slice(1)
      const types: Record<string, string> = { html: 'text/html', css: 'text/css', svg: 'image/svg+xml' }
      response.setHeader('Content-Type', types[path.split('.').at(-1) ?? ''] ?? 'text/javascript')
      response.end(readFileSync(join(playground.directory, path)))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const person = await playground.person('keeps the page')
    try {
      const page = await person.newPage()
      await page.goto(`http://localhost:${(server.address() as AddressInfo).port}/`)
      expect(await page.evaluate(() => globalThis.crossOriginIsolated)).toBe(false)
      expect(await offline(page)).toBe('ready')
      await page.reload()
      expect(await page.evaluate(() => globalThis.crossOriginIsolated)).toBe(true)
    } finally {
      server.closeAllConnections()
      server.close()
    }
  })

  it.runIf(isLong)(
    'is shown in frames of the origins that its owner names, isolated if they are, and in no other',
    async () => {
      const isolation = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' }
      let framed = ''
      const holder = createServer((_, response) => {
        response.writeHead(200, { 'Content-Type': 'text/html', ...isolation })
        response.end(`<iframe allow="cross-origin-isolated" width="1200" height="800" src="${framed}"></iframe>`)
      })
      await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve))
      const { port } = holder.address() as AddressInfo
      const named = `http://127.0.0.1:${port}`
      const server = await serve(playground.directory, { framedBy: `https://example.org ${named}` })
      framed = `${server.url}?sample=price-list`
      const person = await playground.person('keeps the page')
      try {
        // Without a service worker, which would store the whole build a second time for this holder.
        const page = await (await playground.person()).newPage()
        await page.goto(named)
        const frame = page.frameLocator('iframe')
        await frame.locator('main[aria-busy="false"]').waitFor()
        await frame.getByRole('treeitem', { name: 'README.md' }).waitFor()
        expect(await page.frames()[1]?.evaluate(() => globalThis.crossOriginIsolated)).toBe(true)
        // Its service worker keeps what the owner says.
        const alone = await person.newPage()
        await alone.goto(server.url)
        expect(await offline(alone)).toBe('ready')
        const again = await alone.reload()
        expect(again?.fromServiceWorker()).toBe(true)
        expect(again?.headers()['content-security-policy']).toContain(`frame-ancestors https://example.org ${named}`)
        // The same server by another name is another origin.
        const refused = new Promise<string>((resolve) => page.on('console', (message) => resolve(message.text())))
        await page.goto(`http://localhost:${port}`)
        expect(await refused).toContain('frame-ancestors')
        expect(await frame.locator('main').count()).toBe(0)
      } finally {
        await server.close()
        holder.closeAllConnections()
        holder.close()
      }
    },
  )
})
