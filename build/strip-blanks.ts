import { parseAst } from 'vite'

interface Stripped {
  readonly code: string
  /** The columns at which each line has lost a character. */
  readonly removed: readonly (readonly number[])[]
  /** The lines that are written behind the line before. */
  readonly joined: ReadonlySet<number>
}

/**
 * Returns code without what only makes the package larger: tabs and spaces at the start of lines and beside punctuation, the ends of lines
 * in lists and before closing brackets, and semicolons at the end of lines where the next line is a statement without them. Names, texts and comments
 * stay as they are.
 *
 * @throws Error if the code would mean something else
 */
export function stripBlanks(code: string): Stripped {
  const ast = parseAst(code)
  const stripped = strip(code, fixedRanges(code, ast))
  if (!isSame(ast, parseAst(stripped.code))) throw new Error('The code has changed with its blanks')
  return stripped
}

function strip(code: string, fixed: readonly Range[]): Stripped {
  const removed: number[][] = []
  const joined = new Set<number>()
  let offset = 0
  let next = 0
  const isFixed = (at: number) => {
    while ((fixed[next]?.end ?? Number.POSITIVE_INFINITY) <= at) next += 1
    return at >= (fixed[next]?.start ?? Number.POSITIVE_INFINITY)
  }
  const lines = code.split('\n')
  const stripped: string[] = []
  let isOpen = false
  for (const [index, line] of lines.entries()) {
    const columns: number[] = []
    let isStart = true
    // A text or a comment that reaches the end of the line before may not be joined.
    if (index > 0 && !isOpen && (CLOSING.test(line) || OPENING.test(lines[index - 1] ?? ''))) joined.add(index)
    for (let column = 0; column < line.length; column++) {
      const isBlank = !isFixed(offset + column) && (line[column] === ' ' || line[column] === '\t')
      if (isBlank && (isStart || isBesidePunctuation(line, column))) columns.push(column)
      isStart &&= isBlank
    }
    isOpen = line !== '' && (isFixed(offset + line.length - 1) || isFixed(offset + line.length))
    offset += line.length + 1
    removed.push(columns)
    const end = line.length - 1
    if (!isOpen && line[end] === ';' && STATEMENT.test(lines[index + 1] ?? '') && !EMPTY.test(line)) columns.push(end)
    stripped.push(without(line, columns))
  }
  return {
    code: stripped.map((line, index) => (index === 0 || joined.has(index) ? line : `\n${line}`)).join(''),
    removed,
    joined,
  }
}

/** A line that only closes what lines before have opened. */
const CLOSING = /^\s*[\])}][\])};,]*$/

/** A line whose list or object goes on. What begins a block stays alone: the first statement of the block has a place in the source map. */
const OPENING = /[,([]$|(?:[=(,:?[&|]|\breturn) ?\{$/

/** The start of a line that no statement before it continues with. */
const STATEMENT = /^\s*(?:$|}|(?!(?:in|instanceof)\b)[\w$#])/

/** A line whose last semicolon may be a statement, or end a field of a class. */
const EMPTY =
  /^\s*;|(?:^|[{;])\s*;$|(?:^|[{};])\s*(?:else|do|get|set|static|async|accessor);$|\b(?:for|while) ?\(.*\);$/

/** A slash could begin a comment, and a sign could join another one to another operator. */
const PUNCTUATION = '(){}[],;:=<>!&|?*%^~+-'

function isBesidePunctuation(line: string, column: number): boolean {
  const [before = '', after = ''] = [line[column - 1], line[column + 1]]
  if (before === '/' || after === '/' || /[+-]{2}/.test(before + after)) return false
  return PUNCTUATION.includes(before) || (after !== '' && PUNCTUATION.includes(after))
}

function without(line: string, columns: readonly number[]): string {
  let text = ''
  let from = 0
  for (const column of columns) {
    text += line.slice(from, column)
    from = column + 1
  }
  return text + line.slice(from)
}

interface Range {
  readonly start: number
  readonly end: number
}

/** The strings, regular expressions, parts of templates and comments of a module, in the order of the code. */
function fixedRanges(code: string, ast: unknown): Range[] {
  const texts: Range[] = []
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    const { type, start, end } = node as Record<string, unknown>
    if (type === 'Literal' || type === 'TemplateElement') texts.push({ start: Number(start), end: Number(end) })
    else for (const child of Object.values(node)) visit(child)
  }
  visit(ast)
  texts.sort((a, b) => a.start - b.start)
  const ranges: Range[] = []
  let from = 0
  for (const text of [...texts, { start: code.length, end: code.length }]) {
    for (const { index, 0: comment } of code.slice(from, text.start).matchAll(/\/\*[\s\S]*?\*\/|\/\/.*/g))
      ranges.push({ start: from + index, end: from + index + comment.length })
    ranges.push(text)
    from = Math.max(from, text.end)
  }
  return ranges
}

/** Whether two syntax trees differ in nothing but positions. */
function isSame(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || one === null) return one === other || typeof one === 'bigint'
  if (typeof other !== 'object' || other === null) return false
  const keys = Object.keys(one)
  if (keys.length !== Object.keys(other).length) return false
  const [a, b] = [one as Record<string, unknown>, other as Record<string, unknown>]
  return keys.every((key) => key === 'start' || key === 'end' || key === 'range' || isSame(a[key], b[key]))
}
