import { overlay } from '../../backends/overlay/index.ts'
import { type Failure, ToolError } from '../../errors.ts'
import { classifyPath } from '../../files/classify/index.ts'
import { createVisibility } from '../../guard/visibility.ts'
import { GIT_DIRECTORY, isWithin, type Path } from '../../paths/logical-path.ts'
import type { GuardedAccess } from '../../policy/access.ts'
import type { ApprovalQuestion } from '../../policy/approval.ts'
import { isMutating } from '../../policy/permissions.ts'
import { deniedError } from '../../policy/policy.ts'
import { createCommandFiles } from '../../shells/shared/command-files.ts'
import type { CommandFilesOptions } from '../../shells/shared/command-gate.ts'
import type { CommandGit, CommandSession, CommandTransaction, CommitSubscription } from '../../shells/types.ts'
import type { Change } from '../../storage/backend.ts'
import type { Tool } from '../../tools/define-tool.ts'
import type { AuthorizedCall, CallAudit } from '../state/call.ts'
import { policyCall, type RunState } from '../state/run-state.ts'
import type { WorkspaceState } from '../state/workspace-state.ts'
import { backgroundCommitTool, runInBackground } from './background.ts'
import { commandGit } from './git-read.ts'
import { openCommandRepository } from './git-write.ts'

export interface CommandSessionOptions {
  readonly record: Pick<CallAudit, 'addRead' | 'addRefusal'>
  /** When the call began, milliseconds since 1970. */
  readonly began: number
  /** Gets the approval of something that the draft comes upon. */
  readonly ask: (question: ApprovalQuestion) => Promise<void>
  /** Carries out what came of the draft later, as a call of its own. */
  readonly commit: (tool: Tool) => Promise<{ readonly ok: true } | Failure>
  /** @throws ToolError where what the run has read may not flow there */
  readonly requireHostAllowed: (host: string) => void
  readonly noteReadable: (path: Path) => void
}

/** The shell as one judged call may use it; `undefined` where the workspace has none. */
export function openCommandSession(
  workspace: WorkspaceState,
  run: RunState,
  call: AuthorizedCall,
  { record, ask, began, commit, requireHostAllowed: reachesHost, noteReadable: mayRead }: CommandSessionOptions,
): CommandSession | undefined {
  const { shell } = workspace
  if (shell === undefined) return undefined
  const facts = policyCall(run, call.tool.name, call.input)
  const view = workspace.policy.forCall(facts)
  /** Questions that were answered for this call. */
  const granted = new Set<string>()

  /** @throws ToolError what policy denies; a question about a change waits for the end of the command */
  function judge(access: GuardedAccess): ApprovalQuestion | undefined {
    const { permission, asked, path, classification } = access
    if (workspace.isReadOnly && isMutating(permission)) {
      throw new ToolError('READ_ONLY', 'The workspace is read-only', { path: asked })
    }
    const first = view.decide(permission, asked, classification)
    if (first === 'allow' && (asked === path || view.decide(permission, path, classification) === 'allow')) return
    const verdict = workspace.policy.evaluate({ ...facts, accesses: [access] })
    if (verdict.decision === 'deny') throw deniedError(verdict)
    if (verdict.decision === 'allow' || isMutating(permission)) return
    const question = { tool: call.tool.name, input: call.input, accesses: [access], verdict, risks: [] }
    return granted.has(keyOf(access)) || run.approvals.covers(question) ? undefined : question
  }

  const onCommit: CommitSubscription = (listener) => {
    const told = { hold: async (changes: readonly Change[]) => listener(changes) }
    workspace.commitListeners.add(told)
    return () => workspace.commitListeners.delete(told)
  }

  function open(signal: AbortSignal | undefined): CommandTransaction {
    const drafts = overlay(workspace.backend, undefined, { closesLower: false })
    const stop = new AbortController()
    const stopped = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal])
    let question: ApprovalQuestion | undefined
    const reads = new Set<Path>()
    const options: CommandFilesOptions = {
      backend: drafts,
      signal: stopped,
      visibility: (kind) => createVisibility(workspace.policy, facts, kind, call.verdict),
      onRead(path, bytes) {
        run.rates.countRead(bytes)
        reads.add(path)
        record.addRead(path)
      },
      limits: { treeEntries: workspace.limits.treeEntries, fileBytes: workspace.limits.commandFileBytes },
      judge(access) {
        question ??= judge(access)
        if (question === undefined) return
        // The line cannot wait here: its clock would run on. It is dropped, and runs again with the answer.
        stop.abort()
        throw new ToolError('ABORTED', 'The command waits for an approval')
      },
    }
    const files = createCommandFiles(options)
    let git: CommandGit | undefined
    /** Whether git's own files may be among the changes: no other way leads to them. */
    let isGitOpen = false
    const requireHost = (url: URL) => {
      if (workspace.policy.mayReach(url)) return reachesHost(url.hostname)
      const error = new ToolError('POLICY_DENIED', `policy names no network host ${JSON.stringify(url.host)}`)
      throw files.refuse('command:run', url.host, error)
    }
    return {
      files,
      signal: stopped,
      git: () => {
        const sight = createVisibility(workspace.policy, facts, 'diff', call.verdict)
        const sees = (path: Path) => sight.see(path, 'file')
        const { onRead } = options
        const shared = { backend: drafts, files, sees, onRead, signal: stopped }
        git ??= commandGit({
          ...shared,
          async change(view) {
            // Resumed, the call must come to the same commits that were approved.
            const opened = { ...shared, provider: workspace.git, requireHost, now: () => began }
            const repository = await openCommandRepository(opened, view)
            isGitOpen = true
            return repository
          },
        })
        return git
      },
      onCommit,
      noteReadable: mayRead,
      tree: workspace.backend,
      get visibility() {
        return createVisibility(workspace.policy, facts, 'search', call.verdict)
      },
      get refusals() {
        return files.refusals
      },
      readContents: files.readContents,
      reads,
      async resolvePendingApproval() {
        for (const refusal of files.refusals) record.addRefusal(refusal)
        if (question === undefined) return false
        await ask(question)
        for (const access of question.accesses) granted.add(keyOf(access))
        return true
      },
      async changes() {
        const changes = await drafts.pending()
        const changed = new Set(changes.map(({ path }) => path))
        const accesses = files.accesses.filter(({ path }) => changed.has(path))
        const known = new Set(accesses.map(({ path }) => path))
        // Every change is judged by some access, whatever way it came about.
        for (const { path, to } of changes) {
          if (!known.has(path)) accesses.push(accessOf(path, to === null, isGitOpen))
        }
        return { changes, accesses }
      },
    }
  }

  return {
    shell,
    cwd: run.shell.cwd,
    open,
    async start(line, cwd, timeoutMs) {
      const { now } = { now: workspace.clock }
      if (shell.start === undefined) return runInBackground({ shell, open, commit, line, cwd, timeoutMs, now })
      let transaction = open(undefined)
      const { files, git, signal, visibility: sight } = transaction
      return shell.start({
        line,
        cwd,
        env: {},
        timeoutMs,
        signal,
        files,
        git,
        onCommit,
        visibility: sight,
        noteReadable: mayRead,
        tree: workspace.backend,
        now,
        async keep() {
          const { changes, accesses } = await transaction.changes()
          const { refusals, reads } = transaction
          transaction = open(undefined)
          const kept = await commit(backgroundCommitTool(cwd, { changes, accesses, refusals, reads }))
          if (!kept.ok) throw new ToolError(kept.code, kept.message)
          return transaction.files
        },
      })
    },
    setCwd(cwd) {
      if (workspace.keepCwd) run.shell.cwd = cwd
    },
  }
}

function accessOf(path: Path, isGone: boolean, withGit: boolean): GuardedAccess {
  /* v8 ignore next -- @preserve: a defence in depth: what is not git's own comes with the access by which it was made */
  const permission =
    withGit && isWithin(path, GIT_DIRECTORY) ? 'git:write' : isGone ? 'file:delete' : 'file:write:replace'
  return { permission, asked: path, path, classification: classifyPath(path), recursive: false }
}

function keyOf({ permission, asked, path }: GuardedAccess): string {
  return JSON.stringify([permission, asked, path])
}
