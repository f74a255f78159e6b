/** A note, as its Markdown file says: what stands before its text, and the text. */
export interface Note {
  readonly title: string | undefined
  readonly labels: readonly string[]
  /** Who may see it; empty: everybody. */
  readonly scopes: readonly string[]
  readonly content: string
}

/**
 * Reads a note: front matter between two lines `---`, in the strict part of YAML that {@link noteText} writes and people mostly do
 * (`key: value`, `[a, b]`, `- item`), then Markdown. Without front matter everything is content. `undefined` where title, labels
 * or scopes are written in any other way: whoever guards notes must not guess.
 */
export function parseNote(text: string): Note | undefined {
  const lines = text.split(/\r\n|\n/)
  if (lines[0] !== '---') return { title: undefined, labels: [], scopes: [], content: text }
  const end = lines.indexOf('---', 1)
  if (end === -1) return undefined
  const fields = fieldsOf(lines.slice(1, end))
  if (fields === undefined) return undefined
  const title = fields.get('title')
  const labels = listOf(fields.get('labels'))
  const scopes = listOf(fields.get('scopes'))
  if (Array.isArray(title)) return undefined
  const content = lines.slice(lines[end + 1] === '' ? end + 2 : end + 1).join('\n')
  return { title, labels, scopes, content }
}

/** A note as its file says it. */
export function noteText(id: string, { title, labels, scopes, content }: Note): string {
  const fields = [
    `id: ${quoted(id)}`,
    ...(title === undefined ? [] : [`title: ${quoted(title)}`]),
    ...(labels.length === 0 ? [] : [`labels: [${labels.map(quoted).join(', ')}]`]),
    ...(scopes.length === 0 ? [] : [`scopes: [${scopes.map(quoted).join(', ')}]`]),
  ]
  return `---\n${fields.join('\n')}\n---\n\n${content}`
}

type Value = string | string[]

const known: ReadonlySet<string> = new Set(['id', 'title', 'labels', 'scopes'])

function fieldsOf(lines: readonly string[]): Map<string, Value> | undefined {
  const fields = new Map<string, Value>()
  const begun: string[][] = []
  let key: string | undefined
  /** Of the items of one list. */
  let indent: string | undefined
  for (const line of lines) {
    if (/^\s*(#.*)?$/.test(line)) continue
    const item = /^( *)- +(.*)$/.exec(line)
    if (item !== null || /^\s/.test(line)) {
      // What belongs to a key that is not ours may be written in any way.
      if (key !== undefined && !known.has(key)) continue
      const list = key === undefined ? undefined : fields.get(key)
      const value = item === null ? undefined : scalarOf(item[2] as string)
      indent ??= item?.[1]
      if (!Array.isArray(list) || value === undefined || item?.[1] !== indent) return undefined
      list.push(value)
      continue
    }
    const field = /^([A-Za-z_][\w-]*):(?: +(.*))?$/.exec(line)
    if (field === null) return undefined
    const [, name = '', rest = ''] = field
    key = name
    indent = undefined
    if (!known.has(name)) continue
    if (fields.has(name)) return undefined
    const value = valueIn(rest.trim())
    if (value === undefined) return undefined
    fields.set(name, value)
    // A list on one line, and a value, have nothing below them.
    if (rest.trim() !== '') key = undefined
    else begun.push(value as string[])
  }
  // A key with nothing behind it says nothing that could be relied on.
  return begun.every((list) => list.length > 0) ? fields : undefined
}

function valueIn(text: string): Value | undefined {
  if (text === '') return []
  if (!text.startsWith('[')) return scalarOf(text)
  const inner = /^\[(.*)\]$/.exec(text)?.[1]
  if (inner === undefined) return undefined
  if (inner.trim() === '') return []
  const items: string[] = []
  let rest = inner
  for (;;) {
    const item = /^\s*("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^",'[\]{}#]*[^",'[\]{}#\s])\s*(?:,|$)/.exec(rest)
    const value = item === null ? undefined : scalarOf(item[1] as string)
    if (item === null || value === undefined) return undefined
    items.push(value)
    rest = rest.slice(item[0].length)
    if (!item[0].endsWith(',')) return items
  }
}

/** A plain scalar must be one that no YAML reader takes for anything but this text. */
const plain = /^[A-Za-z][\w./@-]*(?: [\w./@-]+)*$/
const notText = /^(?:true|false|null|yes|no|on|off|y|n)$/i

function scalarOf(given: string): string | undefined {
  const text = given.trim()
  if (text.startsWith('"')) {
    try {
      return JSON.parse(text) as string
    } catch {
      return undefined
    }
  }
  if (/^'(?:[^']|'')*'$/.test(text)) return text.slice(1, -1).replaceAll("''", "'")
  return plain.test(text) && !notText.test(text) ? text : undefined
}

/** One value is a list of one. */
function listOf(value: Value | undefined): readonly string[] {
  if (value === undefined) return []
  return typeof value === 'string' ? [value] : value
}

/** JSON is YAML, but for characters that YAML does not take raw. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
