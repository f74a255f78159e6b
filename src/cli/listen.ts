import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server that listens. */
export interface Listening {
  readonly port: number
  /** Takes no more requests, and lets those under way end for a moment. */
  close(): Promise<void>
}

/** How long connections may take to end by themselves, in milliseconds. */
const GRACE = 2000

/**
 * Answers HTTP by a handler of requests in their web-standard form.
 *
 * @throws TypeError where the address cannot be had
 */
export function listen(
  handle: (request: Request) => Promise<Response>,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<Listening> {
  let isClosing = false
  const server = createServer((incoming, outgoing) => {
    void answer(handle, incoming, outgoing)
    // A connection that is kept for more has no more to wait for.
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
          const late = setTimeout(() => server.closeAllConnections(), GRACE)
          await new Promise((done) => {
            server.close(done)
            server.closeIdleConnections()
          })
          clearTimeout(late)
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
      outgoing.writeHead(status, { 'Content-Type': 'text/plain' }).end('Send an ordinary HTTP request, with a Host.\n')
    } else await send(await handle(request), outgoing)
  } catch {
    // The connection broke, or the answer could not be made: there is nothing more to say on it.
    outgoing.destroy()
  }
  discard(incoming)
}

/** The request as the web has it; `undefined` for what has no such form. */
function requestOf(incoming: IncomingMessage): Request | undefined {
  const { method = '', url = '', headers } = incoming
  // Whole addresses are for proxies: the host would be named twice.
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

/** Those that came twice are joined, and so are none of those that are expected once. */
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

/** What of a request nobody reads: a client that is still sending could not take the answer otherwise. */
function discard(incoming: IncomingMessage): void {
  if (incoming.complete) return
  incoming.removeAllListeners('data')
  incoming.removeAllListeners('end')
  incoming.resume()
  const late = setTimeout(() => incoming.destroy(), GRACE)
  incoming.once('close', () => clearTimeout(late))
}

async function send(response: Response, outgoing: ServerResponse): Promise<void> {
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  outgoing.flushHeaders()
  const reader = response.body?.getReader()
  let goOn = () => {}
  outgoing.on('drain', () => goOn())
  // Whoever goes away stops the stream.
  outgoing.once('close', () => {
    void reader?.cancel()
    goOn()
  })
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true }
    if (done) break
    if (outgoing.write(value) || outgoing.closed) continue
    await new Promise<void>((resolve) => {
      goOn = resolve
    })
  }
  outgoing.end()
}
