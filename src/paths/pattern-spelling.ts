import { MAX_LENGTH } from './glob.ts'
import { quote } from './logical-path.ts'

/** Why a path pattern does not match what it seems to, and what to write instead. */
export interface PatternProblem {
  readonly reason: string
  readonly hint: string
}

/**
 * Spellings of other pattern languages, which would match nothing but a strange name. That name can still be written, with ? for
 * its special characters.
 */
const otherSpellings: readonly (PatternProblem & { readonly test: RegExp })[] = [
  {
    test: /^\s|\s$/u,
    reason: 'a space at an end is a part of it',
    hint: 'Remove the space.',
  },
  {
    test: /^#\s|\s#(?:\s|$)/u,
    reason: 'it contains a comment',
    hint: 'Remove the comment, or write ? in place of #.',
  },
  {
    test: /[\u00a0\u00ad\u200b\u2060\ufeff]/u,
    reason: 'it contains an invisible character',
    hint: 'Remove it, or write ? in its place.',
  },
  {
    test: /[\uff0a\uff1f]/u,
    reason: 'the wide forms of * and ? are no wildcards',
    hint: 'Write * or ?, which matches the wide form as well.',
  },
  {
    test: /\|/u,
    reason: '| separates no alternatives',
    hint: 'Write {a,b}.',
  },
  {
    test: /^\^|(?:^|\/)\.\+(?:$|\/)|\(\?/u,
    reason: 'it is written like a regular expression',
    hint: 'Write * for any characters of a name, and ** for any number of names.',
  },
  {
    test: /<[^<>/]*>/u,
    reason: 'it contains a placeholder',
    hint: 'Write the path relative to the root of the workspace.',
  },
  {
    test: /^[^,{}[\]]*[/*.][^,{}[\]]*,(?!\s)[^,{}[\]]*[/*.]/u,
    reason: 'a comma separates no patterns',
    hint: 'Write them as several entries, or ? in place of the comma.',
  },
]

const starsInName: PatternProblem = {
  reason: '** beside other characters stays within one name',
  hint: 'Write ** as a name of its own, as in **/*.txt.',
}

/** Whether `**` is a part of a name in a glob: `src/**.ts` matches no file of a directory below `src`. */
export function hasStarsInName(pattern: string): boolean {
  return /[^*/{},]\*\*|\*\*[^*/{},]/u.test(withoutBrackets(pattern))
}

/** Returns what a glob has of another pattern language, or undefined when it has nothing of one. */
export function otherSpelling(pattern: string): PatternProblem | undefined {
  const text = withoutBrackets(pattern)
  return otherSpellings.find(({ test }) => test.test(text))
}

/** Returns a glob without its bracket expressions, such as `[[:alpha:]]`, whose characters are no part of a path. */
export function withoutBrackets(pattern: string): string {
  return pattern.replace(/\[(?:\[:[a-z]+:\]|[^\]/])*\]/gu, '')
}

/** Returns a warning for each glob of a call that does not match what it seems to. */
export function spellingWarnings(...patterns: readonly (string | undefined)[]): string[] {
  return patterns.flatMap((pattern) => {
    // A longer one is refused, and comparing it would take quadratic time.
    if (pattern === undefined || pattern.length > MAX_LENGTH) return []
    const problem = otherSpelling(pattern) ?? (hasStarsInName(pattern) ? starsInName : undefined)
    return problem === undefined ? [] : [`In the pattern ${quote(pattern)}, ${problem.reason}. ${problem.hint}`]
  })
}
