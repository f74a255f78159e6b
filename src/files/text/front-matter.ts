/** A note: the fields of the front matter of its Markdown file, and its text. */
export interface Note {
  readonly title: string | undefined
  readonly labels: readonly string[]
  /** The scopes that may see the note. Empty: everybody. */
  readonly scopes: readonly string[]
  readonly content: string
}

/**
 * Parses a note: front matter between two lines `---`, then Markdown. Accepts the subset of YAML that {@link noteText}
 * writes and that people commonly use (`key: value`, `[a, b]`, `- item`). Without front matter, the whole text is content.
 * Returns `undefined` if title, labels or scopes use any other syntax, because access to notes must not depend on guesses.
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

/** Formats a note as a Markdown file with front matter. */
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

const noteFields: ReadonlySet<string> = new Set(['id', 'title', 'labels', 'scopes'])

function fieldsOf(lines: readonly string[]): Map<string, Value> | undefined {
  const fields = new Map<string, Value>()
  const openLists: string[][] = []
  let key: string | undefined
  /** Indentation of the items of the current list. */
  let indent: string | undefined
  for (const line of lines) {
    if (/^\s*(#.*)?$/.test(line)) continue
    const item = /^( *)- (.*)/s.exec(line)
    if (item !== null || /^\s/.test(line)) {
      // Lines of other keys may use any syntax.
      if (key !== undefined && !noteFields.has(key)) continue
      const list = key === undefined ? undefined : fields.get(key)
      const value = item === null ? undefined : scalarOf(item[2] as string)
      indent ??= item?.[1]
      if (!Array.isArray(list) || value === undefined || item?.[1] !== indent) return undefined
      list.push(value)
      continue
    }
    const field = /^([A-Za-z_][\w-]*):(?: (.*))?$/s.exec(line)
    if (field === null) return undefined
    const [, name = '', text = ''] = field
    key = name
    indent = undefined
    if (!noteFields.has(name)) continue
    if (fields.has(name)) return undefined
    const value = valueIn(text.trim())
    if (value === undefined) return undefined
    fields.set(name, value)
    // A value or a list on the line of its key cannot continue on the next lines.
    if (text.trim() !== '') key = undefined
    else openLists.push(value as string[])
  }
  // A key without a value has no reliable meaning.
  return openLists.every((list) => list.length > 0) ? fields : undefined
}

function valueIn(text: string): Value | undefined {
  if (text === '') return []
  if (!text.startsWith('[')) return scalarOf(text)
  const inner = /^\[(.*)\]$/.exec(text)?.[1]
  if (inner === undefined) return undefined
  if (inner.trim() === '') return []
  const items: string[] = []
  let remaining = inner
  for (;;) {
    const item = /^\s*("(?:[^"\\]|\\.)*"\s*|'(?:[^']|'')*'\s*|[^",'[\]{}#\s][^",'[\]{}#]*)(?:,|$)/.exec(remaining)
    const value = item === null ? undefined : scalarOf(item[1] as string)
    if (item === null || value === undefined) return undefined
    items.push(value)
    remaining = remaining.slice(item[0].length)
    if (!item[0].endsWith(',')) return items
  }
}

/** Matches plain scalars that every YAML parser reads as this text. */
const plain = /^[A-Za-z][\w./@-]*(?: [\w./@-]+)*$/
const ambiguousScalar = /^(?:true|false|null|yes|no|on|off|y|n)$/i

function scalarOf(source: string): string | undefined {
  const text = source.trim()
  if (text.startsWith('"')) {
    try {
      return JSON.parse(text) as string
    } catch {
      return undefined
    }
  }
  if (/^'(?:[^']|'')*'$/.test(text)) return text.slice(1, -1).replaceAll("''", "'")
  return plain.test(text) && !ambiguousScalar.test(text) ? text : undefined
}

/** Returns a value as a list. */
function listOf(value: Value | undefined): readonly string[] {
  if (value === undefined) return []
  return typeof value === 'string' ? [value] : value
}

/** Quotes a text as JSON, which is valid YAML except for characters that YAML requires to be escaped. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
