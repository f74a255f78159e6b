import type { WorkspaceOptions } from 'wardspace'
import type { LineParts } from 'wardspace/ui'

type Shell = NonNullable<WorkspaceOptions['shell']>
type ShellCommand = Parameters<Shell['run']>[0]
type ShellOutcome = Awaited<ReturnType<Shell['run']>>

/** Receives the output of a line while it runs. */
type LineOutput = LineParts['onOutput']

/** A line of the person that is about to run. */
interface PersonLine {
  /** The time limit to run the line with. It is unique, and the shell knows the line by it. */
  readonly timeoutMs: number
  end(): void
}

/** The person's lines in a shell, with their output as it comes. */
export interface ShellLines {
  /** Announces a line of the person. It runs with the variables and functions of the person's earlier lines. */
  begin(line: string, parts: LineParts): PersonLine
}

interface ActiveLine {
  readonly line: string
  readonly parts: LineParts
  /** What the person has entered so far. A line that runs again reads it again. */
  readonly entered: ReturnType<LineParts['readInput']>[]
  /** What earlier runs of the line have shown, by stream. It runs again after an approval, and under another policy. */
  readonly shown: Record<'stdout' | 'stderr', string>
}

const MIN_TIMEOUT_MS = 300_000
const MAX_TIMEOUT_MS = 600_000

/** What a session of bash sets by itself. */
const ownNames =
  /^declare -\S+ (?:BASH\w*|SHELLOPTS|PWD|OLDPWD|HOSTNAME|HOSTTYPE|MACHTYPE|OSTYPE|OPTIND|UID|EUID|PPID|RANDOM|SECONDS|LINENO|_|SHLVL|PIPESTATUS|DIRSTACK|FUNCNAME|GROUPS)(?:=|$)/

/** Lines after which the state cannot be printed: their output goes elsewhere, or their text ends in a document. */
const withoutState = /\bexec\b|<<(?!<)/

/** A definition of functions on lines of their own. bash() does not print their bodies, so the text is kept. */
const functionName = /^\s*(?:function\s+([\w.-]+)(?:\s*\(\s*\))?|([\w.-]+)\s*\(\s*\))\s*\{[\s\S]*\}\s*(?:;\s*)?$/

/** Follows the lines of shells over the same files, and keeps the state of the person's bash from line to line. */
export class TerminalShell implements ShellLines {
  readonly #lines = new Map<number, ActiveLine>()
  readonly #functions = new Map<string, string>()
  #variables: readonly string[] = []
  /** The directory before the last one, for `cd -`. */
  #oldDirectory: string | undefined

  begin(line: string, parts: LineParts): PersonLine {
    let timeoutMs: number
    do {
      const [random = 0] = crypto.getRandomValues(new Uint32Array(1))
      timeoutMs = MIN_TIMEOUT_MS + (random % (MAX_TIMEOUT_MS - MIN_TIMEOUT_MS))
    } while (this.#lines.has(timeoutMs))
    const active: ActiveLine = { line, parts, entered: [], shown: { stdout: '', stderr: '' } }
    this.#lines.set(timeoutMs, active)
    return {
      timeoutMs,
      end: () => {
        this.#lines.delete(timeoutMs)
      },
    }
  }

  /** Returns the shell with its lines followed. @param keepsState whether the person's lines run in bash */
  follow<S extends Shell>(shell: S, keepsState: boolean): S {
    return {
      ...shell,
      run: async (command: ShellCommand) => {
        const active = this.#lines.get(command.timeoutMs)
        if (active === undefined || active.line !== command.line) return shell.run(command)
        const onOutput = showOnce(active)
        const tee: ShellCommand['onOutput'] = (stream, text) => {
          command.onOutput?.(stream, text)
          onOutput(stream, text)
        }
        const run = { ...command, readInput: readAgain(active), onOutput: tee }
        return keepsState ? this.#runPersons(shell, run, active.parts) : shell.run(run)
      },
    }
  }

  async #runPersons(
    shell: Shell,
    command: ShellCommand,
    { history, exitCode }: Pick<LineParts, 'history' | 'exitCode'>,
  ): Promise<ShellOutcome> {
    const { line, onOutput } = command
    // Rules on commands would apply to what keeps the state.
    if (command.startedBy !== undefined) return shell.run(command)
    const preamble = [
      ...this.#functions.values(),
      ...this.#variables,
      ...(/\bhistory\b/.test(line) ? [historyFunction(history)] : []),
      ...(exitCode === 0 ? [] : [`(exit ${exitCode})`]),
    ]
    const marker = `\x1e${crypto.randomUUID()}`
    const end = `\n__exit=$?\nprintf '${marker}%s\\n' "$__exit"\nunset __exit\ndeclare -p`
    const outcome = await shell.run({
      ...command,
      env: { ...command.env, ...(this.#oldDirectory === undefined ? {} : { OLDPWD: this.#oldDirectory }) },
      line: `${preamble.map((part) => `${part}\n`).join('')}${line}${withoutState.test(line) ? '' : end}`,
      onOutput: beforeMarker(marker, onOutput),
    })
    return this.#keep(line, marker, outcome)
  }

  /** Keeps the state that a line printed at its end, and returns the outcome of the line alone. */
  #keep(line: string, marker: string, outcome: ShellOutcome): ShellOutcome {
    const [, inFunction, plain] = functionName.exec(line) ?? []
    const name = inFunction ?? plain
    const at = outcome.stdout.lastIndexOf(marker)
    if (name !== undefined && outcome.stderr === '') this.#functions.set(name, line.trim().replace(/;$/, ''))
    if (at === -1) return outcome
    const [code = '', ...declarations] = outcome.stdout.slice(at + marker.length).split('\n')
    const [, old] = /^declare -\S+ OLDPWD="(.*)"$/m.exec(declarations.join('\n')) ?? []
    this.#oldDirectory = old?.replace(/\\(.)/g, '$1')
    // An assignment keeps the spaces of elements, which just-bash splits in a declaration.
    this.#variables = declarations
      .filter((text) => /^declare -\S+ [A-Za-z_]\w*(?:=|$)/.test(text) && !ownNames.test(text))
      .map((text) => text.replace(/^declare -a (?=\w+=)/, ''))
    return { ...outcome, stdout: outcome.stdout.slice(0, at), exitCode: Number(code) }
  }
}

/** Reads what the person enters, from the beginning when the line runs again. */
function readAgain({ parts, entered }: ActiveLine): LineParts['readInput'] {
  let at = 0
  return (options) => {
    entered[at] ??= parts.readInput(options)
    at += 1
    return entered[at - 1] as ReturnType<LineParts['readInput']>
  }
}

/** Defines `history`, which lists the lines that the person has entered. */
function historyFunction(lines: readonly string[]): string {
  const rows = lines.map((line, at) => `'${`${String(at + 1).padStart(5)}  ${line}`.replaceAll("'", "'\\''")}'`)
  return `history() { printf '%s\\n' ${rows.join(' ')} | tail -n "\${1:-${rows.length}}"; }`
}

/** Shows what a line prints, without what it repeats when it runs again. */
function showOnce({ shown, parts: { onOutput } }: ActiveLine): LineOutput {
  const repeated = { ...shown }
  return (stream, text) => {
    let length = 0
    while (length < text.length && text[length] === repeated[stream][length] && length < repeated[stream].length) {
      length += 1
    }
    repeated[stream] = length === text.length ? repeated[stream].slice(length) : ''
    const rest = text.slice(length)
    if (rest === '') return
    // The start is enough to recognize a repetition.
    if (shown[stream].length < 1_000_000) shown[stream] += rest
    onOutput(stream, rest)
  }
}

/** Passes the output on up to a marker, which may arrive in pieces. */
function beforeMarker(marker: string, onOutput: LineOutput | undefined): LineOutput {
  let held = ''
  let isOver = false
  return (stream, text) => {
    if (stream === 'stderr') return onOutput?.(stream, text)
    if (isOver) return
    held += text
    let at = held.indexOf(marker)
    if (at !== -1) isOver = true
    else {
      at = held.lastIndexOf(marker.charAt(0))
      if (at === -1 || !marker.startsWith(held.slice(at))) at = held.length
    }
    if (at > 0) onOutput?.(stream, held.slice(0, at))
    held = held.slice(at)
  }
}
