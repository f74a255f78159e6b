import type { Progress } from '../../call/state/call.ts'

/** The parts of a request that report progress. */
export interface ProgressRequest {
  readonly _meta?: { readonly progressToken?: string | number | undefined } | undefined
  readonly sendNotification: (notification: {
    method: 'notifications/progress'
    params: { progressToken: string | number; progress: number; total?: number; message: string }
  }) => Promise<void>
}

/** Reports the progress of one call to the client. */
export interface ProgressReport {
  report(progress: Progress): void
  /** Reports a status without a count. */
  setStatus(message: string): void
  /** Ends the reports. */
  end(): void
}

/** Minimum milliseconds between two notifications, and the interval of keep-alive notifications. */
const MIN_INTERVAL = 100
const KEEP_ALIVE = 15_000
/** Increment of a keep-alive notification. Progress must grow with each notification. */
const STEP = 0.001

/**
 * Creates the progress reports of a request, if it has a progress token. Progress only grows, and keep-alive notifications report
 * that the call is still running. `active` holds the tokens of all running requests: a second request with the same token gets no
 * reports, because the client could not distinguish them.
 */
export function openProgress(request: ProgressRequest, active: Set<string | number>): ProgressReport {
  const progressToken = request._meta?.progressToken
  if (progressToken === undefined || active.has(progressToken)) return silent
  active.add(progressToken)
  let last = 0
  let total: number | undefined
  let message = 'still running'
  let sentAt = Number.NEGATIVE_INFINITY

  function send(progress: number): void {
    last = progress
    sentAt = performance.now()
    const params = { progressToken, progress, message, ...(total === undefined ? {} : { total }) }
    // A client that is gone needs no progress.
    request.sendNotification({ method: 'notifications/progress', params } as never).catch(() => {})
  }

  const keepAlive = setInterval(() => {
    if (performance.now() - sentAt >= KEEP_ALIVE / 2) send(last + STEP)
  }, KEEP_ALIVE)
  ;(keepAlive as { unref?: () => void }).unref?.()

  return {
    report(progress) {
      if (progress.done <= last || performance.now() - sentAt < MIN_INTERVAL) return
      total = progress.total
      message = `${progress.done}${total === undefined ? '' : ` of ${total}`} ${progress.unit}`
      send(progress.done)
    },
    setStatus(words) {
      message = words
      send(last + STEP)
    },
    end() {
      clearInterval(keepAlive)
      active.delete(progressToken)
    },
  }
}

const silent: ProgressReport = { report() {}, setStatus() {}, end() {} }
