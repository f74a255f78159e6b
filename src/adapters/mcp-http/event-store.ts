import type { EventStore } from '../mcp/sdk.ts'

interface StoredEvent {
  readonly number: number
  readonly stream: string
  /** The message as JSON. */
  readonly text: string
  /** Whether the message answers a request. The answer ends the stream of the request. */
  readonly isAnswer: boolean
}

/** Maximum number of streams without stored events that are remembered. Only streams of unanswered calls add to it. */
const MAX_STREAMS = 1000

/**
 * Creates a store of the latest events of one session, from which a client that lost its connection receives what it missed. The
 * oldest events are dropped first. A stream can be resumed only if no event after the given one was dropped.
 *
 * @param maxSize the size of all stored messages as JSON, in UTF-16 units
 */
export function createEventStore(maxEvents: number, maxSize: number): Required<EventStore> {
  const events: StoredEvent[] = []
  /** Number of the newest dropped event, by stream, for streams that can still receive events. */
  const dropped = new Map<string, number>()
  let count = 0
  let size = 0

  function drop({ stream, number, text, isAnswer }: StoredEvent): void {
    size -= text.length
    dropped.delete(stream)
    if (!isAnswer) dropped.set(stream, number)
    for (const first of dropped.keys()) if (dropped.size > MAX_STREAMS) dropped.delete(first)
  }

  return {
    async storeEvent(stream, message) {
      count += 1
      const text = JSON.stringify(message)
      events.push({ number: count, stream, text, isAnswer: 'result' in message || 'error' in message })
      size += text.length
      while (events.length > maxEvents || size > maxSize) for (const oldest of events.splice(0, 1)) drop(oldest)
      return `${stream}.${count}`
    },
    async getStreamIdForEventId(id) {
      const { stream, number } = partsOf(id)
      if (events.some((event) => event.number === number && event.stream === stream)) return stream
      // Number 0 is before the first event, which must still be stored.
      const newest =
        dropped.get(stream) ?? (number === 0 && events.some((event) => event.stream === stream) ? 0 : undefined)
      return newest !== undefined && number >= newest && number <= count ? stream : undefined
    },
    async replayEventsAfter(id, { send }) {
      const { stream, number } = partsOf(id)
      for (const event of events) {
        if (event.stream !== stream || event.number <= number) continue
        await send(`${stream}.${event.number}`, JSON.parse(event.text))
      }
      return stream
    },
  }
}

function partsOf(id: string): { readonly stream: string; readonly number: number } {
  const dot = id.lastIndexOf('.')
  return { stream: id.slice(0, Math.max(0, dot)), number: Number(id.slice(dot + 1)) }
}
