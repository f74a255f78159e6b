import '@xterm/xterm/css/xterm.css'
import { effect } from '@preact/signals'
import { FitAddon } from '@xterm/addon-fit'
import { Terminal } from '@xterm/xterm'
import { useEffect, useRef } from 'preact/hooks'
import type { ProjectSession } from '../session/project-session.ts'
import type { TimelineEntry } from '../session/types.ts'
import { createLineEditor } from '../ui/line-editor.ts'

const grey = (text: string) => `\x1b[90m${text}\x1b[0m`
const red = (text: string) => `\x1b[31m${text}\x1b[0m`
const blue = (text: string) => `\x1b[34m${text}\x1b[0m`

/** A terminal on the shell of the workspace: the person's commands and the agent's, judged alike. */
export default function TerminalView({ projectSession }: { readonly projectSession: ProjectSession }) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const parent = place.current
    if (parent === null) return
    const terminal = new Terminal({
      fontFamily: getComputedStyle(document.documentElement).getPropertyValue('--mono'),
      fontSize: 12,
      lineHeight: 1.25,
      convertEol: true,
      screenReaderMode: true,
      scrollback: 5_000,
      theme: colours(),
    })
    const fit = new FitAddon()
    terminal.loadAddon(fit)
    terminal.open(parent)
    // Tab goes on to what comes next: the line editor has no use for it, and nobody may be caught here.
    terminal.attachCustomKeyEventHandler(({ key }) => key !== 'Tab')
    if (terminal.textarea !== undefined) terminal.textarea.ariaLabel = 'Terminal input'
    const sized = new ResizeObserver(() => parent.clientHeight > 20 && fit.fit())
    sized.observe(parent)
    const themed = new MutationObserver(() => {
      terminal.options.theme = colours()
    })
    themed.observe(document.documentElement, { attributeFilter: ['data-theme'] })

    let running: AbortController | undefined
    let cwd = ''
    const editor = createLineEditor({
      write: (text) => terminal.write(text),
      columns: () => terminal.cols,
      prompt: () => `${blue(`/workspace${cwd === '' ? '' : `/${cwd}`}`)} $ `,
      async run(line) {
        running = new AbortController()
        const result = await projectSession.session.call('run_command', { command: line }, { signal: running.signal })
        running = undefined
        terminal.write(printed(result))
        if (result.ok) cwd = String(result.cwd ?? '').replace(/^\.$/, '')
      },
      interrupt: () => running?.abort(),
      clear: () => terminal.clear(),
    })
    terminal.onData(editor.take)
    terminal.write(
      grey(
        `${projectSession.session.settings.value.shell}: every access of a command is judged; what is refused is told.`,
      ),
    )
    terminal.write('\n')
    editor.begin()

    // What the agent runs stands here, too.
    const told = new Set(projectSession.session.timeline.value.map(({ key }) => key))
    const end = effect(() => {
      for (const entry of projectSession.session.timeline.value) {
        if (entry.state !== 'done' || told.has(entry.key)) continue
        told.add(entry.key)
        if (entry.actor === 'agent' && entry.tool === 'run_command') editor.interject(agentCommand(entry))
      }
    })
    return () => {
      end()
      sized.disconnect()
      themed.disconnect()
      running?.abort()
      terminal.dispose()
    }
  }, [projectSession])
  return <section class="terminal-view" ref={place} aria-label="Terminal" />
}

function agentCommand({ input, result }: TimelineEntry): string {
  const { command } = input as { command?: unknown }
  return `${grey('agent $')} ${String(command)}\n${result === undefined ? '' : printed(result)}`
}

/** A command's result as it is printed: with what it was refused, which programs often hide. */
function printed(result: NonNullable<TimelineEntry['result']>): string {
  if (!result.ok) return `${red(`${result.code}: ${result.message}`)}\n${grey(result.hint)}\n`
  const { stdout, stderr, exitCode, refused, filesChanged } = result as Record<string, unknown>
  const lines = [withEnd(String(stdout ?? '')), withEnd(red(String(stderr ?? '')), String(stderr ?? ''))]
  if (exitCode !== 0) lines.push(grey(`exit ${exitCode}\n`))
  for (const one of (refused ?? []) as readonly { permission: string; path: string; code: string }[]) {
    lines.push(`${red(`refused: ${one.permission} ${one.path} (${one.code})`)}\n`)
  }
  const changed = (filesChanged ?? []) as readonly string[]
  if (changed.length > 0) {
    lines.push(
      grey(
        `changed: ${changed.slice(0, 8).join(', ')}${changed.length > 8 ? ` and ${changed.length - 8} more` : ''}\n`,
      ),
    )
  }
  return lines.join('')
}

function withEnd(shown: string, text = shown): string {
  if (text === '') return ''
  return text.endsWith('\n') ? shown : `${shown}\n`
}

/** The page's colours, as the terminal wants them. */
function colours() {
  const style = getComputedStyle(document.documentElement)
  const of = (name: string) => style.getPropertyValue(name).trim()
  return {
    background: of('--panel'),
    foreground: of('--text'),
    cursor: of('--text'),
    cursorAccent: of('--panel'),
    selectionBackground: of('--selected'),
    red: of('--bad'),
    green: of('--good'),
    yellow: of('--warn'),
    blue: of('--accent'),
    magenta: of('--plan'),
    brightBlack: of('--muted'),
    white: of('--text'),
    brightWhite: of('--text'),
  }
}
