/** A clock that stands still until it is told to go on. */
export interface TestClock {
  /** Milliseconds since 1970. */
  (): number
  /** Lets time pass, and wakes whoever waits for it, in the order of their times. */
  advance(ms: number): Promise<void>
  /** Settles once so much time has passed. */
  wait(ms: number): Promise<void>
}

/** Where a {@link testClock} begins: 2024-01-01T00:00:00Z. */
const BEGINNING = 1_704_067_200_000

/**
 * A clock for tests: the same every time, and no test has to wait.
 *
 * @example
 * const clock = testClock()
 * const workspace = await createWorkspace({ backend: memory(), policy: 'autonomous', clock })
 * await clock.advance(60_000) // a minute later
 */
export function testClock(start: number = BEGINNING): TestClock {
  let now = start
  const waiting: { readonly at: number; readonly wake: () => void }[] = []
  const clock = (): number => now
  return Object.assign(clock, {
    async advance(ms: number): Promise<void> {
      if (!(ms >= 0)) throw new TypeError('A clock advances by 0 milliseconds or more')
      // Who has been started before, and is about to wait, waits from now.
      await settled()
      const end = now + ms
      for (let next = earliest(); next !== undefined && next.at <= end; next = earliest()) {
        waiting.splice(waiting.indexOf(next), 1)
        now = Math.max(now, next.at)
        next.wake()
        // Who was woken may wait again, and is woken again where that is over too.
        await settled()
      }
      now = end
    },
    wait: (ms: number): Promise<void> => new Promise((wake) => waiting.push({ at: now + ms, wake })),
  })

  function earliest(): (typeof waiting)[number] | undefined {
    return waiting.reduce<(typeof waiting)[number] | undefined>(
      (first, one) => (first === undefined || one.at < first.at ? one : first),
      undefined,
    )
  }
}

/** Taken here, before a test puts another one in its place. */
const later = globalThis.setTimeout

/** Lets everything run that only waits for promises. */
function settled(): Promise<void> {
  return new Promise((resolve) => later(resolve, 0))
}

/** Ids that are counted: `id-1`, `id-2`, … */
export function countedIds(prefix = 'id-'): () => string {
  let count = 0
  return () => {
    count += 1
    return `${prefix}${count}`
  }
}
