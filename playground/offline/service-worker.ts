import { headersFor, originsOf } from '../server/policy.ts'

/** All files and the version of the build, which inserts them here. */
const { version, files }: { readonly version: string; readonly files: readonly string[] } = JSON.parse('__BUILD__')

/** The used part of the global scope of a service worker. */
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
 * Stores the complete playground, including parts that load on demand, so that it works without a network from the first
 * visit on. It only answers requests for files of this build. Requests to other origins never pass through it.
 */
const scope = globalThis as unknown as Scope
const home = scope.registration.scope
const name = `wardspace-playground ${home} ${version}`
const buildFiles = new Set(files.map((file) => new URL(file, home).href))

scope.addEventListener('install', (event) => event.waitUntil(storeFiles()))
scope.addEventListener('activate', (event) => event.waitUntil(removeOtherBuilds().then(() => scope.clients.claim())))
scope.addEventListener('fetch', (event) => {
  const { request } = event
  const url = request.url.replace(/[?#].*/s, '')
  if (request.method === 'GET' && buildFiles.has(url)) event.respondWith(answer(request, url))
})

/** Stores all files. A new build becomes active when no tab shows the old one, and then removes the old files. */
async function storeFiles(): Promise<void> {
  const cache = await caches.open(name)
  await cache.addAll([...buildFiles])
}

async function removeOtherBuilds(): Promise<void> {
  for (const key of await caches.keys()) {
    if (key.startsWith(`wardspace-playground ${home} `) && key !== name) await caches.delete(key)
  }
}

/** The page itself comes from the network first, to show a new build. All other files come from the cache. */
async function answer(request: Request, url: string): Promise<Response> {
  const cached = await (await caches.open(name)).match(url)
  if (request.mode !== 'navigate') return withHeaders(cached ?? (await fetch(request)))
  const fresh = await fetch(request).catch(() => undefined)
  return withHeaders(fresh?.ok === true ? fresh : (cached ?? Response.error()))
}

/** Adds the headers that `npm start` sends, for hosts that send none. The host decides who may show the page in a frame. */
function withHeaders(response: Response): Response {
  if (response.type === 'error') return response
  const headers = new Headers(response.headers)
  const framedBy = originsOf(headers.get('Content-Security-Policy'))
  headers.delete('Content-Encoding')
  headers.delete('Content-Length')
  for (const [key, value] of Object.entries(headersFor(new URL(response.url).pathname, framedBy))) {
    headers.set(key, value)
  }
  return new Response(response.body, { status: response.status, statusText: response.statusText, headers })
}
