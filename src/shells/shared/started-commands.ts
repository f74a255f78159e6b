import { type ErrorCode, ToolError } from '../../errors.ts'
import { compileOperators } from '../../policy/command-operators.ts'
import type { CommandFiles, StartedCommands } from '../types.ts'
import { hasCommandRules, refusalOfStart, type StartedBy } from './line-judge.ts'

const CODE: ErrorCode = 'COMMAND_DENIED'

/**
 * Evaluates the commands that a line starts by the rules of the policy on commands. `undefined` if there are none.
 *
 * @param files records the refusals
 */
export function createStartedCommands(
  startedBy: StartedBy,
  files: Pick<CommandFiles, 'refuse'>,
): StartedCommands | undefined {
  const { policy } = startedBy
  if (!hasCommandRules(policy.data)) return undefined
  const { deniedOperators } = policy.data.commands ?? {}
  const denies = compileOperators(deniedOperators)
  const refuse = (subject: string, reason: string) => {
    files.refuse('command:run', subject, new ToolError(CODE, `Cannot run ${JSON.stringify(subject)}: ${reason}`))
    return reason
  }
  return {
    refusal(command) {
      const reason = refusalOfStart(command, startedBy)
      return reason && refuse(command.words[0] ?? '', reason)
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
