import type { ToolError } from '../errors.ts'
import { expandBraces } from '../paths/braces.ts'
import { compileGlobs } from '../paths/glob.ts'
import { quote } from '../paths/logical-path.ts'
import { otherSpelling, type PatternProblem, withoutBrackets } from '../paths/pattern-spelling.ts'
import { joinSentences } from '../util/join-sentences.ts'

/** Spellings that no logical path has, so that the pattern would look like protection and match nothing. */
const problems: readonly (PatternProblem & { readonly test: RegExp })[] = [
  {
    test: /^\s|\s$/u,
    reason: 'it starts or ends with a space',
    hint: 'Remove the space.',
  },
  {
    test: /\/\s|\s\//u,
    reason: 'a name starts or ends with a space',
    hint: 'Remove the space, or write ? in its place.',
  },
  {
    test: /^(["'`]).*\1$/su,
    reason: 'it contains its own quotation marks',
    hint: 'Remove the quotation marks inside the text.',
  },
  {
    test: /^~[\w.-]*(?:\/|$)/u,
    reason: '~ is not a home directory here',
    hint: 'Write the path relative to the root of the workspace.',
  },
  {
    test: /(?:^|\/)(?:\$(?:HOME|PWD|USERPROFILE)\b|\$\{\w+\}|%\w+%(?:$|\/))/u,
    reason: 'variables are not expanded',
    hint: 'Write the path relative to the root of the workspace.',
  },
  {
    test: /^[A-Za-z][A-Za-z0-9+.-]*:/u,
    reason: 'it starts like an address or a drive',
    hint: 'Write the path relative to the root of the workspace, with no prefix.',
  },
  {
    test: /^\//u,
    reason: 'it is absolute',
    hint: 'Write the path relative to the root of the workspace.',
  },
  {
    test: /\\/u,
    reason: 'paths contain no backslash',
    hint: 'Write / between names, and [*] or ? for a special character.',
  },
  {
    test: /\*{3}/u,
    reason: '*** is not a wildcard',
    hint: 'Write ** for any number of names, or * for a part of one name.',
  },
  {
    test: /\/\//u,
    reason: 'it has an empty name between two slashes',
    hint: 'Write one slash.',
  },
  {
    test: /(?:^|\/)\.\.(?:\/|$)/u,
    reason: 'it climbs with ..',
    hint: 'Write the path relative to the root of the workspace, without "..".',
  },
  {
    test: /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u,
    reason: 'no path contains control or bidirectional characters',
    hint: 'Remove them.',
  },
]

/**
 * Requires that a path glob is valid and can match a path.
 *
 * @throws TypeError that begins with `Policy field "field"`, or with another subject
 */
export function checkGlob(pattern: string, field: string, subject = `Policy field "${field}"`): void {
  requirePathPattern(pattern, subject)
  try {
    compileGlobs([pattern], { composed: true })
  } catch (error) {
    const { message, details } = error as ToolError
    throw new TypeError(joinSentences(`${subject} is not a valid glob: ${message}`, String(details.hint)))
  }
}

/**
 * Requires that a path pattern can match a path. The glob itself is compiled elsewhere.
 *
 * @param subject the beginning of the message: where the pattern stands
 * @throws TypeError with the reason and what to write instead
 */
export function requirePathPattern(pattern: string, subject: string): void {
  for (const alternative of alternatives(pattern)) {
    const problem = problemOf(alternative)
    if (problem !== undefined) throw faultOf('matches nothing', pattern, problem, subject)
    const other = otherSpelling(alternative)
    if (other !== undefined) throw faultOf('matches something else than it seems', pattern, other, subject)
  }
}

function faultOf(effect: string, pattern: string, { reason, hint }: PatternProblem, subject: string): TypeError {
  return new TypeError(`${subject} is a glob that ${effect}: in ${quote(pattern)}, ${reason}. ${hint}`)
}

function problemOf(pattern: string): PatternProblem | undefined {
  const problem = problems.find(({ test }) => test.test(pattern))
  if (problem !== undefined) return problem
  if (withoutBrackets(pattern).includes(':')) {
    return { reason: 'no path contains a colon', hint: 'Remove it, or write ? in its place.' }
  }
  // Patterns and paths are compared in their composed form, where such a character is several.
  const brackets = pattern.match(/\[[^\]/]*\]/gu) ?? []
  if (![...brackets.join('')].some((char) => [...char.normalize('NFC')].length > 1)) return undefined
  return { reason: 'brackets contain a character that has no composed form', hint: 'Write alternatives: {a,b}.' }
}

/** The pattern and the alternatives of its braces. A pattern with too many is refused where it is compiled. */
function alternatives(pattern: string): readonly string[] {
  if (!pattern.includes('{') || pattern.length > 4096) return [pattern]
  try {
    return [pattern, ...expandBraces(pattern, 'glob')]
  } catch {
    return [pattern]
  }
}
