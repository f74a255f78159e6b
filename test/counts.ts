/**
 * The number of repetitions of a randomised test: `few` in `npm test`, and `all` in `npm run test:long`, which also
 * runs the test files that call this function. In a page, vite provides the setting.
 */
export const times = (few: number, all: number): number => (isLong ? all : few)

/**
 * The cases that this run tries: all, unless `WARDSPACE_PART` splits a long test into several runs. `2/5` selects every
 * fifth case, from the second one; the runs `1/5` to `5/5` try each case once.
 */
export function part<T>(cases: readonly T[]): T[] {
  const value = setting('WARDSPACE_PART') ?? '1/1'
  const [, number, count] = /^([1-9]\d*)\/([1-9]\d*)$/.exec(value)?.map(Number) ?? []
  if (number === undefined || count === undefined || number > count)
    throw new RangeError(`WARDSPACE_PART must be like 2/5, not ${value}`)
  return cases.filter((_, index) => index % count === number - 1)
}

interface Meta {
  readonly env?: Readonly<Record<string, string | undefined>>
}

const setting = (name: 'WARDSPACE_COUNTS' | 'WARDSPACE_PART'): string | undefined =>
  (import.meta as Meta).env?.[name] ?? globalThis.process?.env[name]

/** Whether this run is one of `npm run test:long`, which also tries the rows of a kind of which `npm test` tries another. */
export const isLong = setting('WARDSPACE_COUNTS') === 'all'

/** In `npm test`, every `step`-th case, from `first` on; otherwise all. */
export const everyNth = <T>(cases: readonly T[], step: number, first = 0): T[] =>
  cases.filter((_, index) => isLong || index % step === first % step)

/** In `npm test`, the first or last case of each kind; otherwise all. */
export function oneOfEach<T>(cases: readonly T[], kindOf: (one: T) => string, which: 'first' | 'last' = 'first'): T[] {
  if (isLong) return [...cases]
  const ordered = which === 'first' ? cases.toReversed() : cases
  return [...new Map(ordered.map((one) => [kindOf(one), one])).values()]
}
