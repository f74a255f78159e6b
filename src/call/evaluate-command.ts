import { ToolError } from '../errors.ts'
import { guardAccesses } from '../guard/guard-accesses.ts'
import { hiddenBy } from '../guard/visibility.ts'
import { ROOT } from '../paths/logical-path.ts'
import { combineVerdicts, deniedError, type PolicyCall } from '../policy/evaluation.ts'
import { evaluateScripts } from './commands/evaluate-scripts.ts'
import { policyForShell } from './commands/shell-policy.ts'
import type { AuthorizedCall, CallAudit } from './state/call.ts'
import type { WorkspaceState } from './state/workspace-state.ts'

/**
 * Evaluates a call that runs a command line: its working directory, the structure of the line, and the files that the
 * line plainly opens.
 *
 * @param facts the call as policy sees it
 * @param audit records the files that the line may not open
 * @throws ToolError `SHELL_UNAVAILABLE` without a shell, and what the guard refuses
 */
export async function evaluateCommand(
  workspace: WorkspaceState,
  call: Omit<AuthorizedCall, 'verdict'>,
  facts: Omit<PolicyCall, 'accesses'>,
  line: string,
  audit: Pick<CallAudit, 'addRefusal'> | undefined,
): Promise<AuthorizedCall> {
  const { shell, policy } = workspace
  if (shell === undefined) throw new ToolError('SHELL_UNAVAILABLE', 'This workspace has no shell')
  const evaluated = shell.judge(line, {
    cwd: call.accesses[0]?.path ?? ROOT,
    policy: policyForShell(shell, policy),
    call: { ...facts, accesses: call.accesses },
  })
  let { verdict } = evaluated
  const opened = await guardAccesses(workspace.backend, evaluated.opens, hiddenBy(policy, facts))
  for (const access of opened) {
    const fileVerdict = policy.evaluate({ ...facts, accesses: [access] })
    // An `ask` waits until the command opens the file, or until its changes are known.
    if (fileVerdict.decision !== 'deny') continue
    const { code, message } = deniedError(fileVerdict)
    audit?.addRefusal({ permission: access.permission, path: access.asked, code, message })
    verdict = combineVerdicts(verdict, fileVerdict)
  }
  if (!shell.capabilities.guarded && evaluated.scripts !== undefined && verdict.decision !== 'deny') {
    const scripts = await evaluateScripts(workspace, facts, evaluated.scripts, verdict)
    return { ...call, line: evaluated.line, scriptCommands: scripts.commands, verdict: scripts.verdict }
  }
  return { ...call, line: evaluated.line, ...(evaluated.scripts && { lineScripts: evaluated.scripts }), verdict }
}
