import { runAfter } from '../../util/timers.ts'
import type { WebStandardStreamableHTTPServerTransport as Transport } from '../mcp/sdk.ts'
import type { McpSession } from './session.ts'

/** Creates the server of a session. */
type SessionFactory = () => McpSession | Promise<McpSession>

/** An open session. */
export interface LiveSession {
  readonly transport: Transport
  /** Resolves when the session has ended and `close` has settled. */
  readonly ended: Promise<void>
  /** Marks the start of a request: the session does not become idle until `leave`. */
  enter(): void
  leave(): void
}

/** The open sessions of a handler, by id. */
export interface Sessions {
  readonly size: number
  get(id: string): LiveSession | undefined
  /**
   * Opens a session and connects its server to the transport. Returns `false` if there are too many sessions. Rejects if `create`
   * does. In both cases the caller closes the transport.
   */
  open(id: string, transport: Transport, create: SessionFactory): Promise<boolean>
  /** Ends all sessions, including those that are being opened. */
  close(): Promise<void>
}

/** Limits of {@link Sessions}, and the receiver of errors from closing a session. */
export interface SessionLimits {
  readonly maxSessions: number
  readonly idleMs: number
  readonly onError: (error: unknown) => void
}

export function createSessions({ maxSessions, idleMs, onError }: SessionLimits): Sessions {
  const live = new Map<string, LiveSession>()
  const opening = new Set<Promise<void>>()
  let isClosed = false

  async function connect(id: string, transport: Transport, create: SessionFactory): Promise<void> {
    const session = await create()
    let idle: ReturnType<typeof setTimeout> | undefined
    let requests = 0
    const end = async () => {
      try {
        await session.close?.()
      } catch (error) {
        onError(error)
      }
    }
    const ended = new Promise<void>((resolve) => {
      transport.onclose = () => {
        clearTimeout(idle)
        live.delete(id)
        // After the server's own onclose, which cancels its running calls.
        queueMicrotask(() => resolve(end()))
      }
    })
    await session.server.connect(transport)
    const startIdleTimer = () => {
      idle = runAfter(idleMs, () => void transport.close())
      // The timer must not keep the process alive.
      ;(idle as { unref?(): void }).unref?.()
    }
    live.set(id, {
      transport,
      ended,
      enter() {
        requests += 1
        clearTimeout(idle)
      },
      leave() {
        requests -= 1
        if (requests === 0 && live.has(id)) startIdleTimer()
      },
    })
  }

  return {
    get size() {
      return live.size
    },
    get: (id) => live.get(id),
    async open(id, transport, create) {
      if (isClosed || live.size + opening.size >= maxSessions) return false
      const connecting = connect(id, transport, create)
      opening.add(connecting)
      try {
        await connecting
      } finally {
        opening.delete(connecting)
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
