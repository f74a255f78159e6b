import { programName } from '../../policy/command-options.ts'
import { combineVerdicts, type Policy, type PolicyCall, type Verdict } from '../../policy/evaluation.ts'
import {
  compilePrograms,
  type JudgedCommand,
  type RestrictedPrograms,
  spelledAs,
  wordLists,
} from '../analysis/index.ts'

type Spellings = Pick<JudgedCommand, 'name' | 'args' | 'text' | 'otherTexts' | 'via'>

/** Applies the rules to all spellings of a command. */
export function evaluateSpellings(
  policy: Policy,
  call: PolicyCall,
  command: Spellings,
  earlier = policy.evaluate({ ...call, commands: [command.text] }),
): Verdict {
  let verdict = earlier
  for (const other of [...command.otherTexts, ...spelledAsRules(policy, command)]) {
    // A rule that allows must match the command as written; a rule that restricts, any of its spellings.
    const restricted = policy.evaluate({ ...call, commands: [other] })
    if (restricted.rules.some(({ source, action }) => source === 'rule' && action !== 'allow')) {
      verdict = combineVerdicts(verdict, restricted)
    }
  }
  return verdict
}

/** Returns a command with its options in the spellings that the rules have. */
function spelledAsRules({ data }: Policy, { name, args, via }: Spellings): readonly string[] {
  const entries = (data.rules ?? []).flatMap(({ action, commands = [] }) => (action === 'allow' ? [] : commands))
  if (entries.length === 0) return []
  return wordLists(via, programName(name), args).flatMap(([program, ...words]) =>
    entries.flatMap((entry) => spelledAs(entry, program, words)),
  )
}

/**
 * Returns the verdict of the rules with `commands` on a command of a script, or `undefined` if they do not restrict it. The line
 * that runs the script was evaluated by all other rules.
 */
export function ruleVerdict(
  policy: Policy,
  call: PolicyCall,
  command: Spellings,
  isFunction: boolean,
): Verdict | undefined {
  const named = (policy.data.rules ?? []).filter(({ commands }) => commands !== undefined)
  if (named.length === 0) return undefined
  const verdict = evaluateSpellings(policy, call, command)
  const { decision, rules } = verdict
  if (decision === 'allow') return undefined
  const isRestricted = rules.some(
    ({ source, action, name }) => source === 'rule' && action === decision && named.some((rule) => rule.name === name),
  )
  // Under rules that allow single commands, nothing else is allowed.
  return isRestricted || (decision === 'deny' && !isFunction) ? verdict : undefined
}

const compiled = new WeakMap<Policy['data'], RestrictedPrograms>()

/** Returns the programs that a policy denies or asks about, with any arguments. */
export function restrictedPrograms(data: Policy['data']): RestrictedPrograms {
  const known = compiled.get(data) ?? compilePrograms(restrictingEntries(data))
  compiled.set(data, known)
  return known
}

/** Returns the commands that a policy denies or asks about. */
export function restrictingEntries({ commands, rules = [] }: Policy['data']): readonly string[] {
  return [...(commands?.deny ?? []), ...rules.flatMap((rule) => (rule.action === 'allow' ? [] : (rule.commands ?? [])))]
}
