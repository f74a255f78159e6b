import { askOutside } from './start.ts'

/**
 * Returns a `fetch` that reaches only the given origins. Redirects are refused, since they could send the request to
 * another origin.
 *
 * @param origins as in `https://api.example.com`
 */
export function outsideFetch(origins: readonly string[]): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init)
    const { origin } = new URL(request.url)
    if (!origins.includes(origin)) throw new TypeError(`Cannot reach ${origin}: it is not one of the allowed origins`)
    const body = request.body === null ? undefined : await request.arrayBuffer()
    const messages = askOutside(
      { kind: 'fetch', url: request.url, method: request.method, headers: [...request.headers], body },
      request.signal,
    )
    const first = await messages.next()
    if (first.done === true || first.value.kind !== 'head') throw new TypeError(`Cannot reach ${origin}`)
    const { status, statusText, headers } = first.value
    const hasBody = status !== 204 && status !== 205 && status !== 304
    if (!hasBody) await messages.return(undefined)
    return new Response(hasBody ? streamOf(messages) : null, {
      status,
      statusText,
      headers: headers.map(([name, value]): [string, string] => [name, value]),
    })
  }
}

function streamOf(messages: ReturnType<typeof askOutside>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await messages.next()
      if (done === true || value.kind === 'end') {
        await messages.return(undefined)
        controller.close()
      } else if (value.kind === 'chunk') controller.enqueue(value.bytes)
    },
    cancel: async () => void (await messages.return(undefined)),
  })
}
