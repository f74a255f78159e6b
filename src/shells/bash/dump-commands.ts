import type { Command, ResolvedCommandContext } from 'just-bash'
import { concatBytes } from '../../util/bytes.ts'
import { fromByteText } from '../../util/native-bytes.ts'
import { parseFlags } from './flags.ts'
import { resolvePath } from './virtual-paths.ts'

/** Maximum number of bytes that one call shows. The output is about four times as long. */
const MAX_BYTES = 4 * 1024 * 1024

/** `xxd`, `hexdump` and `hd`: show the bytes of binary files. They write no files. */
export function dumpCommands(): Command[] {
  return [
    dumpCommand('xxd', xxd),
    dumpCommand('hexdump', hexdump),
    dumpCommand('hd', (args) => hexdump(['-C', ...args])),
  ]
}

/** A parsed call. */
interface Dump {
  readonly operands: readonly string[]
  /** Bytes to skip. */
  readonly start: number
  readonly maxBytes: number | undefined
  format(bytes: Uint8Array, start: number): string
}

function dumpCommand(name: string, parse: (args: readonly string[]) => Dump | string): Command {
  const fail = (reason: string) => ({ stdout: '', stderr: `${name}: ${reason}\n`, exitCode: 1 })
  return {
    name,
    async execute(args, context) {
      const dump = parse(args)
      if (typeof dump === 'string') return fail(dump)
      let bytes: Uint8Array
      try {
        bytes = await read(dump.operands, context)
      } catch (error) {
        return fail(error instanceof Error ? error.message : String(error))
      }
      const length = Math.min(Math.max(0, bytes.length - dump.start), dump.maxBytes ?? Number.POSITIVE_INFINITY)
      if (length > MAX_BYTES) return fail(`more than ${MAX_BYTES} bytes: pass an offset and a length`)
      return {
        stdout: dump.format(bytes.subarray(dump.start, dump.start + length), dump.start),
        stderr: '',
        exitCode: 0,
      }
    },
  }
}

/** Reads the files one after the other, or the input. */
async function read(operands: readonly string[], { fs, cwd, stdin }: ResolvedCommandContext): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  for (const name of operands.length === 0 ? ['-'] : operands) {
    parts.push(name === '-' ? fromByteText(String(stdin)) : await fs.readFileBuffer(resolvePath(cwd, name)))
  }
  const [first] = parts
  return first !== undefined && parts.length === 1 ? first : concatBytes(parts)
}

/** Long spellings of xxd's flags, which begin with one dash. */
const xxdFlags: Readonly<Record<string, string>> = {
  ...{ '-ps': '-p', '-plain': '-p', '-postscript': '-p', '-uppercase': '-u', '-len': '-l', '-seek': '-s' },
  ...{ '-cols': '-c', '-groupsize': '-g' },
}

function xxd(args: readonly string[]): Dump | string {
  const shortArgs = args.map((arg) => (Object.hasOwn(xxdFlags, arg) ? (xxdFlags[arg] as string) : arg))
  const flags = parseFlags(shortArgs, {
    plain: { '-p': 'plain', '-u': 'upper' },
    valued: { '-l': 'length', '-s': 'start', '-c': 'columns', '-g': 'group' },
  })
  if (flags === undefined) return 'an option of it is not available in this shell; use -l, -s, -c, -g, -p, -u'
  if (flags.operands.length > 1) return 'one file only; the result goes to the output'
  const isPlain = flags.count('plain') > 0
  const upper = flags.count('upper') > 0
  const start = numberOf(flags.values('start').at(-1)?.replace(/^\+/, '') ?? '0')
  const maxBytes = optionalNumber(flags.values('length').at(-1))
  const columns = numberOf(flags.values('columns').at(-1) ?? (isPlain ? '30' : '16'))
  const group = numberOf(flags.values('group').at(-1) ?? '2')
  if ([start, maxBytes, columns, group].some((number) => Number.isNaN(number))) return 'a number of it is not valid'
  if (columns < 1 || columns > 256) return 'the number of columns is 1 to 256'
  const digits = (byte: number) => (upper ? hex(byte, 2).toUpperCase() : hex(byte, 2))
  const format = isPlain
    ? (bytes: Uint8Array) => rows(bytes, columns, (row) => Array.from(row, digits).join(''))
    : (bytes: Uint8Array, offset: number) => {
        const width = columns * 2 + Math.ceil(columns / (group || columns))
        return rows(bytes, columns, (row, at) => {
          const columns = Array.from(
            row,
            (byte, i) => `${i > 0 && group > 0 && i % group === 0 ? ' ' : ''}${digits(byte)}`,
          )
          return `${hex(offset + at, 8)}: ${columns.join('').padEnd(width)} ${printable(row)}`
        })
      }
  return { operands: flags.operands, start, maxBytes, format }
}

function hexdump(args: readonly string[]): Dump | string {
  const flags = parseFlags(args, {
    plain: { '-C': 'canonical', '--canonical': 'canonical', '-v': 'all', '--no-squeezing': 'all', '-x': 'words' },
    valued: { '-n': 'length', '--length': 'length', '-s': 'start', '--skip': 'start' },
  })
  if (flags === undefined) return 'an option of it is not available in this shell; use -C, -x, -n, -s, -v'
  const start = numberOf(flags.values('start').at(-1) ?? '0')
  const maxBytes = optionalNumber(flags.values('length').at(-1))
  if (Number.isNaN(start) || Number.isNaN(maxBytes)) return 'a number of it is not valid'
  const isCanonical = flags.count('canonical') > 0
  const gap = flags.count('words') > 0 ? '    ' : ' '
  const row = isCanonical ? canonicalRow : (bytes: Uint8Array) => wordsRow(bytes, gap)
  const format = (bytes: Uint8Array, offset: number) =>
    dumpRows(bytes, offset, isCanonical ? 8 : 7, flags.count('all') > 0, row)
  return { operands: flags.operands, start, maxBytes, format }
}

/** Formats rows of 16 bytes with their offsets; equal rows become one `*`. */
function dumpRows(
  bytes: Uint8Array,
  offset: number,
  width: number,
  isComplete: boolean,
  format: (row: Uint8Array) => string,
): string {
  const lines: string[] = []
  let last = ''
  for (let at = 0; at < bytes.length; at += 16) {
    const row = bytes.subarray(at, at + 16)
    const text = format(row)
    const isRepeated = !isComplete && row.length === 16 && text === last
    if (!isRepeated) lines.push(hex(offset + at, width) + text)
    else if (lines.at(-1) !== '*') lines.push('*')
    last = text
  }
  if (bytes.length > 0) lines.push(hex(offset + bytes.length, width))
  return lines.map((line) => `${line}\n`).join('')
}

function canonicalRow(row: Uint8Array): string {
  const columns = Array.from(row, (byte, i) => `${i === 8 ? '  ' : ' '}${hex(byte, 2)}`).join('')
  return `  ${columns.slice(1).padEnd(48)}  |${printable(row)}|`
}

/** Two bytes at a time, in the order of a little-endian machine. */
function wordsRow(row: Uint8Array, gap: string): string {
  const words = Array.from({ length: 8 }, (_, i) => {
    const low = row[i * 2]
    return low === undefined ? ' '.repeat(gap.length + 4) : `${gap}${hex(((row[i * 2 + 1] ?? 0) << 8) | low, 4)}`
  })
  return words.join('')
}

function rows(bytes: Uint8Array, columns: number, format: (row: Uint8Array, at: number) => string): string {
  const lines: string[] = []
  for (let at = 0; at < bytes.length; at += columns) lines.push(`${format(bytes.subarray(at, at + columns), at)}\n`)
  return lines.join('')
}

function printable(row: Uint8Array): string {
  return Array.from(row, (byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('')
}

function hex(value: number, width: number): string {
  return value.toString(16).padStart(width, '0')
}

/** Parses a decimal, hexadecimal (`0x10`) or octal (`010`) number. Returns `NaN` for other texts. */
function numberOf(text: string): number {
  if (/^0[0-7]+$/.test(text)) return Number.parseInt(text, 8)
  return /^(?:\d{1,15}|0x[0-9a-f]{1,12})$/i.test(text) ? Number(text) : Number.NaN
}

function optionalNumber(text: string | undefined): number | undefined {
  return text === undefined ? undefined : numberOf(text)
}
