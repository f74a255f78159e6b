import { decoded, type EncodingOption, encodingOf } from './encoding.ts'
import { argumentError, fsError, rangeError, valueError } from './errors.ts'
import { Dirent } from './stats.ts'

/** Checks an argument as Node does, with its codes, and returns it in the form that the functions take. */
type Check = (value: unknown, name: string) => unknown

const isOmitted = (value: unknown): value is null | undefined => value === undefined || value === null

/** For an argument that may be missing. */
const optional =
  (check: Check): Check =>
  (value, name) =>
    value === undefined ? undefined : check(value, name)

/** For an argument that may be missing or `null`. */
const nullable =
  (check: Check): Check =>
  (value, name) =>
    isOmitted(value) ? undefined : check(value, name)

function boolean(value: unknown, name: string): boolean {
  if (typeof value === 'boolean') return value
  throw argumentError(name, 'of type boolean', value)
}

function callback(value: unknown, name: string): unknown {
  if (typeof value === 'function') return value
  throw argumentError(name, 'of type function', value)
}

const integer =
  (least: number, most: number): Check =>
  (value, name) => {
    if (typeof value !== 'number') throw argumentError(name, 'of type number', value)
    if (!Number.isInteger(value)) throw rangeError(name, 'an integer', value)
    if (value < least || value > most) throw rangeError(name, `>= ${least} && <= ${most}`, value)
    return value
  }

const unsigned = integer(0, 0xffff_ffff)
const accessMode = nullable(integer(0, 7))

/** Permission bits: a number, or a text with an octal one. */
function bits(value: unknown, name: string): unknown {
  if (typeof value !== 'string') return unsigned(value, name)
  if (!/^[0-7]+$/.test(value)) throw valueError(name, value)
  return unsigned(Number.parseInt(value, 8), name)
}

function signal(value: unknown, name: string): unknown {
  if (typeof value === 'object' && value !== null && 'aborted' in value) return value
  throw argumentError(name, 'an instance of AbortSignal', value)
}

function encoding(value: unknown): unknown {
  if (!value) return undefined
  encodingOf({ encoding: value as string })
  return value
}

/** Files are read as they are: other flags would create or empty them. */
function readFlag(value: unknown, name: string): unknown {
  if (isOmitted(value) || value === 0 || ['r', 'rs', 'sr', 'r+', 'rs+', 'sr+'].includes(value as string))
    return undefined
  throw valueError(name, value)
}

function time(value: unknown, name: string): unknown {
  const isNumeric = typeof value === 'string' && !Number.isNaN(Number(value))
  if (isNumeric || Number.isFinite(value) || value instanceof Date) return value
  throw argumentError(name, 'of type number or string or an instance of Date', value)
}

function linkType(value: unknown): unknown {
  if (isOmitted(value) || ['dir', 'file', 'junction'].includes(value as string)) return value
  const error = new Error(`Symlink type must be one of "dir", "file", or "junction". Received "${String(value)}"`)
  throw Object.assign(error, { code: 'ERR_FS_INVALID_SYMLINK_TYPE' })
}

/** What no backend can do. `false` is the default of Node. */
function unavailable(value: unknown, name: string): unknown {
  if (boolean(value, name))
    throw Object.assign(fsError('ENOSYS', name), { message: `The option "${name}" is unavailable` })
  return value
}

/** Options in an object. Fields that Node does not have are ignored, as Node does. */
const fields =
  (checks: Readonly<Record<string, Check>>): Check =>
  (value, name) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw argumentError(name, 'of type object', value)
    }
    const checked: Record<string, unknown> = { ...value }
    for (const [field, check] of Object.entries(checks)) {
      const given: unknown = (value as Record<string, unknown>)[field]
      if (given !== undefined) checked[field] = check(given, `options.${field}`)
    }
    return checked
  }

/** Options with an encoding, or only the encoding. */
const textOptions = (checks: Readonly<Record<string, Check>> = {}): Check => {
  const object = fields({ encoding, ...checks })
  return (value, name) => {
    if (isOmitted(value) || typeof value === 'function') return undefined
    if (typeof value === 'string') return encoding(value)
    if (typeof value !== 'object') throw argumentError(name, 'of type string or an instance of Object', value)
    return Array.isArray(value) ? undefined : object(value, name)
  }
}

const write = textOptions({
  mode: nullable(bits),
  flag: (value) => value || undefined,
  flush: nullable(boolean),
  signal,
})
const retries = { maxRetries: unsigned, retryDelay: integer(0, 0x7fff_ffff) }

function mkdirOptions(value: unknown, name: string): unknown {
  if (isOmitted(value) || value === false) return undefined
  if (typeof value === 'number' || typeof value === 'string') return bits(value, 'mode')
  return fields({ recursive: boolean, mode: nullable(bits) })(typeof value === 'object' ? value : {}, name)
}

/** The check of each argument after the first, which is a path, by the name of the function. */
const checks: Readonly<Record<string, readonly (readonly [name: string, check: Check])[]>> = {
  readFile: [['options', textOptions({ flag: readFlag, signal })]],
  writeFile: [
    ['data', (data) => data],
    ['options', write],
  ],
  appendFile: [
    ['data', (data) => data],
    ['options', write],
  ],
  access: [['mode', accessMode]],
  readlink: [['options', textOptions()]],
  realpath: [['options', textOptions()]],
  readdir: [['options', textOptions({ recursive: nullable(boolean) })]],
  opendir: [['options', textOptions({ recursive: nullable(boolean), bufferSize: unsigned })]],
  mkdtemp: [['options', textOptions()]],
  truncate: [['len', optional(integer(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER))]],
  symlink: [
    ['path', (path) => path],
    ['type', linkType],
  ],
  mkdir: [['options', mkdirOptions]],
  rmdir: [['options', optional(fields({ recursive: boolean, ...retries }))]],
  rm: [['options', optional(fields({ force: boolean, recursive: boolean, ...retries }))]],
  copyFile: [
    ['dest', (path) => path],
    ['mode', accessMode],
  ],
  cp: [
    ['dest', (path) => path],
    [
      'options',
      optional(
        fields({
          ...{ dereference: unavailable, errorOnExist: boolean, force: boolean, preserveTimestamps: boolean },
          ...{ recursive: boolean, verbatimSymlinks: boolean, filter: callback, mode: accessMode },
        }),
      ),
    ],
  ],
  open: [
    ['flags', (flags) => flags ?? undefined],
    ['mode', nullable(bits)],
  ],
  chmod: [['mode', bits]],
  utimes: [
    ['atime', time],
    ['mtime', time],
  ],
  lutimes: [
    ['atime', time],
    ['mtime', time],
  ],
  chown: [
    ['uid', integer(-1, 0xffff_ffff)],
    ['gid', integer(-1, 0xffff_ffff)],
  ],
  lchown: [
    ['uid', integer(-1, 0xffff_ffff)],
    ['gid', integer(-1, 0xffff_ffff)],
  ],
}

/** Returns a name in the encoding that options ask for. */
function nameIn(options: EncodingOption, name: string): unknown {
  const asked = typeof options === 'string' ? options : options?.encoding
  const encoding = encodingOf(options)
  if (asked !== 'buffer' && (encoding === undefined || encoding === 'utf8')) return name
  return decoded(new TextEncoder().encode(name), encoding)
}

function entryIn(options: EncodingOption, entry: string | Dirent): unknown {
  if (!(entry instanceof Dirent)) return nameIn(options, entry)
  return Object.assign(entry, { name: nameIn(options, entry.name) })
}

/** Returns metadata with numbers as `bigint`, as `BigIntStats` of Node. */
function withBigInts(stats: object): object {
  for (const [name, value] of Object.entries(stats)) {
    const number = BigInt(Math.round(value as number))
    Object.assign(stats, { [name]: number })
    if (!name.endsWith('timeMs')) continue
    Object.assign(stats, { [name.replace(/Ms$/, 'Ns')]: number * 1_000_000n })
    Object.defineProperty(stats, name.slice(0, -2), { value: new Date(Number(number)) })
  }
  return stats
}

const named = (name: unknown, [, options]: readonly unknown[]) => nameIn(options as EncodingOption, name as string)
const stats = (found: unknown, [, options]: readonly unknown[]) =>
  (options as { bigint?: boolean } | undefined)?.bigint ? withBigInts(found as object) : found

/** The form that options give to results, by the name of the function. */
const results: Readonly<Record<string, (result: unknown, args: readonly unknown[]) => unknown>> = {
  ...{ readlink: named, realpath: named, stat: stats, lstat: stats },
  readdir: (entries, [, options]) =>
    (entries as (string | Dirent)[]).map((entry) => entryIn(options as EncodingOption, entry)),
  mkdtemp: named,
}

/** Returns the functions with their arguments checked, and results in the form that their options ask for. */
export function withChecks<F extends object>(functions: F): F {
  const checked = Object.entries(functions).map(([name, act]) => {
    const table = checks[name] ?? []
    const toResult = results[name]
    const run = async (path: unknown, ...args: unknown[]) => {
      const given = [path, ...table.map(([arg, check], at) => check(args[at], arg)), ...args.slice(table.length)]
      const result: unknown = await act(...given)
      return toResult === undefined ? result : toResult(result, given)
    }
    return [name, name === 'watch' ? act : run]
  })
  return Object.fromEntries(checked) as F
}
