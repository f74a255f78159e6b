import { parseAst } from 'vite'

/**
 * Returns code without the tabs and spaces at the start of its lines, which only make the package larger, and how many each line had. Lines that
 * start inside a text keep theirs.
 *
 * @throws Error if a text would be another one
 */
export function stripIndentation(code: string): { readonly code: string; readonly removed: readonly number[] } {
  const texts = textsOf(code)
  const inside = texts.filter(({ start, end }) => code.slice(start, end).includes('\n'))
  const removed: number[] = []
  let offset = 0
  let next = 0
  const lines = code.split('\n').map((line) => {
    while ((inside[next]?.end ?? Number.POSITIVE_INFINITY) <= offset) next += 1
    const isText = offset > (inside[next]?.start ?? Number.POSITIVE_INFINITY)
    offset += line.length + 1
    const blanks = isText ? 0 : (/^[\t ]*/.exec(line)?.[0].length ?? 0)
    removed.push(blanks)
    return line.slice(blanks)
  })
  const stripped = lines.join('\n')
  const values = (some: readonly Text[]) => JSON.stringify(some.map(({ value }) => value))
  if (values(textsOf(stripped)) !== values(texts)) throw new Error('A text has changed with the indentation')
  return { code: stripped, removed }
}

interface Text {
  readonly start: number
  readonly end: number
  readonly value: unknown
}

/** The strings, regular expressions and parts of templates of a module, in the order of the code. */
function textsOf(code: string): Text[] {
  const texts: Text[] = []
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    const { type, start, end, raw, value } = node as Record<string, unknown>
    if (type === 'Literal') texts.push({ start: Number(start), end: Number(end), value: raw })
    else if (type === 'TemplateElement') texts.push({ start: Number(start), end: Number(end), value })
    else for (const child of Object.values(node)) visit(child)
  }
  visit(parseAst(code))
  return texts.sort((a, b) => a.start - b.start)
}
