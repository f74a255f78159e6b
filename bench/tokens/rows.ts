import { type Measured, type Step, sizeOf, sizeOfDefinitions, steps } from './measured.ts'

/** Heads of the columns after the name. */
export const columns = ['tools', 'definitions', ...steps, 'results', 'per result']

/** The figures of one kind of tools, in tokens. */
export interface Figures {
  readonly tools: number
  readonly definitions: { readonly tokens: number; readonly bytes: number }
  readonly results: Readonly<Partial<Record<Step, number>>>
}

/** Counts tokens and bytes. */
export function figuresOf({ definitions, results }: Measured): Figures {
  const counts = Object.entries(results).map(([step, text]) => [step, sizeOf(text).tokens])
  return { tools: definitions.length, definitions: sizeOfDefinitions(definitions), results: Object.fromEntries(counts) }
}

/** Returns the cells of a row: a dash for a step that the tools cannot do. */
export function cellsOf({ tools, definitions, results }: Figures): string[] {
  const counts = steps.flatMap((step) => results[step] ?? [])
  const sum = counts.reduce((total, tokens) => total + tokens, 0)
  return [
    String(tools),
    `${definitions.tokens} (${definitions.bytes} B)`,
    ...steps.map((step) => String(results[step] ?? '–')),
    counts.length === 0 ? '–' : String(sum),
    counts.length === 0 ? '–' : String(Math.round(sum / counts.length)),
  ]
}

/**
 * Reads the figures from a row of a Markdown table.
 *
 * @throws Error if the page has no row of that name
 */
export function figuresIn(page: string, name: string): Figures {
  const row = page.split('\n').find((line) => line.startsWith(`| ${name} `))
  if (row === undefined) throw new Error(`The page has no row "${name}"`)
  const [tools = '', definitions = '', ...counts] = row
    .split('|')
    .slice(2)
    .map((cell) => cell.trim())
  const [, tokens, bytes] = /^(\d+) \((\d+) B\)$/.exec(definitions) ?? []
  const results = steps.flatMap((step, i) => (counts[i] === '–' ? [] : [[step, Number(counts[i])]]))
  return {
    tools: Number(tools),
    definitions: { tokens: Number(tokens), bytes: Number(bytes) },
    results: Object.fromEntries(results),
  }
}
