import xtermStyles from '@xterm/xterm/css/xterm.css?inline'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ViewContext } from '../define-element.ts'
import type { TerminalProperties } from '../properties.ts'
import type { openTerminal } from './open-terminal.ts'
import terminalStyles from './terminal.css?inline'

export const styles = `${xtermStyles}\n${terminalStyles}`

type Open = (...parts: Parameters<typeof openTerminal> extends [unknown, ...infer Parts] ? Parts : never) => () => void

/** Loads the packages of the terminal. Returns undefined when they are not installed. */
async function loadTerminal(): Promise<Open | undefined> {
  const { openTerminal } = await import('./open-terminal.ts')
  // Bundlers take `await import()` within `try` as that of a package which may be absent.
  try {
    const { Terminal } = await import('@xterm/xterm')
    const { FitAddon } = await import('@xterm/addon-fit')
    return (...parts) => openTerminal({ Terminal, FitAddon }, ...parts)
  } catch {
    return undefined
  }
}

/** The lines with their output, and the line that the person types. Shows nothing until the terminal has loaded. */
export function View({ controller, greeting, dispatch }: TerminalProperties & ViewContext) {
  const place = useRef<HTMLDivElement>(null)
  const [open, setOpen] = useState<{ readonly terminal: Open | undefined }>()
  useEffect(() => void loadTerminal().then((terminal) => setOpen({ terminal })), [])
  useEffect(() => {
    if (place.current === null || open?.terminal === undefined) return
    return open.terminal(place.current, controller, {
      greeting,
      onFile: (path, line) => dispatch('wardspace-open-file', { path, line }),
    })
  }, [open, controller])
  return (
    <section class="terminal" aria-label="Terminal" aria-busy={open === undefined} ref={place}>
      {open !== undefined && open.terminal === undefined && (
        <p class="notice warn" role="alert">
          The terminal needs the packages <code>@xterm/xterm</code> and <code>@xterm/addon-fit</code>.
        </p>
      )}
    </section>
  )
}
