import { createReadStream, existsSync, statSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, sep } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { headersFor, readOrigins } from './policy.ts'

/** A running static server. */
export interface Served {
  readonly url: string
  close(): Promise<void>
}

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
  '.woff2': 'font/woff2',
}

/** Options of {@link serve}. */
export interface ServeOptions {
  /** A free port by default. */
  readonly port?: number
  /** The origins that may show the page in a frame, separated by spaces. None by default. */
  readonly framedBy?: string
}

/** Serves a folder of built files to this machine only, with the headers that the playground needs. */
export async function serve(directory: string, { port = 0, framedBy = '' }: ServeOptions = {}): Promise<Served> {
  const origins = readOrigins(framedBy)
  const server = createServer((request, response) => {
    const file = fileAt(directory, request.url ?? '/')
    if (file === undefined || (request.method !== 'GET' && request.method !== 'HEAD')) {
      response
        .writeHead(file === undefined ? 404 : 405, { ...headersFor('/', origins), 'Content-Type': 'text/plain' })
        .end()
      return
    }
    const isZipped = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '') && isText(file)
    response.writeHead(200, {
      ...headersFor(file, origins),
      'Content-Type': types[extname(file)] ?? 'application/octet-stream',
      // Files with a hash in their name never change.
      'Cache-Control': /-[\w-]{8}\.\w+$/.test(file) ? 'public, max-age=31536000, immutable' : 'no-cache',
      Vary: 'Accept-Encoding',
      ...(isZipped ? { 'Content-Encoding': 'gzip' } : { 'Content-Length': statSync(file).size }),
    })
    if (request.method === 'HEAD') response.end()
    else if (isZipped)
      zipped(file).then(
        (bytes) => response.end(bytes),
        () => response.destroy(),
      )
    else createReadStream(file).pipe(response)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** The compressed state of each file. */
const compressed = new Map<string, { readonly state: string; readonly bytes: Buffer }>()

/** Returns the compressed bytes of a file. Compresses each state of it once. */
async function zipped(file: string): Promise<Buffer> {
  const { mtimeMs, size } = await stat(file)
  const state = `${mtimeMs} ${size}`
  const known = compressed.get(file)
  if (known?.state === state) return known.bytes
  const bytes = await promisify(gzip)(await readFile(file))
  compressed.set(file, { state, bytes })
  return bytes
}

/** Returns the file that a URL names, or `undefined` if it is missing or outside the folder. */
function fileAt(directory: string, url: string): string | undefined {
  let path: string
  try {
    path = decodeURIComponent(new URL(url, 'http://localhost').pathname)
  } catch {
    return undefined
  }
  const file = join(directory, path.endsWith('/') ? `${path}index.html` : path)
  if (path.includes('\0') || !file.startsWith(directory + sep)) return undefined
  return existsSync(file) && statSync(file).isFile() ? file : undefined
}

function isText(file: string): boolean {
  return /\.(css|html|js|json|svg|wasm)$/.test(file)
}
