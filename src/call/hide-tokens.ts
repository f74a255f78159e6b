import { withCause } from '../errors.ts'
import { tokensIn } from '../files/secrets/find.ts'
import { MARK_START } from '../files/secrets/index.ts'
import { mapTexts } from '../util/map-texts.ts'

/**
 * Replaces the tokens in all texts of a result by marks: in names of files, which no tool hides, and in texts that hold such
 * names, as a diff or a message does. A token has the same mark everywhere in the result. Returns the same object if there is
 * none.
 */
export function hideTokens<R extends object>(result: R): R {
  const marks = new Map<string, string>()
  const visible = mapTexts(result, (text) => hideInText(text, marks), encodedFields)
  const { cause } = result as { readonly cause?: unknown }
  return visible === result || cause === undefined ? visible : (withCause(visible as never, cause) as R)
}

/** Fields with bytes in Base64, which may look like a token. */
const encodedFields: ReadonlySet<string> = new Set(['data', 'blob'])

function hideInText(text: string, marks: Map<string, string>): string {
  const tokens = tokensIn(text)
  if (tokens.length === 0) return text
  let visible = ''
  let from = 0
  for (const { kind, start, end } of tokens) {
    const token = text.slice(start, end)
    const mark = marks.get(token) ?? `${MARK_START}${kind}:${marks.size + 1}]`
    marks.set(token, mark)
    visible += text.slice(from, start) + mark
    from = end
  }
  return visible + text.slice(from)
}
