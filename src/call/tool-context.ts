import type { CommitHistory } from '../git/commit-history.ts'
import type { DiffRequest, WorkspaceDiff } from '../git/workspace-diff.ts'
import { createGuardedFiles } from '../guard/guarded-files.ts'
import { createVisibility } from '../guard/visibility.ts'
import type { Path } from '../paths/logical-path.ts'
import { requireAllowed } from '../policy/evaluation.ts'
import type { Label } from '../policy/labels.ts'
import type { BuiltinContext } from '../tools/builtin-tool.ts'
import { ignoreRejection } from '../util/ignore-rejection.ts'
import { memoizeAsync } from '../util/memoize-async.ts'
import type { CallWait } from './call-wait.ts'
import type { openCommandSession } from './commands/session.ts'
import type { CommandSessionOptions } from './commands/session-state.ts'
import type { AuthorizedCall, CallOptions } from './state/call.ts'
import { policyCall, type RunState } from './state/run-state.ts'
import type { TaintTracker } from './state/taint-tracker.ts'
import type { WorkspaceState } from './state/workspace-state.ts'

const loadDiffs = memoizeAsync(() => import('./diff-for-call.ts'))

export interface ToolContextOptions
  extends Omit<
    CommandSessionOptions,
    'requireHostAllowed' | 'noteReceived' | 'noteCommit' | 'labelStart' | 'noteFlow' | 'received'
  > {
  /** Opens the shell of the workspace. `undefined` for a tool that runs no commands. */
  readonly openCommands: typeof openCommandSession | undefined
  readonly wait: Pick<CallWait, 'signal' | 'until'>
  readonly onProgress: CallOptions['onProgress']
  readonly media: CallOptions['media']
  readonly taint: TaintTracker
  /** Receives the files that the tool reads. */
  readonly reads: Set<Path>
}

/** The context for the draft of one authorized call. */
export class CallContext implements BuiltinContext {
  // Declared alone: the constructor defines them.
  declare readonly accesses: BuiltinContext['accesses']
  declare readonly files: BuiltinContext['files']
  declare readonly limits: BuiltinContext['limits']
  declare readonly media: BuiltinContext['media']
  declare readonly signal: AbortSignal | undefined
  readonly warnings: string[] = []
  declare readonly now: () => number
  declare readonly hasReadWhole: BuiltinContext['hasReadWhole']
  declare readonly previousReads: BuiltinContext['previousReads']
  declare readonly secretScans: BuiltinContext['secretScans']
  declare readonly staleGuard: BuiltinContext['staleGuard']
  declare readonly processes: BuiltinContext['processes']
  declare readonly memory: BuiltinContext['memory']
  readonly #workspace: WorkspaceState
  readonly #run: RunState
  readonly #call: AuthorizedCall
  readonly #options: ToolContextOptions
  readonly #taint: TaintTracker
  #session: BuiltinContext['commands']

  // Tools take these two without the context.
  get progress(): BuiltinContext['progress'] {
    return (done, unit, total) =>
      void ignoreRejection(this.#options.onProgress?.({ done, unit, ...(total === undefined ? {} : { total }) }))
  }

  get keepArtifact(): BuiltinContext['keepArtifact'] {
    return (name, text) => {
      try {
        return this.#run.artifacts.put(name, text)
      } catch {
        return undefined
      }
    }
  }

  constructor(workspace: WorkspaceState, run: RunState, call: AuthorizedCall, options: ToolContextOptions) {
    this.#workspace = workspace
    this.#run = run
    this.#call = call
    this.#options = options
    this.#taint = options.taint
    this.accesses = call.accesses
    this.signal = options.wait.signal
    this.files = this.#openFiles()
    this.limits = workspace.limits
    this.media = options.media
    this.now = workspace.clock
    this.hasReadWhole = run.readHistory.hasReadWhole
    this.previousReads = run.readHistory
    this.secretScans = workspace.secretScans
    this.staleGuard = workspace.staleGuard
    this.processes = run.shell.processes
    this.memory = workspace.memory === undefined ? undefined : { ...workspace.memory, scopes: run.scopes }
  }

  async workspaceDiff(request: Parameters<BuiltinContext['workspaceDiff']>[0]): Promise<WorkspaceDiff> {
    const { diffForCall, addCompared, withLabelledBase } = await loadDiffs()
    const diff = await diffForCall(this.#workspace, this.#facts(), this.#call.verdict, request, this.signal)
    for (const { path, text } of diff.sections) this.#addRead(path as Path, text.length)
    addCompared(this.#taint, diff)
    return withLabelledBase(diff, request.base, this.#workspace.diffs, this.#taint)
  }

  workspaceDiffSha256(patched: DiffRequest['patched']): Promise<string | undefined> {
    const hashing = loadDiffs().then(({ workspaceDiffSha256 }) =>
      workspaceDiffSha256(this.#workspace, this.#run, this.#call, this.#taint, { patched, signal: this.signal }),
    )
    // A call that has changed files has succeeded, even if it is cancelled meanwhile.
    return this.#options.wait.until(hashing).catch(() => undefined)
  }

  async headCommit(): Promise<string | undefined> {
    const { diffs } = this.#workspace
    const commit = await diffs.headCommit()
    if (commit !== undefined) await this.#taint.addCommit(diffs, commit)
    return commit
  }

  get commands(): BuiltinContext['commands'] {
    this.#session ??= openSession(this.#workspace, this.#run, this.#call, this.#options)
    return this.#session
  }

  async readArtifact(uri: string): Promise<string> {
    const text = await this.#run.artifacts.read(uri)
    // An artifact contains nothing above the highest label that its run had seen.
    const { label, path } = this.#run.taint.origin() ?? { label: 'public' }
    this.#taint.addLabel(label, path ?? uri)
    return text
  }

  requireHostAllowed(host: string): void {
    this.#taint.requireHostAllowed(host)
  }

  async addCommit(history: CommitHistory, commit: string, branch: Path | undefined): Promise<void> {
    if (branch !== undefined) this.#taint.addName(branch)
    await this.#taint.addCommit(history, commit)
  }

  taint(): Label {
    return this.#taint.highestLabel()
  }

  labelOf(path: Path): Label {
    return this.#taint.labelOf(path)
  }

  addLabel(label: Label, path?: string): void {
    this.#taint.addLabel(label, path)
  }

  addSearched(path: Path): void {
    this.#taint.addSearched(path)
  }

  #facts(): ReturnType<typeof policyCall> {
    const { tool, input, dialectCall } = this.#call
    return policyCall(this.#run, tool.name, input, dialectCall)
  }

  #addRead(path: Path, bytes: number): void {
    this.#options.reads.add(path)
    this.#run.rates.countRead(bytes)
    this.#options.audit.addRead(path)
    this.#taint.addRead(path)
  }

  #openFiles(): BuiltinContext['files'] {
    const { backend, documents, ownTools, policy } = this.#workspace
    const taint = this.#taint
    const isOwn = ownTools.has(this.#call.tool)
    return createGuardedFiles({
      backend,
      accesses: this.#call.accesses,
      documents,
      describesFiles: !isOwn,
      notesVisits: isOwn,
      showsStats: isOwn,
      requireAllowed: (access) => requireAllowed(policy, this.#facts(), access),
      visibility: (kind) => createVisibility(policy, this.#facts(), kind, this.#call.verdict),
      signal: this.signal,
      onTarget: (path) => taint.addRead(path),
      onName: isOwn ? (path) => taint.addName(path) : undefined,
      onRead: (path, bytes) => this.#addRead(path, bytes),
    })
  }
}

/** Opens the shell for the call, if its tool may run commands. */
function openSession(
  workspace: WorkspaceState,
  run: RunState,
  call: AuthorizedCall,
  options: ToolContextOptions,
): BuiltinContext['commands'] {
  return options.openCommands?.(workspace, run, call, sessionOptions(options))
}

/** Returns what the transactions of a call report to it. */
export function sessionOptions({ audit, ask, began, commit, taint }: ToolContextOptions): CommandSessionOptions {
  return {
    ...{ audit, ask, began, commit },
    requireHostAllowed: (host) => taint.requireHostAllowed(host),
    noteReceived(path, label) {
      taint.addRead(path)
      taint.addLabel(label, path)
    },
    noteCommit: (history, id, flow) => taint.addCommit(history, id, flow),
    labelStart: (...start) => taint.startCommand(...start),
    received: () => taint.received(),
    noteFlow: (flow) => taint.addFlow(flow),
  }
}
