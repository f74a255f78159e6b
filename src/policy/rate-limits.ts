import { ToolError } from '../errors.ts'
import { checkLimit, type Limits } from '../limits.ts'
import { counted } from '../util/counted.ts'

export interface RatesOptions {
  readonly limits: Pick<Limits, 'callsPerMinute' | 'bytesReadPerRun' | 'bytesWrittenPerRun'>
  /** Calls per minute of single tools, by name, in addition to the limit for all calls. */
  readonly toolCallsPerMinute?: Readonly<Record<string, number>> | undefined
  /**
   * Milliseconds. If the clock stands still, the one-minute window never ends; a clock that goes backwards is treated as
   * standing still.
   */
  readonly clock: () => number
}

/** Counts the calls and bytes of one run against the limits. */
export interface Rates {
  /**
   * Counts a call under its names or refuses it. Without a name it counts as a call of no tool. A refused call does not count, so a caller that waits for `retryAfterMs` succeeds.
   *
   * @throws ToolError `RATE_LIMITED` with `limit`, `value` and `retryAfterMs`
   */
  countCall(...tools: readonly string[]): void
  /**
   * Counts bytes of files before they are shown, or refuses them.
   *
   * @throws ToolError `LIMIT_EXCEEDED`, which does not pass with time
   */
  countRead(bytes: number): void
  /**
   * Counts bytes before a call writes them, or refuses them.
   *
   * @throws ToolError `LIMIT_EXCEEDED`, which does not pass with time
   */
  countWrite(bytes: number): void
  /**
   * Reserves bytes that are collected in memory and written later, or releases them with a negative number.
   *
   * @throws ToolError `LIMIT_EXCEEDED` if they are more than the run may still write
   */
  holdWrite(bytes: number): void
  /** Returns counted bytes that were not written. */
  refundWrite(bytes: number): void
}

/** Creates the rates of a run: calls within 60 seconds (in total and per tool), and bytes read and written. */
export function createRates({ limits, toolCallsPerMinute, clock }: RatesOptions): Rates {
  const all = createWindow(limits.callsPerMinute)
  const tools = new Map<string, Window>()
  for (const [tool, maxCalls] of Object.entries(toolCallsPerMinute ?? {})) tools.set(tool, createWindow(maxCalls))
  let now = Number.NEGATIVE_INFINITY
  let read = 0
  let written = 0
  let held = 0

  function refuse(subject: string, maxCalls: number, retryAfterMs: number): never {
    throw new ToolError('RATE_LIMITED', `More than ${counted(maxCalls, 'call')}${subject} per minute`, {
      limit: 'callsPerMinute',
      value: maxCalls,
      retryAfterMs,
      hint: `Slow down; call again in ${Math.ceil(retryAfterMs / 1000)} s.`,
    })
  }

  return {
    countCall(...names) {
      now = Math.max(now, clock())
      const waitForAny = all.wait(now)
      // The limit of a tool is reported first, because it names the tool.
      for (const name of names) {
        const toolWindow = tools.get(name)
        const waitForTool = toolWindow?.wait(now) ?? 0
        if (toolWindow !== undefined && waitForTool > 0) refuse(` of ${name}`, toolWindow.maxCalls, waitForTool)
      }
      if (waitForAny > 0) refuse('', all.maxCalls, waitForAny)
      all.add(now)
      for (const name of names) tools.get(name)?.add(now)
    },
    countRead(bytes) {
      checkLimit('bytesReadPerRun', read + bytes, limits.bytesReadPerRun)
      read += bytes
    },
    countWrite(bytes) {
      checkLimit('bytesWrittenPerRun', written + bytes, limits.bytesWrittenPerRun)
      written += bytes
    },
    holdWrite(bytes) {
      if (bytes > 0) checkLimit('bytesWrittenPerRun', written + held + bytes, limits.bytesWrittenPerRun)
      held += bytes
    },
    refundWrite(bytes) {
      written = Math.max(0, written - bytes)
    },
  }
}

const MINUTE = 60_000

interface Window {
  readonly maxCalls: number
  /** Returns the milliseconds until another call fits, or 0. */
  wait(now: number): number
  add(now: number): void
}

/** Creates a sliding window. The times of its calls are in a ring buffer that grows on demand. */
function createWindow(maxCalls: number): Window {
  let ring = new Float64Array(Math.min(maxCalls, 16))
  let first = 0
  let count = 0

  function grow(): void {
    const bigger = new Float64Array(Math.min(maxCalls, ring.length * 2))
    for (let i = 0; i < count; i++) bigger[i] = ring[(first + i) % ring.length] as number
    ring = bigger
    first = 0
  }

  return {
    maxCalls,
    wait(now) {
      while (count > 0 && now - (ring[first] as number) >= MINUTE) {
        first = (first + 1) % ring.length
        count -= 1
      }
      return count < maxCalls ? 0 : (ring[first] as number) + MINUTE - now
    },
    add(now) {
      if (count === ring.length) grow()
      ring[(first + count) % ring.length] = now
      count += 1
    },
  }
}
