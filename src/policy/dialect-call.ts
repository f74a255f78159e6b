import { type ArgumentText, textsOfField } from './arguments.ts'
import type { PolicyData } from './schema.ts'

/** The call of a dialect tool, as rules and rates match it. */
export interface DialectCall {
  /** All names of the tool. */
  readonly tools: readonly string[]
  /** The texts of its input fields that rules name in `args`. */
  readonly args?: Readonly<Record<string, readonly ArgumentText[]>> | undefined
}

/**
 * Returns the texts of the input fields of a dialect tool that the rules of a policy name.
 *
 * @param translations the logical path of each path that the tool has translated
 */
export function dialectArguments(
  { rules = [] }: PolicyData,
  input: Readonly<Record<string, unknown>>,
  translations: ReadonlyMap<string, string>,
): DialectCall['args'] {
  const names = new Set(rules.flatMap(({ args = {} }) => Object.keys(args)))
  const fields = [...names]
    .map((name) => [name, textsOfField(input, name)] as const)
    .filter(([, texts]) => texts.length)
  if (fields.length === 0) return undefined
  const withPath = (text: string): ArgumentText => {
    const path = translations.get(text)
    return path === undefined ? { text } : { text, path }
  }
  return Object.fromEntries(fields.map(([name, texts]) => [name, texts.map(withPath)]))
}
