import { afterGroup, append, type Token, textAt, textOf, topLevel } from './tokens.ts'

/** What is `pub` in a Rust file, with the methods of its types; `pub(crate)` and the like are not public. */
export function rustApi(tokens: readonly Token[]): string[] {
  const api: string[] = []
  readItems(tokens, '', false, api)
  return api
}

/** `open`: everything is public here, as in a trait. */
function readItems(tokens: readonly Token[], prefix: string, open: boolean, api: string[]): void {
  for (let at = 0; at < tokens.length; ) {
    const start = at
    at = afterAttributes(tokens, at)
    const end = itemEnd(tokens, at)
    const isExported = tokens.slice(start, at).some(({ text }) => text === 'macro_export')
    if (isExported) api.push(`${prefix}macro ${textAt(tokens, at + 2)}`)
    readItem(tokens.slice(at, end), prefix, open, api)
    at = end
  }
}

function afterAttributes(tokens: readonly Token[], start: number): number {
  let at = start
  while (textAt(tokens, at) === '#') {
    at += textAt(tokens, at + 1) === '!' ? 2 : 1
    at = afterGroup(tokens, at)
  }
  return at
}

/** With its semicolon or its braces; an item that is public at the start of a line ends what is unbalanced before it. */
function itemEnd(tokens: readonly Token[], start: number): number {
  for (let at = start; at < tokens.length; ) {
    const { text } = tokens[at] as Token
    const end = afterGroup(tokens, at)
    for (let i = Math.max(at, start + 1); i < end; i++) {
      const token = tokens[i] as Token
      if (token.column === 0 && token.text === 'pub') return i
    }
    if (text === ';' || (text === '{' && textAt(tokens, end) !== ';')) return end
    at = end
  }
  return tokens.length
}

function readItem(item: readonly Token[], prefix: string, open: boolean, api: string[]): void {
  const isPub = textAt(item, 0) === 'pub'
  if (isPub && textAt(item, 1) === '(') return
  const body = topLevel(item, '{')
  const inner = body === -1 ? [] : item.slice(body + 1, afterGroup(item, body) - 1)
  const head = body === -1 ? item : item.slice(0, body)
  if (textAt(item, 0) === 'impl' || (textAt(item, 0) === 'unsafe' && textAt(item, 1) === 'impl')) {
    const isTrait = head.some(({ text }) => text === 'for')
    if (isTrait) api.push(prefix + textOf(head))
    // What a trait demands is public where the trait is, and the trait has its signature.
    else readItems(inner, `${prefix}${textOf(head)} `, false, api)
    return
  }
  if (!isPub && !open) return
  const words = item.slice(isPub ? 1 : 0)
  const keyword = words.find(({ text }) => keywords.has(text))?.text
  switch (keyword) {
    case 'fn':
      api.push(prefix + textOf(head).replace(/ ;$/, ''))
      break
    case 'struct':
    case 'union':
      api.push(prefix + textOf(head))
      for (const field of fieldsOf(inner)) api.push(`${prefix}${textOf(head)} . ${textOf(field)}`)
      break
    case 'trait':
      api.push(prefix + textOf(head))
      readItems(inner, `${prefix}${textOf(head)} `, true, api)
      // Whoever implements it has to know what it demands.
      api.push(`${prefix}${textOf(head)} demands ${textOf(demands(inner))}`)
      break
    case 'mod':
      if (body === -1) api.push(prefix + textOf(item))
      else readItems(inner, `${prefix}mod ${textAt(words, 1)} `, false, api)
      break
    case 'const':
    case 'static': {
      const equals = item.findIndex(({ text }) => text === '=')
      api.push(prefix + textOf(equals === -1 ? item : item.slice(0, equals)))
      break
    }
    default:
      api.push(prefix + textOf(item))
  }
}

const keywords = new Set(['fn', 'struct', 'union', 'enum', 'trait', 'mod', 'static', 'type', 'use', 'const'])

/** The items of a trait that have no body of their own. */
function demands(inner: readonly Token[]): Token[] {
  const demanded: Token[] = []
  for (let at = 0; at < inner.length; ) {
    const end = itemEnd(inner, at)
    const item = inner.slice(at, end)
    if (textAt(item, item.length - 1) === ';') append(demanded, item, 0, item.length)
    at = end
  }
  return demanded
}

function fieldsOf(inner: readonly Token[]): Token[][] {
  const fields: Token[][] = [[]]
  let angles = 0
  for (let at = 0; at < inner.length; ) {
    const { text } = inner[at] as Token
    const end = afterGroup(inner, at)
    if (text === '<') angles += 1
    if (text === '>') angles = Math.max(0, angles - 1)
    if (text === ',' && angles === 0) fields.push([])
    else if (text === '#') {
      at = afterAttributes(inner, at)
      continue
    } else append(fields.at(-1), inner, at, end)
    at = end
  }
  return fields.filter((field) => textAt(field, 0) === 'pub' && textAt(field, 1) !== '(')
}
