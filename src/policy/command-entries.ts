import { permissionMask } from './match.ts'
import type { PolicyData, PolicyRule } from './schema.ts'

/**
 * Requires that the commands in a policy are written so that a parsed command can match them.
 *
 * @throws TypeError with the name of the first invalid field and what to write instead
 */
export function checkCommandEntries({ commands, rules = [], labels }: PolicyData): void {
  const check = (entries: readonly string[] | undefined, field: string) => {
    for (const [index, entry] of (entries ?? []).entries()) checkEntry(entry, `${field}[${index}]`)
  }
  check(commands?.allow, 'commands.allow')
  check(commands?.deny, 'commands.deny')
  for (const [index, rule] of rules.entries()) {
    check(rule.commands, `rules[${index}].commands`)
    checkRestriction(rule, `rules[${index}]`)
  }
  for (const [index, source] of (labels?.sources ?? []).entries()) {
    check(source.commands, `labels.sources[${index}].commands`)
  }
  for (const [index, sink] of (labels?.sinks ?? []).entries()) check(sink.commands, `labels.sinks[${index}].commands`)
}

/**
 * Refuses a restriction of what some commands may do to files: it would hold for a line that is such a command, and not for a
 * script, a launcher or a function that runs it.
 */
function checkRestriction({ action, commands, paths, kinds, permissions }: PolicyRule, field: string): void {
  if (commands === undefined || action === 'allow') return
  const isAboutCommands =
    permissions === undefined || (permissionMask(permissions, `${field}.permissions`) & COMMANDS) !== 0
  const other = paths ? 'paths' : kinds ? 'kinds' : isAboutCommands ? undefined : 'permissions'
  if (other === undefined) return
  throw new TypeError(
    `Policy field "${field}.commands" cannot restrict commands beside "${other}": what a script runs would pass; write a rule for each`,
  )
}

const COMMANDS = permissionMask(['command:*'], '')

/** The analyzer refuses commands with other names. */
const NAME = /^[\w.+:@/[*-]+$/

/** Characters that separate commands, or that a shell removes from words. */
const SEPARATORS = /[|;&<>"'`\n]/

function checkEntry(entry: string, field: string): void {
  // An escaped character is text.
  const [name = '', ...words] = entry
    .replace(/\\./g, '_')
    .trim()
    .split(/[^\S\n]+/)
  if (NAME.test(name) && !name.endsWith('/') && !words.some((word) => SEPARATORS.test(word))) return
  throw new TypeError(
    `Policy field "${field}" matches no command: ${JSON.stringify(entry.slice(0, 80))}; write one command without operators or quotes, such as "git push", with * for any text`,
  )
}

/** Returns an entry as commands are written: without outer blanks, with single ones between the words. */
export function tidyEntry(entry: string): string {
  return entry.trim().replace(/\s+/g, ' ')
}

/** Returns the patterns of entries that also match a command that continues them with further words. */
export function continuedEntries(entries: readonly string[]): readonly string[] {
  const tidy = entries.map(tidyEntry)
  return [...tidy, ...tidy.map((entry) => `${entry} *`)]
}
