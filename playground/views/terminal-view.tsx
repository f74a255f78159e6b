import '@xterm/xterm/css/xterm.css'
import { effect } from '@preact/signals'
import { FitAddon } from '@xterm/addon-fit'
import { Terminal } from '@xterm/xterm'
import { useEffect, useRef } from 'preact/hooks'
import { isGitInternal } from '../session/changes.ts'
import type { ProjectSession } from '../session/project-session.ts'
import type { TimelineEntry } from '../session/types.ts'
import { createLineEditor } from '../ui/line-editor.ts'

const grey = (text: string) => `\x1b[90m${text}\x1b[0m`
const red = (text: string) => `\x1b[31m${text}\x1b[0m`
const blue = (text: string) => `\x1b[34m${text}\x1b[0m`

/** A terminal on the shell of the workspace. The same policy applies to commands of the person and the agent. */
export default function TerminalView({ projectSession }: { readonly projectSession: ProjectSession }) {
  const element = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const parent = element.current
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
    // Tab moves the focus: the line editor does not use it, and the keyboard must be able to leave the terminal.
    terminal.attachCustomKeyEventHandler(({ key }) => key !== 'Tab')
    if (terminal.textarea !== undefined) terminal.textarea.ariaLabel = 'Terminal input'
    const sizeObserver = new ResizeObserver(() => parent.clientHeight > 20 && fit.fit())
    sizeObserver.observe(parent)
    const themeObserver = new MutationObserver(() => {
      terminal.options.theme = colours()
    })
    themeObserver.observe(document.documentElement, { attributeFilter: ['data-theme'] })

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
        terminal.write(formatResult(result))
        if (result.ok) cwd = String(result.cwd ?? '').replace(/^\.$/, '')
      },
      interrupt: () => running?.abort(),
      clear: () => terminal.clear(),
    })
    terminal.onData(editor.take)
    terminal.write(
      grey(
        `${projectSession.session.settings.value.shell}: the policy checks every access of a command; refusals are listed.`,
      ),
    )
    terminal.write('\n')
    editor.begin()

    // Shows the agent's commands too.
    const reported = new Set(projectSession.session.timeline.value.map(({ key }) => key))
    const end = effect(() => {
      for (const entry of projectSession.session.timeline.value) {
        if (entry.state !== 'done' || reported.has(entry.key)) continue
        reported.add(entry.key)
        if (entry.actor === 'agent' && entry.tool === 'run_command') editor.interject(agentCommand(entry))
      }
    })
    return () => {
      end()
      sizeObserver.disconnect()
      themeObserver.disconnect()
      running?.abort()
      terminal.dispose()
    }
  }, [projectSession])
  return <section class="terminal-view" ref={element} aria-label="Terminal" />
}

function agentCommand({ input, result }: TimelineEntry): string {
  const { command } = input as { command?: unknown }
  return `${grey('agent $')} ${String(command)}\n${result === undefined ? '' : formatResult(result)}`
}

/** Formats the result of a command with its refusals, which programs often hide. */
function formatResult(result: NonNullable<TimelineEntry['result']>): string {
  if (!result.ok) return `${red(`${result.code}: ${result.message}`)}\n${grey(result.hint)}\n`
  const { stdout, stderr, exitCode, refused, filesChanged } = result as Record<string, unknown>
  const lines = [withLineEnd(String(stdout ?? '')), withLineEnd(red(String(stderr ?? '')), String(stderr ?? ''))]
  if (exitCode !== 0) lines.push(grey(`exit ${exitCode}\n`))
  for (const one of (refused ?? []) as readonly { permission: string; path: string; code: string }[]) {
    lines.push(`${red(`refused: ${one.permission} ${one.path} (${one.code})`)}\n`)
  }
  const changed = ((filesChanged ?? []) as readonly string[]).filter((path) => !isGitInternal(path))
  if (changed.length > 0) {
    lines.push(
      grey(
        `changed: ${changed.slice(0, 8).join(', ')}${changed.length > 8 ? ` and ${changed.length - 8} more` : ''}\n`,
      ),
    )
  }
  return lines.join('')
}

function withLineEnd(output: string, text = output): string {
  if (text === '') return ''
  return text.endsWith('\n') ? output : `${output}\n`
}

/** The page's colours in the format of the terminal. */
function colours() {
  const style = getComputedStyle(document.documentElement)
  const value = (name: string) => style.getPropertyValue(name).trim()
  return {
    background: value('--panel'),
    foreground: value('--text'),
    cursor: value('--text'),
    cursorAccent: value('--panel'),
    selectionBackground: value('--selected'),
    red: value('--bad'),
    green: value('--good'),
    yellow: value('--warn'),
    blue: value('--accent'),
    magenta: value('--plan'),
    brightBlack: value('--muted'),
    white: value('--text'),
    brightWhite: value('--text'),
  }
}
