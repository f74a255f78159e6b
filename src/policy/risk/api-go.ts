import { afterGroup, append, type Token, textAt, textOf } from './tokens.ts'

/** The exported names of a Go file: what starts with a capital letter, and the name of its package. */
export function goApi(tokens: readonly Token[]): string[] {
  const api: string[] = []
  for (const declaration of declarations(tokens)) {
    switch (textAt(declaration, 0)) {
      case 'package':
        api.push(textOf(declaration))
        break
      case 'func':
        addFunction(declaration, api)
        break
      case 'type':
        for (const one of specs(declaration)) addType(one, api)
        break
      case 'const':
      case 'var':
        for (const one of specs(declaration)) addValue(textAt(declaration, 0), one, api)
    }
  }
  return api
}

const starts = new Set(['package', 'import', 'func', 'type', 'const', 'var'])

/** A declaration starts at the start of a line, whatever stands open. */
function declarations(tokens: readonly Token[]): Token[][] {
  const all: Token[][] = []
  for (const token of tokens) {
    if (token.column === 0 && starts.has(token.text)) all.push([])
    all.at(-1)?.push(token)
  }
  return all
}

function isExported(name: string): boolean {
  return /^\p{Lu}/u.test(name)
}

function addFunction(declaration: readonly Token[], api: string[]): void {
  let at = 1
  if (textAt(declaration, 1) === '(') {
    at = afterGroup(declaration, 1)
    const receiver = declaration.slice(2, at - 1).filter(({ kind }) => kind === 'word')
    if (!isExported(textAt(receiver, receiver.length > 1 ? 1 : 0))) return
  }
  if (!isExported(textAt(declaration, at))) return
  while (at < declaration.length) {
    const isBody = textAt(declaration, at) === '{' && !['interface', 'struct'].includes(textAt(declaration, at - 1))
    if (isBody) break
    at = afterGroup(declaration, at)
  }
  api.push(textOf(declaration.slice(0, at)))
}

/** `type ( … )` and the like hold several, one a line. */
function specs(declaration: readonly Token[]): Token[][] {
  if (textAt(declaration, 1) !== '(') return [declaration.slice(1)]
  return lines(declaration.slice(2, afterGroup(declaration, 1) - 1))
}

function lines(tokens: readonly Token[]): Token[][] {
  const all: Token[][] = []
  for (let at = 0; at < tokens.length; ) {
    const token = tokens[at] as Token
    const end = afterGroup(tokens, at)
    if (token.text === ';') all.push([])
    else {
      if (token.first || all.length === 0) all.push([])
      append(all.at(-1), tokens, at, end)
    }
    at = end
  }
  return all
}

function addType(spec: readonly Token[], api: string[]): void {
  const name = textAt(spec, 0)
  if (!isExported(name)) return
  const open = spec.findIndex(({ text }, index) => text === '{' && textAt(spec, index - 1) === 'struct')
  if (open === -1) {
    api.push(`type ${textOf(spec)}`)
    return
  }
  api.push(`type ${textOf(spec.slice(0, open))}`)
  for (const field of lines(spec.slice(open + 1, afterGroup(spec, open) - 1))) {
    // What is embedded has the name of its type, which may come from another package.
    const isEmbedded = textAt(field, 0) === '*' || textAt(field, 1) === '.'
    const isShown = isEmbedded ? field.some(({ text }) => isExported(text)) : declaresExported(field)
    if (isShown) api.push(`type ${name} . ${textOf(field)}`)
  }
}

function addValue(kind: string, spec: readonly Token[], api: string[]): void {
  const equals = spec.findIndex(({ text }) => text === '=')
  const head = equals === -1 ? spec : spec.slice(0, equals)
  if (declaresExported(head)) api.push(`${kind} ${textOf(head)}`)
}

/** `a, B int`: whether one of the names is exported. */
function declaresExported(head: readonly Token[]): boolean {
  return head.some(({ text }, index) => (index === 0 || textAt(head, index - 1) === ',') && isExported(text))
}
