/** A part of a line: text, or text with a meaning. No part is HTML, and none loads anything. */
export type Inline =
  | { readonly kind: 'text' | 'code'; readonly text: string }
  | { readonly kind: 'strong' | 'em' | 'del'; readonly parts: readonly Inline[] }
  /** The address is `http:` or `https:`. */
  | { readonly kind: 'link'; readonly href: string; readonly parts: readonly Inline[] }

export type Block =
  | { readonly kind: 'heading'; readonly level: number; readonly parts: readonly Inline[] }
  | { readonly kind: 'text'; readonly parts: readonly Inline[] }
  | { readonly kind: 'code'; readonly language: string; readonly text: string }
  | { readonly kind: 'list'; readonly first: number | undefined; readonly items: readonly (readonly Block[])[] }
  | { readonly kind: 'quote'; readonly blocks: readonly Block[] }
  | {
      readonly kind: 'table'
      readonly head: readonly (readonly Inline[])[]
      readonly rows: readonly (readonly (readonly Inline[])[])[]
    }
  | { readonly kind: 'line' }

/** Deeper lists, quotes and emphasis are text. */
const MAX_DEPTH = 6
/** Characters between the two marks of an emphasis. */
const MAX_SPAN = 2000

const fence = /^ {0,3}(`{3,}(?!`)|~{3,}(?!~))([^`]*)$/
const item = /^( {0,3})([-*+]|\d{1,9}[.)])(?: +|$)/
const rule = /^ {0,3}([-*_])(?: *\1){2,} *$/
const indent = /^(?: {4}| {0,3}\t)/
const separator = /^\|[\s:|]*-[\s:|-]*$/

/** Parses Markdown. The text may be cut anywhere, as while it streams. */
export function blocksOf(text: string, depth = 0): readonly Block[] {
  return parseLines(text.replace(/\r\n?/g, '\n').split('\n'), depth)
}

function parseLines(lines: readonly string[], depth: number): readonly Block[] {
  const blocks: Block[] = []
  for (let at = 0; at < lines.length; ) {
    const [block, next] = blockAt(lines, at, depth)
    if (block !== undefined) blocks.push(block)
    at = next
  }
  return blocks
}

/** Returns the block that begins at a line, and the line after it. An empty line has no block. */
function blockAt(lines: readonly string[], at: number, depth: number): readonly [Block | undefined, number] {
  const line = lines[at] ?? ''
  if (line.trim() === '') return [undefined, at + 1]
  if (indent.test(line)) return indented(lines, at)
  const [, marks, info = ''] = fence.exec(line) ?? []
  if (marks !== undefined) return fenced(lines, at, marks, info.trim().replace(/\s.*/s, ''))
  const [, hashes, title = ''] = /^ {0,3}(#{1,6})(?: (.*))?$/s.exec(line) ?? []
  if (hashes !== undefined)
    return [{ kind: 'heading', level: hashes.length, parts: inlineOf(title.trimStart()) }, at + 1]
  if (rule.test(line)) return [{ kind: 'line' }, at + 1]
  if (isTable(lines, at)) return table(lines, at)
  if (depth < MAX_DEPTH && item.test(line)) return list(lines, at, depth)
  if (depth < MAX_DEPTH && /^ {0,3}>/.test(line)) {
    const end = endOf(lines, at, (next) => /^ {0,3}>/.test(next))
    const quoted = lines.slice(at, end).map((one) => one.replace(/^ {0,3}> ?/, ''))
    return [{ kind: 'quote', blocks: parseLines(quoted, depth + 1) }, end]
  }
  let end = at + 1
  while (end < lines.length && !isBegin(lines, end, depth)) end++
  return [{ kind: 'text', parts: inlineOf(lines.slice(at, end).join('\n').trim()) }, end]
}

/** Returns whether a line ends the paragraph before it. */
function isBegin(lines: readonly string[], at: number, depth: number): boolean {
  const line = lines[at] ?? ''
  if (line.trim() === '' || fence.test(line) || /^ {0,3}#{1,6} /.test(line) || rule.test(line)) return true
  return isTable(lines, at) || (depth < MAX_DEPTH && (item.test(line) || /^ {0,3}>/.test(line)))
}

function endOf(lines: readonly string[], at: number, belongs: (line: string) => boolean): number {
  let end = at
  while (end < lines.length && belongs(lines[end] ?? '')) end++
  return end
}

function fenced(lines: readonly string[], at: number, marks: string, language: string): readonly [Block, number] {
  const isEnd = (line: string) => line.trim().startsWith(marks) && line.trim().replaceAll(marks[0] ?? '', '') === ''
  const end = endOf(lines, at + 1, (line) => !isEnd(line))
  return [{ kind: 'code', language, text: lines.slice(at + 1, end).join('\n') }, end + 1]
}

/** Code by its indentation, which a paragraph before it would take. Empty lines belong to it where more code follows. */
function indented(lines: readonly string[], at: number): readonly [Block, number] {
  let end = endOf(lines, at, (line) => indent.test(line) || line.trim() === '')
  while ((lines[end - 1] ?? '').trim() === '') end--
  const code = lines.slice(at, end).map((line) => line.replace(indent, ''))
  return [{ kind: 'code', language: '', text: code.join('\n') }, end]
}

function list(lines: readonly string[], at: number, depth: number): readonly [Block, number] {
  const [, , mark = ''] = item.exec(lines[at] ?? '') ?? []
  const isNumbered = /\d/.test(mark)
  const items: string[][] = []
  let end = at
  for (; end < lines.length; end++) {
    const line = lines[end] ?? ''
    const [start, , ownMark] = item.exec(line) ?? []
    const own = items.at(-1)
    if (start !== undefined && ownMark !== undefined && /\d/.test(ownMark) === isNumbered && !rule.test(line)) {
      items.push([line.slice(start.length)])
    } else if (own !== undefined && (/^ {2,}/.test(line) || line.trim() === '')) {
      // An empty line ends the list unless the next line belongs to it.
      const next = lines[end + 1] ?? ''
      if (line.trim() === '' && !item.test(next) && !/^ {2,}\S/.test(next)) break
      own.push(line.replace(/^ {2,4}/, ''))
    } else if (own !== undefined && !isBegin(lines, end, depth)) own.push(line)
    else break
  }
  const first = isNumbered ? Number.parseInt(mark, 10) : undefined
  return [{ kind: 'list', first, items: items.map((own) => parseLines(own, depth + 1)) }, end]
}

function isTable(lines: readonly string[], at: number): boolean {
  return (lines[at] ?? '').startsWith('|') && separator.test(lines[at + 1] ?? '')
}

function table(lines: readonly string[], at: number): readonly [Block, number] {
  const end = endOf(lines, at, (line) => line.startsWith('|'))
  const [head = [], , ...rows] = lines.slice(at, end).map(cellsOf)
  return [{ kind: 'table', head, rows }, end]
}

function cellsOf(line: string): readonly (readonly Inline[])[] {
  return line
    .replace(/^\|/, '')
    .replace(/\|\s*$/, '')
    .split(/(?<!\\)\|/)
    .map((cell) => inlineOf(cell.trim()))
}

const link = /!?\[([^[\]\n]{0,500})\]\(\s*<?([^\s()<>]{1,2000})>?(?:\s{1,9}"[^"\n]{0,500}")?\s*\)/y
const address = /https?:\/\/[^\s<>"'`|\\]{1,2000}/y
const emphases = [
  ['**', 'strong'],
  ['__', 'strong'],
  ['~~', 'del'],
  ['*', 'em'],
  ['_', 'em'],
] as const

/** Parses the marks within a line. */
export function inlineOf(text: string, depth = 0): readonly Inline[] {
  const parts: Inline[] = []
  let plain = ''
  const add = (part: Inline) => {
    if (plain !== '') parts.push({ kind: 'text', text: plain })
    plain = ''
    parts.push(part)
  }
  /** Lengths of backtick runs that do not close, so that each is searched for once. */
  const open = new Set<number>()
  for (let at = 0; at < text.length; ) {
    const found = codeAt(text, at, open) ?? linkAt(text, at, depth) ?? emphasisAt(text, at, depth)
    if (found !== undefined) {
      add(found[0])
      at = found[1]
    } else if (text[at] === '\\' && /[!-/:-@[-`{-~]/.test(text[at + 1] ?? '')) {
      plain += text[at + 1]
      at += 2
    } else {
      const [run = ''] = /^(?:`+|[A-Za-z0-9 ]*[A-Za-z0-9]|.)/su.exec(text.slice(at, at + 200)) ?? []
      plain += run
      at += run.length
    }
  }
  if (plain !== '') parts.push({ kind: 'text', text: plain })
  return parts
}

type Found = readonly [Inline, number] | undefined

function codeAt(text: string, at: number, open: Set<number>): Found {
  if (text[at] !== '`') return undefined
  let end = at
  while (text[end] === '`') end++
  const length = end - at
  if (open.has(length)) return undefined
  for (let close = text.indexOf('`', end); close !== -1; ) {
    let after = close
    while (text[after] === '`') after++
    if (after - close === length) {
      const code = text.slice(end, close)
      const hasBlanks = code.startsWith(' ') && code.endsWith(' ') && code.trim() !== ''
      return [{ kind: 'code', text: hasBlanks ? code.slice(1, -1) : code }, after]
    }
    close = text.indexOf('`', after)
  }
  open.add(length)
  return undefined
}

/** A link, an image as a link to it, or an address. */
function linkAt(text: string, at: number, depth: number): Found {
  if (depth > 0 && text[at] === 'h') return undefined
  if (text[at] === '[' || (text[at] === '!' && text[at + 1] === '[')) {
    link.lastIndex = at
    const [whole, name = '', target = ''] = link.exec(text) ?? []
    if (whole === undefined) return undefined
    const isImage = whole.startsWith('!')
    const label = isImage ? `Image: ${name === '' ? target : name}` : name === '' ? target : name
    const parts = depth < MAX_DEPTH ? inlineOf(label, MAX_DEPTH) : [{ kind: 'text' as const, text: label }]
    const href = safeAddress(target)
    // A link to elsewhere is its text, with the target in brackets.
    if (href === undefined) return [{ kind: 'text', text: `${label} (${target})` }, at + whole.length]
    return [{ kind: 'link', href, parts }, at + whole.length]
  }
  if (!text.startsWith('http', at) || /\w/.test(text[at - 1] ?? '')) return undefined
  address.lastIndex = at
  const shown = address.exec(text)?.[0].replace(/(?<![.,;:!?)*_~\]])[.,;:!?)*_~\]]+$/, '') ?? ''
  const href = safeAddress(shown)
  if (href === undefined) return undefined
  return [{ kind: 'link', href, parts: [{ kind: 'text', text: shown }] }, at + shown.length]
}

function emphasisAt(text: string, at: number, depth: number): Found {
  if (depth >= MAX_DEPTH) return undefined
  const [mark, kind] = emphases.find(([one]) => text.startsWith(one, at)) ?? []
  if (mark === undefined || kind === undefined) return undefined
  const start = at + mark.length
  const isWord = (index: number) => /\w/.test(text[index] ?? '')
  // `snake_case` and `2 * 3` are no emphasis.
  if (/^\s?$/.test(text[start] ?? '') || (mark[0] === '_' && isWord(at - 1))) return undefined
  const end = text.slice(0, start + MAX_SPAN).indexOf(mark, start + 1)
  if (end === -1 || /\s/.test(text[end - 1] ?? '') || (mark[0] === '_' && isWord(end + mark.length))) return undefined
  if (mark.length === 1 && text[end + 1] === mark) return undefined
  return [{ kind, parts: inlineOf(text.slice(start, end), depth + 1) }, end + mark.length]
}

/** Returns an address of the web, or `undefined`: no script, no data and no file is opened by a link. */
export function safeAddress(text: string): string | undefined {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined
  const { protocol, href } = new URL(text)
  return protocol === 'https:' || protocol === 'http:' ? href : undefined
}
