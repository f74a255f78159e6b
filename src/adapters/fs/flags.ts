import { valueError } from './errors.ts'

/** The bits of `open` as Linux has them. The last three are refused; those before them ask for what a workspace does anyway. */
export const openFlags = {
  ...{ O_RDONLY: 0, O_WRONLY: 1, O_RDWR: 2, O_CREAT: 0o100, O_EXCL: 0o200, O_TRUNC: 0o1000, O_APPEND: 0o2000 },
  ...{ O_SYNC: 0o4010000, O_DSYNC: 0o10000 },
  ...{ O_NOCTTY: 0o400, O_NONBLOCK: 0o4000, O_NOATIME: 0o1000000 },
  ...{ O_DIRECT: 0o40000, O_DIRECTORY: 0o200000, O_NOFOLLOW: 0o400000 },
}

/** What a file is opened for. */
export interface OpenMode {
  readonly reads: boolean
  readonly writes: boolean
  /** Creates the file if it does not exist. */
  readonly creates: boolean
  /** Fails if the file exists. */
  readonly exclusive: boolean
  readonly truncates: boolean
  /** Each write is at the end. */
  readonly appends: boolean
}

const { O_WRONLY, O_RDWR, O_CREAT, O_EXCL, O_TRUNC, O_APPEND, O_DIRECT, O_DIRECTORY, O_NOFOLLOW } = openFlags
const known = Object.values(openFlags).reduce((all, bit) => all | bit) & ~(O_DIRECT | O_DIRECTORY | O_NOFOLLOW)

/** The names of each combination of bits. `s`, for synchronous, changes nothing: what is written is one change. */
const names: readonly (readonly [names: string, bits: number])[] = [
  ['r rs sr', 0],
  ['r+ rs+ sr+', O_RDWR],
  ['w', O_WRONLY | O_CREAT | O_TRUNC],
  ['wx xw', O_WRONLY | O_CREAT | O_TRUNC | O_EXCL],
  ['w+', O_RDWR | O_CREAT | O_TRUNC],
  ['wx+ xw+', O_RDWR | O_CREAT | O_TRUNC | O_EXCL],
  ['a as sa', O_WRONLY | O_CREAT | O_APPEND],
  ['ax xa', O_WRONLY | O_CREAT | O_APPEND | O_EXCL],
  ['a+ as+ sa+', O_RDWR | O_CREAT | O_APPEND],
  ['ax+ xa+', O_RDWR | O_CREAT | O_APPEND | O_EXCL],
]
const bitsOf = new Map<unknown, number>(names.flatMap(([all, bits]) => all.split(' ').map((name) => [name, bits])))

/**
 * Returns what the flags of `open` ask for: a name such as `wx+`, or bits.
 *
 * @throws TypeError `ERR_INVALID_ARG_VALUE` for anything else
 */
export function openMode(flags: unknown): OpenMode {
  const bits = Number.isInteger(flags) ? (flags as number) : bitsOf.get(flags)
  if (bits === undefined || (bits & ~known) !== 0 || (bits & 3) === 3) throw valueError('flags', flags)
  const has = (bit: number) => (bits & bit) !== 0
  return {
    reads: !has(O_WRONLY),
    writes: has(O_WRONLY | O_RDWR),
    creates: has(O_CREAT),
    exclusive: has(O_CREAT) && has(O_EXCL),
    truncates: has(O_TRUNC),
    appends: has(O_APPEND),
  }
}

/** Returns the flags of a file that is read, or nothing if they only read: that needs no handle. */
export function readFlag(value: unknown): unknown {
  const reads =
    value === undefined ||
    value === null ||
    value === 0 ||
    ['r', 'rs', 'sr', 'r+', 'rs+', 'sr+'].includes(value as string)
  return reads ? undefined : value
}
