import { askOutside } from './start.ts'

/**
 * A `fetch` for the origins that the person named, and for no other. Redirections are refused, since they could lead
 * elsewhere with what was meant for the first.
 *
 * @param origins as in `https://api.example.com`
 */
export function outsideFetch(origins: readonly string[]): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init)
    const { origin } = new URL(request.url)
    if (!origins.includes(origin)) throw new TypeError(`Cannot reach ${origin}: nobody asked for it`)
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
