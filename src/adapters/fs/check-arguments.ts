import { type EncodingOption, encodingOf, nameIn } from './encoding.ts'
import { argumentError, rangeError, valueError } from './errors.ts'
import { FileHandle } from './file-handle.ts'
import { readFlag } from './flags.ts'
import { type FsPath, locate } from './paths.ts'
import { Dirent, type Stats, statsAs } from './stats.ts'

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
const owner = integer(-1, 0xffff_ffff)
const size = integer(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)
const accessMode = nullable(integer(0, 7))

/** Permission bits: a number, or a text with an octal one. */
function bits(value: unknown, name: string): unknown {
  if (typeof value !== 'string') return unsigned(value, name)
  if (!/^[0-7]+$/.test(value)) throw valueError('mode', value, 'must be a 32-bit unsigned integer or an octal string')
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

function path(value: unknown, name: string): unknown {
  locate(value as FsPath, name)
  return value
}

function pathOrHandle(value: unknown, name: string): unknown {
  return value instanceof FileHandle ? value : path(value, name)
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

const copyFields = fields({
  ...{ dereference: boolean, errorOnExist: boolean, force: boolean, preserveTimestamps: boolean },
  ...{ recursive: boolean, verbatimSymlinks: boolean, filter: callback, mode: accessMode },
})

function copyOptions(value: unknown, name: string): unknown {
  const checked = copyFields(value, name) as { readonly dereference?: boolean; readonly verbatimSymlinks?: boolean }
  if (!checked.dereference || !checked.verbatimSymlinks) return checked
  const message = 'Option "dereference" cannot be used in combination with option "verbatimSymlinks"'
  throw Object.assign(new TypeError(message), { code: 'ERR_INCOMPATIBLE_OPTION_PAIR' })
}

/** Times that `utimes` takes. */
const times = [
  ['atime', time],
  ['mtime', time],
] as const
const owners = [
  ['uid', owner],
  ['gid', owner],
] as const
const data = ['data', (value: unknown) => value] as const

/** The check of each argument, by the name of the function. */
const checks: Readonly<Record<string, readonly (readonly [name: string, check: Check])[]>> = {
  readFile: [
    ['path', pathOrHandle],
    ['options', textOptions({ flag: readFlag, signal })],
  ],
  writeFile: [['path', pathOrHandle], data, ['options', write]],
  appendFile: [['path', pathOrHandle], data, ['options', write]],
  access: [
    ['path', path],
    ['mode', accessMode],
  ],
  readlink: [
    ['path', path],
    ['options', textOptions()],
  ],
  realpath: [
    ['path', path],
    ['options', textOptions()],
  ],
  readdir: [
    ['path', path],
    ['options', textOptions({ recursive: nullable(boolean) })],
  ],
  opendir: [
    ['path', path],
    ['options', textOptions({ recursive: nullable(boolean), bufferSize: unsigned })],
  ],
  mkdtemp: [
    ['prefix', path],
    ['options', textOptions()],
  ],
  truncate: [
    ['path', path],
    ['len', optional(size)],
  ],
  symlink: [
    ['target', path],
    ['path', path],
    ['type', linkType],
  ],
  link: [
    ['existingPath', path],
    ['newPath', path],
  ],
  rename: [
    ['oldPath', path],
    ['newPath', path],
  ],
  mkdir: [
    ['path', path],
    ['options', mkdirOptions],
  ],
  rmdir: [
    ['path', path],
    ['options', optional(fields({ recursive: boolean, ...retries }))],
  ],
  rm: [
    ['path', path],
    ['options', optional(fields({ force: boolean, recursive: boolean, ...retries }))],
  ],
  copyFile: [
    ['src', path],
    ['dest', path],
    ['mode', accessMode],
  ],
  cp: [
    ['src', path],
    ['dest', path],
    ['options', optional(copyOptions)],
  ],
  open: [
    ['path', path],
    ['flags', (flags) => flags ?? undefined],
    ['mode', nullable(bits)],
  ],
  chmod: [
    ['path', path],
    ['mode', bits],
  ],
  utimes: [['path', path], ...times],
  lutimes: [['path', path], ...times],
  chown: [['path', path], ...owners],
  lchown: [['path', path], ...owners],
  // Functions of open files, behind the number.
  fchmod: [['mode', bits]],
  fchown: owners,
  futimes: times,
  ftruncate: [['len', optional(size)]],
}

/** Checks the arguments of a function, and returns them in the form that it takes. */
export function checkArguments(name: string, args: readonly unknown[]): readonly unknown[] {
  const table = checks[name] ?? [['path', path]]
  return [...table.map(([arg, check], at) => check(args[at], arg)), ...args.slice(table.length)]
}

function entryIn(options: EncodingOption, entry: string | Dirent): unknown {
  if (!(entry instanceof Dirent)) return nameIn(options, entry)
  return Object.assign(entry, { name: nameIn(options, entry.name) })
}

const named = (name: unknown, [, options]: readonly unknown[]) => nameIn(options as EncodingOption, name as string)
const stats = (found: unknown, [, options]: readonly unknown[]) =>
  statsAs(options as { bigint?: boolean } | undefined, found as Stats)

/** The form that options give to results, by the name of the function. */
const results: Readonly<Record<string, (result: unknown, args: readonly unknown[]) => unknown>> = {
  ...{ readlink: named, realpath: named, stat: stats, lstat: stats },
  readdir: (entries, [, options]) =>
    (entries as (string | Dirent)[]).map((entry) => entryIn(options as EncodingOption, entry)),
  mkdtemp: named,
}

/** A function whose arguments are checked first, at once. */
export interface CheckedFunction {
  /** @throws TypeError or RangeError, with the codes of Node */
  check(args: readonly unknown[]): readonly unknown[]
  /** Runs with arguments that were checked. The result has the form that its options ask for. */
  run(args: readonly unknown[]): Promise<unknown>
}

/** Returns functions with the checks of their arguments. */
export function withChecks(functions: object): Readonly<Record<string, CheckedFunction>> {
  const checked = Object.entries(functions).map(([name, act]) => {
    const toResult = results[name]
    const run = async (args: readonly unknown[]) => {
      const result: unknown = await act(...args)
      return toResult === undefined ? result : toResult(result, args)
    }
    return [name, { run, check: (args: readonly unknown[]) => checkArguments(name, args) }]
  })
  return Object.fromEntries(checked)
}
