import { type Check, must, type OptionTable, shape } from '../../util/check-options.ts'

/** The place of the options among the arguments of a method, and their check. */
type MethodOptions = readonly [place: number, check: Check]

/** The checks of options. Named ones are required. */
export function optionsAt<T extends object>(
  place: number,
  table: OptionTable<T>,
  ...required: (keyof T & string)[]
): MethodOptions {
  return [place, shape(table, ...required)]
}

/** Options, or the name of an encoding in their place. */
export const encodingAt = (place: number): MethodOptions => {
  const check = shape({ encoding: must('a string or null', isEncoding) })
  return [place, (value, ...rest) => (isEncoding(value) ? value : check(value, ...rest))]
}

const isEncoding = (value: unknown) => value === null || typeof value === 'string'

/** Makes methods refuse unknown options and wrong values, which would have no effect: they reject with a TypeError. */
export function withMethodOptions<M extends object>(
  owner: string,
  methods: M,
  rows: Readonly<Record<string, MethodOptions>>,
): M {
  const checked = Object.entries(rows).map(([name, [place, check]]) => {
    const method = methods[name as keyof M] as (...args: unknown[]) => unknown
    return [
      name,
      async (...args: unknown[]) => {
        args[place] = check(args[place] ?? {}, '', `${owner}.${name}()`)
        return method(...args)
      },
    ]
  })
  return { ...methods, ...Object.fromEntries(checked) }
}

export const isTimeout = must('milliseconds', (value) => Number.isFinite(value) && Number(value) >= 0)
export const isContent = must('a string or bytes', (value) => typeof value === 'string' || ArrayBuffer.isView(value))
