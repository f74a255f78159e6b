import { afterGroup, type Token, textAt, textOf, topLevel, withGroups } from './tokens.ts'

/** What is public or protected in a Java file, and what an interface declares. */
export function javaApi(tokens: readonly Token[]): string[] {
  const api: string[] = []
  readMembers(withGroups(withoutAnnotations(tokens)), '', false, api)
  return api
}

const kinds = new Set(['class', 'interface', 'enum', 'record'])

/** `open`: everything is public here that is not private, as in an interface. */
function readMembers(tokens: readonly Token[], prefix: string, open: boolean, api: string[]): void {
  for (let at = 0; at < tokens.length; ) {
    const end = memberEnd(tokens, at)
    readMember(tokens.slice(at, end), prefix, open, api)
    at = end
  }
}

/** With its semicolon or its body. */
function memberEnd(tokens: readonly Token[], start: number): number {
  let assigned = false
  for (let at = start; at < tokens.length; ) {
    const { text } = tokens[at] as Token
    const end = afterGroup(tokens, at)
    if (text === '=') assigned = true
    if (text === ';' || (text === '{' && !assigned)) return end
    at = end
  }
  return tokens.length
}

function readMember(member: readonly Token[], prefix: string, open: boolean, api: string[]): void {
  if (textAt(member, 0) === 'package') api.push(textOf(member))
  const body = topLevel(member, '{')
  const equals = topLevel(member, '=')
  const head = member.slice(0, Math.min(...[body, equals, member.length].filter((index) => index !== -1)))
  const isShown = open
    ? !head.some(({ text }) => text === 'private')
    : head.some(({ text }) => text === 'public' || text === 'protected')
  if (!isShown) return
  const signature = textOf(head.filter(({ text }) => text !== ';'))
  if (signature === '') return
  const kind = head.find(({ text }, index) => kinds.has(text) && head[index + 1]?.kind === 'word')
  api.push(prefix + signature)
  if (kind === undefined || body === -1) return
  const name = `${prefix}${textAt(head, head.indexOf(kind) + 1)} . `
  const inner = member.slice(body + 1, afterGroup(member, body) - 1)
  if (kind.text === 'enum') {
    const semicolon = topLevel(inner, ';')
    const constants = semicolon === -1 ? inner : inner.slice(0, semicolon)
    for (const constant of constantsOf(constants)) api.push(name + constant)
  }
  readMembers(inner, name, kind.text === 'interface', api)
  if (kind.text === 'interface') api.push(`${name}demands ${demandsOf(inner)}`)
}

/** The methods of an interface that have no body: a new one breaks whoever implements it. */
function demandsOf(inner: readonly Token[]): string {
  const demanded: string[] = []
  for (let at = 0; at < inner.length; ) {
    const end = memberEnd(inner, at)
    const member = inner.slice(at, end)
    if (member.length > 1 && textAt(member, member.length - 1) === ';' && topLevel(member, '=') === -1)
      demanded.push(textOf(member))
    at = end
  }
  return demanded.join(' ')
}

function constantsOf(tokens: readonly Token[]): string[] {
  const names: string[] = []
  let atStart = true
  for (let at = 0; at < tokens.length; at = afterGroup(tokens, at)) {
    const { text, kind } = tokens[at] as Token
    if (text === ',') atStart = true
    else if (atStart && kind === 'word') {
      names.push(text)
      atStart = false
    }
  }
  return names
}

function withoutAnnotations(member: readonly Token[]): Token[] {
  const kept: Token[] = []
  for (let at = 0; at < member.length; ) {
    const token = member[at] as Token
    if (token.text === '@' && textAt(member, at + 1) !== 'interface') {
      at += 2
      while (textAt(member, at) === '.') at += 2
      if (textAt(member, at) === '(') at = afterGroup(member, at)
    } else {
      kept.push(token)
      at += 1
    }
  }
  return kept
}
