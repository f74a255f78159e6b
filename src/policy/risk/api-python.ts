import { afterGroup, append, type Token, textAt, textOf } from './tokens.ts'

/** The public names of a Python module: functions, classes with their public methods, variables, `__all__`. */
export function pythonApi(tokens: readonly Token[], path: string): string[] {
  const api: string[] = []
  /** The class that a line may stand in, and its column; `body` is known once its first line is read. */
  let inside: { readonly name: string; readonly column: number; body: number } | undefined
  /** Below this column, what is defined belongs to a function. */
  let hidden = Number.POSITIVE_INFINITY
  let decorators = ''
  for (const { column, tokens: line } of logicalLines(tokens)) {
    if (column <= hidden) hidden = Number.POSITIVE_INFINITY
    if (column > hidden) continue
    if (inside !== undefined && column <= inside.column) inside = undefined
    const words = textAt(line, 0) === 'async' ? line.slice(1) : line
    const [keyword, name] = [textAt(words, 0), textAt(words, 1)]
    if (keyword === '@') {
      decorators += `${textOf(line)} `
      continue
    }
    const head = decorators + headOf(line)
    decorators = ''
    if (inside !== undefined) {
      if (inside.body === 0) inside.body = column
      if (column !== inside.body) continue
      if (keyword === 'def' && isPublic(name)) api.push(`${inside.name} . ${head}`)
      else if (textAt(words, 1) === ':' || textAt(words, 1) === '=') addVariable(words, `${inside.name} . `, api)
    } else if (keyword === 'def') {
      hidden = column
      if (isPublic(name)) api.push(head)
    } else if (keyword === 'class') {
      if (!isPublic(name)) hidden = column
      else {
        api.push(head)
        inside = { name, column, body: 0 }
      }
    } else if (keyword === '__all__') {
      for (const { text } of words.filter(({ kind }) => kind === 'string')) api.push(`__all__ ${text.slice(1, -1)}`)
    } else if ((keyword === 'from' || keyword === 'import') && path.endsWith('__init__.py')) addImports(words, api)
    else if (textAt(words, 1) === ':' || textAt(words, 1) === '=') addVariable(words, '', api)
  }
  return api
}

/** Lines as Python counts them: what stands in brackets goes on. */
function logicalLines(tokens: readonly Token[]): { column: number; tokens: Token[] }[] {
  const lines: { column: number; tokens: Token[] }[] = []
  for (let at = 0; at < tokens.length; ) {
    const token = tokens[at] as Token
    // A definition at the start of a line is one, whatever stands open.
    const end = boundedGroup(tokens, at)
    if (token.first) lines.push({ column: token.column, tokens: [] })
    append(lines.at(-1)?.tokens, tokens, at, end)
    at = end
  }
  return lines
}

function boundedGroup(tokens: readonly Token[], at: number): number {
  const end = afterGroup(tokens, at)
  for (let i = at + 1; i < end; i++) {
    const { first, column, text } = tokens[i] as Token
    if (first && column === 0 && (text === 'def' || text === 'class')) return i
  }
  return end
}

/** `_name` is private; `__name__` is a name that the language knows. */
function isPublic(name: string): boolean {
  return !name.startsWith('_') || /^__\w+__$/.test(name)
}

function headOf(line: readonly Token[]): string {
  let at = 0
  while (at < line.length && textAt(line, at) !== ':') at = afterGroup(line, at)
  return textOf(line.slice(0, at))
}

function addVariable(line: readonly Token[], prefix: string, api: string[]): void {
  const name = line[0]
  if (name?.kind !== 'word' || !isPublic(name.text) || statements.has(name.text)) return
  const equals = line.findIndex(({ text }) => text === '=')
  api.push(prefix + textOf(equals === -1 ? line : line.slice(0, equals)))
}

const statements = new Set(['else', 'try', 'finally', 'lambda', 'match'])

/** What a package imports into its own names, it exports. */
function addImports(line: readonly Token[], api: string[]): void {
  const imported = line.findIndex(({ text }) => text === 'import')
  const from = textOf(line.slice(0, imported))
  let name: string[] = []
  const flush = () => {
    if (name.length > 0) api.push(`${from} import ${name.join(' ')}`)
    name = []
  }
  for (const { text } of line.slice(imported + 1)) {
    if (text === ',') flush()
    else if (text !== '(' && text !== ')') name.push(text)
  }
  flush()
}
