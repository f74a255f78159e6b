import { compileTexts } from '../../policy/match.ts'
import type { CommandPolicy } from '../../policy/policy.ts'

/** The lists of a policy, ready to be held against commands. */
export interface CommandLists {
  /** Without an allowlist everything is on it. */
  isAllowed(forms: readonly string[]): boolean
  /** The entry that denies, if one does. */
  deniedBy(forms: readonly string[]): string | undefined
  deniesOperator(operator: Operator): boolean
}

/** What a policy can deny as operators. */
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

/** Denying the one denies what is only another way to write it. */
const sameAs: Partial<Record<Operator, readonly Operator[]>> = {
  '|&': ['|'],
  '`': ['$('],
  '$(': ['`'],
  ';': ['\n'],
  '<>': ['<', '>'],
  '<<<': ['<<'],
}

/**
 * Compiles the lists. An entry matches a command that equals it, or that goes on after it with further words: `git push`
 * covers `git push --force`. `*` stands for any characters.
 *
 * @throws TypeError for an operator that is none
 */
export function compileLists(policy: CommandPolicy): CommandLists {
  const denied = new Set<Operator>()
  for (const [index, operator] of (policy.deniedOperators ?? []).entries()) {
    const known = operators.find((other) => other === spelling(operator))
    if (known === undefined) {
      const list = operators.map((other) => JSON.stringify(other)).join(', ')
      throw new TypeError(
        `Policy field "commands.deniedOperators[${index}]" is no operator: ${JSON.stringify(operator)}; the operators are ${list}`,
      )
    }
    denied.add(known)
  }
  const deny = (policy.deny ?? []).map((entry, index) => ({ entry, test: entryTest(entry, `commands.deny[${index}]`) }))
  const allow = policy.allow?.map((entry, index) => entryTest(entry, `commands.allow[${index}]`))
  return {
    isAllowed: (forms) => allow === undefined || forms.some((form) => allow.some((test) => test(form))),
    deniedBy: (forms) => deny.find(({ test }) => forms.some(test))?.entry,
    deniesOperator: (operator) =>
      denied.has(operator) || (sameAs[operator]?.some((other) => denied.has(other)) ?? false),
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

function spelling(operator: string): string {
  return spellings.get(operator) ?? operator
}

function entryTest(entry: string, field: string): (text: string) => boolean {
  const words = entry.trim().replace(/\s+/g, ' ')
  return compileTexts([words, `${words} *`], field)
}
