import { continuedEntries, tidyEntry } from '../../policy/command-entries.ts'
import { compileOperators, type Operator } from '../../policy/command-operators.ts'
import { programName } from '../../policy/command-options.ts'
import { compileTexts } from '../../policy/match.ts'
import type { CommandPolicy } from '../../policy/schema.ts'
import { type CommandWord, spelledAs } from './option-spellings.ts'

/** Names of programs that a policy restricts. */
export interface RestrictedPrograms {
  readonly any: boolean
  /** Whether an entry is about a program, by its name or its path. */
  has(name: string): boolean
}

/** The compiled command lists of a policy. */
export interface CommandLists {
  /** Without an allowlist, every command is allowed. */
  isAllowed(forms: readonly string[]): boolean
  /** Returns the entry that denies the command. `words`: its words, which an entry may have with other spellings of its options. */
  deniedBy(forms: readonly string[], words?: readonly (readonly [string, ...CommandWord[]])[]): string | undefined
  /** The programs that an entry denies, with any arguments. */
  readonly denied: RestrictedPrograms
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
    denied: compilePrograms(policy.deny ?? []),
    deniesOperator: compileOperators(policy.deniedOperators),
  }
}

function entryTest(entry: string, field: string): (text: string) => boolean {
  return compileTexts(continuedEntries([entry]), field)
}

/** Returns the programs that entries are about. */
export function compilePrograms(entries: readonly string[]): RestrictedPrograms {
  const names = entries.map((entry) => tidyEntry(entry).split(' ', 1)[0] ?? '')
  const plain = names.map((name) => (name.includes('*') ? name : programName(name)))
  const test = compileTexts([...new Set([...names, ...plain])], 'commands')
  return { any: entries.length > 0, has: (name) => test(name) || test(programName(name)) }
}
