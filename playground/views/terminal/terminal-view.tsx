import './terminal.css'
import '@xterm/xterm/css/xterm.css'
import { FitAddon } from '@xterm/addon-fit'
import { Terminal } from '@xterm/xterm'
import { useEffect, useRef } from 'preact/hooks'
import type { PersonTerminal } from '../../session/terminal.ts'
import { isIncomplete } from '../../session/terminal-syntax.ts'
import { fileLinks } from './file-links.ts'
import { createLineEditor } from './line-editor.ts'

interface TerminalViewProps {
  readonly terminal: PersonTerminal
  /** Opens a file that an output names. */
  readonly onFile: (path: string, line: number | undefined) => void
}

/** Characters that are written at once. A longer text would stop the page. */
const PIECE = 16_384

/** The person's terminal, which also shows the commands of the agent. */
export default function TerminalView({ terminal: session, onFile }: TerminalViewProps) {
  const element = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const parent = element.current
    if (parent === null) return
    const terminal = new Terminal({
      fontFamily: getComputedStyle(document.documentElement).getPropertyValue('--mono'),
      fontSize: 13,
      lineHeight: 1.25,
      convertEol: true,
      screenReaderMode: true,
      scrollback: 5_000,
      theme: colours(),
    })
    const fit = new FitAddon()
    terminal.loadAddon(fit)
    terminal.open(parent)
    const write = (text: string) => {
      for (let at = 0; at < text.length; at += PIECE) terminal.write(text.slice(at, at + PIECE))
    }
    if (terminal.textarea !== undefined) {
      terminal.textarea.ariaLabel = 'Terminal input'
      terminal.textarea.ariaDescription = 'Tab completes a line; on an empty line it leaves the terminal.'
    }
    const sizeObserver = new ResizeObserver(() => parent.clientHeight > 20 && fit.fit())
    sizeObserver.observe(parent)
    const themeObserver = new MutationObserver(() => {
      terminal.options.theme = colours()
    })
    themeObserver.observe(document.documentElement, { attributeFilter: ['data-theme'] })

    const editor = createLineEditor({
      write,
      columns: () => terminal.cols,
      prompt: () => session.prompt,
      history: session.history,
      run: session.run,
      interrupt: session.interrupt,
      clear() {
        session.clear()
        terminal.clear()
      },
      complete: session.complete,
      isIncomplete,
    })
    // Tab completes a line that has begun. On an empty one, and with Shift, it leaves the terminal.
    terminal.attachCustomKeyEventHandler((event) => event.key !== 'Tab' || (!event.shiftKey && !editor.isEmpty))
    terminal.registerLinkProvider(fileLinks(terminal, session.fileAt, onFile))
    terminal.onData(editor.take)
    write(session.text)
    const end = session.onText(editor.interject)
    editor.begin(session.settled)
    return () => {
      end()
      sizeObserver.disconnect()
      themeObserver.disconnect()
      terminal.dispose()
    }
  }, [session])
  return <section class="terminal-view" ref={element} aria-label="Terminal" />
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
    magenta: value('--changed'),
    brightBlack: value('--muted'),
    white: value('--text'),
    brightWhite: value('--text'),
  }
}
