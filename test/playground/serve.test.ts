import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Served, serve } from '../../playground/server/serve.ts'

let directory: string
let server: Served

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'playground-serve-'))
  mkdirSync(join(directory, 'public/assets'), { recursive: true })
  writeFileSync(join(directory, 'secret.txt'), 'secret')
  writeFileSync(join(directory, 'public/index.html'), '<!doctype html>')
  writeFileSync(join(directory, 'public/assets/outside-worker-abcdefgh.js'), 'let a = 1\n'.repeat(100))
  server = await serve(join(directory, 'public'))
})

afterAll(async () => {
  await server.close()
  rmSync(directory, { recursive: true })
})

/** Requests a path without normalizing it. */
function ask(path: string, { method = 'GET', ...headers }: Record<string, string> = {}) {
  return new Promise<{ status: number; headers: Record<string, unknown>; body: Buffer }>((resolve, reject) => {
    const { port } = new URL(server.url)
    request({ host: '127.0.0.1', port, path, method, headers }, async (response) => {
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk)
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) })
    })
      .on('error', reject)
      .end()
  })
}

it('serves the files of its folder and nothing outside, for any form of the path', async () => {
  expect((await ask('/')).body.toString()).toBe('<!doctype html>')
  const others = [
    '/../secret.txt',
    '/..%2fsecret.txt',
    '/%2e%2e/secret.txt',
    '//../secret.txt',
    '/assets',
    '/%00',
    '/%zz',
  ]
  for (const path of others) expect((await ask(path)).status, path).toBe(404)
  expect((await ask('/', { method: 'POST' })).status).toBe(405)
  expect((await ask('/', { method: 'HEAD' })).body.length).toBe(0)
})

it('compresses text, caches files with a hash in their name, and lets only one script reach other origins', async () => {
  const worker = await ask('/assets/outside-worker-abcdefgh.js', { 'accept-encoding': 'gzip' })
  expect(gunzipSync(worker.body).toString()).toBe('let a = 1\n'.repeat(100))
  expect(worker.headers).toMatchObject({
    'content-encoding': 'gzip',
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'public, max-age=31536000, immutable',
    'content-security-policy': expect.stringContaining("connect-src 'self' https: http:;"),
  })
  const page = await ask('/', { 'accept-encoding': 'gzip' })
  expect(page.headers).toMatchObject({
    'cache-control': 'no-cache',
    'content-security-policy': expect.stringContaining("connect-src 'self';"),
  })
  expect((await ask('/', { 'accept-encoding': 'gzip' })).body).toEqual(page.body)
  writeFileSync(join(directory, 'public/index.html'), '<!doctype html><title>built again</title>')
  const again = await ask('/', { 'accept-encoding': 'gzip' })
  expect(gunzipSync(again.body).toString()).toBe('<!doctype html><title>built again</title>')
})

it('names the origins that may frame it, and refuses anything that is not one', async () => {
  const framed = await serve(join(directory, 'public'), { framedBy: ' https://example.org  http://localhost:8080 ' })
  const { headers } = await fetch(framed.url)
  expect(headers.get('content-security-policy')).toMatch(
    /; frame-ancestors https:\/\/example\.org http:\/\/localhost:8080$/,
  )
  expect(headers.get('cross-origin-resource-policy')).toBe('cross-origin')
  await framed.close()
  const others = ['*', "'self'", 'example.org', 'https://example.org/', 'http://example.org', 'https://*.org', 'https:']
  for (const framedBy of [...others, 'https://a.org;script-src', 'https://example.org *', 'data:']) {
    await expect(serve(directory, { framedBy }), framedBy).rejects.toThrow(/^Cannot be framed by ".*": write an origin/)
  }
})
