import { checkArgument, isText, must, refuseSurplus } from '../util/check-options.ts'

/** A clock that stands still until it is advanced. */
export interface TestClock {
  /** Milliseconds since 1970. */
  (): number
  /** Lets time pass and resolves due waits in the order of their times. */
  advance(ms: number): Promise<void>
  /** Resolves when the clock has advanced by this time. */
  wait(ms: number): Promise<void>
}

/** Start of a {@link testClock}: 2024-01-01T00:00:00Z. */
const BEGINNING = 1_704_067_200_000

/**
 * Creates a clock for tests. Its times are the same in every run, and no test has to wait.
 *
 * @example
 * const clock = testClock()
 * const workspace = await createWorkspace({ backend: memory(), policy: 'autonomous', clock })
 * await clock.advance(60_000) // a minute later
 */
export function testClock(start: number = BEGINNING): TestClock {
  refuseSurplus('testClock()', 1, arguments)
  checkArgument('testClock()', 'start', start, isTime)
  let now = start
  const waiting: { readonly at: number; readonly wake: () => void }[] = []
  const clock = (): number => now
  return Object.assign(clock, {
    async advance(ms: number): Promise<void> {
      checkArgument('advance()', 'ms', ms, isDuration)
      // Code that was already started registers its waits first.
      await settled()
      const end = now + ms
      for (let next = earliest(); next !== undefined && next.at <= end; next = earliest()) {
        waiting.splice(waiting.indexOf(next), 1)
        now = Math.max(now, next.at)
        next.wake()
        // A resolved wait may be followed by another one that is also due.
        await settled()
      }
      now = end
    },
    async wait(ms: number): Promise<void> {
      checkArgument('wait()', 'ms', ms, isDuration)
      return new Promise((wake) => waiting.push({ at: now + ms, wake }))
    },
  })

  function earliest(): (typeof waiting)[number] | undefined {
    return waiting.reduce<(typeof waiting)[number] | undefined>(
      (first, one) => (first === undefined || one.at < first.at ? one : first),
      undefined,
    )
  }
}

const isTime = must('milliseconds since 1970', Number.isFinite)
const isDuration = must('0 milliseconds or more', (ms) => typeof ms === 'number' && ms >= 0)

/** Captured at load, before a test replaces it. */
const later = globalThis.setTimeout

/** Resolves after all pending promise callbacks. */
function settled(): Promise<void> {
  return new Promise((resolve) => later(resolve, 0))
}

/** Returns a generator of counted ids: `id-1`, `id-2`, … */
export function countedIds(prefix = 'id-'): () => string {
  refuseSurplus('countedIds()', 1, arguments)
  checkArgument('countedIds()', 'prefix', prefix, isText)
  let count = 0
  return () => {
    count += 1
    return `${prefix}${count}`
  }
}
