import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { chromium } from 'playwright'
import { chromiumArgs, chromiumPath } from './chromium.ts'
import type { Report } from './report.ts'

/** Runs a bundle on a page in a real Chromium. */
export async function runInChromium(code: string): Promise<Report> {
  const types: Readonly<Record<string, readonly [string, string]>> = {
    '/': ['text/html', '<!doctype html><title>wardspace</title>'],
    '/bundle.mjs': ['text/javascript', code],
  }
  return onPage(
    (path) => types[path],
    async (page) => {
      return (await page.evaluate("import('/bundle.mjs').then(({ run }) => run())")) as Report
    },
  )
}

type Page = Awaited<ReturnType<Awaited<ReturnType<typeof chromium.launch>>['newPage']>>

/** Opens a page of an origin that serves what `find` returns: a content type and a body, with further headers. */
export async function onPage<T>(
  find: (path: string) => readonly [type: string, body: string | Uint8Array] | undefined,
  use: (page: Page, origin: string) => Promise<T>,
  headers: Readonly<Record<string, string>> = {},
): Promise<T> {
  const server = createServer((request, response) => {
    const matches = find(new URL(request.url ?? '/', 'http://localhost').pathname)
    response.writeHead(matches === undefined ? 404 : 200, { 'content-type': matches?.[0] ?? 'text/plain', ...headers })
    response.end(matches?.[1])
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const browser = await chromium.launch({ executablePath: await chromiumPath(), args: chromiumArgs })
  try {
    const page = await browser.newPage()
    const origin = `http://localhost:${(server.address() as AddressInfo).port}`
    await page.goto(origin)
    return await use(page, origin)
  } finally {
    await browser.close()
    server.close()
  }
}
