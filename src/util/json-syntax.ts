/** A place in a text and what is wrong there. */
export interface SyntaxProblem {
  /** From 1. */
  readonly line: number
  /** From 1, in UTF-16 units. */
  readonly column: number
  readonly message: string
}

/** What a text may have, or must not have, beside the syntax. */
export interface JsonRules {
  /** Comments, and a comma before a closing bracket. */
  readonly isLenient?: boolean
  /** No name twice in one object, of which `JSON.parse` drops the first one. */
  readonly uniqueNames?: boolean
}

/**
 * Finds the first error in the syntax of JSON (RFC 8259). Accepts exactly what `JSON.parse` does, and tells the place on every
 * platform. Linear in the text, without recursion.
 */
export function findJsonError(text: string, rules: JsonRules = {}): SyntaxProblem | undefined {
  try {
    new Scanner(text, rules).scanDocument()
    return undefined
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    const before = text.slice(0, error.offset)
    const lines = before.split(/\r\n|[\n\r]/)
    return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1, message: error.message }
  }
}

class JsonError extends Error {
  readonly offset: number

  constructor(message: string, offset: number) {
    super(message)
    this.offset = offset
  }
}

/** What may come next in an open bracket. */
type Expected = 'value' | 'value or end' | 'comma or end' | 'key' | 'key or end'

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const WORD = /true|false|null/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})/y
const SPACE = /[ \t\n\r]*/y

class Scanner {
  readonly #text: string
  readonly #isLenient: boolean
  /** The names of each open object, the innermost last, if they must be unique. */
  readonly #names: Set<unknown>[] | undefined
  #at = 0

  constructor(text: string, { isLenient = false, uniqueNames = false }: JsonRules) {
    this.#text = text
    this.#isLenient = isLenient
    this.#names = uniqueNames ? [] : undefined
  }

  scanDocument(): void {
    /** The open brackets, the innermost last. */
    const open: ('{' | '[')[] = []
    let expected: Expected = 'value'
    for (;;) {
      this.#skipSpace()
      const bracket = open.at(-1)
      if (expected === 'comma or end') {
        if (bracket === undefined) {
          if (this.#at < this.#text.length) this.#fail('Unexpected text after the end of the value')
          return
        }
        const char = this.#text[this.#at]
        if (char === ',') {
          this.#at += 1
          expected = this.#afterComma(bracket)
          continue
        }
        if (char !== closing[bracket]) this.#fail(`Expected a comma or ${closing[bracket]}`)
        this.#close(open)
        continue
      }
      if (expected.endsWith('or end') && bracket !== undefined && this.#text[this.#at] === closing[bracket]) {
        this.#close(open)
        expected = 'comma or end'
        continue
      }
      if (expected.startsWith('key')) this.#scanKey()
      const opened = this.#scanValue()
      if (opened === undefined) {
        expected = 'comma or end'
      } else {
        open.push(opened)
        if (opened === '{') this.#names?.push(new Set())
        expected = opened === '{' ? 'key or end' : 'value or end'
      }
    }
  }

  #close(open: ('{' | '[')[]): void {
    this.#at += 1
    if (open.pop() === '{') this.#names?.pop()
  }

  #afterComma(bracket: '{' | '['): Expected {
    const next = bracket === '{' ? 'key' : 'value'
    return this.#isLenient ? `${next} or end` : next
  }

  #scanKey(): void {
    if (this.#text[this.#at] !== '"') {
      this.#fail(this.#text[this.#at] === '}' ? 'A comma before } is not allowed' : 'Expected a name in double quotes')
    }
    const start = this.#at
    this.#scanString()
    this.#requireNew(start)
    this.#skipSpace()
    if (this.#text[this.#at] !== ':') this.#fail('Expected : after the name')
    this.#at += 1
    this.#skipSpace()
  }

  /** Requires that the object does not have the name that begins at `start` already. */
  #requireNew(start: number): void {
    const names = this.#names?.at(-1)
    if (names === undefined) return
    const text = this.#text.slice(start, this.#at)
    const name: unknown = JSON.parse(text)
    if (names.has(name)) {
      this.#at = start
      this.#fail(`The name ${text.slice(0, 80)} is given twice`)
    }
    names.add(name)
  }

  /** Scans a value. Returns the bracket of one that is only opened. */
  #scanValue(): '{' | '[' | undefined {
    const char = this.#text[this.#at]
    if (char === '{' || char === '[') {
      this.#at += 1
      return char
    }
    if (char === '"') {
      this.#scanString()
    } else if (char === '-' || (char !== undefined && char >= '0' && char <= '9')) {
      if (this.#match(NUMBER) === '') this.#fail('Invalid number')
      if (/[\w.+-]/.test(this.#text[this.#at] ?? '')) this.#fail('Invalid number')
    } else {
      this.#match(WORD) || this.#fail(unexpected(char))
    }
    return undefined
  }

  #scanString(): void {
    for (this.#at += 1; ; ) {
      const char = this.#text[this.#at]
      if (char === undefined) this.#fail('A text is not closed')
      else if (char === '\\') this.#match(ESCAPE) || this.#fail('Invalid escape in a text')
      else if (char < ' ') {
        this.#fail(char === '\n' || char === '\r' ? 'A text is not closed on its line' : 'Unescaped control character')
      } else {
        this.#at += 1
        if (char === '"') return
      }
    }
  }

  #skipSpace(): void {
    this.#match(SPACE)
    while (this.#isLenient && this.#text[this.#at] === '/') {
      const comment = this.#text.slice(this.#at, this.#at + 2)
      if (comment !== '//' && comment !== '/*') return
      const isLine = comment === '//'
      const end = isLine ? this.#lineEnd() : this.#text.indexOf('*/', this.#at + 2)
      if (end === -1) this.#fail('A comment is not closed')
      this.#at = isLine ? end : end + 2
      this.#match(SPACE)
    }
  }

  #lineEnd(): number {
    const end = /[\n\r]/g
    end.lastIndex = this.#at
    return end.exec(this.#text)?.index ?? this.#text.length
  }

  /** Moves over what a sticky pattern matches, and returns it. */
  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0] ?? ''
    this.#at += found.length
    return found
  }

  #fail(message: string): never {
    throw new JsonError(this.#at === this.#text.length ? 'Unexpected end of the text' : message, this.#at)
  }
}

/** The message for a character where a value should be. */
function unexpected(char: string | undefined): string {
  if (char === "'") return 'Texts are written in double quotes'
  if (char === ']') return 'A comma before ] is not allowed'
  if (char === '/') return 'Comments are not allowed'
  return 'Expected a value'
}

const closing = { '{': '}', '[': ']' } as const
