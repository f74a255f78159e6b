import { runAfter } from '../../util/timers.ts'
import type { OutputListener } from './live-output.ts'
import type { OutputPiece } from './thread-protocol.ts'

/** Milliseconds between two messages with output. */
const INTERVAL_MS = 20

/** Collects output, so that a line that prints a lot sends few messages. */
export interface BatchedOutput {
  readonly add: OutputListener
  /** Sends what is left. */
  flush(): void
}

/** Sends the first piece at once, and later ones together. */
export function batchOutput(send: (pieces: readonly OutputPiece[]) => void): BatchedOutput {
  let pieces: OutputPiece[] = []
  let sentAt = Number.NEGATIVE_INFINITY
  let timer: ReturnType<typeof setTimeout> | undefined
  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    if (pieces.length === 0) return
    const sent = pieces
    pieces = []
    sentAt = performance.now()
    send(sent)
  }
  return {
    add(stream, text) {
      pieces.push({ stream, text })
      const waitMs = sentAt + INTERVAL_MS - performance.now()
      // A script that never waits keeps timers from running.
      if (waitMs <= 0) flush()
      else timer ??= runAfter(waitMs, flush)
    },
    flush,
  }
}
