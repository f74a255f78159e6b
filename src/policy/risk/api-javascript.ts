import { afterGroup, append, type Token, textAt, textOf, topLevel } from './tokens.ts'

/** What is exported from a module of TypeScript or JavaScript, ES modules and CommonJS. */
export function javascriptApi(tokens: readonly Token[]): string[] {
  const api: string[] = []
  let at = 0
  while (at < tokens.length) {
    const token = tokens[at] as Token
    if (isWord(token, 'export')) at = readExport(tokens, at + 1, api)
    else if (isWord(token, 'module') && textAt(tokens, at + 2) === 'exports') at = readCommon(tokens, at + 3, api)
    else if (isWord(token, 'exports') && textAt(tokens, at + 1) === '.' && textAt(tokens, at + 3) === '=') {
      api.push(`exports ${textAt(tokens, at + 2)}`)
      at += 4
    } else at = afterUnexported(tokens, at)
  }
  return api
}

/** An export at the start of a line is one, whatever stands open: what is unbalanced must hide nothing. */
function afterUnexported(tokens: readonly Token[], at: number): number {
  const end = afterGroup(tokens, at)
  for (let i = at + 1; i < end; i++) {
    const token = tokens[i] as Token
    if (token.column === 0 && isWord(token, 'export')) return i
  }
  return end
}

function isWord(token: Token | undefined, text: string): boolean {
  return token?.kind === 'word' && token.text === text
}

const modifiers = new Set(['default', 'declare', 'abstract', 'async', 'type'])

function readExport(tokens: readonly Token[], start: number, api: string[]): number {
  let at = start
  let isDefault = false
  let prefix = ''
  // `export type X` is a declaration of its own, `export type { X }` a list.
  while (modifiers.has(textAt(tokens, at)) && !(isWord(tokens[at], 'type') && tokens[at + 1]?.kind === 'word')) {
    isDefault ||= isWord(tokens[at], 'default')
    // It changes nothing for who imports it.
    if (textAt(tokens, at) !== 'declare') prefix += `${textAt(tokens, at)} `
    at += 1
  }
  const token = tokens[at]
  switch (token?.text) {
    case '{': {
      if (isDefault) return readProperties(tokens, at, 'default', api)
      const end = afterGroup(tokens, at)
      const from = isWord(tokens[end], 'from') ? ` from ${textAt(tokens, end + 1)}` : ''
      for (const name of splitAtCommas(tokens.slice(at + 1, end - 1))) api.push(`export ${textOf(name)}${from}`)
      return end
    }
    case '*':
    case 'import':
    case '=': {
      const end = statementEnd(tokens, at)
      api.push(`export ${textOf(tokens.slice(at, end))}`)
      return end
    }
    case 'function': {
      const end = headEnd(tokens, at)
      api.push(prefix + textOf(tokens.slice(at, end)))
      return end
    }
    case 'class':
      return readClass(tokens, at, prefix, api)
    case 'interface':
    case 'enum':
    case 'namespace':
    case 'module': {
      const end = braceEnd(tokens, at)
      api.push(prefix + textOf(tokens.slice(at, end)))
      return end
    }
    case 'type': {
      const end = statementEnd(tokens, at)
      api.push(textOf(tokens.slice(at, end)))
      return end
    }
    case 'const':
      if (isWord(tokens[at + 1], 'enum')) {
        const end = braceEnd(tokens, at)
        api.push(textOf(tokens.slice(at, end)))
        return end
      }
      return readVariables(tokens, at, api)
    case 'let':
    case 'var':
      return readVariables(tokens, at, api)
    default:
      if (isDefault) api.push(`default ${signatureOfValue(tokens, at)}`)
      return at
  }
}

function braceEnd(tokens: readonly Token[], start: number): number {
  let at = start
  while (at < tokens.length && textAt(tokens, at) !== '{') at = afterGroup(tokens, at)
  return afterGroup(tokens, at)
}

/** After these a brace opens a type, not a body. */
const beforeType = new Set([':', '|', '&', '=>', '=', '<', ',', 'extends', 'keyof', 'is', '?', 'readonly'])

/** Where the head of a function ends: at its body, or with its statement. */
function headEnd(tokens: readonly Token[], start: number): number {
  let at = start
  while (at < tokens.length) {
    const token = tokens[at] as Token
    if (token.text === ';' || token.text === '}') return at
    if (token.text === '{' && !beforeType.has(textAt(tokens, at - 1))) return at
    if (at > start && token.column === 0 && token.kind === 'word') return at
    at = afterGroup(tokens, at)
  }
  return at
}

const goesOn = new Set([
  '|',
  '&',
  '=',
  ':',
  '?',
  '=>',
  '.',
  ',',
  '<',
  'extends',
  'keyof',
  'typeof',
  'infer',
  'as',
  '+',
  '-',
])
const continues = new Set([...goesOn, '>', 'is'])

/** Where a statement ends: at a semicolon, or at a line that neither side continues. */
function statementEnd(tokens: readonly Token[], start: number): number {
  let at = start
  while (at < tokens.length) {
    const token = tokens[at] as Token
    if (token.text === ';') return at
    if (at > start && token.first && !continues.has(token.text) && !goesOn.has(textAt(tokens, at - 1))) return at
    if (token.text === '}' || token.text === ')') return at
    at = afterGroup(tokens, at)
  }
  return at
}

function readVariables(tokens: readonly Token[], start: number, api: string[]): number {
  const end = statementEnd(tokens, start)
  const kind = textAt(tokens, start)
  for (const declared of splitAtCommas(tokens.slice(start + 1, end))) {
    const equals = topLevel(declared, '=')
    const head = equals === -1 ? declared : declared.slice(0, equals)
    const value = equals === -1 ? '' : signatureOfValue(declared, equals + 1)
    if (head.length > 0) api.push(`${kind} ${textOf(head)} ${value}`)
  }
  return end
}

/** Of a value only what it takes, where it is a function. */
function signatureOfValue(tokens: readonly Token[], start: number): string {
  let at = start
  if (isWord(tokens[at], 'async')) at += 1
  if (isWord(tokens[at], 'function')) return textOf(tokens.slice(start, headEnd(tokens, at)))
  if (isWord(tokens[at], 'class')) return 'class'
  const isArrow = textAt(tokens, at) === '(' || textAt(tokens, at) === '<' || textAt(tokens, at + 1) === '=>'
  if (!isArrow) return ''
  for (let i = at; i < tokens.length && textAt(tokens, i) !== ';'; i = afterGroup(tokens, i)) {
    if (textAt(tokens, i) === '=>') return textOf(tokens.slice(start, i))
  }
  return ''
}

/** Commas between angle brackets belong to a type. */
function splitAtCommas(tokens: readonly Token[]): Token[][] {
  const parts: Token[][] = [[]]
  let angles = 0
  for (let at = 0; at < tokens.length; ) {
    const token = tokens[at] as Token
    const end = afterGroup(tokens, at)
    if (token.text === '<') angles += 1
    if (token.text === '>') angles = Math.max(0, angles - 1)
    if (token.text === ',' && angles === 0) parts.push([])
    else append(parts.at(-1), tokens, at, end)
    at = end
  }
  return parts.filter((part) => part.length > 0)
}

/** The head of a class, and each of its members that others can reach. */
function readClass(tokens: readonly Token[], start: number, prefix: string, api: string[]): number {
  let open = start
  while (open < tokens.length && textAt(tokens, open) !== '{') open = afterGroup(tokens, open)
  const head = prefix + textOf(tokens.slice(start, open))
  const name = textAt(tokens, start + 1)
  api.push(head)
  const end = afterGroup(tokens, open)
  for (let at = open + 1; at < end - 1; ) {
    const stop = memberEnd(tokens, at, end - 1)
    const member = tokens.slice(at, stop)
    // What a constructor takes may be private, and the constructor is not.
    const isHidden =
      topLevel(member, 'private') !== -1 || member.find(({ text }) => !modifiersOf.has(text))?.text === '#'
    const equals = topLevel(member, '=')
    const shown = equals === -1 ? member : member.slice(0, equals)
    if (!isHidden && shown.length > 0) api.push(`${name} . ${textOf(shown)}`)
    at = textAt(tokens, stop) === '{' ? afterGroup(tokens, stop) : Math.max(stop, at)
    while (textAt(tokens, at) === ';') at += 1
  }
  return end
}

const modifiersOf = new Set([
  'static',
  'readonly',
  'async',
  'get',
  'set',
  'override',
  'accessor',
  'declare',
  'abstract',
  '*',
])

function memberEnd(tokens: readonly Token[], start: number, end: number): number {
  let at = start
  while (at < end) {
    const { text, first } = tokens[at] as Token
    if (text === ';') return at
    if (text === '{' && !beforeType.has(textAt(tokens, at - 1))) return at
    if (at > start && first && !continues.has(text) && !goesOn.has(textAt(tokens, at - 1))) return at
    at = afterGroup(tokens, at)
  }
  return end
}

/** `module.exports = …` and `module.exports.name = …`. */
function readCommon(tokens: readonly Token[], start: number, api: string[]): number {
  if (textAt(tokens, start) === '.') {
    if (textAt(tokens, start + 2) === '=') api.push(`exports ${textAt(tokens, start + 1)}`)
    return start + 2
  }
  if (textAt(tokens, start) !== '=') return start
  if (textAt(tokens, start + 1) !== '{') {
    api.push(`module.exports ${signatureOfValue(tokens, start + 1)}`)
    return start + 1
  }
  return readProperties(tokens, start + 1, 'exports', api)
}

/** The names of an object, or what is spread into it. */
function readProperties(tokens: readonly Token[], start: number, prefix: string, api: string[]): number {
  const end = afterGroup(tokens, start)
  for (const property of splitAtCommas(tokens.slice(start + 1, end - 1))) {
    api.push(`${prefix} ${textAt(property, 0) === '...' ? textOf(property) : textAt(property, 0)}`)
  }
  return end
}
