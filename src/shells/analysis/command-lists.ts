import { compileTexts } from '../../policy/match.ts'
import type { CommandPolicy } from '../../policy/policy.ts'

/** The compiled command lists of a policy. */
export interface CommandLists {
  /** Without an allowlist, every command is allowed. */
  isAllowed(forms: readonly string[]): boolean
  /** Returns the entry that denies the command. */
  deniedBy(forms: readonly string[]): string | undefined
  deniesOperator(operator: Operator): boolean
}

/** Operators that a policy can deny. */
export const operators = [
  '&&',
  '||',
  ';',
  '&',
  '|',
  '|&',
  '!',
  '>',
  '>>',
  '<',
  '<>',
  '<<',
  '<<<',
  '$(',
  '`',
  '<(',
  '>(',
  '$((',
  '(',
  '{',
  '((',
  '[[',
  '\n',
] as const

export type Operator = (typeof operators)[number]

/** Operators that are denied together, because they are spellings of the same thing. */
const equivalents: Partial<Record<Operator, readonly Operator[]>> = {
  '|&': ['|'],
  '`': ['$('],
  '$(': ['`'],
  ';': ['\n'],
  '<>': ['<', '>'],
  '<<<': ['<<'],
}

/**
 * Compiles the lists. An entry matches a command that equals it or continues it with further words: `git push` matches
 * `git push --force`. `*` matches any characters.
 *
 * @throws TypeError for an unknown operator
 */
export function compileLists(policy: CommandPolicy): CommandLists {
  const denied = new Set<Operator>()
  for (const [index, operator] of (policy.deniedOperators ?? []).entries()) {
    const match = operators.find((other) => other === normalize(operator))
    if (match === undefined) {
      const list = operators.map((other) => JSON.stringify(other)).join(', ')
      throw new TypeError(
        `Policy field "commands.deniedOperators[${index}]" is no operator: ${JSON.stringify(operator)}; the operators are ${list}`,
      )
    }
    denied.add(match)
  }
  const deny = (policy.deny ?? []).map((entry, index) => ({ entry, test: entryTest(entry, `commands.deny[${index}]`) }))
  const allow = policy.allow?.map((entry, index) => entryTest(entry, `commands.allow[${index}]`))
  return {
    isAllowed: (forms) => allow === undefined || forms.some((form) => allow.some((test) => test(form))),
    deniedBy: (forms) => deny.find(({ test }) => forms.some(test))?.entry,
    deniesOperator: (operator) =>
      denied.has(operator) || (equivalents[operator]?.some((other) => denied.has(other)) ?? false),
  }
}

const spellings: ReadonlyMap<string, string> = new Map([
  ['>|', '>'],
  ['&>', '>'],
  ['>&', '>'],
  ['&>>', '>>'],
  ['<&', '<'],
  ['<<-', '<<'],
  ['$()', '$('],
  ['()', '('],
  ['{}', '{'],
])

function normalize(operator: string): string {
  return spellings.get(operator) ?? operator
}

function entryTest(entry: string, field: string): (text: string) => boolean {
  const words = entry.trim().replace(/\s+/g, ' ')
  return compileTexts([words, `${words} *`], field)
}
