import './terminal.css'
import '@xterm/xterm/css/xterm.css'
import { FitAddon } from '@xterm/addon-fit'
import { Terminal } from '@xterm/xterm'
import { useEffect, useRef } from 'preact/hooks'
import type { PersonTerminal } from '../../session/terminal.ts'
import { createLineEditor } from './line-editor.ts'

/** The person's terminal, which also shows the commands of the agent. */
export default function TerminalView({ terminal: session }: { readonly terminal: PersonTerminal }) {
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
    // Tab moves the focus: the line editor does not use it, and the keyboard must be able to leave the terminal.
    terminal.attachCustomKeyEventHandler(({ key }) => key !== 'Tab')
    if (terminal.textarea !== undefined) terminal.textarea.ariaLabel = 'Terminal input'
    const sizeObserver = new ResizeObserver(() => parent.clientHeight > 20 && fit.fit())
    sizeObserver.observe(parent)
    const themeObserver = new MutationObserver(() => {
      terminal.options.theme = colours()
    })
    themeObserver.observe(document.documentElement, { attributeFilter: ['data-theme'] })

    const editor = createLineEditor({
      write: (text) => terminal.write(text),
      columns: () => terminal.cols,
      prompt: () => session.prompt,
      history: session.history,
      run: session.run,
      interrupt: session.interrupt,
      clear() {
        session.clear()
        terminal.clear()
      },
    })
    terminal.onData(editor.take)
    terminal.write(session.text)
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
