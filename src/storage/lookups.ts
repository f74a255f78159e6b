import { ACCESSES_PER_LOOK, createPacer } from '../util/pacer.ts'
import type { Backend, ReadsNow } from './backend.ts'

/** What a backend reads, at once or later. */
export interface AnyReads {
  canonical(...args: Parameters<Backend['canonical']>): ReturnType<ReadsNow['canonical'] | Backend['canonical']>
  stat(...args: Parameters<Backend['stat']>): ReturnType<ReadsNow['stat'] | Backend['stat']>
  list(...args: Parameters<Backend['list']>): ReturnType<ReadsNow['list'] | Backend['list']>
  readLink(...args: Parameters<Backend['readLink']>): ReturnType<ReadsNow['readLink'] | Backend['readLink']>
}

type Lookup = (reads: AnyReads) => unknown

/** A computation that looks entries up. It yields each lookup and receives the result. */
export type Lookups<T> = Generator<Lookup, T, unknown>

/** Looks something up within a computation. */
export function* look<T>(act: (reads: AnyReads) => T | Promise<T>): Lookups<T> {
  return (yield act) as T
}

/** Runs a computation over a backend. */
export async function runLookups<T>(backend: AnyReads, lookups: Lookups<T>): Promise<T> {
  const pause = createPacer(ACCESSES_PER_LOOK)
  let step = lookups.next()
  while (step.done !== true) {
    await pause()
    let found: unknown
    try {
      found = await step.value(backend)
    } catch (error) {
      step = lookups.throw(error)
      continue
    }
    step = lookups.next(found)
  }
  return step.value
}

/** Runs a computation over the reads of a backend in memory. */
export function runLookupsNow<T>(reads: ReadsNow, lookups: Lookups<T>): T {
  let step = lookups.next()
  while (step.done !== true) {
    let found: unknown
    try {
      found = step.value(reads)
    } catch (error) {
      step = lookups.throw(error)
      continue
    }
    step = lookups.next(found)
  }
  return step.value
}

/** The reads of a backend that return promises. */
type LaterReads = Pick<Backend, 'canonical' | 'stat' | 'list' | 'read' | 'readLink'>

/**
 * Returns the reads of a backend over those that return at once. Whoever awaits one after another lets timers, signals and other
 * callers run.
 */
export function readsOver(now: ReadsNow): LaterReads {
  const pace = createPacer(ACCESSES_PER_LOOK)
  /** Reads at once, and returns later if it is time for a turn. */
  const later =
    <A extends readonly unknown[], R>(read: (...args: A) => R) =>
    async (...args: A): Promise<R> => {
      const turn = pace()
      try {
        return read(...args)
      } finally {
        if (turn !== undefined) await turn
      }
    }
  const reads: LaterReads = {
    canonical: later(now.canonical),
    stat: later(now.stat),
    list: later(now.list),
    read: later(now.read),
    readLink: later(now.readLink),
  }
  atOnce.set(reads.stat, { reads, now })
  return reads
}

/** What {@link readsOver} was given, by the `stat` that it returned. */
const atOnce = new WeakMap<Backend['stat'], { readonly reads: LaterReads; readonly now: ReadsNow }>()

/**
 * Returns the reads that do the same as those of a backend without promises. `undefined` for a backend with a read of its own:
 * one that wraps another backend must see every read.
 */
export function readsAtOnce({ canonical, stat, list, read, readLink }: LaterReads): ReadsNow | undefined {
  const known = atOnce.get(stat)
  if (known === undefined) return undefined
  const { reads, now } = known
  const isSame =
    canonical === reads.canonical && list === reads.list && read === reads.read && readLink === reads.readLink
  return isSame ? now : undefined
}
