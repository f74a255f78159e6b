import type { Success } from '../call/state/call.ts'
import type { Failure } from '../errors.ts'
import { isFunction, isObjectValue, isObjectWith, isText, refuseSurplus } from '../util/check-options.ts'
import { type Controller, ControllerState } from './controller.ts'
import { createPersonCall, type PersonCall, type PersonOptions } from './person-run.ts'
import type { Completion, TerminalFiles } from './terminal-completion.ts'
import { createSafeText, oneLine, red, safeText } from './terminal-text.ts'
import type { Timeline } from './timeline.ts'
import { blockedInWords, headlineOf, type Refusal, refusalInWords } from './words/person-words.ts'

/** A line that ran, or runs. Plain data, so that it can be saved. */
export interface TerminalLine {
  readonly id: number
  /** Who runs it, such as `person` or `agent`. */
  readonly actor: string
  readonly command: string
  readonly cwd: string
  /** Standard output and errors. Of the control sequences, only colours are left. */
  readonly output: string
  /** `undefined` while it runs, and if it did not run. */
  readonly exitCode?: number
  /** What was refused of it, in a person's words. */
  readonly refused: readonly string[]
  /** What there is in place of a command that the shell does not have, and the files that the line has changed. */
  readonly notes: readonly string[]
  /** The folders that `ls` would find, where the terminal has files of its own. */
  readonly folders?: readonly string[]
  readonly isRunning: boolean
}

/** The state of a {@link Terminal}. */
export interface TerminalSnapshot {
  /** Oldest first. */
  readonly lines: readonly TerminalLine[]
  /** The commands that the person has entered, oldest first. */
  readonly history: readonly string[]
  /** The directory of the next line. */
  readonly cwd: string
  /** The path under which the commands see the workspace. */
  readonly root: string
  readonly isRunning: boolean
  /** The text that a command waits for: shown as it is typed, or hidden, such as a password. Absent while none waits. */
  readonly waitsFor?: 'text' | 'secret' | undefined
}

/** The part of a terminal that can be saved. */
export type SavedTerminal = Pick<TerminalSnapshot, 'lines' | 'history'>

/** Commands of a person. Each line is a call, so what it does is checked, recorded and can be undone. */
export interface Terminal extends Controller<TerminalSnapshot> {
  /** Runs a line in the directory where the last one ended. Does nothing while a line runs. */
  run(command: string): Promise<void>
  /**
   * Enters a text for the command that waits for one: a line with its end, or `undefined` for the end of the input. Needs a
   * {@link TerminalStream}.
   */
  enter(text: string | undefined): void
  /** Stops the line that runs. What it has changed is not kept. `$?` is 130 then, also if no line runs, as after Ctrl+C. */
  stop(): void
  /** Removes the lines that have ended. */
  clear(): void
  /** Returns how the text before the cursor can go on: by a command, a path, a script or a branch. */
  complete(beforeCursor: string): Promise<Completion>
  /** Returns the path of the file that a name in an output refers to, or undefined when no such file exists. */
  fileAt(name: string): Promise<string | undefined>
  /** Returns what a later terminal continues with. */
  keep(): SavedTerminal
  /** Stops the line that runs, and stops following the agent. */
  close(): void
}

/** What a shell calls while it runs a line of a person. */
export interface LineParts {
  /** Shows output as it comes. */
  readonly onOutput: (stream: 'stdout' | 'stderr', text: string) => void
  /** Asks for the next text of the input, as `readInput` of a `ShellCommand` does. */
  readonly readInput: (options?: {
    readonly isHidden?: boolean
    readonly isEchoed?: boolean
  }) => Promise<string | undefined>
  /** The lines that were entered before, oldest first, with this one. */
  readonly history: readonly string[]
  /** Exit code of the line before, which is `$?`: 130 if it was stopped, 126 if it was refused. */
  readonly exitCode: number
}

/** Follows the lines of a person in a shell. */
export interface TerminalStream {
  /**
   * Announces a line. Returns the time limit to run it with, by which the shell knows the line.
   *
   * @param parts what to call while the line runs
   */
  begin(
    command: string,
    parts: LineParts,
  ): {
    readonly timeoutMs: number
    /** Stops following the line. */
    end(): void
  }
}

/** Options of {@link createTerminal}. */
export interface TerminalOptions extends PersonOptions {
  /** What an earlier terminal has kept. Its lines no longer run. */
  readonly saved?: SavedTerminal | undefined
  /** The path under which the commands see the workspace, as in `bash({ root })`. Default: `/workspace`. */
  readonly root?: string | undefined
  /** The calls whose commands of the agent are shown too. */
  readonly timeline?: Timeline
  /** Passes on the output of a line while it runs. Without it, the output appears at the end. */
  readonly stream?: TerminalStream
  /** The files for completion and for names in an output. By default, those that the person's run lists. */
  readonly files?: TerminalFiles
  /** Says what there is in place of a command of a line that the shell does not have. */
  readonly explainAbsent?: (command: string, line: string) => string | undefined
  /** Says why a line was not run, in place of the words for its code. */
  readonly explainFailure?: (failure: Failure) => string | undefined
}

/** Older lines and commands are dropped. */
const MAX_LINES = 500
/** Characters of output that are kept. */
const MAX_TEXT = 200_000
/** Milliseconds for which pieces of output are collected. */
const PIECES_MS = 16
/** Milliseconds for which errors are collected. By then, most lines have failed or not, or wait for the answer to a question. */
const ERRORS_MS = 250
/** Exit codes of a line that was stopped and of one that was refused, as in bash. */
const STOPPED = 130
const REFUSED = 126
/** The note of a line that ran when its page was left. */
const INTERRUPTED = 'Ended when the page was closed or reloaded'
/** Changed files that are named. */
const MAX_CHANGED = 8

const loadCompletion = () => import('./terminal-completion.ts')

const optionChecks = {
  saved: isObjectValue,
  root: isText,
  timeline: isObjectWith('a timeline', 'subscribe'),
  stream: isObjectWith('a stream', 'begin'),
  files: isObjectWith('files', 'list', 'read'),
  explainAbsent: isFunction,
  explainFailure: isFunction,
}

/**
 * Creates a terminal. The workspace needs a `shell`.
 *
 * @example
 * const workspace = await createWorkspace({ backend: memory(), shell: bash(), policy: 'autonomous' })
 * const terminal = createTerminal({ workspace })
 * await terminal.run('echo one > a.txt && cat a.txt')
 * console.log(terminal.snapshot.lines[0]?.output)
 */
export function createTerminal(options: TerminalOptions): Terminal {
  refuseSurplus('createTerminal()', 1, arguments)
  const call = createPersonCall('createTerminal()', options, optionChecks)
  const terminal = new CommandLines(call, options)
  const unfollow = terminal.followAgent(options.timeline)
  const { state } = terminal
  const place = () => ({
    files: options.files ?? filesOf(call),
    cwd: state.snapshot.cwd === '.' ? '' : state.snapshot.cwd,
    root: state.snapshot.root,
  })
  return {
    get snapshot() {
      return state.snapshot
    },
    subscribe: state.subscribe,
    run: (command) => terminal.run(command),
    enter: (text) => terminal.enter(text),
    stop: () => terminal.stop(),
    clear: () => state.update({ lines: state.snapshot.lines.filter(({ isRunning }) => isRunning) }),
    complete: async (beforeCursor) => (await loadCompletion()).completeLine(beforeCursor, place()),
    fileAt: async (name) => (await loadCompletion()).existingFile(name, place()),
    keep: () => ({ lines: lastLines(state.snapshot.lines), history: state.snapshot.history }),
    close() {
      unfollow()
      terminal.stop()
    },
  }
}

/** The lines, and what runs them. */
class CommandLines {
  readonly state: ControllerState<TerminalSnapshot>
  readonly #call: PersonCall
  readonly #options: TerminalOptions
  #count: number
  #running: AbortController | undefined
  /** Enters a text for the command that waits. */
  #enter: ((text: string | undefined) => void) | undefined
  /** Exit code of the last line. */
  #exitCode = 0

  constructor(call: PersonCall, options: TerminalOptions) {
    this.#call = call
    this.#options = options
    const { lines = [], history = [] } = options.saved ?? {}
    const { root = '/workspace' } = options
    const ended = lines.map((line) =>
      line.isRunning ? { ...line, isRunning: false, notes: [...line.notes, INTERRUPTED] } : line,
    )
    this.#count = ended.reduce((last, { id }) => Math.max(last, id), 0)
    this.state = new ControllerState<TerminalSnapshot>({ lines: ended, history, cwd: '.', root, isRunning: false })
  }

  stop(): void {
    if (this.#running === undefined) this.#exitCode = STOPPED
    else this.#running.abort()
  }

  enter(text: string | undefined): void {
    this.#enter?.(text)
  }

  async run(command: string): Promise<void> {
    if (this.#running !== undefined || command.trim() === '') return
    const running = new AbortController()
    this.#running = running
    const { cwd, history } = this.state.snapshot
    const id = this.#add({ actor: 'person', command, cwd })
    const entered = history.at(-1) === command ? history : [...history, command].slice(-MAX_LINES)
    this.state.update({ isRunning: true, history: entered })
    const asked = /^\s*history(?:\s+(\d+))?\s*$/.exec(command)
    if (asked !== null) return this.#showHistory(id, Number(asked[1] ?? entered.length))
    if (/(?:^|[;&]\s*)ls\b/.test(command)) this.#change(id, { folders: await this.#foldersOf(command, cwd) })
    const shown = this.#showOutput(id)
    const readInput = this.#askFor(id, shown.show)
    const streamed = this.#options.stream?.begin(command, {
      ...{ onOutput: shown.add, readInput, history: entered, exitCode: this.#exitCode },
    })
    try {
      const timeoutMs = streamed?.timeoutMs
      const input = { command, cwd, ...(timeoutMs === undefined ? {} : { timeoutMs }) }
      const result = await this.#call('run_command', input, { signal: running.signal })
      this.#exitCode = exitCodeOf(result, running.signal)
      shown.show(this.#exitCode !== 0)
      this.#end(id, result, shown.isAny())
      if (result.ok) this.state.update({ cwd: (result as unknown as EndedCommand).cwd })
    } finally {
      streamed?.end()
      this.#enter?.(undefined)
      shown.show()
      this.#running = undefined
      this.#change(id, { isRunning: false })
      this.state.update({ isRunning: false })
    }
  }

  /** Asks for the input of a line. What is entered becomes a part of its output, as in any terminal. */
  #askFor(id: number, showOutput: () => void): LineParts['readInput'] {
    const line = this.#running
    return ({ isHidden = false, isEchoed = false } = {}) =>
      new Promise((resolve) => {
        // A stopped line may still ask, until its shell has ended it.
        if (line === undefined || this.#running !== line) return resolve(undefined)
        showOutput()
        this.#enter = (text) => {
          this.#enter = undefined
          showOutput()
          this.state.update({ waitsFor: undefined })
          if (text !== undefined && !isEchoed) this.#append(id, isHidden ? '\n' : safeText(text))
          resolve(text)
        }
        this.state.update({ waitsFor: isHidden ? 'secret' : 'text' })
      })
  }

  /** The names of the folders that `ls` lists: those of its operand, or of the directory of the line. */
  async #foldersOf(command: string, cwd: string): Promise<readonly string[]> {
    const { files } = this.#options
    const operand = /(?:^|\s)ls(?:\s+-\S+)*\s+([^\s-][^\s;&|]*)/.exec(command)?.[1] ?? '.'
    if (files === undefined || /[*?~$'"\\]|^\/|\.\./.test(operand)) return []
    const path = [...cwd.split('/'), ...operand.split('/')].filter((part) => part !== '' && part !== '.').join('/')
    return (await files.list(path)).flatMap(({ name, type }) => (type === 'directory' ? [name] : []))
  }

  /** The lines that the person has entered are known here, and not in the shell. */
  #showHistory(id: number, count: number): void {
    const { history } = this.state.snapshot
    const rows = history.map((line, at) => `${String(at + 1).padStart(5)}  ${line}\n`)
    this.#running = undefined
    this.#exitCode = 0
    this.#change(id, { output: rows.slice(-count).join(''), exitCode: 0, isRunning: false })
    this.state.update({ isRunning: false })
  }

  /** Shows the commands of the agent: the line when one starts, its output when it has ended. */
  followAgent(timeline: Timeline | undefined): () => void {
    if (timeline === undefined) return () => {}
    const lines = new Map<string, number | undefined>(timeline.snapshot.entries.map(({ key }) => [key, undefined]))
    return timeline.subscribe(({ entries }) => {
      for (const { key, actor, tool, input, state, result } of entries) {
        if (actor !== 'agent' || tool !== 'run_command' || state === 'waiting') continue
        if (!lines.has(key)) {
          const { command, cwd } = input as { readonly command?: unknown; readonly cwd?: unknown }
          lines.set(key, this.#add({ actor, command: safeText(String(command)), cwd: String(cwd ?? '.') }))
        }
        const id = lines.get(key)
        if (state !== 'done' || id === undefined) continue
        lines.set(key, undefined)
        if (result !== undefined) this.#end(id, result, false)
        this.#change(id, { isRunning: false })
      }
    })
  }

  #add(line: Pick<TerminalLine, 'actor' | 'command' | 'cwd'>): number {
    this.#count += 1
    const added: TerminalLine = { ...line, id: this.#count, output: '', refused: [], notes: [], isRunning: true }
    this.state.update({ lines: [...lastLines(this.state.snapshot.lines), added] })
    return this.#count
  }

  #change(id: number, change: Partial<TerminalLine>): void {
    const { lines } = this.state.snapshot
    this.state.update({ lines: lines.map((line) => (line.id === id ? { ...line, ...change } : line)) })
  }

  #append(id: number, text: string): void {
    const line = this.state.snapshot.lines.find((one) => one.id === id)
    if (line !== undefined) this.#change(id, { output: line.output + text })
  }

  /**
   * Shows the output of a command as it comes, many small pieces at once. Errors wait longer: they have the colour of errors
   * if the line fails meanwhile, but not if it goes on or asks a question, which programs print there too.
   */
  #showOutput(id: number) {
    const safe = { stdout: createSafeText(), stderr: createSafeText() }
    let isAny = false
    let pieces: { readonly text: string; readonly isError: boolean }[] = []
    let timer: ReturnType<typeof setTimeout> | undefined
    const show = (hasFailed = false) => {
      clearTimeout(timer)
      timer = undefined
      const text = pieces.map((piece) => (piece.isError && hasFailed ? red(piece.text) : piece.text)).join('')
      if (text !== '') this.#append(id, text)
      pieces = []
    }
    return {
      add: (stream: 'stdout' | 'stderr', output: string) => {
        const text = safe[stream](output)
        if (text === '') return
        isAny = true
        const isError = stream === 'stderr'
        // What came before does not wait.
        if (isError && !pieces.some((piece) => piece.isError)) show()
        pieces.push({ text, isError })
        timer ??= setTimeout(show, isError ? ERRORS_MS : PIECES_MS)
      },
      show,
      isAny: () => isAny,
    }
  }

  #end(id: number, result: Success | Failure, isShown: boolean): void {
    const { explainAbsent, explainFailure } = this.#options
    const { command = '', actor } = this.state.snapshot.lines.find((line) => line.id === id) ?? {}
    if (!result.ok) {
      const { cwd } = this.state.snapshot
      if (actor === 'person' && cwd !== '.' && result.path === cwd && isGone(result)) {
        this.state.update({ cwd: '.' })
        this.#change(id, {
          refused: [`The folder ${cwd} no longer exists. The next line runs in the project’s own folder.`],
        })
        return
      }
      const isDenied = result.code === 'COMMAND_DENIED'
      const name = isDenied ? /^\s*([\w.+-]+)/.exec(command)?.[1] : undefined
      const absent = name && explainAbsent?.(name, command)
      // What the agent may run is no reason for a person.
      const inWords = isDenied && actor === 'person' ? headlineOf : blockedInWords
      const words = result.code === 'SHELL_UNAVAILABLE' ? result.message : inWords(result)
      this.#change(id, { refused: [explainFailure?.(result) ?? absent ?? words] })
      return
    }
    const { stdout, stderr, exitCode, truncated, refused = [], filesChanged = [] } = result as unknown as EndedCommand
    const errors = safeText(stderr ?? '')
    const output = safeText(stdout ?? '')
    if (!isShown) {
      const separator = output === '' || output.endsWith('\n') || errors === '' ? '' : '\n'
      const note = truncated === true ? '… only the end of the output is shown\n' : ''
      this.#append(id, `${note}${output}${separator}${errors === '' || exitCode === 0 ? errors : red(errors)}`)
    }
    const absent = [...errors.matchAll(/(?:^|: )([\w.+-]+): command not found/gm)].map(([, name = '']) => name)
    const changed = filesChanged.filter((path) => path !== '.git' && !path.startsWith('.git/')).map(oneLine)
    const more = changed.length > MAX_CHANGED ? ` and ${changed.length - MAX_CHANGED} more` : ''
    this.#change(id, {
      exitCode,
      refused: [...new Set(refused.map(refusalInWords))],
      notes: [
        ...[...new Set([...(command.trim() === 'exit' ? ['exit'] : []), ...absent])].flatMap(
          (name) => explainAbsent?.(name, command) ?? [],
        ),
        ...(changed.length > 0 ? [`changed: ${changed.slice(0, MAX_CHANGED).join(', ')}${more}`] : []),
      ],
    })
  }
}

interface EndedCommand {
  readonly stdout?: string
  readonly stderr?: string
  readonly exitCode: number
  readonly cwd: string
  readonly truncated?: boolean
  readonly refused?: readonly Refusal[]
  readonly filesChanged?: readonly string[]
}

/** The exit code of a line as bash has it. */
function exitCodeOf(result: Success | Failure, { aborted }: AbortSignal): number {
  if (result.ok) return (result as unknown as EndedCommand).exitCode
  return aborted ? STOPPED : REFUSED
}

function isGone({ code }: Failure): boolean {
  return code === 'NOT_FOUND' || code === 'NOT_A_DIRECTORY'
}

/** Returns the last lines, with the end of their output. */
function lastLines(lines: readonly TerminalLine[]): readonly TerminalLine[] {
  const kept: TerminalLine[] = []
  let left = MAX_TEXT
  for (const line of lines.slice(1 - MAX_LINES).toReversed()) {
    if (left <= 0 && !line.isRunning) break
    kept.push(line.output.length > left ? { ...line, output: line.output.slice(-Math.max(left, 1)) } : line)
    left -= line.output.length
  }
  return kept.toReversed()
}

/** The files as the calls of a person see them. */
function filesOf(call: PersonCall): TerminalFiles {
  return {
    async list(path) {
      const result = await call('list_directory', { path: path === '' ? '.' : path, includeHidden: true })
      if (!result.ok) return []
      const { entries } = result as unknown as { readonly entries: readonly { path: string; type: string }[] }
      return entries.map((entry) => ({ name: entry.path.slice(entry.path.lastIndexOf('/') + 1), type: entry.type }))
    },
    async read(path) {
      const result = await call('read_file', { path })
      return result.ok ? String(result.content) : ''
    },
  }
}
