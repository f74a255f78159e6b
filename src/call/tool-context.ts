import { classifyContent, classifyPath } from '../files/classify/index.ts'
import type { CommitHistory } from '../git/commit-history.ts'
import type { DiffRequest, WorkspaceDiff } from '../git/workspace-diff.ts'
import { guardAccesses } from '../guard/guard-accesses.ts'
import { createGuardedFiles } from '../guard/guarded-files.ts'
import { createVisibility } from '../guard/visibility.ts'
import type { Path } from '../paths/logical-path.ts'
import type { DialectCall } from '../policy/dialect-call.ts'
import { type PolicyCall, requireAllowed, type Verdict, withAccesses } from '../policy/evaluation.ts'
import type { Label } from '../policy/labels.ts'
import type { BuiltinContext } from '../tools/builtin-tool.ts'
import type { Tool } from '../tools/define-tool.ts'
import { ignoreRejection } from '../util/ignore-rejection.ts'
import { memoizeAsync } from '../util/memoize-async.ts'
import type { CallWait } from './call-wait.ts'
import type { openCommandSession } from './commands/session.ts'
import type { CommandSessionOptions } from './commands/session-state.ts'
import { readInput } from './read-input.ts'
import type { AuthorizedCall, CallOptions } from './state/call.ts'
import { policyCall, type RunState } from './state/run-state.ts'
import type { TaintTracker } from './state/taint-tracker.ts'
import type { WorkspaceState } from './state/workspace-state.ts'

const loadLabelledBase = memoizeAsync(() => import('./labelled-base.ts'))

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
    const { diffs } = this.#workspace
    const diff = await diffForCall(this.#workspace, this.#facts(), this.#call.verdict, request, this.signal)
    for (const { path, text } of diff.sections) this.#addRead(path as Path, text.length)
    addCompared(this.#taint, diff)
    const { withLabelledBase } = await loadLabelledBase()
    return withLabelledBase(diff, request.base, diffs, this.#taint)
  }

  workspaceDiffSha256(): Promise<string | undefined> {
    const hashing = workspaceDiffSha256(this.#workspace, this.#run, this.#call.dialectCall, this.#taint, this.signal)
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

/** Returns the differences of the workspace that policy shows to a call. */
function diffForCall(
  workspace: WorkspaceState,
  call: Omit<PolicyCall, 'accesses'>,
  verdict: Pick<Verdict, 'rules'>,
  request: Pick<DiffRequest, 'base' | 'wants' | 'maxText'>,
  signal: AbortSignal | undefined,
): Promise<WorkspaceDiff> {
  const { see } = createVisibility(workspace.policy, call, 'diff', verdict)
  const list = createVisibility(workspace.policy, call, 'list', verdict)
  const policy = workspace.policy.forCall(call)
  return workspace.diffs.diff({
    ...request,
    // What a call has written may be a guess, which a missing difference confirms.
    chosen: [...workspace.fileLabels].map(([path]) => path),
    sees: (path) => see(path as Path, 'file'),
    // A path that listings hide is not counted either.
    knows: (path) => list.see(path as Path, 'file'),
    // A call that may apply binary patches may see them.
    withBinary: (path) =>
      policy.decide('file:patch:apply', path, classifyContent(classifyPath(path), BINARY)) === 'allow',
    signal,
  })
}

/** Adds the labels of the files that a diff shows, and of those of which it shows that they do not differ. */
function addCompared(taint: TaintTracker, { sections, equal }: WorkspaceDiff): void {
  for (const { path, oldPath = path } of sections) {
    taint.addRead(path as Path)
    taint.addRead(oldPath as Path)
  }
  for (const path of equal) taint.addRead(path as Path)
}

/** What the cache of sections can hold. To hash more, each call would read all changed files again. */
const MAX_HASHED_TEXT = 12 * 1024 * 1024

/** Evaluated like a call of `diff_workspace`, so that the hash reveals nothing that such a call would not. */
async function workspaceDiffSha256(
  workspace: WorkspaceState,
  run: RunState,
  dialectCall: DialectCall | undefined,
  taint: TaintTracker,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const tool: Tool | undefined = workspace.tools.get('diff_workspace')
  // An own tool with that name has another plan, so its permission does not cover a diff.
  if (tool === undefined || workspace.ownTools.has(tool)) return undefined
  try {
    const input = await readInput(tool, {})
    const call = policyCall(run, tool.name, input, dialectCall)
    const accesses = await guardAccesses(workspace.backend, tool.plan(input, { cwd: run.shell.cwd }))
    const verdict = workspace.policy.evaluate(withAccesses(call, accesses))
    if (verdict.decision !== 'allow') return undefined
    const request = { wants: () => true, maxText: MAX_HASHED_TEXT }
    const diff = await diffForCall(workspace, call, verdict, request, signal)
    addCompared(taint, diff)
    return diff.isCut ? undefined : diff.sha256()
  } catch {
    return undefined
  }
}

const BINARY = Uint8Array.of(0)
