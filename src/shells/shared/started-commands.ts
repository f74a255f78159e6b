import { type ErrorCode, ToolError } from '../../errors.ts'
import { compileOperators, type Operator } from '../../policy/command-operators.ts'
import { analyzeStartedCommand, type JudgedCommand, type StartedCommand } from '../analysis/index.ts'
import type { CommandFiles, StartedBy } from '../types.ts'
import { ruleVerdict } from './rule-verdict.ts'

/** Evaluates what a line starts, at any depth: in scripts, functions, substitutions and other commands. */
interface StartedCommands {
  /** Returns the reason why a command must not start. */
  refusal(command: StartedCommand): string | undefined
  /** Returns the reason why a command that runs must not have what the line has received by now. */
  refusalOfContent(command: StartedCommand): string | undefined
  /** Returns the reason why a script must not run, by the operators in it. Absent if policy denies none. */
  readonly refusalOfOperators?: (operators: readonly Operator[]) => string | undefined
}

/**
 * Evaluates the commands that a line starts by the rules of the policy on commands.
 *
 * @param files records the refusals
 */
export function createStartedCommands(startedBy: StartedBy, files: Pick<CommandFiles, 'refuse'>): StartedCommands {
  const { deniedOperators } = startedBy.policy.data.commands ?? {}
  const denies = compileOperators(deniedOperators)
  const refuse = (subject: string, reason: string, code: ErrorCode = 'COMMAND_DENIED') => {
    files.refuse('command:run', subject, new ToolError(code, `Cannot run ${JSON.stringify(subject)}: ${reason}`))
    return reason
  }
  const refusalOfSink = (command: StartedCommand, texts: readonly string[], hasStarted: boolean) => {
    const denied = startedBy.labelStart?.(texts, mayBeOfLine(command, startedBy), hasStarted)
    return denied && refuse(command.words[0] ?? '', denied.message, denied.code)
  }
  return {
    refusal(command) {
      const { reason, texts } = evaluateStart(command, startedBy)
      return reason === undefined ? refusalOfSink(command, texts, false) : refuse(command.words[0] ?? '', reason)
    },
    refusalOfContent(command) {
      return startedBy.labelStart && refusalOfSink(command, evaluateStart(command, startedBy).texts, true)
    },
    ...(deniedOperators?.length
      ? {
          refusalOfOperators(operators) {
            const denied = operators.find(denies)
            return denied && refuse(denied, `Policy denies the operator ${JSON.stringify(denied)}`)
          },
        }
      : {}),
  }
}

const NO_LISTS = Object.freeze({})
const ALLOWED = { decision: 'allow', reason: '' } as const

/** Returns the reason why a command that a line has started may not run, and the texts of all commands that it is. */
function evaluateStart(
  command: StartedCommand,
  startedBy: StartedBy,
): { readonly reason?: string; readonly texts: readonly string[] } {
  const { policy, call } = startedBy
  const texts: string[] = []
  const { decision, reasons } = analyzeStartedCommand(command, policy.data.commands ?? NO_LISTS, (judged) => {
    texts.push(judged.text, ...judged.otherTexts)
    return ruleVerdict(policy, call, judged, command.isFunction) ?? ALLOWED
  })
  const [first] = reasons
  if (decision === 'allow' || first === undefined) return { texts }
  if (decision === 'deny') return { reason: first.message, texts }
  if (isApproved(command, startedBy)) return { texts }
  return { reason: `${first.message}; it can be approved as a line of its own`, texts }
}

/**
 * Whether the approval of the line covers a command that it has started. A word that only the run shows covers what the line
 * itself starts, and not what a script file does.
 */
function isApproved(command: StartedCommand, startedBy: StartedBy): boolean {
  const { lineCommands, lineScripts = [] } = startedBy
  const mayBeOfFile = command.isNested ? lineScripts.length > 0 : lineScripts.some(({ isSourced }) => isSourced)
  if (!mayBeOfFile) return mayBeOfLine(command, startedBy)
  return lineCommands.some((written) => !written.args.includes(null) && mayBecome(written, command.words))
}

/** Whether the line itself may contain a command that it has started. */
function mayBeOfLine({ words }: StartedCommand, { lineCommands }: StartedBy): boolean {
  return lineCommands.some((written) => mayBecome(written, words))
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
