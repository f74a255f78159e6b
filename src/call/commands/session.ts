import { ToolError } from '../../errors.ts'
import type { Path } from '../../paths/logical-path.ts'
import type { CommandSession, CommitSubscription, Shell, ShellProcess } from '../../shells/types.ts'
import type { Change } from '../../storage/backend.ts'
import type { AuthorizedCall } from '../state/call.ts'
import { policyCall, type RunState } from '../state/run-state.ts'
import type { WorkspaceState } from '../state/workspace-state.ts'
import { backgroundCommitTool, runInBackground } from './background.ts'
import type { CommandSessionOptions, SessionState } from './session-state.ts'
import { openTransaction } from './transaction.ts'

/** Opens the shell for one authorized call. `undefined` if the workspace has no shell. */
export function openCommandSession(
  workspace: WorkspaceState,
  run: RunState,
  call: AuthorizedCall,
  options: CommandSessionOptions,
): CommandSession | undefined {
  const { shell } = workspace
  if (shell === undefined) return undefined
  const facts = policyCall(run, call.tool.name, call.input, call.dialectTools)
  const session: SessionState = {
    ...{ workspace, run, call, options, facts },
    policy: workspace.policy.forCall(facts),
    approved: new Set(),
    onCommit: commitSubscription(workspace),
  }
  return {
    shell,
    cwd: run.shell.cwd,
    open: (signal) => openTransaction(session, signal),
    start: (line, cwd, timeoutMs) => startInBackground(session, shell, line, cwd, timeoutMs),
    setCwd(cwd) {
      if (workspace.keepCwd) run.shell.cwd = cwd
    },
  }
}

/** Lets a shell that works on a copy of the files follow what other calls commit. */
function commitSubscription({ commitListeners }: WorkspaceState): CommitSubscription {
  return (listener) => {
    const entry = { hold: async (changes: readonly Change[]) => listener(changes) }
    commitListeners.add(entry)
    return () => commitListeners.delete(entry)
  }
}

/** Starts a line in a shell that has processes; in any other shell it runs as a background transaction. */
async function startInBackground(
  session: SessionState,
  shell: Shell,
  line: string,
  cwd: Path,
  timeoutMs: number,
): Promise<ShellProcess> {
  const { commit, noteReadable } = session.options
  const { clock: now, backend } = session.workspace
  const open = (signal: AbortSignal | undefined) => openTransaction(session, signal)
  if (shell.start === undefined) return runInBackground({ shell, open, commit, line, cwd, timeoutMs, now })
  let transaction = open(undefined)
  const { files, git, signal, visibility } = transaction
  return shell.start({
    ...{ line, cwd, env: {}, timeoutMs, signal, files, git, visibility, noteReadable, now },
    onCommit: session.onCommit,
    tree: backend,
    async keep() {
      const { changes, accesses } = await transaction.changes()
      const { refusals, reads } = transaction
      transaction = open(undefined)
      const result = await commit(backgroundCommitTool(cwd, { changes, accesses, refusals, reads }))
      if (!result.ok) throw new ToolError(result.code, result.message)
      return transaction.files
    },
  })
}
