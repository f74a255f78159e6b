/** A syntax error in a JSON text, with its position. Messages of `JSON.parse` do not always have one. */
export interface JsonError {
  /** Position in UTF-16 units from the start. */
  readonly at: number
  readonly message: string
}

const token =
  /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[[\]{},:]/y
const space = /[ \t\n\r]*/y

/**
 * Parses the input of a tool.
 *
 * @throws TypeError with the first syntax error and its position
 */
export function parseInput(text: string): unknown {
  const error = findJsonError(text)
  if (error === undefined) return JSON.parse(text)
  const help = `; an input is an object in quotes, such as '{"path":"a.txt"}'`
  throw new TypeError(`The input is not JSON: ${error.message}, at character ${error.at + 1}${help}`)
}

/** Returns the first syntax error of a JSON text, or `undefined` for a valid text. Never throws. */
export function findJsonError(text: string): JsonError | undefined {
  let at = 0
  /** Open brackets, the innermost one last. */
  const open: ('{' | '[')[] = []
  /** What the grammar allows next. */
  let expectation: 'value' | 'value or ]' | 'name' | 'name or }' | 'colon' | 'comma or end' = 'value'

  const descriptions = {
    value: 'a value',
    'value or ]': 'a value or "]"',
    name: 'a name in double quotes',
    'name or }': 'a name in double quotes or "}"',
    colon: '":"',
    'comma or end': '"," or a closing bracket',
  }

  for (;;) {
    space.lastIndex = at
    // Always matches, possibly an empty text.
    space.test(text)
    at = space.lastIndex
    const expected = expectation === 'comma or end' && open.length === 0 ? 'the end' : descriptions[expectation]
    if (at === text.length) {
      return expectation === 'comma or end' && open.length === 0
        ? undefined
        : { at, message: `expected ${expected}, not the end` }
    }
    token.lastIndex = at
    const match = token.exec(text)?.[0]
    const error = {
      at,
      message: `expected ${expected}, not ${JSON.stringify(match?.slice(0, 40) ?? [...text.slice(at, at + 2)][0])}`,
    }
    if (match === undefined) return error
    const next = after(match, expectation, open)
    if (next === undefined) return error
    expectation = next
    at += match.length
  }

  function after(text: string, expected: typeof expectation, brackets: typeof open): typeof expectation | undefined {
    const closes = text === '}' ? '{' : text === ']' ? '[' : undefined
    if (closes !== undefined) {
      const isAllowed = expected === 'comma or end' || expected === (closes === '[' ? 'value or ]' : 'name or }')
      if (!isAllowed || brackets.pop() !== closes) return undefined
      return 'comma or end'
    }
    if (text === ',') {
      if (expected !== 'comma or end' || brackets.length === 0) return undefined
      return brackets.at(-1) === '{' ? 'name' : 'value'
    }
    if (text === ':') return expected === 'colon' ? 'value' : undefined
    if (expected === 'name' || expected === 'name or }') return text.startsWith('"') ? 'colon' : undefined
    if (expected !== 'value' && expected !== 'value or ]') return undefined
    if (text !== '{' && text !== '[') return 'comma or end'
    brackets.push(text)
    return text === '{' ? 'name or }' : 'value or ]'
  }
}
