import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A listening server. */
export interface Listening {
  readonly port: number
  /** Accepts no more requests, and gives open ones a moment to end. */
  close(): Promise<void>
}

/** Time that open connections have to end, in milliseconds. */
const GRACE = 2000

/**
 * Serves HTTP with a handler for web-standard requests.
 *
 * @throws TypeError if the address is not available
 */
export function listen(
  handle: (request: Request) => Promise<Response>,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<Listening> {
  let isClosing = false
  const server = createServer((incoming, outgoing) => {
    void answer(handle, incoming, outgoing)
    // Ends a keep-alive connection, which would otherwise stay open.
    outgoing.once('close', () => isClosing && setImmediate(() => server.closeIdleConnections()))
  })
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(new TypeError(`Cannot listen on ${host}, port ${port}: ${error.code}`))
    })
    server.listen({ host, port }, () => {
      resolve({
        port: (server.address() as AddressInfo).port,
        async close() {
          isClosing = true
          const timer = setTimeout(() => server.closeAllConnections(), GRACE)
          await new Promise((done) => {
            server.close(done)
            server.closeIdleConnections()
          })
          clearTimeout(timer)
        },
      })
    })
  })
}

async function answer(
  handle: (request: Request) => Promise<Response>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  try {
    const request = requestOf(incoming)
    if (request === undefined) {
      const status = incoming.method === 'TRACE' ? 405 : 400
      outgoing
        .writeHead(status, { 'Content-Type': 'text/plain' })
        .end('Send a regular HTTP request with a Host header.\n')
    } else await send(await handle(request), outgoing)
  } catch {
    // The connection broke, or there is no response: nothing more can be sent on it.
    outgoing.destroy()
  }
  discard(incoming)
}

/** Converts a request to its web-standard form. Returns `undefined` for one that has none. */
function requestOf(incoming: IncomingMessage): Request | undefined {
  const { method = '', url = '', headers } = incoming
  // Absolute addresses are for proxies, and would name the host twice.
  if (!url.startsWith('/') || !/^[A-Za-z0-9._:[\]-]+$/.test(headers.host ?? '')) return undefined
  const hasBody = method !== 'GET' && method !== 'HEAD'
  try {
    return new Request(new URL(`http://${headers.host}${url}`), {
      method,
      headers: headersOf(incoming),
      ...(hasBody ? { body: bodyOf(incoming), duplex: 'half' as const } : {}),
    })
  } catch {
    return undefined
  }
}

/** Joins repeated headers, so that a repeated `Host` or `Authorization` is not accepted. */
function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers()
  for (let at = 0; at < rawHeaders.length; at += 2) {
    headers.append(rawHeaders[at] as string, rawHeaders[at + 1] as string)
  }
  return headers
}

function bodyOf(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      incoming.on('data', (chunk: Uint8Array) => {
        controller.enqueue(chunk)
        incoming.pause()
      })
      incoming.on('end', () => controller.close())
      incoming.on('error', (error) => controller.error(error))
      incoming.pause()
    },
    pull() {
      incoming.resume()
    },
  })
}

/** Reads and drops the rest of a request, because a client that is still sending might not read the response. */
function discard(incoming: IncomingMessage): void {
  if (incoming.complete) return
  incoming.removeAllListeners('data')
  incoming.removeAllListeners('end')
  incoming.resume()
  const timer = setTimeout(() => incoming.destroy(), GRACE)
  incoming.once('close', () => clearTimeout(timer))
}

async function send(response: Response, outgoing: ServerResponse): Promise<void> {
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  outgoing.flushHeaders()
  const reader = response.body?.getReader()
  let resume = () => {}
  outgoing.on('drain', () => resume())
  // A client that disconnects ends the stream.
  outgoing.once('close', () => {
    void reader?.cancel()
    resume()
  })
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true }
    if (done) break
    if (outgoing.write(value) || outgoing.closed) continue
    await new Promise<void>((resolve) => {
      resume = resolve
    })
  }
  outgoing.end()
}
