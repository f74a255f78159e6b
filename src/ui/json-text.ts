/** Keys and indexes from the top of a JSON text to one of its values. */
export type JsonPath = readonly (string | number)[]

/** A value in a JSON text, with its place. */
export interface JsonNode {
  readonly start: number
  readonly end: number
  /** Of an object, in the order of the text. `start`: the place of the key. */
  readonly members?: readonly { readonly key: string; readonly start: number; readonly node: JsonNode }[]
  readonly items?: readonly JsonNode[]
}

export type ParsedJson =
  | { readonly ok: true; readonly root: JsonNode }
  | { readonly ok: false; readonly at: number; readonly message: string }

class JsonProblem extends Error {
  readonly at: number
  constructor(at: number, message: string) {
    super(message)
    this.at = at
  }
}

const MAX_DEPTH = 100
const blank = /[ \t\n\r]*/y
const quoted = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y
const scalar = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])/y

/** Parses JSON and keeps the place of each value. A key that is there twice is an error. */
export function parseJson(text: string): ParsedJson {
  let at = 0
  const skip = () => {
    blank.lastIndex = at
    blank.exec(text)
    at = blank.lastIndex
  }
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    const [found] = pattern.exec(text) ?? []
    if (found !== undefined) at = pattern.lastIndex
    return found
  }
  const fail = (message: string, place = at): never => {
    throw new JsonProblem(place, at >= text.length ? 'The text ends too early' : message)
  }
  /** Reads what is between two brackets. */
  const readAll = (close: string, readOne: () => void) => {
    at++
    skip()
    while (text[at] !== close) {
      readOne()
      skip()
      if (text[at] === close) break
      if (text[at] !== ',') fail(`A comma or ${close} is missing here`)
      at++
      skip()
      if (text[at] === close) fail('There is a comma too many before this')
    }
    at++
  }
  const read = (depth: number): JsonNode => {
    if (depth > MAX_DEPTH) fail('The text is nested too deeply')
    skip()
    const start = at
    if (text[at] === '{') {
      const members: { key: string; start: number; node: JsonNode }[] = []
      const keys = new Set<string>()
      readAll('}', () => {
        const place = at
        const key = JSON.parse(match(quoted) ?? fail('A name in quotes is missing here')) as string
        if (keys.has(key)) fail(`“${key}” is there twice`, place)
        keys.add(key)
        skip()
        if (text[at] !== ':') fail('A colon is missing here')
        at++
        members.push({ key, start: place, node: read(depth + 1) })
      })
      return { start, end: at, members }
    }
    if (text[at] === '[') {
      const items: JsonNode[] = []
      readAll(']', () => items.push(read(depth + 1)))
      return { start, end: at, items }
    }
    if (match(quoted) === undefined && match(scalar) === undefined)
      fail('A value is missing here, or is not written as JSON')
    return { start, end: at }
  }
  try {
    const root = read(0)
    skip()
    if (at < text.length) fail('The policy has ended before this')
    return { ok: true, root }
  } catch (error) {
    if (!(error instanceof JsonProblem)) throw error
    return { ok: false, at: error.at, message: error.message }
  }
}

export function lineAt(text: string, at: number): number {
  return text.slice(0, at).split('\n').length
}

/** Returns the value at a path. */
export function nodeAt(root: JsonNode, path: JsonPath): JsonNode | undefined {
  return path.reduce<JsonNode | undefined>((node, key) => childOf(node, key), root)
}

function childOf(node: JsonNode | undefined, key: string | number): JsonNode | undefined {
  return typeof key === 'number' ? node?.items?.[key] : node?.members?.find((member) => member.key === key)?.node
}

/** Returns the place of a field as messages name it, such as `rules[0].paths`, or of the nearest value around it. */
export function placeOfField(root: JsonNode, field: string): { readonly path: JsonPath; readonly at: number } {
  let node: JsonNode = root
  let at = root.start
  const path: (string | number)[] = []
  for (let rest = field; rest !== ''; ) {
    const [indexed, index] = /^\[(\d+)\]/.exec(rest) ?? []
    const item = index === undefined ? undefined : node.items?.[Number(index)]
    if (indexed !== undefined && item !== undefined) {
      node = item
      at = item.start
      path.push(Number(index))
      rest = rest.slice(indexed.length)
      continue
    }
    const named = rest.replace(/^\./, '')
    const member = node.members
      ?.filter(({ key }) => named.startsWith(key) && /^(?:$|[.[])/.test(named.slice(key.length)))
      .reduce<{ key: string; start: number; node: JsonNode } | undefined>(
        (longest, one) => (longest === undefined || one.key.length > longest.key.length ? one : longest),
        undefined,
      )
    if (member === undefined) break
    node = member.node
    at = member.start
    path.push(member.key)
    rest = named.slice(member.key.length)
  }
  return { path, at }
}

/** Sets the value at a path, or removes it with `undefined`. Every other character of the text stays. */
export function editJson(text: string, path: JsonPath, value: unknown): string {
  const parsed = parseJson(text)
  if (!parsed.ok) throw new TypeError(`Cannot edit: ${parsed.message}`)
  const node = nodeAt(parsed.root, path)
  if (value === undefined) return node === undefined ? text : removed(text, parsed.root, path)
  if (node !== undefined) {
    return splice(text, node.start, node.end, written(value, indentAt(text, node.start), unitOf(text)))
  }
  // The nearest value that is there gets what is missing below it.
  let known = path.length - 1
  while (nodeAt(parsed.root, path.slice(0, known)) === undefined) known--
  const parent = nodeAt(parsed.root, path.slice(0, known)) as JsonNode
  const [key, ...below] = path.slice(known)
  const added = below.reduceRight<unknown>(
    (inner, one) => (typeof one === 'number' ? [inner] : { [one]: inner }),
    value,
  )
  return inserted(text, parent, key ?? '', added)
}

function inserted(text: string, parent: JsonNode, key: string | number, value: unknown): string {
  const unit = unitOf(text)
  const last = parent.members?.at(-1)?.node ?? parent.items?.at(-1)
  const isOpen = text.slice(parent.start, parent.end).includes('\n') || (last === undefined && text.includes('\n'))
  const outer = indentAt(text, parent.start)
  const inner = outer + unit
  const name = typeof key === 'number' ? '' : `${JSON.stringify(key)}: `
  const piece = `${name}${written(value, inner, unit)}`
  if (last !== undefined) return splice(text, last.end, last.end, isOpen ? `,\n${inner}${piece}` : `, ${piece}`)
  return splice(text, parent.start + 1, parent.end - 1, isOpen ? `\n${inner}${piece}\n${outer}` : piece)
}

function removed(text: string, root: JsonNode, path: JsonPath): string {
  const parent = nodeAt(root, path.slice(0, -1))
  const key = path.at(-1)
  const parts = parent?.members ?? parent?.items?.map((node, at) => ({ key: at, start: node.start, node })) ?? []
  const at = parts.findIndex((part) => part.key === key)
  const part = parts[at]
  if (parent === undefined || part === undefined) return text
  const [before, after] = [parts[at - 1], parts[at + 1]]
  if (before !== undefined) return splice(text, before.node.end, part.node.end, '')
  if (after !== undefined) return splice(text, part.start, after.start, '')
  return splice(text, parent.start + 1, parent.end - 1, '')
}

function splice(text: string, start: number, end: number, by: string): string {
  return text.slice(0, start) + by + text.slice(end)
}

function indentAt(text: string, at: number): string {
  const line = text.lastIndexOf('\n', at - 1) + 1
  return /^[ \t]*/.exec(text.slice(line, at))?.[0] ?? ''
}

function unitOf(text: string): string {
  return /\n([ \t]+)/.exec(text)?.[1] ?? '  '
}

/** Writes a value; lists of texts and numbers stay in one line while they are short. */
function written(value: unknown, indent: string, unit: string): string {
  const isFlat = (one: unknown) => typeof one !== 'object' || one === null
  if (Array.isArray(value) && value.every(isFlat)) {
    const line = `[${value.map((one) => JSON.stringify(one)).join(', ')}]`
    if (line.length <= 80) return line
  }
  return JSON.stringify(value, null, unit).replaceAll('\n', `\n${indent}`)
}
