import { tidyEntry } from '../../policy/command-entries.ts'
import { compileOperators, type Operator } from '../../policy/command-operators.ts'
import { compileTexts } from '../../policy/match.ts'
import type { CommandPolicy } from '../../policy/schema.ts'
import { type CommandWord, spelledAs } from './option-spellings.ts'

/** The compiled command lists of a policy. */
export interface CommandLists {
  /** Without an allowlist, every command is allowed. */
  isAllowed(forms: readonly string[]): boolean
  /** Returns the entry that denies the command. `words`: its words, which an entry may have with other spellings of its options. */
  deniedBy(forms: readonly string[], words?: readonly (readonly [string, ...CommandWord[]])[]): string | undefined
  deniesOperator(operator: Operator): boolean
}

/**
 * Compiles the lists. An entry matches a command that equals it or continues it with further words: `git push` matches
 * `git push --force`. `*` matches any characters. A deny entry matches its options in every spelling that is known.
 *
 * @throws TypeError for an invalid entry
 */
export function compileLists(policy: CommandPolicy): CommandLists {
  const deny = (policy.deny ?? []).map((entry, index) => ({ entry, test: entryTest(entry, `commands.deny[${index}]`) }))
  const allow = policy.allow?.map((entry, index) => entryTest(entry, `commands.allow[${index}]`))
  return {
    isAllowed: (forms) => allow === undefined || forms.some((form) => allow.some((test) => test(form))),
    deniedBy: (forms, words = []) =>
      deny.find(
        ({ entry, test }) =>
          forms.some(test) || words.some(([name, ...args]) => spelledAs(entry, name, args).some(test)),
      )?.entry,
    deniesOperator: compileOperators(policy.deniedOperators),
  }
}

function entryTest(entry: string, field: string): (text: string) => boolean {
  const words = tidyEntry(entry)
  return compileTexts([words, `${words} *`], field)
}
