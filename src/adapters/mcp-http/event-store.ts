import type { EventStore } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'

interface KeptEvent {
  readonly number: number
  readonly stream: string
  /** The message as JSON. */
  readonly text: string
  /** Whether it answers a request, which ends the stream of that request. */
  readonly isAnswer: boolean
}

/** How many streams are remembered beyond their events: those of calls that never were answered are the only surplus. */
const STREAMS = 1000

/**
 * The last events of one session, so that a client whose connection broke gets what it missed. The oldest go where there
 * are too many. A stream is resumed only where nothing after the event that the client names is gone.
 */
export function createEvents(most: number, mostBytes: number): Required<EventStore> {
  const kept: KeptEvent[] = []
  /** The newest event that is gone, by stream, where more may come. */
  const gone = new Map<string, number>()
  let count = 0
  let bytes = 0

  function forget({ stream, number, text, isAnswer }: KeptEvent): void {
    bytes -= text.length
    gone.delete(stream)
    if (!isAnswer) gone.set(stream, number)
    for (const first of gone.keys()) if (gone.size > STREAMS) gone.delete(first)
  }

  return {
    async storeEvent(stream, message) {
      count += 1
      const text = JSON.stringify(message)
      kept.push({ number: count, stream, text, isAnswer: 'result' in message || 'error' in message })
      bytes += text.length
      while (kept.length > most || bytes > mostBytes) for (const oldest of kept.splice(0, 1)) forget(oldest)
      return `${stream}.${count}`
    },
    async getStreamIdForEventId(id) {
      const { stream, number } = partsOf(id)
      if (kept.some((event) => event.number === number && event.stream === stream)) return stream
      // Before the first event, where that is still there.
      const newest = gone.get(stream) ?? (number === 0 && kept.some((event) => event.stream === stream) ? 0 : undefined)
      return newest !== undefined && number >= newest && number <= count ? stream : undefined
    },
    async replayEventsAfter(id, { send }) {
      const { stream, number } = partsOf(id)
      for (const event of kept) {
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
