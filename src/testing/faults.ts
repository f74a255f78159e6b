import { type ErrorCode, errorHints, ToolError } from '../errors.ts'
import { compileGlob } from '../paths/glob.ts'
import { quote } from '../paths/logical-path.ts'

/** One call of a storage, as faults see it. */
export interface FaultyCall<O extends string = string> {
  readonly operation: O
  /** Of a commit or a scan: all of its paths. */
  readonly paths: readonly string[]
}

/** What goes wrong, and when. Every condition that is given must hold; without one, it concerns every call. */
export interface Fault<O extends string = string> {
  readonly on?: O | readonly O[]
  /** A glob or a regular expression that one of the call's paths must match. */
  readonly path?: string | RegExp
  /** Only the call of this number, of those that `on` and `path` mean, from 1. */
  readonly nth?: number
  /** Only the call of this number and those after it. */
  readonly from?: number
  /** How often of 1 it happens, by the seed. */
  readonly chance?: number
  /** Whether the call has taken effect by then, so that only its answer is lost. Default: `before`. */
  readonly when?: 'before' | 'after'
  /** Passes this time, by the option `wait`. */
  readonly latencyMs?: number
  /** Done at this moment, such as what another writer does. */
  readonly run?: (call: FaultyCall<O>) => unknown
  /** Only so many bytes of each file are read or stored, and nobody is told. */
  readonly short?: number
  /** What the call fails with: a code, or an error to be thrown as it is. */
  readonly error?: ErrorCode | Error
  /**
   * From now on every call fails. The one under way is torn as the storage may tear it; with `when`, it has not begun, or is
   * done.
   */
  readonly crash?: true
}

/** What faults leave to chance, and how time passes for them. */
export interface FaultOptions {
  /** Decides what is left to chance. Default: 0. */
  readonly seed?: number
  /** How latency passes: `clock.wait` of a `testClock` until the test advances it, `clock.advance` at once. */
  readonly wait?: (ms: number) => void | Promise<void>
}

/** How a storage carries out a call; `crash` as far as it comes in a crash. */
export interface FaultyAct<T> {
  act(): Promise<T>
  /** The same with only the first bytes of each file. */
  short?(bytes: number): Promise<T>
  /** Leaves what a crash in its midst leaves. `random` gives numbers from 0 to 1. */
  tear?(random: () => number): Promise<unknown>
}

/** Faults around the calls of some storage. */
export interface Injector<O extends string = string> {
  /** Every call so far, in order, also those that failed. */
  readonly calls: readonly FaultyCall<O>[]
  readonly crashed: boolean
  /** Adds a fault, which counts from now on. */
  inject(fault: Fault<O>): void
  /** Takes all faults away, a crash too. */
  heal(): void
  around<T>(operation: O, paths: readonly string[], act: FaultyAct<T>): Promise<T>
}

/** @throws TypeError for a fault that could never be meant */
export function createInjector<O extends string>(
  faults: Fault<O> | readonly Fault<O>[] = [],
  { seed = 0, wait = noClock }: FaultOptions = {},
): Injector<O> {
  const random = randomNumbers(seed)
  const calls: FaultyCall<O>[] = []
  let armed: Armed<O>[] = []
  let crashed = false

  async function happen(fault: Fault<O>, call: FaultyCall<O>): Promise<void> {
    if (fault.latencyMs !== undefined) await wait(fault.latencyMs)
    await fault.run?.(call)
    if (crashed) throw crash(call)
    if (fault.error !== undefined) throw errorOf(fault.error, call)
  }

  const injector: Injector<O> = {
    calls,
    get crashed() {
      return crashed
    },
    inject(fault) {
      armed.push(arm(fault, wait !== noClock, random))
    },
    heal() {
      armed = []
      crashed = false
    },
    async around(operation, paths, { act, short, tear }) {
      const call = { operation, paths }
      calls.push(call)
      if (crashed) throw crash(call)
      const due = armed.filter((one) => one.isDue(call)).map(({ fault }) => fault)
      for (const fault of due) {
        if (fault.crash === true && fault.when !== 'after') {
          crashed = true
          if (fault.when === undefined) await tear?.(random)
        }
        if (fault.when !== 'after') await happen(fault, call)
      }
      const bytes = Math.min(...due.map((fault) => fault.short ?? Number.POSITIVE_INFINITY))
      const result = await (short === undefined || bytes === Number.POSITIVE_INFINITY ? act() : short(bytes))
      for (const fault of due) {
        if (fault.when !== 'after') continue
        if (fault.crash === true) crashed = true
        await happen(fault, call)
      }
      // Nobody is answered any more, whoever asked before.
      if (crashed) throw crash(call)
      return result
    },
  }
  for (const fault of Array.isArray(faults) ? faults : [faults]) injector.inject(fault)
  return injector
}

function noClock(): never {
  throw new TypeError('A fault with latencyMs needs the option wait')
}

interface Armed<O extends string> {
  readonly fault: Fault<O>
  /** Asked once for every call. */
  isDue(call: FaultyCall<O>): boolean
}

function arm<O extends string>(fault: Fault<O>, canWait: boolean, random: () => number): Armed<O> {
  const { on, path, nth, from, chance, latencyMs, short, error } = fault
  requireCount('nth', nth, 1)
  requireCount('from', from, 1)
  requireCount('latencyMs', latencyMs, 0)
  requireCount('short', short, 0)
  if (chance !== undefined && !(chance >= 0 && chance <= 1)) throw new TypeError('The chance of a fault is from 0 to 1')
  if (latencyMs !== undefined && !canWait) noClock()
  if (typeof error === 'string' && !Object.hasOwn(errorHints, error)) {
    throw new TypeError(`A fault has an error ${JSON.stringify(error)}, which is no code`)
  }
  const operations: readonly string[] | undefined = typeof on === 'string' ? [on] : on
  const isMeant = path === undefined ? () => true : matcherOf(path)
  let count = 0
  return {
    fault,
    isDue({ operation, paths }) {
      if (operations?.includes(operation) === false || !paths.some(isMeant)) return false
      count += 1
      if (nth !== undefined && count !== nth) return false
      if (from !== undefined && count < from) return false
      return chance === undefined || random() < chance
    },
  }
}

function requireCount(name: string, value: number | undefined, least: number): void {
  if (value === undefined || (Number.isSafeInteger(value) && value >= least)) return
  throw new TypeError(`The field ${name} of a fault is a whole number from ${least}`)
}

function matcherOf(path: string | RegExp): (path: string) => boolean {
  // Its own lastIndex must not decide.
  if (path instanceof RegExp) return (one) => one.search(path) !== -1
  const glob = compileGlob(path)
  return (one) => glob.matches(one)
}

const verbs: Readonly<Record<string, string>> = { commit: 'change', readLink: 'read', stat: 'look at', walk: 'list' }

function errorOf(error: ErrorCode | Error, call: FaultyCall): Error {
  return typeof error === 'string' ? failure(error, call, 'a fault was injected') : error
}

function crash(call: FaultyCall): ToolError {
  return failure('BACKEND_ERROR', call, 'the storage has crashed')
}

function failure(code: ErrorCode, { operation, paths }: FaultyCall, why: string): ToolError {
  const path = paths[0] ?? ''
  return new ToolError(code, `Cannot ${verbs[operation] ?? operation} ${quote(path)}: ${why}`, { path })
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
