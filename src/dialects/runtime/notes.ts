import { REDUCED_WARNING } from '../../limits.ts'
import { quote } from '../../paths/logical-path.ts'
import { isPlain } from '../../util/check-options.ts'
import type { PathMapping } from './path-mapping.ts'
import type { Answer } from './types.ts'

/** A warning of a call that a tool of a dialect made, or a note of the tool. */
export interface StepWarning {
  readonly text: string
  /** Whether its quoted texts are paths of the workspace. Those of commands are not. */
  readonly quotesPaths: boolean
}

/**
 * Translates a warning for the caller of a dialect: paths, and the field of a number over a limit. Returns `undefined` for a
 * number that the caller did not write, because the tool chose it.
 *
 * @param rename puts the names of the dialect's tools and fields into a text
 */
export function translateWarning(
  { text, quotesPaths }: StepWarning,
  input: unknown,
  { outward }: PathMapping,
  rename: (text: string) => string,
): string | undefined {
  const [, requested, limit] = REDUCED_WARNING.exec(text) ?? []
  if (requested !== undefined) return reducedField(Object(input) as object, Number(requested), Number(limit))
  if (!quotesPaths) return rename(text)
  const spelled = text.replace(/(pattern |use )?"([^"\\]*)"/g, (quoted, isPattern: string | undefined, path: string) =>
    isPattern === undefined ? quote(outward(path)) : quoted,
  )
  return rename(spelled)
}

/** Names the field that has a number over a limit, or the number in seconds. */
function reducedField(input: object, requested: number, limit: number): string | undefined {
  for (const [field, value] of Object.entries(input)) {
    for (const unit of [1, 1000]) {
      if (Math.ceil(Number(value) * unit) !== requested) continue
      return `${field} ${value} was reduced to the limit of ${limit / unit}`
    }
  }
  return undefined
}

/** Adds notes to an answer, except those that it has: to a text as lines in parentheses, to data as `warnings`. */
export function withNotes(answer: Answer, notes: readonly string[]): Answer {
  const { output, content, structured } = answer
  const shown = JSON.stringify([output, content])
  const missing = [...new Set(notes)].filter((note) => !isShown(note, shown))
  if (missing.length === 0) return answer
  const noted = addNotes(output, missing)
  return {
    ...answer,
    output: noted,
    ...(content && { content: [...content, { type: 'text', text: missing.map((note) => `(${note})`).join('\n') }] }),
    ...(structured && {
      structured: structured.content === output ? { ...structured, content: noted } : addNotes(structured, missing),
    }),
  }
}

/** Whether an answer has a note, or the address of the stored result that the note names. */
function isShown(note: string, shown: string): boolean {
  const [address] = /artifact:\/\/\S+/.exec(note) ?? []
  return shown.includes(address ?? JSON.stringify(note).slice(1, -1))
}

function addNotes<T>(output: T, notes: readonly string[]): T {
  if (typeof output === 'string') {
    const lines = notes.map((note) => `(${note})`).join('\n')
    return `${output === '' || output.endsWith('\n') ? output : `${output}\n`}${lines}` as T
  }
  if (!isPlain(output)) return output
  if (typeof output.output === 'string') return { ...output, output: addNotes(output.output, notes) }
  const { warnings } = output
  return { ...output, warnings: [...(Array.isArray(warnings) ? warnings : []), ...notes] }
}
