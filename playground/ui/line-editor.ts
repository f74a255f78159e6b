/** What a line editor writes to and asks. */
export interface LineEditorParts {
  readonly write: (text: string) => void
  readonly prompt: () => string
  /** How many characters the terminal is wide. */
  readonly columns: () => number
  /** Runs a line; the next prompt comes when it has ended. */
  readonly run: (line: string) => Promise<void>
  readonly interrupt: () => void
  readonly clear: () => void
}

/** A line that is typed into a terminal, with a history, and runs when it is whole. */
export interface LineEditor {
  begin(): void
  /** Takes what the terminal's keyboard sends. */
  take(data: string): void
  /** Writes something above the line that is being typed. */
  interject(text: string): void
}

const UP = '\x1b[A'
const DOWN = '\x1b[B'
const RIGHT = '\x1b[C'
const LEFT = '\x1b[D'
const HOME = ['\x1b[H', '\x1bOH', '\x01']
const END = ['\x1b[F', '\x1bOF', '\x05']
const DELETE = '\x1b[3~'

export function createLineEditor({ write, prompt, columns, run, interrupt, clear }: LineEditorParts): LineEditor {
  const past: string[] = []
  let line = ''
  let at = 0
  let seen = 0
  let isRunning = false

  /** Rows from the beginning of the prompt to the cursor, as it was drawn last. */
  let row = 0

  const home = () => `${row > 0 ? `\x1b[${row}A` : ''}\r\x1b[J`

  /** Draws prompt and line anew, over as many rows as they take. */
  function show(): void {
    const width = columns()
    const shown = prompt()
    const start = lengthOf(shown)
    const end = start + line.length
    const up = Math.floor(end / width) - Math.floor((start + at) / width)
    // A row that is just full keeps the cursor: only what follows brings it into the next one.
    const wrap = end % width === 0 ? '\r\n' : ''
    const column = (start + at) % width
    const move = `${up > 0 ? `\x1b[${up}A` : ''}\r${column > 0 ? `\x1b[${column}C` : ''}`
    write(`${home()}${shown}${line}${wrap}${move}`)
    row = Math.floor((start + at) / width)
  }

  /** Goes on below the line, wherever the cursor is in it. */
  function leave(): void {
    at = line.length
    show()
    write('\r\n')
    row = 0
  }

  function set(next: string, position = next.length): void {
    line = next
    at = position
    show()
  }

  async function enter(): Promise<void> {
    const entered = line.trim()
    leave()
    line = ''
    at = 0
    if (entered === 'clear') clear()
    else if (entered !== '') {
      if (past.at(-1) !== entered) past.push(entered)
      isRunning = true
      await run(entered)
      isRunning = false
    }
    seen = past.length
    show()
  }

  function recall(step: number): void {
    const next = Math.min(past.length, Math.max(0, seen + step))
    if (next === seen) return
    seen = next
    set(past[seen] ?? '')
  }

  function key(data: string): void {
    if (data === '\x03') {
      if (isRunning) interrupt()
      else {
        leave()
        set('')
      }
      return
    }
    // What is typed while a command runs would look as if it had been read by it.
    if (isRunning) return
    if (data === '\r' || data === '\n') void enter()
    else if (data === '\x7f') {
      if (at > 0) set(line.slice(0, at - 1) + line.slice(at), at - 1)
    } else if (data === DELETE) set(line.slice(0, at) + line.slice(at + 1), at)
    else if (data === UP) recall(-1)
    else if (data === DOWN) recall(1)
    else if (data === LEFT) set(line, Math.max(0, at - 1))
    else if (data === RIGHT) set(line, Math.min(line.length, at + 1))
    else if (HOME.includes(data)) set(line, 0)
    else if (END.includes(data)) set(line)
    else if (data === '\x15') set(line.slice(at), 0)
    else if (data === '\x0c') {
      clear()
      row = 0
      show()
    } else if (!data.startsWith('\x1b') && data >= ' ') {
      set(line.slice(0, at) + data + line.slice(at), at + data.length)
    }
  }

  return {
    begin: show,
    take(data) {
      // A pasted text of several lines runs line by line.
      if (data.length > 1 && !data.startsWith('\x1b') && /[\r\n]/.test(data)) {
        const [first = '', ...rest] = data.split(/\r\n|\r|\n/)
        key(first)
        if (rest.length > 0 && rest.join('') === '') void enter()
        else if (rest.length > 0) set(line + rest.join(' '))
      } else key(data)
    },
    interject(text) {
      if (isRunning) write(text)
      else {
        write(`${home()}${text}`)
        row = 0
        show()
      }
    },
  }
}

/** What a text takes on the screen, without its colours. */
function lengthOf(text: string): number {
  return text.replace(/\x1b\[[0-9;]*m/g, '').length
}
