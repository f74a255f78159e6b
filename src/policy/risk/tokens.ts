/** The languages whose declarations and tests are recognised. */
export type Language = 'javascript' | 'python' | 'go' | 'rust' | 'java'

const languages: Readonly<Record<string, Language>> = {
  ...{ '.ts': 'javascript', '.tsx': 'javascript', '.mts': 'javascript', '.cts': 'javascript' },
  ...{ '.js': 'javascript', '.jsx': 'javascript', '.mjs': 'javascript', '.cjs': 'javascript' },
  ...{ '.py': 'python', '.pyi': 'python', '.go': 'go', '.rs': 'rust', '.java': 'java' },
}

/** The language of a file by its extension. TypeScript and JavaScript are one here. */
export function languageOf(path: string): Language | undefined {
  return languages[path.slice(path.lastIndexOf('.')).toLowerCase()]
}

/** A word, number, string or sign of a program. Comments and white space are none. */
export interface Token {
  readonly text: string
  readonly kind: 'word' | 'string' | 'sign'
  /** UTF-16 units from the start of its line. */
  readonly column: number
  /** Whether it is the first of its line. */
  readonly first: boolean
  /** Of an opening bracket: how many tokens its group has; of anything else 1. */
  readonly span: number
}

const space = /[^\S\n]+/y
const word = /[\p{L}_$][\p{L}\p{N}_$]*/uy
const number = /\d[\w.]*/y
const longSign = /=>|->|::|:=|\.\.\.|[=!<>]=/y

interface Grammar {
  readonly comment: RegExp
  readonly string: RegExp
}

const slashes = /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/y

const grammars: Readonly<Record<Language, Grammar>> = {
  javascript: { comment: slashes, string: /"(?:[^"\\\n]|\\[\s\S])*"?|'(?:[^'\\\n]|\\[\s\S])*'?/y },
  python: {
    comment: /#[^\n]*|\\\r?\n/y,
    string:
      /(?:[rRbBuUfF]{1,2})?(?:"""(?:[^\\]|\\[\s\S])*?(?:"""|$)|'''(?:[^\\]|\\[\s\S])*?(?:'''|$)|"(?:[^"\\\n]|\\[\s\S])*"?|'(?:[^'\\\n]|\\[\s\S])*'?)/y,
  },
  go: { comment: slashes, string: /"(?:[^"\\\n]|\\[\s\S])*"?|`[^`]*`?|'(?:[^'\\\n]|\\[\s\S])*'?/y },
  rust: {
    comment: slashes,
    string:
      /b?r"[^"]*"?|b?r(#+)"[\s\S]*?(?:"\1|$)|b?"(?:[^"\\]|\\[\s\S])*"?|b?'(?:[^'\\\n]|\\(?:u\{\w*\}|x\w\w|[\s\S]))'/y,
  },
  java: {
    comment: slashes,
    string: /"""(?:[^\\]|\\[\s\S])*?(?:"""|$)|"(?:[^"\\\n]|\\[\s\S])*"?|'(?:[^'\\\n]|\\[\s\S])*'?/y,
  },
}

/** The tokens of a program. Never fails: what is no program gives some tokens, too. */
export function tokensOf(text: string, language: Language): Token[] {
  const { comment, string } = grammars[language]
  const tokens: Omit<Token, 'span'>[] = []
  let at = 0
  let lineStart = 0
  let first = true

  function match(pattern: RegExp): string | undefined {
    pattern.lastIndex = at
    return pattern.exec(text)?.[0]
  }

  function skip(found: string): void {
    const lastLine = found.lastIndexOf('\n')
    if (lastLine !== -1) lineStart = at + lastLine + 1
    at += found.length
  }

  function push(found: string, kind: Token['kind']): void {
    tokens.push({ text: found, kind, column: at - lineStart, first })
    first = false
    skip(found)
  }

  while (at < text.length) {
    if (text[at] === '\n') {
      skip('\n')
      first = true
      continue
    }
    const passed = match(space) ?? match(comment)
    if (passed !== undefined) {
      if (passed.includes('\n') && !passed.startsWith('\\')) first = true
      skip(passed)
      continue
    }
    const quoted =
      language === 'javascript' ? (match(string) ?? template(text, at) ?? regex(text, at, tokens)) : match(string)
    if (quoted !== undefined) push(quoted, 'string')
    else {
      const name = match(word) ?? match(number)
      if (name !== undefined) push(name, 'word')
      else push(match(longSign) ?? text.charAt(at), 'sign')
    }
  }
  return withGroups(tokens)
}

/** A template of JavaScript, with the templates in it. */
function template(text: string, start: number): string | undefined {
  if (text[start] !== '`') return undefined
  const open: string[] = ['`']
  let at = start + 1
  while (at < text.length && open.length > 0) {
    const char = text[at]
    const inside = open.at(-1)
    if (char === '\\') at += 1
    else if (inside === '`' && char === '$' && text[at + 1] === '{') {
      open.push('{')
      at += 1
    } else if (inside === '{' && char === '{') open.push('{')
    else if (inside === '{' && char === '}') open.pop()
    else if (char === '`') {
      if (inside === '`') open.pop()
      else open.push('`')
    }
    at += 1
  }
  return text.slice(start, at)
}

const regexLiteral = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.){0,100}\]){1,1000}\/[a-z]*/y
const beforeRegex = new Set(['return', 'typeof', 'case', 'in', 'of', 'void', 'delete', 'throw', 'yield', 'await'])

/** A regular expression of JavaScript, where a division cannot stand. */
function regex(text: string, start: number, tokens: readonly Omit<Token, 'span'>[]): string | undefined {
  if (text[start] !== '/') return undefined
  const last = tokens.at(-1)
  if (last?.kind === 'string' || (last?.kind === 'word' && !beforeRegex.has(last.text))) return undefined
  if (last !== undefined && [')', ']', '}'].includes(last.text)) return undefined
  regexLiteral.lastIndex = start
  return regexLiteral.exec(text)?.[0]
}

/** The position after the group that opens at a position; of anything else, the next position. */
export function afterGroup(tokens: readonly Token[], at: number): number {
  return Math.min(at + (tokens[at]?.span ?? 1), tokens.length)
}

const closing: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' }

/** Tells every bracket how far its group reaches, in one pass: what is never closed reaches to the end. */
export function withGroups(tokens: readonly Omit<Token, 'span'>[]): Token[] {
  const matched: (Omit<Token, 'span'> & { span: number })[] = tokens.map((token) => ({ ...token, span: 1 }))
  const open: number[] = []
  for (const [at, { text, kind }] of matched.entries()) {
    if (kind !== 'sign') continue
    if (closing[text] !== undefined) open.push(at)
    const last = matched[open.at(-1) ?? -1]
    if (last === undefined || closing[last.text] !== text) continue
    last.span = at + 1 - (open.pop() as number)
  }
  for (const at of open) (matched[at] as { span: number }).span = matched.length - at
  return matched
}

/** How many groups stand inside one another where that are the most. */
export function depthOf(tokens: readonly Token[]): number {
  const ends: number[] = []
  let deepest = 0
  for (const [at, { span }] of tokens.entries()) {
    while ((ends.at(-1) ?? tokens.length) <= at) ends.pop()
    if (span === 1) continue
    ends.push(at + span)
    deepest = Math.max(deepest, ends.length)
  }
  return deepest
}

/** The text of one token, and nothing where there is none. */
export function textAt(tokens: readonly Token[], at: number): string {
  return tokens[at]?.text ?? ''
}

/** Where a text stands outside of all groups, or -1. */
export function topLevel(tokens: readonly Token[], text: string): number {
  for (let at = 0; at < tokens.length; at = afterGroup(tokens, at)) if (textAt(tokens, at) === text) return at
  return -1
}

/** Tokens as one text. */
export function textOf(tokens: readonly Token[]): string {
  return tokens.map(({ text }) => text).join(' ')
}

/** Adds a part of a list to another, however long it is. */
export function append(to: Token[] | undefined, from: readonly Token[], start: number, end: number): void {
  for (let i = start; i < end; i++) to?.push(from[i] as Token)
}
