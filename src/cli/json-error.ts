/** What is wrong with a JSON text, and where: the engine's own message names the place only sometimes. */
export interface JsonError {
  /** UTF-16 units from the start. */
  readonly at: number
  readonly message: string
}

const token =
  /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[[\]{},:]/y
const space = /[ \t\n\r]*/y

/** The first thing in a text that JSON does not know. Never fails, whatever the text. */
export function findJsonError(text: string): JsonError | undefined {
  let at = 0
  /** The brackets that stand open. */
  const open: ('{' | '[')[] = []
  /** What may come next. */
  let wants: 'value' | 'value or ]' | 'name' | 'name or }' | 'colon' | 'comma or end' = 'value'

  const said = {
    value: 'a value',
    'value or ]': 'a value or "]"',
    name: 'a name in double quotes',
    'name or }': 'a name in double quotes or "}"',
    colon: '":"',
    'comma or end': '"," or a closing bracket',
  }

  for (;;) {
    space.lastIndex = at
    // It always matches, if only nothing.
    space.test(text)
    at = space.lastIndex
    const expected = wants === 'comma or end' && open.length === 0 ? 'the end' : said[wants]
    if (at === text.length) {
      return wants === 'comma or end' && open.length === 0
        ? undefined
        : { at, message: `expected ${expected}, not the end` }
    }
    token.lastIndex = at
    const found = token.exec(text)?.[0]
    const error = {
      at,
      message: `expected ${expected}, not ${JSON.stringify(found?.slice(0, 40) ?? [...text.slice(at, at + 2)][0])}`,
    }
    if (found === undefined) return error
    const next = after(found, wants, open)
    if (next === undefined) return error
    wants = next
    at += found.length
  }

  function after(found: string, wanted: typeof wants, brackets: typeof open): typeof wants | undefined {
    const closes = found === '}' ? '{' : found === ']' ? '[' : undefined
    if (closes !== undefined) {
      const may = wanted === 'comma or end' || wanted === (closes === '[' ? 'value or ]' : 'name or }')
      if (!may || brackets.pop() !== closes) return undefined
      return 'comma or end'
    }
    if (found === ',') {
      if (wanted !== 'comma or end' || brackets.length === 0) return undefined
      return brackets.at(-1) === '{' ? 'name' : 'value'
    }
    if (found === ':') return wanted === 'colon' ? 'value' : undefined
    if (wanted === 'name' || wanted === 'name or }') return found.startsWith('"') ? 'colon' : undefined
    if (wanted !== 'value' && wanted !== 'value or ]') return undefined
    if (found !== '{' && found !== '[') return 'comma or end'
    brackets.push(found)
    return found === '{' ? 'name or }' : 'value or ]'
  }
}
