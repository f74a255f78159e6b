import type { Command, ExecResult, ResolvedCommandContext } from 'just-bash'
import { bytesOfText, textOfBytes } from './byte-encoding.ts'
import { type Flags, parseFlags } from './flags.ts'
import { resolvePath } from './virtual-paths.ts'

/** Maximum length of the arguments of one call, as that of GNU. */
const MAX_LENGTH = 131_072

/** `xargs`, as that of GNU. Calls run one after the other. */
export function xargsCommand(): Command {
  return {
    name: 'xargs',
    async execute(args, context) {
      const { options, command } = splitCommand(args)
      const flags = parseFlags(options, table)
      if (flags === undefined)
        return fail('an option is not available in this shell; use -0, -d, -I, -n, -L, -r, -t and -a')
      const call = await parseCall(flags, context)
      if (typeof call === 'string') return fail(call)
      const lines = argumentLists(call, command.length === 0 ? ['echo'] : command)
      return typeof lines === 'string' ? fail(lines) : runAll(lines, flags.count('trace') > 0, context)
    },
  }
}

const table = {
  plain: {
    '-0': 'null',
    '--null': 'null',
    '-r': 'nonEmpty',
    '--no-run-if-empty': 'nonEmpty',
    '-t': 'trace',
    '--verbose': 'trace',
    '-x': 'ignored',
    '--exit': 'ignored',
  },
  valued: {
    '-I': 'replace',
    '--replace': 'replace',
    '-d': 'delimiter',
    '--delimiter': 'delimiter',
    '-n': 'count',
    '--max-args': 'count',
    '-L': 'lines',
    '--max-lines': 'lines',
    '-a': 'file',
    '--arg-file': 'file',
    '-P': 'ignored',
    '--max-procs': 'ignored',
    '-s': 'ignored',
    '--max-chars': 'ignored',
  },
} as const

/** Splits the options from the command, which is the first operand. */
function splitCommand(args: readonly string[]): { options: string[]; command: string[] } {
  const options: string[] = []
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] as string
    if (arg === '--') return { options, command: args.slice(i + 1) }
    if (arg === '-i' || arg === '--replace') options.push('-I{}')
    else if (/^-i./.test(arg)) options.push(`-I${arg.slice(2)}`)
    else if (!/^-./.test(arg)) return { options, command: args.slice(i) }
    else {
      options.push(arg)
      const isLong = arg.startsWith('--')
      const last = isLong ? arg : `-${arg.at(-1)}`
      const isAttached = isLong ? arg.includes('=') : /^-[0rtx]*[IdnLaPs]./.test(arg)
      if (!isAttached && Object.hasOwn(table.valued, last) && i + 1 < args.length) options.push(args[++i] as string)
    }
  }
  return { options, command: [] }
}

interface XargsCall {
  /** The input, one list of items per line; one list alone if lines have no meaning. */
  readonly lines: readonly (readonly string[])[]
  readonly replaced: string | undefined
  /** Maximum number of items of one call. */
  readonly count: number
  /** Number of lines of one call. */
  readonly linesPerCall: number
  readonly runsEmpty: boolean
}

/** Returns a reason if the call is wrong. */
async function parseCall(flags: Flags, { cwd, fs, stdin }: ResolvedCommandContext): Promise<XargsCall | string> {
  const file = flags.values('file').at(-1)
  const replaced = flags.values('replace').at(-1)
  if (replaced === '') return 'the text to replace is empty'
  const [count, linesPerCall] = (['count', 'lines'] as const).map((name) => {
    const value = flags.values(name).at(-1)
    return value === undefined ? Number.POSITIVE_INFINITY : /^[1-9]\d*$/.test(value) ? Number(value) : undefined
  })
  if (count === undefined || linesPerCall === undefined) return 'a number is not valid: it has to be 1 or more'
  let input = textOfBytes(bytesOfText(String(stdin), 'binary'), 'utf8')
  if (file !== undefined) {
    const text = await fs.readFile(resolvePath(cwd, file)).catch(() => undefined)
    if (text === undefined) return `Cannot open input file '${file}'`
    input = text
  }
  const delimiter = flags.count('null') > 0 ? '\0' : flags.values('delimiter').at(-1)
  const isPerLine = replaced !== undefined || linesPerCall !== Number.POSITIVE_INFINITY
  const lines = delimiter === undefined ? readItems(input, replaced !== undefined) : readDelimited(input, delimiter)
  if (typeof lines === 'string') return lines
  return {
    lines: isPerLine ? lines : [lines.flat()],
    replaced,
    count: count,
    linesPerCall: linesPerCall,
    runsEmpty: flags.count('nonEmpty') === 0 && replaced === undefined,
  }
}

/** Each item is a line of its own. An empty one counts. */
function readDelimited(input: string, delimiter: string): string[][] | string {
  const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '0': '\0', '\\': '\\' }
  const char = delimiter.replace(/^\\([ntr0\\])$/, (_, letter: string) => escapes[letter] as string)
  if ([...char].length !== 1) return `the delimiter "${delimiter}" is not one character`
  const items = input.split(char)
  if (items.at(-1) === '') items.pop()
  return items.map((item) => [item])
}

/** Reads items separated by blanks, with quotes and backslashes. With `whole`, a line is one item. */
function readItems(input: string, whole: boolean): string[][] | string {
  const lines: string[][] = []
  let items: string[] = []
  const token = /'([^'\n]*)'|"([^"\n]*)"|\\([\s\S])|(\n)|([ \t]+)|(['"])|([^'"\\\n \t]+|\\)/g
  let item: string | undefined
  let isContinued = false
  const endItem = () => {
    if (item !== undefined) items.push(item)
    item = undefined
  }
  for (const match of `${input}\n`.matchAll(token)) {
    const [, single, double, escaped, newline, blanks, open, plain] = match
    if (open !== undefined)
      return `unmatched ${open === "'" ? 'single' : 'double'} quote; use -0 or -d '\\n' for such items`
    if (newline !== undefined) {
      endItem()
      // A blank at the end of a line continues it, for -L.
      if (!(isContinued && !whole) && items.length > 0) {
        lines.push(items)
        items = []
      }
    } else if (blanks !== undefined && !whole) endItem()
    else if (blanks === undefined || item !== undefined) {
      item = (item ?? '') + (single ?? double ?? escaped ?? blanks ?? plain ?? '')
    }
    if (newline === undefined) isContinued = blanks !== undefined && (items.length > 0 || item !== undefined)
  }
  if (items.length > 0) lines.push(items)
  return lines
}

/** Returns the words of each call, or a reason why there are none. */
function argumentLists(call: XargsCall, command: readonly string[]): string[][] | string {
  const { lines, replaced, count, linesPerCall } = call
  if (replaced !== undefined) {
    return lines.map(([item = '']) =>
      command.map((word, index) => (index === 0 ? word : word.replaceAll(replaced, item))),
    )
  }
  const base = command.reduce((sum, word) => sum + word.length + 1, 0)
  const calls: string[][] = []
  for (let start = 0; start < lines.length; start += Math.min(linesPerCall, lines.length)) {
    const items = lines.slice(start, start + linesPerCall).flat()
    let current: string[] = []
    let length = base
    for (const item of items) {
      if (base + item.length > MAX_LENGTH) return 'an argument is too long'
      if (current.length >= count || length + item.length + 1 > MAX_LENGTH) {
        calls.push([...command, ...current])
        current = []
        length = base
      }
      current.push(item)
      length += item.length + 1
    }
    if (current.length > 0) calls.push([...command, ...current])
  }
  return calls.length === 0 && call.runsEmpty ? [[...command]] : calls
}

/** Runs the calls in order. Stops as GNU does: at an exit code of 255, and if the command does not exist. */
async function runAll(
  calls: readonly (readonly string[])[],
  traces: boolean,
  { cwd, exec, signal }: ResolvedCommandContext,
): Promise<ExecResult> {
  let [stdout, stderr, exitCode] = ['', '', 0]
  for (const [name = '', ...args] of calls) {
    if (traces) stderr += `${[name, ...args].join(' ')}\n`
    const result = await exec?.(quoteWord(name), { cwd, args, ...(signal === undefined ? {} : { signal }) })
    if (result === undefined) break
    const isBytes = result.stdoutKind === 'bytes' || result.stdoutEncoding === 'binary'
    stdout += isBytes ? result.stdout : textOfBytes(bytesOfText(result.stdout, 'utf8'), 'binary')
    stderr += result.stderr
    if (result.exitCode === 255)
      return {
        stdout,
        stderr: `${stderr}xargs: ${name}: exited with status 255; aborting\n`,
        exitCode: 124,
        stdoutKind: 'bytes',
      }
    if (result.exitCode === 126 || result.exitCode === 127)
      return { stdout, stderr, exitCode: result.exitCode, stdoutKind: 'bytes' }
    if (result.exitCode !== 0) exitCode = 123
  }
  return { stdout, stderr, exitCode, stdoutKind: 'bytes' }
}

function quoteWord(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}

function fail(reason: string): ExecResult {
  return { stdout: '', stderr: `xargs: ${reason}\n`, exitCode: 1 }
}
