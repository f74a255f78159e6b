/**
 * Returns the response with a body that calls `onEnd` when either side ends it. At most `maxBytes` are buffered for a slow client;
 * then the stream is closed, and the client can resume it.
 */
export function trackResponse(response: Response, maxBytes: number, onEnd: () => void): Response {
  const { body, status, headers } = response
  if (body === null) {
    onEnd()
    return response
  }
  const reader = body.getReader()
  const stream = new ReadableStream<Uint8Array>(
    {
      async start(controller) {
        // Not awaited: a stream delivers nothing until start() has settled.
        void forward(reader, controller).finally(onEnd)
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: maxBytes, size: (chunk) => chunk.byteLength },
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
    // The client has disconnected.
  }
}
