import { parseAst } from 'vite'

/**
 * Returns code without the tabs and spaces that only make the package larger: those at the start of lines and beside punctuation. Names, lines,
 * texts and comments stay as they are. Also returns the columns at which each line has lost a character.
 *
 * @throws Error if the code would mean something else
 */
export function stripBlanks(code: string): { readonly code: string; readonly removed: readonly (readonly number[])[] } {
  const ast = parseAst(code)
  const fixed = fixedRanges(code, ast)
  const removed: number[][] = []
  let offset = 0
  let next = 0
  const lines = code.split('\n').map((line) => {
    const columns: number[] = []
    let isStart = true
    for (let column = 0; column < line.length; column++) {
      while ((fixed[next]?.end ?? Number.POSITIVE_INFINITY) <= offset + column) next += 1
      const isFixed = offset + column >= (fixed[next]?.start ?? Number.POSITIVE_INFINITY)
      const isBlank = !isFixed && (line[column] === ' ' || line[column] === '\t')
      if (isBlank && (isStart || isBesidePunctuation(line, column))) columns.push(column)
      isStart &&= isBlank
    }
    offset += line.length + 1
    removed.push(columns)
    return without(line, columns)
  })
  const stripped = lines.join('\n')
  if (!isSame(ast, parseAst(stripped))) throw new Error('The code has changed with its blanks')
  return { code: stripped, removed }
}

/** A slash could begin a comment, and signs could join to another operator. */
const PUNCTUATION = '(){}[],;:=<>!&|?*%^~'

function isBesidePunctuation(line: string, column: number): boolean {
  const [before = '', after = ''] = [line[column - 1], line[column + 1]]
  if (before === '/' || after === '/') return false
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
