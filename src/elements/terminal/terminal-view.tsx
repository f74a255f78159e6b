import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { TerminalLine } from '../../ui/terminal.ts'
import { scrollable } from '../parts/focusable.ts'
import { useSnapshot } from '../parts/use-snapshot.ts'
import type { TerminalProperties } from '../properties.ts'
import styles from './terminal.css?inline'

export { styles }

/** The lines with their output, and a field for the next line. */
export function View({ controller }: TerminalProperties) {
  const { lines, cwd, isRunning } = useSnapshot(controller)
  const output = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (output.current !== null) output.current.scrollTop = output.current.scrollHeight
  }, [lines])
  return (
    <section class="fill" aria-label="Terminal">
      <div class="output" ref={output} role="log" aria-label="Output" {...scrollable}>
        {lines.length === 0 && (
          <p class="muted">Each command runs as a call: it is checked, recorded and can be undone.</p>
        )}
        {lines.map((line) => (
          <Line key={line.id} line={line} />
        ))}
      </div>
      <Prompt
        history={lines.map(({ command }) => command)}
        cwd={cwd}
        isRunning={isRunning}
        onRun={(command) => void controller.run(command)}
        onStop={controller.stop}
        onClear={controller.clear}
      />
    </section>
  )
}

function Line({ line: { cwd, command, output, exitCode, refused, isRunning } }: { readonly line: TerminalLine }) {
  return (
    <div class="line">
      <div>
        <span class="muted">{cwd === '.' ? '' : cwd} $</span> {command}
        {isRunning && <span class="muted"> …</span>}
      </div>
      {output !== '' && <pre>{output.replace(/\n$/, '')}</pre>}
      {refused.map((text) => (
        <p key={text} class="bad">
          {text}
        </p>
      ))}
      {exitCode !== undefined && exitCode !== 0 && <p class="muted">exit {exitCode}</p>}
    </div>
  )
}

/** The field for a line. Up and down go through the earlier ones, Ctrl+C stops, Ctrl+L clears. */
function Prompt({
  history,
  cwd,
  isRunning,
  onRun,
  onStop,
  onClear,
}: {
  readonly history: readonly string[]
  readonly cwd: string
  readonly isRunning: boolean
  readonly onRun: (command: string) => void
  readonly onStop: () => void
  readonly onClear: () => void
}) {
  const [text, setText] = useState('')
  const [back, setBack] = useState(0)
  const go = (steps: number) => {
    const next = Math.max(0, Math.min(history.length, steps))
    setBack(next)
    setText(next === 0 ? '' : (history[history.length - next] ?? ''))
  }
  const keys: Readonly<Record<string, () => void>> = {
    ArrowUp: () => go(back + 1),
    ArrowDown: () => go(back - 1),
  }
  const controls: Readonly<Record<string, () => void>> = { c: onStop, l: onClear }
  return (
    <form
      class="row prompt"
      onSubmit={(event) => {
        event.preventDefault()
        if (isRunning || text.trim() === '') return
        onRun(text)
        setText('')
        setBack(0)
      }}
    >
      <span class="muted mono">{cwd === '.' ? '' : cwd} $</span>
      <input
        class="field mono"
        aria-label="Command"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={(event) => {
          const { selectionStart, selectionEnd } = event.currentTarget
          // With a selected text, Ctrl+C copies.
          const isControl = event.ctrlKey && selectionStart === selectionEnd
          const act = isControl ? controls[event.key] : keys[event.key]
          if (act === undefined) return
          event.preventDefault()
          act()
        }}
      />
      {isRunning && (
        <button type="button" class="button danger" onClick={onStop}>
          Stop
        </button>
      )}
    </form>
  )
}
