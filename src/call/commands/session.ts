import { ToolError } from '../../errors.ts'
import type { Path } from '../../paths/logical-path.ts'
import type { ContentFlow } from '../../policy/content-flow.ts'
import { type ContentLabel, higher } from '../../policy/taint.ts'
import type {
  CommandSession,
  CommandTransaction,
  CommitSubscription,
  RefusedAccess,
  Shell,
  ShellProcess,
  StartedProcess,
} from '../../shells/types.ts'
import type { Change } from '../../storage/backend.ts'
import type { AuthorizedCall } from '../state/call.ts'
import { policyCall, type RunState } from '../state/run-state.ts'
import type { WorkspaceState } from '../state/workspace-state.ts'
import { backgroundCommitTool, effectOf, runInBackground } from './background.ts'
import type { CommandSessionOptions, SessionState } from './session-state.ts'
import { openTransaction } from './transaction.ts'
import { countUnseenReads } from './unseen-reads.ts'

/** Opens the shell for one authorized call. `undefined` if the workspace has no shell. */
export function openCommandSession(
  workspace: WorkspaceState,
  run: RunState,
  call: AuthorizedCall,
  options: CommandSessionOptions,
): CommandSession | undefined {
  if (workspace.shell === undefined) return undefined
  const shell = workspace.labels.active ? countUnseenReads(workspace.shell, workspace) : workspace.shell
  const facts = policyCall(run, call.tool.name, call.input, call.dialectCall)
  const session: SessionState = {
    ...{ workspace, run, call, options, facts },
    policy: workspace.policy.forCall(facts),
    approved: new Set(),
    pushes: [],
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
): Promise<StartedProcess> {
  const { commit } = session.options
  const { clock: now, backend } = session.workspace
  let flow: ContentFlow | undefined
  /** What the line has received in its earlier transactions. */
  let earlier: ContentLabel | undefined
  const received = () => higher(higher(session.options.received(), earlier), receivedUnseen(session, shell))
  let latest: CommandTransaction | undefined
  const open = (signal: AbortSignal | undefined) => {
    earlier = flow?.received
    const transaction = openTransaction(session, signal, received)
    flow = transaction.flow
    latest = transaction
    return transaction
  }
  /** What was refused in the transactions that are committed. */
  const committed: RefusedAccess[] = []
  const facts = {
    label: () => flow?.received,
    refusals: async () => [...committed, ...((await latest?.refusals()) ?? [])],
  }
  if (shell.start === undefined) {
    return withFacts(runInBackground({ shell, open, commit, line, cwd, timeoutMs, now }), facts)
  }
  let transaction = open(undefined)
  const { files, git, signal, visibility, noteReadable, hideSecrets } = transaction
  // If there are too many, the output is not shown.
  await transaction.findSecrets().catch(() => {})
  const process = await shell.start({
    ...{ line, cwd, env: {}, timeoutMs, signal, files, git, visibility, noteReadable, now },
    onCommit: session.onCommit,
    tree: backend,
    async keep() {
      const tool = backgroundCommitTool(cwd, await effectOf(transaction))
      committed.push(...(await transaction.refusals()))
      transaction = open(undefined)
      const result = await commit(tool)
      if (!result.ok) throw new ToolError(result.code, result.message)
      return transaction.files
    },
  })
  return withFacts(process, { ...facts, hideSecrets })
}

/**
 * Returns the highest label that a running process may have received if its reads are not observed: the label of its run, or
 * of anything that was written while it was running.
 */
function receivedUnseen({ workspace, run }: SessionState, shell: Shell): ContentLabel | undefined {
  return shell.capabilities.guarded ? undefined : higher<ContentLabel>(run.taint.origin(), workspace.fileLabels.highest)
}

function withFacts(
  process: ShellProcess,
  facts: Pick<StartedProcess, 'label' | 'refusals' | 'hideSecrets'>,
): StartedProcess {
  return {
    ...facts,
    output: () => process.output(),
    get exitCode() {
      return process.exitCode
    },
    write: (text) => process.write(text),
    stop: () => process.stop(),
    ended: process.ended,
  }
}
