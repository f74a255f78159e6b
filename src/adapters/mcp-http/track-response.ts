/**
 * A response whose end is told, whichever side ends it. What a client does not fetch is kept up to a bound, then its stream is cut: whatever
 * reads so slowly can resume it.
 */
export function trackResponse(response: Response, mostBytes: number, done: () => void): Response {
  const { body, status, headers } = response
  if (body === null) {
    done()
    return response
  }
  const reader = body.getReader()
  const stream = new ReadableStream<Uint8Array>(
    {
      async start(controller) {
        // Not awaited: a stream gives nothing until its start has ended.
        void forward(reader, controller).finally(done)
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: mostBytes, size: (chunk) => chunk.byteLength },
  )
  return new Response(stream, { status, headers })
}

async function forward(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  controller: ReadableStreamDefaultController<Uint8Array>,
): Promise<void> {
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      if (Number(controller.desiredSize) <= 0) {
        await reader.cancel()
        break
      }
      controller.enqueue(value)
    }
    controller.close()
  } catch {
    // Whoever asked has gone.
  }
}
