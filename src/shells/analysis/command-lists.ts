import { tidyEntry } from '../../policy/command-entries.ts'
import { compileOperators, type Operator } from '../../policy/command-operators.ts'
import { compileTexts } from '../../policy/match.ts'
import type { CommandPolicy } from '../../policy/schema.ts'

/** The compiled command lists of a policy. */
export interface CommandLists {
  /** Without an allowlist, every command is allowed. */
  isAllowed(forms: readonly string[]): boolean
  /** Returns the entry that denies the command. */
  deniedBy(forms: readonly string[]): string | undefined
  deniesOperator(operator: Operator): boolean
}

/**
 * Compiles the lists. An entry matches a command that equals it or continues it with further words: `git push` matches
 * `git push --force`. `*` matches any characters.
 *
 * @throws TypeError for an invalid entry
 */
export function compileLists(policy: CommandPolicy): CommandLists {
  const deny = (policy.deny ?? []).map((entry, index) => ({ entry, test: entryTest(entry, `commands.deny[${index}]`) }))
  const allow = policy.allow?.map((entry, index) => entryTest(entry, `commands.allow[${index}]`))
  return {
    isAllowed: (forms) => allow === undefined || forms.some((form) => allow.some((test) => test(form))),
    deniedBy: (forms) => deny.find(({ test }) => forms.some(test))?.entry,
    deniesOperator: compileOperators(policy.deniedOperators),
  }
}

function entryTest(entry: string, field: string): (text: string) => boolean {
  const words = tidyEntry(entry)
  return compileTexts([words, `${words} *`], field)
}
