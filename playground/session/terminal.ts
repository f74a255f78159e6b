import { effect } from '@preact/signals'
import type { Failure, Success } from 'wardspace'
import { blockedInWords, refusalInWords } from 'wardspace/ui'
import { isGitInternal } from './changes.ts'
import type { Completion } from './terminal-completion.ts'
import { createSafeText, safeText } from './terminal-text.ts'
import { absentCommands, absentInRefusal } from './terminal-words.ts'
import type { Session } from './types.ts'

/** The person's terminal without its display: what it has printed, its history and its directory. */
export interface PersonTerminal {
  /** Everything printed so far, with colour codes. */
  readonly text: string
  /** The entered lines, oldest first. */
  readonly history: string[]
  readonly prompt: string
  /** Resolves when no command is running. */
  readonly settled: Promise<void>
  run(line: string): Promise<void>
  interrupt(): void
  /** Returns how the text before the cursor can go on. */
  complete(beforeCursor: string): Promise<Completion>
  /** Returns the path of the file that an output names, if there is one. */
  fileAt(name: string): Promise<string | undefined>
  clear(): void
  /** Calls the listener with each printed text. Returns an unsubscribe function. */
  onText(listener: (text: string) => void): () => void
  close(): void
}

/** The part of a terminal that is kept over a reload. */
export interface SavedTerminal {
  readonly text: string
  readonly history: readonly string[]
}

/** Characters of output and number of lines that are kept. */
const MAX_TEXT = 200_000
const MAX_HISTORY = 500

const loadCompletion = () => import('./terminal-completion.ts')

/** Ends the colours of a command. */
const RESET = '\x1b[0m'

const grey = (text: string) => `\x1b[90m${text}\x1b[0m`
const red = (text: string) => `\x1b[31m${text}\x1b[0m`
const blue = (text: string) => `\x1b[34m${text}\x1b[0m`

/** Prints the output of a command as it comes. */
function showOutput(print: (text: string) => void) {
  const safe = { stdout: createSafeText(), stderr: createSafeText() }
  let last = ''
  return {
    add(stream: 'stdout' | 'stderr', output: string) {
      const added = safe[stream](output)
      if (added === '') return
      last = added.slice(-1)
      print(stream === 'stderr' ? red(added) : added)
    },
    isAny: () => last !== '',
    /** Ends the colours and the line of the output. */
    end: () => (last === '' ? '' : last === '\n' ? RESET : `${RESET}\n`),
  }
}

export function createTerminal(
  session: Pick<Session, 'call' | 'timeline' | 'lines' | 'project'>,
  saved: SavedTerminal | undefined,
  onChange: () => void,
): PersonTerminal & { keep(): SavedTerminal } {
  let text = saved?.text ?? grey('The files of this project, in bash. The commands of the agent appear here too.\n')
  const history = [...(saved?.history ?? [])]
  let cwd = ''
  let running: AbortController | undefined
  let settled = Promise.resolve()
  const listeners = new Set<(text: string) => void>()
  const prompt = () => `${blue(`/workspace${cwd === '' ? '' : `/${cwd}`}`)} $ `

  function note(added: string): void {
    text += added
    if (text.length > 2 * MAX_TEXT) text = text.slice(text.indexOf('\n', text.length - MAX_TEXT) + 1)
    onChange()
  }

  function print(added: string): void {
    note(added)
    for (const listener of listeners) listener(added)
  }

  async function execute(line: string): Promise<void> {
    running = new AbortController()
    const shown = showOutput(print)
    const personLine = session.lines.begin(line, shown.add)
    const { timeoutMs } = personLine
    const input = { command: line, timeoutMs, ...(cwd === '' ? {} : { cwd }) }
    const result = await session.call('run_command', input, { signal: running.signal })
    personLine.end()
    running = undefined
    print(`${shown.end()}${formatResult(result, { line, isShown: shown.isAny() && result.ok })}`)
    if (result.ok) cwd = String((result as { cwd?: unknown }).cwd ?? '').replace(/^\.$/, '')
  }

  const end = showAgentCommands(session.timeline, print)

  return {
    get text() {
      return text
    },
    history,
    get prompt() {
      return prompt()
    },
    get settled() {
      return settled
    },
    run(line) {
      // The display has echoed the line.
      note(`${prompt()}${line}\n`)
      if (history.at(-1) !== line) history.push(line)
      history.splice(0, history.length - MAX_HISTORY)
      settled = execute(line)
      return settled
    },
    interrupt: () => running?.abort(),
    complete: async (beforeCursor) =>
      (await loadCompletion()).completeLine(beforeCursor, { backend: session.project.backend, cwd }),
    fileAt: async (name) => (await loadCompletion()).existingFile(name, { backend: session.project.backend, cwd }),
    clear() {
      text = ''
      onChange()
    },
    onText(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    keep: () => ({ text: text.slice(-MAX_TEXT), history }),
    close() {
      end()
      running?.abort()
    },
  }
}

/** Prints the commands of the agent: the line when one starts, its output when it has ended. */
function showAgentCommands(timeline: Session['timeline'], print: (text: string) => void): () => void {
  const started = new Set(timeline.peek().map(({ key }) => key))
  const ended = new Set(started)
  return effect(() => {
    for (const { key, actor, tool, input, state, result } of timeline.value) {
      if (actor !== 'agent' || tool !== 'run_command') continue
      if (state !== 'waiting' && !started.has(key)) {
        started.add(key)
        print(`${grey('agent $')} ${safeText(String((input as { command?: unknown }).command))}\n`)
      }
      if (state === 'done' && !ended.has(key)) {
        ended.add(key)
        if (result !== undefined) print(formatResult(result))
      }
    }
  })
}

/** Formats the result of a command with its refusals, which programs often hide. */
function formatResult(result: Success | Failure, { line = '', isShown = false } = {}): string {
  if (!result.ok) {
    const absent = result.code === 'COMMAND_DENIED' ? absentInRefusal(line) : undefined
    return `${red(absent ?? blockedInWords(result))}\n`
  }
  const { stdout, stderr, exitCode, refused, filesChanged } = result as Record<string, unknown>
  const errors = safeText(String(stderr ?? ''))
  const lines = isShown ? [] : [withLineEnd(safeText(String(stdout ?? ''))), withLineEnd(red(errors), errors)]
  for (const sentence of absentCommands(errors)) lines.push(grey(`${sentence}\n`))
  if (exitCode !== 0) lines.push(grey(`exit ${exitCode}\n`))
  for (const refusal of (refused ?? []) as readonly Parameters<typeof refusalInWords>[0][]) {
    lines.push(`${red(refusalInWords(refusal))}\n`)
  }
  const changed = ((filesChanged ?? []) as readonly string[]).filter((path) => !isGitInternal(path))
  if (changed.length > 0) {
    const more = changed.length > 8 ? ` and ${changed.length - 8} more` : ''
    lines.push(grey(safeText(`changed: ${changed.slice(0, 8).join(', ')}${more}\n`)))
  }
  return lines.join('')
}

function withLineEnd(output: string, text = output): string {
  if (text === '') return ''
  return text.endsWith('\n') ? output : `${output}\n`
}
