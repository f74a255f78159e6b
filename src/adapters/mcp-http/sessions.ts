import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import type { WebStandardStreamableHTTPServerTransport as Transport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'

/** What one session speaks to. */
export interface McpSession {
  /** A server of its own: two sessions never share one. */
  readonly server: Server
  /** What ends with the session, such as its run. */
  close?(): void | Promise<void>
}

/** A session while it lasts. */
export interface LiveSession {
  readonly transport: Transport
  /** Settles when all of it has ended. */
  readonly ended: Promise<void>
  /** Keeps it from being idle until `leave`. */
  enter(): void
  leave(): void
}

export interface Sessions {
  readonly size: number
  get(id: string): LiveSession | undefined
  /**
   * Takes a session up, with its server; `false` where there are too many. Rejects as `make` does. A transport that is
   * not taken up is the caller's to close.
   */
  open(id: string, transport: Transport, make: () => McpSession | Promise<McpSession>): Promise<boolean>
  /** Ends all of them, and those that are being opened. */
  close(): Promise<void>
}

export interface SessionLimits {
  readonly most: number
  readonly idleMs: number
  readonly onError: (error: unknown) => void
}

export function createSessions({ most, idleMs, onError }: SessionLimits): Sessions {
  const live = new Map<string, LiveSession>()
  const opening = new Set<Promise<void>>()
  let isClosed = false

  async function take(id: string, transport: Transport, make: () => McpSession | Promise<McpSession>): Promise<void> {
    const made = await make()
    let idle: ReturnType<typeof setTimeout> | undefined
    let inside = 0
    const end = async () => {
      try {
        await made.close?.()
      } catch (error) {
        onError(error)
      }
    }
    const ended = new Promise<void>((resolve) => {
      transport.onclose = () => {
        clearTimeout(idle)
        live.delete(id)
        // After the server has heard of it, which cancels the calls under way.
        queueMicrotask(() => resolve(end()))
      }
    })
    await made.server.connect(transport)
    const rest = () => {
      idle = setTimeout(() => void transport.close(), idleMs)
      // A process does not stay for it.
      ;(idle as { unref?(): void }).unref?.()
    }
    live.set(id, {
      transport,
      ended,
      enter() {
        inside += 1
        clearTimeout(idle)
      },
      leave() {
        inside -= 1
        if (inside === 0 && live.has(id)) rest()
      },
    })
  }

  return {
    get size() {
      return live.size
    },
    get: (id) => live.get(id),
    async open(id, transport, make) {
      if (isClosed || live.size + opening.size >= most) return false
      const taking = take(id, transport, make)
      opening.add(taking)
      try {
        await taking
      } finally {
        opening.delete(taking)
      }
      return true
    },
    async close() {
      isClosed = true
      await Promise.allSettled(opening)
      const all = [...live.values()]
      await Promise.all(all.map(({ transport }) => transport.close()))
      await Promise.all(all.map(({ ended }) => ended))
    },
  }
}
