import { charactersOf, placeAfter } from './cells.ts'
import { withHistory } from './history-words.ts'
import { grey } from './line-text.ts'
import { sentence } from './sentences.ts'

/** The terminal functions that a line editor uses. */
export interface LineEditorParts {
  readonly write: (text: string) => void
  /** Keeps a written text that stays above the edited line. */
  readonly keep: (text: string) => void
  /** Writes and keeps a text. */
  readonly print: (text: string) => void
  readonly prompt: () => string
  /** Width of the terminal in characters. */
  readonly columns: () => number
  /** The entered lines, oldest first. `run` adds to them. */
  readonly history: readonly string[]
  /** Runs a line. The next prompt appears when it has ended. */
  readonly run: (line: string) => Promise<void>
  /** Enters a text for the command that waits for one. `undefined`: the end of the input. */
  readonly enter: (text: string | undefined) => void
  /** Stops the line that runs. Also called where one is only typed. */
  readonly interrupt: () => void
  readonly clear: () => void
  /** Returns how the text before the cursor can go on. */
  readonly complete: (
    beforeCursor: string,
  ) => Promise<{ readonly added: string; readonly candidates: readonly string[] }>
  /** Whether a text needs more lines. */
  readonly isIncomplete: (text: string) => boolean
}

/** Edits one line in a terminal, with a history. Enter runs the line. */
export interface LineEditor {
  /** Shows the prompt as soon as an earlier command has ended. */
  begin(settled: Promise<void>): void
  /** Edits a text for the command that runs. `undefined`: none waits for one. */
  wait(waitsFor: 'text' | 'secret' | undefined): void
  /** Handles keyboard input of the terminal. */
  take(data: string): void
  /** Whether the edited line is empty, so that Tab can leave the terminal. */
  readonly isEmpty: boolean
  /** Writes a text above the edited line. */
  interject(text: string): void
  /** The end of the output after its last line. */
  readonly unfinished: string
  /** Shows the edited line on a screen that was erased. */
  showAgain(): void
}

const UP = '\x1b[A'
const DOWN = '\x1b[B'
const RIGHT = '\x1b[C'
const LEFT = '\x1b[D'
const HOME = ['\x1b[H', '\x1bOH', '\x01']
const END = ['\x1b[F', '\x1bOF', '\x05']
const WORD_LEFT = ['\x1bb', '\x1b[1;5D', '\x1b[1;3D']
const WORD_RIGHT = ['\x1bf', '\x1b[1;5C', '\x1b[1;3C']
const DELETE = '\x1b[3~'

export function createLineEditor(parts: LineEditorParts): LineEditor {
  const line = new EditedLine(parts)
  return {
    begin: (settled) => void line.begin(settled),
    wait: (waitsFor) => line.wait(waitsFor),
    take: (data) => line.take(data),
    interject: (text) => line.interject(text),
    showAgain: () => line.showAgain(),
    get unfinished() {
      return line.unfinished
    },
    get isEmpty() {
      return line.isEmpty
    },
  }
}

/** Keys, and the sequences in which terminals send several of them at once. */
const KEYS = /\x1b\[[0-?]*[ -/]*[@-~]|\x1bO.|\x1b[\x7f-\uffff!-Z\\^-~]|\r\n|[\x00-\x1f\x7f]|[^\x00-\x1f\x7f]+/g
const PASTE_START = '\x1b[200~'
const PASTE_END = '\x1b[201~'
const CANCEL = '\x07'
const RUNNING_NOTE = 'This is for the next line. Ctrl+C stops the command.'
const INPUT_NOTE = 'The command waits for input. Enter sends a line, Ctrl+D ends it.'
/** Milliseconds after which typing during a command is answered with a note. */
const NOTE_AFTER_MS = 1_000

/** A search in the history. */
interface HistorySearch {
  text: string
  /** Position of the match. */
  at: number
  readonly before: string
}

class EditedLine {
  readonly #parts: LineEditorParts
  #line = ''
  #cursor = 0
  /** Lines of an incomplete text, which the edited line continues. */
  #earlier = ''
  /** What the running command waits for. The edited line is for it. */
  #waitsFor: 'text' | 'secret' | undefined
  /** The end of the output after its last line, such as a question. */
  #tail = ''
  /** The text that was being typed before going to the history. */
  #draft = ''
  /** Position in the history. The length of the history is the position of the new line. */
  #historyIndex: number
  #search: HistorySearch | undefined
  /** The text that was deleted last. */
  #deleted = ''
  #isRunning = false
  #runningSince = 0
  #isNoted = false
  /** Keys that were typed while a command ran. */
  #ahead: string[] = []
  /** Rows from the beginning of the prompt to the cursor when it was last drawn. */
  #row = 0

  constructor(parts: LineEditorParts) {
    this.#parts = parts
    this.#historyIndex = parts.history.length
  }

  get isEmpty(): boolean {
    return this.#line === '' && !this.#isRunning
  }

  get unfinished(): string {
    return this.#isRunning ? this.#tail : ''
  }

  showAgain(): void {
    this.#row = 0
    if (this.#isRunning && this.#waitsFor === undefined) this.#parts.write(this.#tail)
    else this.show()
  }

  async begin(settled: Promise<void>): Promise<void> {
    this.#start()
    await settled
    this.#end()
  }

  /** Redraws prompt and line, which may span several rows. */
  show(): void {
    const width = this.#parts.columns()
    const prompt = this.#prompt()
    const line = this.#waitsFor === 'secret' ? '' : this.#line
    const end = placeAfter(prompt + line, width)
    const { row, column } = placeAfter(prompt + line.slice(0, this.#cursor), width)
    const up = end.row - row
    // The cursor stays in a full row until another character follows.
    const wrap = end.column === 0 && !/(?:^|\n)$/.test(prompt + line) ? '\r\n' : ''
    const move = `${up > 0 ? `\x1b[${up}A` : ''}\r${column > 0 ? `\x1b[${column}C` : ''}`
    this.#parts.write(`${this.#home()}${prompt}${line.replaceAll('\n', '\r\n')}${wrap}${move}`)
    this.#row = row
  }

  take(data: string): void {
    const keys = data.replaceAll(PASTE_START, '').replaceAll(PASTE_END, '').match(KEYS) ?? []
    for (const key of keys) {
      if (!this.#isRunning || (this.#waitsFor !== undefined && key !== '\x03')) this.#key(key)
      else if (key === '\x03') {
        this.#ahead = []
        if (this.#waitsFor !== undefined) this.#set('')
        this.#parts.interrupt()
      } else {
        this.#ahead.push(key)
        this.#note(keys.length)
      }
    }
  }

  wait(waitsFor: 'text' | 'secret' | undefined): void {
    if (this.#waitsFor === waitsFor || !this.#isRunning) return
    this.#waitsFor = waitsFor
    if (waitsFor === undefined) {
      this.#hide()
      return
    }
    if (this.#tail === '' && !this.#isNoted) this.#parts.print(`${grey(sentence(INPUT_NOTE))}\r\n`)
    this.#isNoted = true
    const width = this.#parts.columns()
    this.#row = placeAfter(this.#tail, width).row
    this.show()
    this.#takeAhead()
  }

  /** Leaves the output of the running command without the text that is typed for it. */
  #hide(): void {
    this.#parts.write(`${this.#home()}${this.#tail}`)
    this.#row = 0
  }

  interject(text: string): void {
    this.#parts.keep(text)
    if (this.#isRunning) {
      // The unfinished last line is written again before the text that is typed after it.
      const isEditing = this.#waitsFor !== undefined
      const all = this.#tail + text
      const start = all.lastIndexOf('\n') + 1
      this.#parts.write(isEditing ? `${this.#home()}${all.slice(0, start)}` : text)
      this.#tail = all.slice(start)
      this.#row = 0
      if (isEditing) this.show()
    } else {
      this.#parts.write(`${this.#home()}${text}`)
      this.#row = 0
      this.show()
    }
  }

  #prompt(): string {
    if (this.#search !== undefined) return `(search: ${this.#search.text}) `
    if (this.#isRunning) return this.#tail
    return this.#earlier === '' ? this.#parts.prompt() : '> '
  }

  /** Says what happens to keys during a command, unless they are the rest of a pasted text. */
  #note(keys: number): void {
    if (this.#isNoted || keys > 1 || performance.now() - this.#runningSince < NOTE_AFTER_MS) return
    this.#isNoted = true
    this.#parts.print(`\r\n${grey(sentence(RUNNING_NOTE))}\r\n`)
  }

  #start(): void {
    this.#isRunning = true
    this.#isNoted = false
    this.#tail = ''
    this.#runningSince = performance.now()
  }

  /** Shows the prompt, and takes the keys that were typed before. */
  #end(): void {
    this.#isRunning = false
    this.#waitsFor = undefined
    this.#historyIndex = this.#parts.history.length
    this.#row = 0
    this.show()
    this.#takeAhead()
  }

  #takeAhead(): void {
    const ahead = this.#ahead
    this.#ahead = []
    for (const [at, key] of ahead.entries()) {
      if (this.#isRunning && this.#waitsFor === undefined) {
        this.#ahead.push(...ahead.slice(at))
        return
      }
      this.#key(key)
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
    this.#parts.keep(`${this.#prompt()}${this.#line}\n`)
    this.#row = 0
  }

  #set(line: string, cursor = line.length): void {
    this.#line = line
    this.#cursor = cursor
    this.show()
  }

  async #enter(): Promise<void> {
    const typed = `${this.#earlier}${this.#line}`
    const { text: entered, missing } = withHistory(typed, this.#parts.history)
    this.#leave()
    if (entered !== typed) this.#parts.print(`${entered}\r\n`)
    this.#line = ''
    this.#cursor = 0
    this.#draft = ''
    this.#earlier = ''
    if (missing !== undefined) {
      this.#parts.print(`${sentence(`${missing}: no earlier line is meant by this`)}\r\n`)
      this.show()
      return
    }
    if (this.#parts.isIncomplete(entered)) {
      this.#earlier = `${entered}\n`
      this.show()
      return
    }
    await this.#run(entered.trim())
  }

  async #run(line: string): Promise<void> {
    this.#start()
    if (line === 'clear') this.#parts.clear()
    else if (line !== '') await this.#parts.run(line)
    this.#end()
  }

  /** Gives the edited text to the command that waits. It is shown when it has become a part of the output. */
  #give(end: string): void {
    const text = this.#line + end
    this.#line = ''
    this.#cursor = 0
    this.#waitsFor = undefined
    this.#hide()
    this.#parts.enter(text === '' ? undefined : text)
  }

  /** Keys that enter or edit the text for a command. */
  #inputKey(key: string): void {
    if (key === '\r' || key === '\n' || key === '\r\n') this.#give('\n')
    else if (key === '\x04') this.#give('')
    else this.#edit(key)
  }

  #recall(step: number): void {
    const { history } = this.#parts
    const next = Math.min(history.length, Math.max(0, this.#historyIndex + step))
    if (next === this.#historyIndex) return
    if (this.#historyIndex === history.length) this.#draft = this.#line
    this.#historyIndex = next
    this.#set(history[next] ?? this.#draft)
  }

  #key(key: string): void {
    if (this.#waitsFor !== undefined) {
      this.#inputKey(key)
      return
    }
    if (this.#search !== undefined && this.#searchKey(key, this.#search)) return
    if (key === '\x03') {
      this.#parts.interrupt()
      this.#set(`${this.#line}^C`)
      this.#leave()
      this.#earlier = ''
      this.#draft = ''
      this.#historyIndex = this.#parts.history.length
      this.#set('')
    } else if (key === '\r' || key === '\n' || key === '\r\n') void this.#enter()
    else if (key === '\t') void this.#complete()
    else if (key === UP || key === '\x10') this.#recall(-1)
    else if (key === DOWN || key === '\x0e') this.#recall(1)
    else if (key === '\x12') this.#searchFrom({ text: '', at: this.#parts.history.length, before: this.#line })
    else if (key === '\x0c') {
      this.#parts.clear()
      this.#row = 0
      this.show()
    } else this.#edit(key)
  }

  async #complete(): Promise<void> {
    const line = this.#line
    const cursor = this.#cursor
    const { added, candidates } = await this.#parts.complete(`${this.#earlier}${line.slice(0, cursor)}`)
    if (this.#line !== line || this.#cursor !== cursor || this.#isRunning) return
    if (added !== '') this.#insert(added)
    else if (candidates.length > 0) {
      const names = candidates.length > 100 ? [...candidates.slice(0, 100), '…'] : candidates
      this.interject(`${this.#prompt()}${line}\r\n${names.join('  ')}\r\n`)
    }
  }

  #searchFrom(search: HistorySearch): void {
    const { history } = this.#parts
    let at = Math.min(search.at, history.length) - 1
    while (at >= 0 && !history[at]?.includes(search.text)) at -= 1
    this.#search = at >= 0 ? { ...search, at } : search
    this.#set((search.text === '' ? undefined : history[this.#search.at]) ?? search.before)
  }

  /** Handles a key of a search. Returns false if the key ends the search and applies to the line that it found. */
  #searchKey(key: string, search: HistorySearch): boolean {
    const latest = this.#parts.history.length
    if (key === '\x12') this.#searchFrom(search)
    else if (key === '\x7f') this.#searchFrom({ ...search, text: search.text.slice(0, -1), at: latest })
    else if (key === '\x03' || key === CANCEL) {
      this.#search = undefined
      this.#set(search.before)
    } else if (key < ' ' || key.startsWith('\x1b')) {
      this.#search = undefined
      this.#historyIndex = search.text === '' ? latest : search.at
      this.show()
      return false
    } else this.#searchFrom({ ...search, text: search.text + key, at: latest })
    return true
  }

  #insert(text: string): void {
    const cursor = this.#cursor
    this.#set(this.#line.slice(0, cursor) + text + this.#line.slice(cursor), cursor + text.length)
  }

  /** Deletes the text between two positions, which Ctrl+Y brings back. */
  #delete(start: number, end: number): void {
    this.#deleted = this.#line.slice(start, end)
    this.#set(this.#line.slice(0, start) + this.#line.slice(end), start)
  }

  /** Keys that move the cursor or change the line. */
  #edit(key: string): void {
    const line = this.#line
    const cursor = this.#cursor
    const wordStart = cursor - (/(?<!\S)\S+\s*$/.exec(line.slice(0, cursor))?.[0].length ?? cursor)
    const wordEnd = cursor + (/^\s*\S+/.exec(line.slice(cursor))?.[0].length ?? line.length - cursor)
    const characterStart = cursor - (charactersOf(line.slice(0, cursor)).at(-1)?.length ?? 0)
    const characterEnd = cursor + (charactersOf(line.slice(cursor))[0]?.length ?? 0)
    if (key === '\x7f' || key === '\b') {
      this.#set(line.slice(0, characterStart) + line.slice(cursor), characterStart)
    } else if (key === DELETE || key === '\x04') this.#set(line.slice(0, cursor) + line.slice(characterEnd), cursor)
    else if (key === LEFT || key === '\x02') this.#set(line, characterStart)
    else if (key === RIGHT || key === '\x06') this.#set(line, characterEnd)
    else if (WORD_LEFT.includes(key)) this.#set(line, wordStart)
    else if (WORD_RIGHT.includes(key)) this.#set(line, wordEnd)
    else if (HOME.includes(key)) this.#set(line, 0)
    else if (END.includes(key)) this.#set(line)
    else if (key === '\x15') this.#delete(0, cursor)
    else if (key === '\x0b') this.#delete(cursor, line.length)
    else if (key === '\x17' || key === '\x1b\x7f') this.#delete(wordStart, cursor)
    else if (key === '\x1bd') this.#delete(cursor, wordEnd)
    else if (key === '\x19') this.#insert(this.#deleted)
    else if (key >= ' ' && !key.startsWith('\x1b')) this.#insert(key)
  }
}
