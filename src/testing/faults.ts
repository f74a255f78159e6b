import { type ErrorCode, errorHints, ToolError } from '../errors.ts'
import { compileGlob } from '../paths/glob.ts'
import { quote } from '../paths/logical-path.ts'
import {
  checkArgument,
  checkOptions,
  isFunction,
  isOneOf,
  isOneOrMore,
  isText,
  must,
  type OptionTable,
  shape,
} from '../util/check-options.ts'

/** One call of a storage. */
export interface FaultyCall<O extends string = string> {
  readonly operation: O
  /** The paths of the call; several for a commit or a scan. */
  readonly paths: readonly string[]
}

/** A fault and its conditions. It occurs if all given conditions hold; without conditions, on every call. */
export interface Fault<O extends string = string> {
  readonly on?: O | readonly O[]
  /** A glob or a regular expression that one of the call's paths must match. */
  readonly path?: string | RegExp
  /** Number of the call, from 1, among those that match `on` and `path`. */
  readonly nth?: number
  /** Number of the first call. The fault also occurs on all later ones. */
  readonly from?: number
  /** Probability from 0 to 1, decided by the seed. */
  readonly chance?: number
  /** `after` lets the call take effect, so that only its result is lost. Default: `before`. */
  readonly when?: 'before' | 'after'
  /** Milliseconds to wait, with the option `wait`. */
  readonly latencyMs?: number
  /** Called when the fault occurs, for example to imitate another writer. */
  readonly run?: (call: FaultyCall<O>) => unknown
  /** Number of bytes of each file that are read or stored. The result does not report it. */
  readonly short?: number
  /** The error of the call: a code, or an error that is thrown unchanged. */
  readonly error?: ErrorCode | Error
  /**
   * Makes this and every later call fail. Without `when`, the current commit is applied partly, as far as the storage allows; with
   * `when`, it is not started, or complete.
   */
  readonly crash?: true
}

/** Randomness and time of faults. */
export interface FaultOptions {
  /** Seed of all random decisions. Default: 0. */
  readonly seed?: number
  /** Waits for latency: `clock.wait` of a `testClock` until the test advances the clock, `clock.advance` immediately. */
  readonly wait?: (ms: number) => void | Promise<void>
}

/** How a storage carries out a call, completely or partly. */
export interface FaultyAct<T> {
  act(): Promise<T>
  /** Carries out the call with only the first bytes of each file. */
  short?(bytes: number): Promise<T>
  /** Leaves the state of a crash during the call. `random` returns numbers from 0 to 1. */
  tear?(random: () => number): Promise<unknown>
}

/** Injects faults into the calls of a storage. */
export interface Injector<O extends string = string> {
  /** All calls so far in order, including failed ones. */
  readonly calls: readonly FaultyCall<O>[]
  readonly crashed: boolean
  /** Adds a fault. It counts calls from now on. */
  inject(fault: Fault<O>): void
  /** Removes all faults and ends a crash. */
  heal(): void
  around<T>(operation: O, paths: readonly string[], act: FaultyAct<T>): Promise<T>
}

/**
 * @param operations the operations of the storage
 * @throws TypeError for an invalid fault
 */
export function createInjector<O extends string>(
  operations: readonly O[],
  faults: Fault<O> | readonly Fault<O>[] = [],
  options?: FaultOptions,
): Injector<O> {
  const table = { seed: must('an integer', Number.isSafeInteger), wait: isFunction }
  const { seed = 0, wait = noClock } = checkOptions<FaultOptions>('faulty()', options, table)
  const isFault = shape<Fault<O>>({ ...faultTable, on: isOneOrMore(isOneOf(...operations)) })
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
      armed.push(arm(checkArgument('inject()', 'fault', fault, isFault), wait !== noClock, random))
    },
    heal() {
      armed = []
      crashed = false
    },
    async around(operation, paths, { act, short, tear }) {
      const call = { operation, paths }
      calls.push(call)
      if (crashed) throw crash(call)
      const due = armed.filter((candidate) => candidate.isDue(call)).map(({ fault }) => fault)
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
      // After a crash no call returns, including those that started before it.
      if (crashed) throw crash(call)
      return result
    },
  }
  const checked = checkArgument<typeof faults>('faulty()', 'faults', faults, isOneOrMore(isFault))
  for (const fault of Array.isArray(checked) ? checked : [checked]) injector.inject(fault)
  return injector
}

const isIndex = must('a whole number from 1', (value) => Number.isSafeInteger(value) && Number(value) >= 1)
const isSize = must('a whole number from 0', (value) => Number.isSafeInteger(value) && Number(value) >= 0)
const isCode = isOneOf(...Object.keys(errorHints))

/** The checks of a fault, without the operations, which depend on the storage. */
const faultTable: Omit<OptionTable<Fault>, 'on'> = {
  path: (value, ...at) => (value instanceof RegExp ? value : isText(value, ...at)),
  nth: isIndex,
  from: isIndex,
  chance: must('a number from 0 to 1', (value) => typeof value === 'number' && value >= 0 && value <= 1),
  when: isOneOf('before', 'after'),
  latencyMs: isSize,
  run: isFunction,
  short: isSize,
  error: (value, ...at) => (value instanceof Error ? value : isCode(value, ...at)),
  crash: isOneOf(true),
}

function noClock(): never {
  throw new TypeError('A fault with latencyMs needs the option wait')
}

interface Armed<O extends string> {
  readonly fault: Fault<O>
  /** Called once for every call. */
  isDue(call: FaultyCall<O>): boolean
}

function arm<O extends string>(fault: Fault<O>, canWait: boolean, random: () => number): Armed<O> {
  const { on, path, nth, from, chance, latencyMs } = fault
  if (latencyMs !== undefined && !canWait) noClock()
  const matchedOperations: readonly string[] | undefined = typeof on === 'string' ? [on] : on
  const matchesPath = path === undefined ? () => true : matcherOf(path)
  let count = 0
  return {
    fault,
    isDue({ operation, paths }) {
      if (matchedOperations?.includes(operation) === false || !paths.some(matchesPath)) return false
      count += 1
      if (nth !== undefined && count !== nth) return false
      if (from !== undefined && count < from) return false
      return chance === undefined || random() < chance
    },
  }
}

function matcherOf(path: string | RegExp): (path: string) => boolean {
  // search() ignores lastIndex.
  if (path instanceof RegExp) return (candidate) => candidate.search(path) !== -1
  const glob = compileGlob(path)
  return (candidate) => glob.matches(candidate)
}

const verbs: Readonly<Record<string, string>> = { commit: 'change', readLink: 'read', stat: 'look at', walk: 'list' }

function errorOf(error: ErrorCode | Error, call: FaultyCall): Error {
  return typeof error === 'string' ? failure(error, call, 'a fault was injected') : error
}

function crash(call: FaultyCall): ToolError {
  return failure('BACKEND_ERROR', call, 'the storage has crashed')
}

function failure(code: ErrorCode, { operation, paths }: FaultyCall, reason: string): ToolError {
  const path = paths[0] ?? ''
  return new ToolError(code, `Cannot ${verbs[operation] ?? operation} ${quote(path)}: ${reason}`, { path })
}

/** Returns a generator of numbers from 0 to 1, the same for the same seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
