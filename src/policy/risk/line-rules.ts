import { changedRegions } from '../../patch/line-diff.ts'
import { type Language, lineRules } from './languages.ts'

/** Characters of a line that the patterns see. This bounds their work on one line. */
const MAX_LINE = 1000

/** The lines that a change removes and adds, by a line diff. */
interface ChangedLines {
  readonly removed: readonly string[]
  readonly added: readonly string[]
}

/**
 * Returns whether a public declaration was removed or changed. Each removed line that declares something public must
 * reappear among the added lines with the same signature. Added declarations do not count.
 */
export function changesDeclarations(before: string, after: string, language: Language): boolean {
  const { removed, added } = changedLines(before, after)
  const signatures = signaturesOf(removed, language)
  if (signatures.length === 0) return false
  const remaining = new Set(signaturesOf(added, language))
  return signatures.some((signature) => !remaining.has(signature))
}

/** Returns whether the changed lines lose test cases or assertions, or gain skips. Lines that move do not count. */
export function removesTests(before: string, after: string, language: Language): boolean {
  const { removed, added } = changedLines(before, after)
  const { testCase, assertion, skip } = lineRules[language]
  const gain = (pattern: RegExp) => countMatches(added, pattern, language) - countMatches(removed, pattern, language)
  return gain(testCase) < 0 || gain(assertion) < 0 || gain(skip) > 0
}

function changedLines(before: string, after: string): ChangedLines {
  const removed: string[] = []
  const added: string[] = []
  for (const { oldFrom, oldTo, newFrom, newTo } of changedRegions(before, after)) {
    for (const line of before.slice(oldFrom, oldTo).split('\n')) removed.push(line)
    for (const line of after.slice(newFrom, newTo).split('\n')) added.push(line)
  }
  return { removed, added }
}

function signaturesOf(lines: readonly string[], language: Language): string[] {
  const { comment, declaration } = lineRules[language]
  return lines
    .filter((line) => {
      const head = line.slice(0, MAX_LINE)
      return declaration.test(head) && !comment.test(head)
    })
    .map(signatureOf)
}

/** Declarations of which the whole line is the signature, `=` included. */
const definition = /\b(?:type|interface|class|enum|record|struct|trait|use)\b|module\.exports\s*$|__all__/

/** Returns a declaration without its value (`= …`, or the body of an arrow function) and without a body in braces. */
function signatureOf(line: string): string {
  const text = line.trim()
  const equals = text.indexOf('=')
  const parenthesis = text.indexOf('(')
  const isDefinition = definition.test(text.slice(0, equals === -1 ? MAX_LINE : Math.min(equals, MAX_LINE)))
  if (!isDefinition && equals !== -1 && (parenthesis === -1 || equals < parenthesis)) {
    const arrow = text.indexOf('=>')
    return text.slice(0, arrow === -1 ? equals : arrow).trimEnd()
  }
  if (text.endsWith('{')) return text.slice(0, -1).trimEnd()
  const mayHaveBody = !isDefinition && parenthesis !== -1 && text.endsWith('}')
  const body = mayHaveBody ? text.indexOf('{', text.indexOf(')')) : text.length
  return text.slice(0, body).trimEnd()
}

function countMatches(lines: readonly string[], pattern: RegExp, language: Language): number {
  const { comment } = lineRules[language]
  let count = 0
  for (const line of lines) {
    const head = line.slice(0, MAX_LINE)
    if (!comment.test(head)) count += head.match(pattern)?.length ?? 0
  }
  return count
}
