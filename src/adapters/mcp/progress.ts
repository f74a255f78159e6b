import type { Progress } from '../../call/state/call.ts'

/** What a request for progress is answered through. */
export interface ProgressRequest {
  readonly _meta?: { readonly progressToken?: string | number | undefined } | undefined
  readonly sendNotification: (notification: {
    method: 'notifications/progress'
    params: { progressToken: string | number; progress: number; total?: number; message: string }
  }) => Promise<void>
}

/** The progress of one call, as its client is told of it. */
export interface ProgressReport {
  tell(progress: Progress): void
  /** What the call does that has no count. */
  says(message: string): void
  /** Nothing is told after this. */
  end(): void
}

/** Milliseconds between two notifications at least, and between two signs of life. */
const AT_LEAST = 100
const BEAT = 15_000
/** A sign of life grows by so much: progress must grow with each notification. */
const STEP = 0.001

/**
 * Opens the progress of a request, where it asks for any. What is told only grows, and a client that waits hears now and then
 * that the call still runs. `active` holds the tokens of all requests under way: a second one with the same token is told
 * nothing, for nobody could tell the two apart.
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

  const beat = setInterval(() => {
    if (performance.now() - sentAt >= BEAT / 2) send(last + STEP)
  }, BEAT)
  ;(beat as { unref?: () => void }).unref?.()

  return {
    tell(progress) {
      if (progress.done <= last || performance.now() - sentAt < AT_LEAST) return
      total = progress.total
      message = `${progress.done}${total === undefined ? '' : ` of ${total}`} ${progress.unit}`
      send(progress.done)
    },
    says(words) {
      message = words
      send(last + STEP)
    },
    end() {
      clearInterval(beat)
      active.delete(progressToken)
    },
  }
}

const silent: ProgressReport = { tell() {}, says() {}, end() {} }
