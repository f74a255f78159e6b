import { effect } from '@preact/signals'
import type { Failure, Success } from 'wardspace'
import { isGitInternal } from './changes.ts'
import { blockedInWords, refusalInWords } from './person-words.ts'
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

const grey = (text: string) => `\x1b[90m${text}\x1b[0m`
const red = (text: string) => `\x1b[31m${text}\x1b[0m`
const blue = (text: string) => `\x1b[34m${text}\x1b[0m`

export function createTerminal(
  session: Pick<Session, 'call' | 'timeline'>,
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
    if (text.length > MAX_TEXT) text = text.slice(text.indexOf('\n', text.length - MAX_TEXT) + 1)
    onChange()
  }

  function print(added: string): void {
    note(added)
    for (const listener of listeners) listener(added)
  }

  async function execute(line: string): Promise<void> {
    running = new AbortController()
    const input = { command: line, ...(cwd === '' ? {} : { cwd }) }
    const result = await session.call('run_command', input, { signal: running.signal })
    running = undefined
    print(formatResult(result))
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
    clear() {
      text = ''
      onChange()
    },
    onText(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    keep: () => ({ text, history }),
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
        print(`${grey('agent $')} ${String((input as { command?: unknown }).command)}\n`)
      }
      if (state === 'done' && !ended.has(key)) {
        ended.add(key)
        if (result !== undefined) print(formatResult(result))
      }
    }
  })
}

/** Formats the result of a command with its refusals, which programs often hide. */
function formatResult(result: Success | Failure): string {
  if (!result.ok) return `${red(blockedInWords(result))}\n`
  const { stdout, stderr, exitCode, refused, filesChanged } = result as Record<string, unknown>
  const lines = [withLineEnd(String(stdout ?? '')), withLineEnd(red(String(stderr ?? '')), String(stderr ?? ''))]
  if (exitCode !== 0) lines.push(grey(`exit ${exitCode}\n`))
  for (const refusal of (refused ?? []) as readonly Parameters<typeof refusalInWords>[0][]) {
    lines.push(`${red(refusalInWords(refusal))}\n`)
  }
  const changed = ((filesChanged ?? []) as readonly string[]).filter((path) => !isGitInternal(path))
  if (changed.length > 0) {
    const more = changed.length > 8 ? ` and ${changed.length - 8} more` : ''
    lines.push(grey(`changed: ${changed.slice(0, 8).join(', ')}${more}\n`))
  }
  return lines.join('')
}

function withLineEnd(output: string, text = output): string {
  if (text === '') return ''
  return text.endsWith('\n') ? output : `${output}\n`
}
