import { headersFor } from '../server/policy.ts'

/** All files of the build and what tells builds apart: the build puts them here. */
const { version, files }: { readonly version: string; readonly files: readonly string[] } = JSON.parse('__BUILD__')

/** The part of a service worker's world that is used here. */
interface Scope {
  readonly registration: { readonly scope: string }
  readonly clients: { claim(): Promise<void> }
  addEventListener(type: 'install' | 'activate', listener: (event: ExtendableEvent) => void): void
  addEventListener(type: 'fetch', listener: (event: FetchEvent) => void): void
}
interface ExtendableEvent {
  waitUntil(until: Promise<unknown>): void
}
interface FetchEvent extends ExtendableEvent {
  readonly request: Request
  respondWith(response: Promise<Response>): void
}

/*
 * Keeps the whole playground, the parts that are loaded late with it, so that it works without a network from the first
 * visit on. It answers for files of this build only: what goes to other origins never passes here.
 */
const scope = globalThis as unknown as Scope
const home = scope.registration.scope
const name = `wardspace-playground ${home} ${version}`
const own = new Set(files.map((file) => new URL(file, home).href))

scope.addEventListener('install', (event) => event.waitUntil(keepAll()))
scope.addEventListener('activate', (event) => event.waitUntil(forgetOthers().then(() => scope.clients.claim())))
scope.addEventListener('fetch', (event) => {
  const { request } = event
  const url = request.url.replace(/[?#].*$/, '')
  if (request.method === 'GET' && own.has(url)) event.respondWith(answer(request, url))
})

/** A new build waits until no tab shows the old one, whose files it then takes away. */
async function keepAll(): Promise<void> {
  const cache = await caches.open(name)
  await cache.addAll([...own])
}

async function forgetOthers(): Promise<void> {
  for (const one of await caches.keys()) {
    if (one.startsWith(`wardspace-playground ${home} `) && one !== name) await caches.delete(one)
  }
}

/** The page itself comes from the network, so that a new build shows; all else is in its name the one that is kept. */
async function answer(request: Request, url: string): Promise<Response> {
  const kept = await (await caches.open(name)).match(url)
  if (request.mode !== 'navigate') return withHeaders(kept ?? (await fetch(request)))
  const fresh = await fetch(request).catch(() => undefined)
  return withHeaders(fresh?.ok === true ? fresh : (kept ?? Response.error()))
}

/** The headers that `npm start` sends, for hosts where nobody sets any. */
function withHeaders(response: Response): Response {
  if (response.type === 'error') return response
  const headers = new Headers(response.headers)
  headers.delete('Content-Encoding')
  headers.delete('Content-Length')
  for (const [key, value] of Object.entries(headersFor(new URL(response.url).pathname))) headers.set(key, value)
  return new Response(response.body, { status: response.status, statusText: response.statusText, headers })
}
