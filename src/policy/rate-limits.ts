import { ToolError } from '../errors.ts'
import { checkLimit, type Limits } from '../limits.ts'

export interface RatesOptions {
  readonly limits: Pick<Limits, 'callsPerMinute' | 'bytesReadPerRun' | 'bytesWrittenPerRun'>
  /** Calls per minute of single tools, by name, beside the limit for all. */
  readonly toolCallsPerMinute?: Readonly<Record<string, number>> | undefined
  /** Milliseconds. One that stands still never lets a full minute pass, and one that goes back is taken to stand still. */
  readonly clock: () => number
}

/** How much one run did. */
export interface Rates {
  /**
   * Counts a call, or refuses it. A refused call does not count: who waits as told gets through.
   *
   * @throws ToolError `RATE_LIMITED` with `limit`, `value` and `retryAfterMs`
   */
  call(tool: string): void
  /**
   * Counts bytes of files that are about to be shown, or refuses them.
   *
   * @throws ToolError `LIMIT_EXCEEDED`: no waiting helps
   */
  reads(bytes: number): void
  /**
   * Counts bytes that a call is about to write, or refuses them.
   *
   * @throws ToolError `LIMIT_EXCEEDED`: no waiting helps
   */
  writes(bytes: number): void
  /** Gives back bytes that were counted and not written after all. */
  unwritten(bytes: number): void
}

/** The rates of one run: calls in any 60 seconds, in all and per tool, and bytes read and written. */
export function createRates({ limits, toolCallsPerMinute, clock }: RatesOptions): Rates {
  const all = createWindow(limits.callsPerMinute)
  const tools = new Map<string, Window>()
  for (const [tool, most] of Object.entries(toolCallsPerMinute ?? {})) tools.set(tool, createWindow(most))
  let now = Number.NEGATIVE_INFINITY
  let read = 0
  let written = 0

  function refuse(what: string, most: number, retryAfterMs: number): never {
    throw new ToolError('RATE_LIMITED', `More than ${most} ${what} per minute`, {
      limit: 'callsPerMinute',
      value: most,
      retryAfterMs,
      hint: `Slow down; call again in ${Math.ceil(retryAfterMs / 1000)} s.`,
    })
  }

  return {
    call(tool) {
      now = Math.max(now, clock())
      const own = tools.get(tool)
      const waitAll = all.wait(now)
      if (own !== undefined) {
        // Its calls count for all, so that no other wait can be longer.
        const waitOwn = own.wait(now)
        if (waitOwn > 0) refuse(`calls of ${tool}`, own.most, waitOwn)
      }
      if (waitAll > 0) refuse('calls', all.most, waitAll)
      all.add(now)
      own?.add(now)
    },
    reads(bytes) {
      checkLimit('bytesReadPerRun', read + bytes, limits.bytesReadPerRun)
      read += bytes
    },
    writes(bytes) {
      checkLimit('bytesWrittenPerRun', written + bytes, limits.bytesWrittenPerRun)
      written += bytes
    },
    unwritten(bytes) {
      written = Math.max(0, written - bytes)
    },
  }
}

const MINUTE = 60_000

interface Window {
  readonly most: number
  /** Milliseconds until another call fits; 0 when it does. */
  wait(now: number): number
  add(now: number): void
}

/** A sliding window: the times of its calls in a ring that grows as far as it is used. */
function createWindow(most: number): Window {
  let ring = new Float64Array(Math.min(most, 16))
  let first = 0
  let count = 0

  function grow(): void {
    const bigger = new Float64Array(Math.min(most, ring.length * 2))
    for (let i = 0; i < count; i++) bigger[i] = ring[(first + i) % ring.length] as number
    ring = bigger
    first = 0
  }

  return {
    most,
    wait(now) {
      while (count > 0 && now - (ring[first] as number) >= MINUTE) {
        first = (first + 1) % ring.length
        count -= 1
      }
      return count < most ? 0 : (ring[first] as number) + MINUTE - now
    },
    add(now) {
      if (count === ring.length) grow()
      ring[(first + count) % ring.length] = now
      count += 1
    },
  }
}
