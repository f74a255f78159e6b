import { type LogicalPath, ROOT } from '../../paths/logical-path.ts'
import type { CommandPolicy } from '../../policy/policy.ts'
import { createJudge, type Decide } from './analysis.ts'
import { characterFault } from './characters.ts'
import { type CommandLists, compileLists } from './command-lists.ts'
import type { CommandVerdict } from './verdict.ts'
import { judgeSource } from './walk-script.ts'

export type { Decide } from './analysis.ts'
export type { CommandAccess, CommandVerdict, DenialReason, JudgedCommand, ReasonCode } from './verdict.ts'

export interface JudgeOptions {
  /** Where the line starts; the root of the workspace if left out. */
  readonly cwd?: LogicalPath
  /** The absolute name under which the shell shows the root of the workspace: `/workspace`. */
  readonly root?: string
  /** Which shell reads the line. What `sh` reads in another way than bash is refused there. */
  readonly shell?: 'bash' | 'sh'
  /** What the rules of a policy say of one command of the line: each has to be allowed by itself. */
  readonly decide?: Decide
}

/**
 * Judges a command line by its parsed structure, before anything of it runs: every command that it would start, through
 * wrappers, launchers, substitutions and scripts in words, is held against the built-in denylist, the policy's lists and
 * `decide`. What only the run could tell, where a command or its options stand, is refused whatever the lists say.
 * Words that are data are let alone. Pure, total, and linear in the line.
 *
 * The files that redirections open are in `accesses`; they lie in the workspace, and policy has yet to judge them. Other
 * arguments are not looked at as paths: the shell guards what its commands really open.
 *
 * @throws TypeError if the policy's lists are not valid
 * @example
 * analyzeCommand('npm test && git push', { deny: ['git push'] }).decision // 'deny'
 * analyzeCommand("grep -rn 'sudo rm -rf /' docs", {}).decision // 'allow'
 */
export function analyzeCommand(line: string, policy: CommandPolicy, options: JudgeOptions = {}): CommandVerdict {
  const judge = createJudge(listsOf(policy), options.root, options.decide)
  const fault = characterFault(line)
  if (fault !== undefined) {
    judge.deny(fault.code, fault.message, fault.at)
    return judge.verdict()
  }
  const scope = { dialect: options.shell ?? 'bash', places: [options.cwd ?? ROOT], via: [], within: [] } as const
  try {
    judgeSource(judge, line, scope, [0, line.length])
  } catch (error) {
    // The parser's and our own recursion follow the nesting of the line; the judge throws the same where it counts.
    if (!(error instanceof RangeError)) throw error
    judge.deny('TOO_COMPLEX', 'The line has more than 1000 commands, or is nested too deeply', [0, line.length])
  }
  return judge.verdict()
}

const compiled = new WeakMap<CommandPolicy, CommandLists>()

function listsOf(policy: CommandPolicy): CommandLists {
  const known = compiled.get(policy)
  if (known !== undefined) return known
  const lists = compileLists(policy)
  compiled.set(policy, lists)
  return lists
}
