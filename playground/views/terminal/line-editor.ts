/** The terminal functions that a line editor uses. */
export interface LineEditorParts {
  readonly write: (text: string) => void
  readonly prompt: () => string
  /** Width of the terminal in characters. */
  readonly columns: () => number
  /** The entered lines, oldest first. `run` adds to them. */
  readonly history: readonly string[]
  /** Runs a line. The next prompt appears when it has ended. */
  readonly run: (line: string) => Promise<void>
  readonly interrupt: () => void
  readonly clear: () => void
}

/** Edits one line in a terminal, with a history. Enter runs the line. */
export interface LineEditor {
  /** Shows the prompt as soon as an earlier command has ended. */
  begin(settled: Promise<void>): void
  /** Handles keyboard input of the terminal. */
  take(data: string): void
  /** Writes a text above the edited line. */
  interject(text: string): void
}

const UP = '\x1b[A'
const DOWN = '\x1b[B'
const RIGHT = '\x1b[C'
const LEFT = '\x1b[D'
const HOME = ['\x1b[H', '\x1bOH', '\x01']
const END = ['\x1b[F', '\x1bOF', '\x05']
const DELETE = '\x1b[3~'

export function createLineEditor(parts: LineEditorParts): LineEditor {
  const line = new EditedLine(parts)
  return {
    begin: (settled) => void line.begin(settled),
    take: (data) => line.take(data),
    interject: (text) => line.interject(text),
  }
}

class EditedLine {
  readonly #parts: LineEditorParts
  #line = ''
  #cursor = 0
  /** Position in the history. The length of the history is the position of the new line. */
  #historyIndex: number
  #isRunning = false
  /** Rows from the beginning of the prompt to the cursor when it was last drawn. */
  #row = 0

  constructor(parts: LineEditorParts) {
    this.#parts = parts
    this.#historyIndex = parts.history.length
  }

  async begin(settled: Promise<void>): Promise<void> {
    this.#isRunning = true
    await settled
    this.#isRunning = false
    this.show()
  }

  /** Redraws prompt and line, which may span several rows. */
  show(): void {
    const width = this.#parts.columns()
    const prompt = this.#parts.prompt()
    const start = lengthOf(prompt)
    const end = start + this.#line.length
    const position = start + this.#cursor
    const up = Math.floor(end / width) - Math.floor(position / width)
    // The cursor stays in a full row until another character follows.
    const wrap = end % width === 0 ? '\r\n' : ''
    const column = position % width
    const move = `${up > 0 ? `\x1b[${up}A` : ''}\r${column > 0 ? `\x1b[${column}C` : ''}`
    this.#parts.write(`${this.#home()}${prompt}${this.#line}${wrap}${move}`)
    this.#row = Math.floor(position / width)
  }

  take(data: string): void {
    // A pasted text of several lines runs line by line.
    if (data.length > 1 && !data.startsWith('\x1b') && /[\r\n]/.test(data)) {
      const [first = '', ...others] = data.split(/\r\n|\r|\n/)
      this.#key(first)
      if (others.length > 0 && others.join('') === '') void this.#enter()
      else if (others.length > 0) this.#set(this.#line + others.join(' '))
    } else this.#key(data)
  }

  interject(text: string): void {
    if (this.#isRunning) this.#parts.write(text)
    else {
      this.#parts.write(`${this.#home()}${text}`)
      this.#row = 0
      this.show()
    }
  }

  /** The sequence that goes to the beginning of the prompt and clears what follows. */
  #home(): string {
    return `${this.#row > 0 ? `\x1b[${this.#row}A` : ''}\r\x1b[J`
  }

  /** Moves the cursor below the line. */
  #leave(): void {
    this.#cursor = this.#line.length
    this.show()
    this.#parts.write('\r\n')
    this.#row = 0
  }

  #set(line: string, cursor = line.length): void {
    this.#line = line
    this.#cursor = cursor
    this.show()
  }

  async #enter(): Promise<void> {
    const entered = this.#line.trim()
    this.#leave()
    this.#line = ''
    this.#cursor = 0
    if (entered === 'clear') this.#parts.clear()
    else if (entered !== '') {
      this.#isRunning = true
      await this.#parts.run(entered)
      this.#isRunning = false
    }
    this.#historyIndex = this.#parts.history.length
    this.show()
  }

  #recall(step: number): void {
    const next = Math.min(this.#parts.history.length, Math.max(0, this.#historyIndex + step))
    if (next === this.#historyIndex) return
    this.#historyIndex = next
    this.#set(this.#parts.history[next] ?? '')
  }

  #key(data: string): void {
    if (data === '\x03') {
      if (this.#isRunning) this.#parts.interrupt()
      else {
        this.#leave()
        this.#set('')
      }
      return
    }
    // Ignores typing while a command runs, since it would look as if the command had read it.
    if (this.#isRunning) return
    if (data === '\r' || data === '\n') void this.#enter()
    else if (data === UP) this.#recall(-1)
    else if (data === DOWN) this.#recall(1)
    else if (data === '\x0c') {
      this.#parts.clear()
      this.#row = 0
      this.show()
    } else this.#edit(data)
  }

  /** Keys that move the cursor or change the line. */
  #edit(data: string): void {
    const line = this.#line
    const cursor = this.#cursor
    if (data === '\x7f') {
      if (cursor > 0) this.#set(line.slice(0, cursor - 1) + line.slice(cursor), cursor - 1)
    } else if (data === DELETE) this.#set(line.slice(0, cursor) + line.slice(cursor + 1), cursor)
    else if (data === LEFT) this.#set(line, Math.max(0, cursor - 1))
    else if (data === RIGHT) this.#set(line, Math.min(line.length, cursor + 1))
    else if (HOME.includes(data)) this.#set(line, 0)
    else if (END.includes(data)) this.#set(line)
    else if (data === '\x15') this.#set(line.slice(cursor), 0)
    else if (!data.startsWith('\x1b') && data >= ' ') {
      this.#set(line.slice(0, cursor) + data + line.slice(cursor), cursor + data.length)
    }
  }
}

/** The length of a text on the screen, without its colour codes. */
function lengthOf(text: string): number {
  return text.replace(/\x1b\[[0-9;]*m/g, '').length
}
