import type { Bash, ExecResult } from 'just-bash'
import type { ReadInput } from '../types.ts'
import { bytesOfText, textOfBytes } from './byte-encoding.ts'
import type { LiveOutput, OutputListener } from './live-output.ts'

/** The standard input of a line whose commands ask a person. It stands for a text that is not entered yet; no command reads it. */
export const PERSON_INPUT = `\0${Math.random()}`

/** Texts that a person enters for the commands of a line, as just-bash carries them: one character per byte. */
export interface PersonInput {
  /** Returns the rest of what was entered, or asks for more. `undefined` at the end of the input. */
  next(options?: { readonly isHidden?: boolean }): Promise<string | undefined>
  /** Keeps a text that was entered and not read. */
  keep(text: string): void
}

export function createPersonInput(read: ReadInput): PersonInput {
  let rest = ''
  let pending: Promise<string | undefined> | undefined
  return {
    async next(options) {
      if (rest !== '') {
        const text = rest
        rest = ''
        return text
      }
      // A script may have ended while it waited. What is entered then is for the next command.
      pending ??= read(options).finally(() => {
        pending = undefined
      })
      const text = await pending
      return text && textOfBytes(bytesOfText(text, 'utf8'), 'latin1')
    },
    keep(text) {
      rest = text + rest
    },
  }
}

/** Returns what the person has entered as text, to be sent to another thread. */
export function enteredText(bytes: string | undefined): string | undefined {
  return bytes && textOfBytes(bytesOfText(bytes, 'latin1'), 'utf8')
}

interface LineInput {
  readonly input: PersonInput
  readonly live: LiveOutput | undefined
}

/** The inputs of the shells that run, by the registries of their commands. */
const inputs = new WeakMap<object, LineInput>()

/** Makes the commands of a shell read what a person enters, where they would read {@link PERSON_INPUT}. */
export function givePersonInput(shell: Bash, line: LineInput): void {
  inputs.set((shell as unknown as { readonly commands: object }).commands, line)
}

/** The parts of the interpreter's context that are used here. */
interface Context {
  readonly commands: object
  readonly state: { groupStdin?: string | undefined; readonly functions: ReadonlyMap<string, unknown> }
}

/** Runs a command, with other arguments after its own. */
type Run = (rest: readonly unknown[]) => Promise<ExecResult>

/** Commands that pass their input on to what they run, or ask for it themselves. */
const PASSING: ReadonlySet<string> = new Set(
  '. source eval exec command builtin bash sh node npm env timeout time trap:begin'.split(' '),
)

function passesInput(name: string, args: readonly string[]): boolean {
  const isShell = name === 'bash' || name === 'sh'
  return (
    (PASSING.has(name) && !(isShell && args.length === 0)) || (name.includes('/') && !/^(?:\/usr)?\/bin\//.test(name))
  )
}

/** Runs a command with what a person enters, if it reads that. */
export async function withPersonInput(
  { commands, state }: Context,
  [name, ...args]: readonly [string, ...string[]],
  rest: readonly unknown[],
  run: Run,
): Promise<ExecResult> {
  const line = inputs.get(commands)
  const [elements, stdin, skipsFunctions, , , isOwn] = rest
  if (line === undefined || (stdin !== PERSON_INPUT && (stdin !== '' || state.groupStdin !== PERSON_INPUT)))
    return run(rest)
  const isPersons = stdin === PERSON_INPUT || isOwn !== true
  const isFunction = skipsFunctions !== true && state.functions.has(name)
  if (isPersons && (isFunction || passesInput(name, args))) return run(rest)
  const before = state.groupStdin
  try {
    if (!isPersons) {
      // An empty file or pipe: the command would read the input of the line instead.
      state.groupStdin = undefined
      return await run(rest)
    }
    if (name === 'read') return await runRead(line, args, state, () => run([elements, '', ...rest.slice(2)]))
    state.groupStdin = undefined
    const text = readsToEnd(name, args) ? await readAll(line, name, args) : ''
    return await run([elements, text, ...rest.slice(2)])
  } finally {
    state.groupStdin = before
  }
}

/** Runs `read` with what it reads: a line, or the text up to its delimiter or its number of characters. */
async function runRead(
  { input, live }: LineInput,
  args: readonly string[],
  state: Context['state'],
  run: () => Promise<ExecResult>,
): Promise<ExecResult> {
  const prompt = optionValue(args, 'p') ?? ''
  if (prompt !== '') live?.writerFor('read')?.('stderr', prompt)
  const isHidden = args.some((arg) => /^-[a-zA-Z]*s/.test(arg))
  const delimiter = optionValue(args, 'd') ?? '\n'
  const count = Number(optionValue(args, 'n') ?? optionValue(args, 'N') ?? Number.POSITIVE_INFINITY)
  let text = ''
  while (!text.includes(delimiter) && text.length < count) {
    const more = await input.next({ isHidden })
    if (more === undefined) break
    text += more
  }
  state.groupStdin = text
  const result = await run()
  input.keep(state.groupStdin ?? '')
  return { ...result, stderr: prompt + result.stderr }
}

/** The value of an option of one letter, as `-p VALUE`, `-pVALUE` or `-rp VALUE`. */
function optionValue(args: readonly string[], letter: string): string | undefined {
  const at = args.findIndex((arg) => new RegExp(`^-[a-zA-Z]*?${letter}`).test(arg))
  const [, inline = ''] = new RegExp(`^-[a-zA-Z]*?${letter}(.*)`, 's').exec(args[at] ?? '') ?? []
  return at === -1 ? undefined : inline || args[at + 1]
}

/** Reads up to the end of the input. `cat` and `tee` print each text as it is entered. */
async function readAll({ input, live }: LineInput, name: string, args: readonly string[]): Promise<string> {
  const isEchoed = name === 'tee' || (name === 'cat' && args.every((arg) => arg === '-'))
  const show: OutputListener | undefined = isEchoed ? live?.writerFor(name) : undefined
  let all = ''
  for (let text = await input.next(); text !== undefined; text = await input.next()) {
    all += text
    show?.('stdout', text)
  }
  return all
}

/** Commands that read their standard input while they have at most so many operands, with their options that take a value. */
const readers: Readonly<Record<string, readonly [operands: number, withValue: string]>> = {
  ...Object.fromEntries(
    'cat tac rev nl uniq wc base64 md5sum sha1sum sha256sum xxd od hexdump bash sh'
      .split(' ')
      .map((name) => [name, [0, '']]),
  ),
  ...{ head: [0, 'nc'], tail: [0, 'nc'], cut: [0, 'bcdf'], sort: [0, 'kto'], fold: [0, 'w'] },
  ...{ grep: [1, 'ABCm'], egrep: [1, 'ABCm'], fgrep: [1, 'ABCm'], sed: [1, ''], awk: [1, 'Fv'], jq: [1, ''] },
  ...{ mapfile: [99, 'dnOstcCu'], readarray: [99, 'dnOstcCu'], tr: [99, ''], tee: [99, ''], xargs: [99, 'In'] },
}

/** Options by which a command needs no operand for its script or pattern. */
const SCRIPT_OPTION = /^(?:-[a-zA-Z]*[ef]|--(?:expression|regexp|file)\b)/

/** Options with which a command reads no input. */
const WITHOUT_INPUT: Readonly<Record<string, RegExp>> = {
  grep: /^(?:-[a-zA-Z]*[rR]|--(?:dereference-)?recursive$)/,
  jq: /^(?:-[a-zA-Z]*n|--null-input$)/,
  awk: /^\s*BEGIN\s*\{[^{}]*\}\s*$/,
}

/** Whether a command reads its standard input to the end, such as `cat` without files. */
function readsToEnd(name: string, args: readonly string[]): boolean {
  if (!Object.hasOwn(readers, name)) return false
  const [most, withValue] = readers[name] as (typeof readers)[string]
  const hasScript = most === 1 && name !== 'jq' && args.some((arg) => SCRIPT_OPTION.test(arg))
  const valued = hasScript ? `${withValue}ef` : withValue
  const takesValue = (arg: string | undefined) =>
    /^-[a-zA-Z]+$/.test(arg ?? '') && valued.includes(arg?.at(-1) as string)
  const operands = args.filter((arg, at) => (arg === '-' || !arg.startsWith('-')) && !takesValue(args[at - 1]))
  const without = WITHOUT_INPUT[name.replace(/^[ef]grep$/, 'grep')]
  return (
    operands.filter((arg) => arg !== '-').length <= (hasScript ? 0 : most) &&
    !args.some((arg) => /^--(?:help|version)$/.test(arg) || without?.test(arg) === true)
  )
}
