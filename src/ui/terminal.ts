import type { Failure } from '../errors.ts'
import { type Controller, ControllerState } from './controller.ts'
import { createPersonCall, type PersonOptions } from './person-run.ts'
import { blockedInWords, type Refusal, refusalInWords } from './words/person-words.ts'

/** A line that ran, or runs. */
export interface TerminalLine {
  readonly id: number
  readonly command: string
  readonly cwd: string
  /** Standard output and errors, without control sequences. */
  readonly output: string
  /** `undefined` while it runs, and if it did not run. */
  readonly exitCode?: number
  /** What was refused of it, in a person's words. */
  readonly refused: readonly string[]
  readonly isRunning: boolean
}

/** The state of a {@link Terminal}. */
export interface TerminalSnapshot {
  /** Oldest first. */
  readonly lines: readonly TerminalLine[]
  /** The directory of the next line. */
  readonly cwd: string
  readonly isRunning: boolean
}

/** Commands of a person. Each line is a call, so what it does is checked, recorded and can be undone. */
export interface Terminal extends Controller<TerminalSnapshot> {
  /** Runs a line in the directory where the last one ended. Does nothing while a line runs. */
  run(command: string): Promise<void>
  /** Stops the line that runs. What it has changed is not kept. */
  stop(): void
  /** Removes the lines that have ended. */
  clear(): void
}

/** Older lines are dropped. */
const MAX_LINES = 500

/**
 * Creates a terminal. The workspace needs a `shell`.
 *
 * @example
 * const workspace = await createWorkspace({ backend: memory(), shell: bash(), policy: 'autonomous' })
 * const terminal = createTerminal({ workspace })
 * await terminal.run('echo one > a.txt && cat a.txt')
 * console.log(terminal.snapshot.lines[0]?.output)
 */
export function createTerminal(options: PersonOptions): Terminal {
  const call = createPersonCall('createTerminal()', options)
  const state = new ControllerState<TerminalSnapshot>({ lines: [], cwd: '.', isRunning: false })
  let count = 0
  let running: AbortController | undefined

  function change(id: number, change: Partial<TerminalLine>): void {
    state.update({ lines: state.snapshot.lines.map((line) => (line.id === id ? { ...line, ...change } : line)) })
  }

  return {
    get snapshot() {
      return state.snapshot
    },
    subscribe: state.subscribe,
    async run(command) {
      if (running !== undefined || command.trim() === '') return
      running = new AbortController()
      count += 1
      const id = count
      const { lines, cwd } = state.snapshot
      const line: TerminalLine = { id, command, cwd, output: '', refused: [], isRunning: true }
      state.update({ lines: [...lines.slice(1 - MAX_LINES), line], isRunning: true })
      try {
        const result = await call('run_command', { command, cwd }, { signal: running.signal })
        if (result.ok) {
          const ended = result as unknown as EndedCommand
          change(id, resultOf(ended))
          state.update({ cwd: ended.cwd })
        } else change(id, { refused: [wordsOf(result)] })
      } finally {
        running = undefined
        change(id, { isRunning: false })
        state.update({ isRunning: false })
      }
    },
    stop: () => running?.abort(),
    clear: () => state.update({ lines: state.snapshot.lines.filter(({ isRunning }) => isRunning) }),
  }
}

interface EndedCommand {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number
  readonly cwd: string
  readonly truncated: boolean
  readonly refused?: readonly Refusal[]
}

function resultOf({ stdout, stderr, exitCode, truncated, refused = [] }: EndedCommand): Partial<TerminalLine> {
  const separator = stdout === '' || stdout.endsWith('\n') || stderr === '' ? '' : '\n'
  const output = plainText(`${stdout}${separator}${stderr}`)
  return {
    output: truncated ? `… only the end of the output is shown\n${output}` : output,
    exitCode,
    refused: [...new Set(refused.map(refusalInWords))],
  }
}

function wordsOf(failure: Failure): string {
  return failure.code === 'SHELL_UNAVAILABLE' ? failure.message : blockedInWords(failure)
}

/** What a terminal would carry out, such as colours, a new title or text for the clipboard. */
const sequences =
  /\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[PX^_][^\x1b]*(?:\x1b\\)?|\x1b[ -/]*[0-~]?|[\x00-\x08\x0b-\x1f\x7f-\x9f]/g

function plainText(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(sequences, '')
}
