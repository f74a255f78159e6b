import { combineVerdicts, type Policy, type Verdict } from '../../policy/evaluation.ts'
import { checkOptions, isBoolean, isOneOf, isText, type OptionTable, refuseSurplus } from '../../util/check-options.ts'
import { analyzeText, type CommandVerdict } from '../analysis/index.ts'
import type { ReasonCode } from '../analysis/verdict.ts'
import type { CommandJudge } from '../types.ts'
import { hasCommandLabels, hasCommandRules } from './command-rules.ts'
import { evaluateSpellings, restrictedPrograms } from './rule-verdict.ts'
import { judgeScripts } from './script-judge.ts'

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
  refuseSurplus('createLineAnalyzer()', 1, arguments)
  const checked = checkOptions<LineAnalyzerOptions>('createLineAnalyzer()', requested, optionTable)
  const { confined, ...options } = checked
  return (line, { cwd, policy, call, root = options.root }) => {
    const verdicts = new Map<string, Verdict>()
    const analyzed = analyzeText(line, policy.data.commands ?? NO_LISTS, {
      ...options,
      ...(root === undefined ? {} : { root }),
      cwd,
      judgesScripts: true,
      restricted: restrictedPrograms(policy.data),
      unknowns: confined !== true ? 'nothing' : dependsOnCommands(policy.data) ? 'paths' : 'words',
      decide(command) {
        const verdict = evaluateSpellings(policy, call, command, verdicts.get(command.text))
        verdicts.set(command.text, verdict)
        return verdict
      },
    })
    const analysis = analyzed.verdict()
    // A line that starts no command, such as an assignment, is still evaluated as a call.
    if (verdicts.size === 0) verdicts.set('', policy.evaluate({ ...call, commands: [] }))
    return {
      line: analysis,
      verdict: [...verdicts.values()].reduce(combineVerdicts, verdictOf(analysis)),
      opens: analysis.accesses.map(({ path, mode }) => ({
        permission: mode === 'read' ? 'file:read' : 'file:write',
        path: path === '' ? '.' : path,
      })),
      scripts:
        hasCommandRules(policy.data) || hasCommandLabels(policy.data)
          ? judgeScripts(analyzed.scripts(), { policy, call, root })
          : [],
    }
  }
}

/** Whether a policy decides by the commands that run. */
function dependsOnCommands(data: Policy['data']): boolean {
  if (hasCommandRules(data) || hasCommandLabels(data)) return true
  return data.rules?.some((rule) => rule.args?.command !== undefined) === true
}

const CORRECT = 'Correct the line and run it again.'
const SPLIT = 'Run it as several shorter lines.'

/** Hints for the reasons that another spelling of the same line removes. */
const corrections: Partial<Readonly<Record<ReasonCode, string>>> = {
  EMPTY_LINE: CORRECT,
  SYNTAX_ERROR: CORRECT,
  LINE_TOO_LONG: SPLIT,
  TOO_COMPLEX: SPLIT,
  ODD_CHARACTER: 'Write the line without that character.',
}

/** The verdict on the line's structure alone. Rules for its commands are part of the verdicts on those. */
function verdictOf({ reasons }: CommandVerdict): Verdict {
  const structural = reasons.filter(({ code }) => code !== 'RULE')
  const [first] = structural
  if (first === undefined) return { decision: 'allow', reason: 'The line is allowed', rules: [] }
  const isCorrectable = structural.every(({ code }) => corrections[code] !== undefined)
  return {
    decision: first.action,
    code: 'COMMAND_DENIED',
    ...(isCorrectable ? { hint: corrections[first.code] as string } : {}),
    reason: `Cannot run the command: ${first.message}`,
    rules: structural.map(({ code, action }) => ({ name: code, action, source: 'protection' })),
  }
}
