type Fields = Readonly<Record<string, unknown>>

/**
 * Converts the text that a model receives for a call back to a result, for scripts that read its fields: the summary, the warnings
 * and the fields that the text shows, with the complete text as `text`; or the code, message and hint of a refusal.
 *
 * @param isError whether the interface says that the text is an error. Some interfaces have no errors, so a text that begins with a
 * code or with an error of the AI SDK is a refusal too.
 */
export function parseModelText(tool: string, text: string, isError: boolean): { readonly ok: boolean } & Fields {
  if (isError || isRefusal(text)) return { ok: false, ...refusal(text) }
  return { ok: true, ...success(tool, text), text }
}

function isRefusal(text: string): boolean {
  return /^(([A-Z]+_[A-Z_]+|ABORTED): |Model tried to call unavailable tool |Invalid input for tool )/.test(text)
}

function refusal(text: string): Fields {
  const [, code = 'BACKEND_ERROR', rest = text] = /^([A-Z][A-Z_]+): ([\s\S]*)$/.exec(text) ?? []
  const [message, ...lines] = rest.split('\n')
  const details = lines.at(-1)?.startsWith('{') ? parseValue('details', lines.pop() ?? '') : {}
  return { code, message, hint: lines.join('\n'), ...(details as Fields) }
}

function success(tool: string, text: string): Fields {
  const end = text.indexOf('\n\n')
  const [summary = '', ...lines] = (end < 0 ? text : text.slice(0, end)).split('\n')
  const warnings: unknown[] = []
  const facts: Record<string, unknown> = {}
  for (const line of lines) {
    const [, name = '', value = ''] = /^(\w+): (.*)$/.exec(line) ?? []
    if (name === 'Warning') warnings.push(parseValue(name, value))
    else if (name !== '') facts[name] = parseValue(name, value)
  }
  const body = end < 0 ? '' : text.slice(end + 2)
  const fields = Object.hasOwn(forms, tool) ? forms[tool]?.({ summary, facts, body }) : facts
  return { summary: parseValue('summary', summary), warnings, ...fields }
}

/** Facts that are texts, whatever they look like. All others are JSON if they can be. */
const textFacts: ReadonlySet<string> = new Set([
  ...['Warning', 'summary', 'cwd', 'stdout', 'stderr', 'reason', 'target', 'title', 'baseCommit', 'mode'],
])

/** Parses the value of a line. A text with line breaks is written as JSON. */
function parseValue(name: string, value: string): unknown {
  const isJson = textFacts.has(name) ? /^".*\\[nr].*"$/.test(value) : /^([{["]|(true|false|\d+)$)/.test(value)
  if (!isJson) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

interface Parts {
  readonly summary: string
  readonly facts: Fields
  readonly body: string
}

/** The text calls the version after a change `sha256`, as it does after a read. */
const newVersion = ({ facts: { sha256, ...facts } }: Parts): Fields => ({ ...facts, newSha256: sha256 })
const edit = (parts: Parts): Fields => ({ ...newVersion(parts), ...(parts.body !== '' && { diff: parts.body }) })
const linesOf = (body: string) => (body === '' ? [] : body.split('\n'))

/** The inverse of the short form of each tool's result. */
const forms: Readonly<Record<string, (parts: Parts) => Fields>> = {
  read_file({ summary, facts, body }) {
    const [, startLine, endLine, totalLines] = /lines (\d+)-(\d+) of (\d+)/.exec(summary) ?? []
    const range = { startLine: Number(startLine), endLine: Number(endLine), totalLines: Number(totalLines) }
    return { ...facts, content: body, ...(totalLines !== undefined && range) }
  },
  memory_get: ({ facts, body }) => ({ ...facts, content: body }),
  memory_recall: ({ facts, body }) => ({ ...facts, notes: linesOf(body).map((line) => parseValue('note', line)) }),
  list_directory: ({ facts, body }) => ({ ...facts, entries: linesOf(body).map(entryOf) }),
  find_files: ({ facts, body }) => ({ ...facts, files: linesOf(body) }),
  search_text: ({ summary, facts, body }) => ({
    ...facts,
    ...(/ files? match/.test(summary) ? { files: linesOf(body).map(countOf) } : { matches: matchesOf(body) }),
  }),
  diff_workspace: ({ facts, body }) => ({ ...facts, diff: body.slice(Math.max(0, body.search(/^diff --git /m))) }),
  edit_file: edit,
  replace_range: edit,
  write_file: newVersion,
  append_file: newVersion,
  memory_store: newVersion,
  apply_patch: ({ facts: { sha256 = {}, ...facts } }) => ({
    ...facts,
    filesTouched: Object.entries(sha256 as Fields).map(([path, newSha256]) => ({ path, newSha256 })),
  }),
  run_command: (parts) => ({ ...output(parts), exitCode: Number(/exit code (\d+)/.exec(parts.summary)?.[1] ?? 0) }),
  check_command: output,
  stop_command: output,
}

function output({ facts, body }: Parts): Fields {
  const [, name = 'stdout', text = ''] = /^(stdout|stderr):\n([\s\S]*)$/.exec(body) ?? []
  return { stdout: '', stderr: '', ...facts, [name]: text }
}

function entryOf(line: string): Fields {
  const [, path = '', type, size, kind] =
    /^(.+?)(?: (link|other))?(?: (\d+))?(?: ([A-Z_]+))?(?: unreadable)?$/.exec(line) ?? []
  if (path.endsWith('/')) return { path: path.slice(0, -1), type: 'directory' }
  return {
    path,
    type: type ?? 'file',
    ...(size !== undefined && { sizeBytes: Number(size) }),
    ...(kind !== undefined && { kind }),
  }
}

function countOf(line: string): Fields {
  const at = line.lastIndexOf(': ')
  return { path: line.slice(0, at), count: Number(line.slice(at + 2)) }
}

/** Returns the matches of each file. Context lines are left out. */
function matchesOf(body: string): readonly Fields[] {
  let path = ''
  return linesOf(body).flatMap((line) => {
    const [, number, snippet] = /^(\d+): (.*)$/.exec(line) ?? []
    if (number !== undefined) return [{ path, line: Number(number), snippet }]
    if (line !== '' && !/^\d+- /.test(line)) path = line
    return []
  })
}
