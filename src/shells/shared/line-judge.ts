import { combineVerdicts, type Policy, type PolicyCall, type Verdict } from '../../policy/evaluation.ts'
import { checkOptions, isBoolean, isOneOf, isText, type OptionTable } from '../../util/check-options.ts'
import {
  analyzeCommand,
  analyzeStartedCommand,
  type CommandVerdict,
  type JudgedCommand,
  type StartedCommand,
} from '../analysis/index.ts'
import type { CommandJudge } from '../types.ts'

const NO_LISTS = Object.freeze({})

/** Options of {@link createLineAnalyzer}. */
export interface LineAnalyzerOptions {
  /** Absolute path at which the shell mounts the workspace. */
  readonly root?: string
  readonly shell?: 'bash' | 'sh'
  /**
   * Policy evaluates every path that a command opens or changes, at the access or when its changes are committed, so a line may
   * leave open which paths these are. Default: false.
   */
  readonly confined?: boolean
}

const optionTable: OptionTable<LineAnalyzerOptions> = {
  root: isText,
  shell: isOneOf('bash', 'sh'),
  confined: isBoolean,
}

/**
 * Creates the function that evaluates command lines for a shell. Each command of a line has to be allowed on its own, by the
 * built-in lists, the policy's lists and its rules.
 */
export function createLineAnalyzer(requested?: LineAnalyzerOptions): CommandJudge {
  const checked = checkOptions<LineAnalyzerOptions>('createLineAnalyzer()', requested, optionTable)
  const { confined, ...options } = checked
  return (line, { cwd, policy, call }) => {
    const verdicts = new Map<string, Verdict>()
    const analysis = analyzeCommand(line, policy.data.commands ?? NO_LISTS, {
      ...options,
      cwd,
      unknowns: confined !== true ? 'nothing' : dependsOnCommands(policy.data) ? 'paths' : 'words',
      decide(command) {
        const verdict = evaluateSpellings(policy, call, command, verdicts.get(command.text))
        verdicts.set(command.text, verdict)
        return verdict
      },
    })
    // A line that starts no command, such as an assignment, is still evaluated as a call.
    if (verdicts.size === 0) verdicts.set('', policy.evaluate({ ...call, commands: [] }))
    return {
      line: analysis,
      verdict: [...verdicts.values()].reduce(combineVerdicts, verdictOf(analysis)),
      opens: analysis.accesses.map(({ path, mode }) => ({
        permission: mode === 'read' ? 'file:read' : 'file:write',
        path: path === '' ? '.' : path,
      })),
    }
  }
}

/** Applies the rules to all spellings of a command. */
function evaluateSpellings(
  policy: Policy,
  call: PolicyCall,
  { text, otherTexts }: Pick<JudgedCommand, 'text' | 'otherTexts'>,
  earlier = policy.evaluate({ ...call, commands: [text] }),
): Verdict {
  let verdict = earlier
  for (const other of otherTexts) {
    // A rule that allows must match the command as written; a rule that restricts, any of its spellings.
    const restricted = policy.evaluate({ ...call, commands: [other] })
    if (restricted.rules.some(({ source, action }) => source === 'rule' && action !== 'allow')) {
      verdict = combineVerdicts(verdict, restricted)
    }
  }
  return verdict
}

/** The call that runs a line, and the commands of the line, which were evaluated before it began. */
export interface StartedBy {
  readonly policy: Policy
  readonly call: PolicyCall
  readonly lineCommands: readonly JudgedCommand[]
}

/** Returns the reason why a command that a line has started may not run, by the lists and the rules on commands. */
export function refusalOfStart(command: StartedCommand, { policy, call, lineCommands }: StartedBy): string | undefined {
  const { rules = [], commands = NO_LISTS } = policy.data
  const named = new Set(rules.filter((rule) => rule.commands !== undefined).map(({ name }) => name))
  const { decision, reasons } = analyzeStartedCommand(command, commands, (judged) => {
    const verdict = evaluateSpellings(policy, call, judged)
    const concerned = verdict.rules.filter(({ source, name }) => source === 'rule' && named.has(name))
    const isRestricted = concerned.some(({ action }) => action === verdict.decision)
    // The line was evaluated by everything else.
    if (verdict.decision === 'deny' && (isRestricted || !command.isFunction)) return verdict
    return verdict.decision === 'ask' && isRestricted ? verdict : { decision: 'allow', reason: '' }
  })
  const [first] = reasons
  if (decision === 'allow' || first === undefined) return undefined
  if (decision === 'deny') return first.message
  if (lineCommands.some((written) => mayBecome(written, command.words))) return undefined
  return `${first.message}; it can be approved as a line of its own`
}

/** Whether a command of a line may start with these words. A word that only the run shows may become any number of words. */
function mayBecome({ name, args }: JudgedCommand, words: readonly string[]): boolean {
  /** How many of the words the written ones so far may have become, in ascending order. */
  let counts = [0]
  for (const word of [name, ...args]) {
    const [least] = counts
    if (least === undefined) return false
    counts =
      word === null
        ? Array.from({ length: words.length - least + 1 }, (_, more) => least + more)
        : counts.filter((count) => words[count] === word).map((count) => count + 1)
  }
  return counts.at(-1) === words.length
}

/** Whether a policy has lists of commands, or rules on them. */
export function hasCommandRules({ commands, rules }: Policy['data']): boolean {
  const { allow, deny = [], deniedOperators = [] } = commands ?? {}
  if (allow !== undefined || deny.length > 0 || deniedOperators.length > 0) return true
  return rules?.some((rule) => rule.commands !== undefined) === true
}

/** Whether a policy decides by the commands that run. */
function dependsOnCommands(data: Policy['data']): boolean {
  const { rules, labels } = data
  if (hasCommandRules(data) || rules?.some((rule) => rule.args?.command !== undefined)) return true
  return [...(labels?.sources ?? []), ...(labels?.sinks ?? [])].some((entry) => entry.commands !== undefined)
}

/** The verdict on the line's structure alone. Rules for its commands are part of the verdicts on those. */
function verdictOf({ reasons }: CommandVerdict): Verdict {
  const structural = reasons.filter(({ code }) => code !== 'RULE')
  const [first] = structural
  if (first === undefined) return { decision: 'allow', reason: 'The line is allowed', rules: [] }
  return {
    decision: first.action,
    code: 'COMMAND_DENIED',
    reason: `Cannot run the command: ${first.message}`,
    rules: structural.map(({ code, action }) => ({ name: code, action, source: 'protection' })),
  }
}
