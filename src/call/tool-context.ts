import { classifyContent, classifyPath } from '../files/classify/index.ts'
import type { DiffRequest, WorkspaceDiff } from '../git/workspace-diff.ts'
import { guardAccesses } from '../guard/guard-accesses.ts'
import { createGuardedFiles } from '../guard/guarded-files.ts'
import { createVisibility } from '../guard/visibility.ts'
import type { Path } from '../paths/logical-path.ts'
import type { DialectCall } from '../policy/dialect-call.ts'
import { type PolicyCall, requireAllowed, type Verdict } from '../policy/evaluation.ts'
import type { BuiltinContext } from '../tools/builtin-tool.ts'
import type { Tool } from '../tools/define-tool.ts'
import { ignoreRejection } from '../util/ignore-rejection.ts'
import type { openCommandSession } from './commands/session.ts'
import type { CommandSessionOptions } from './commands/session-state.ts'
import { readInput } from './read-input.ts'
import type { AuthorizedCall, CallOptions } from './state/call.ts'
import { policyCall, type RunState } from './state/run-state.ts'
import type { TaintTracker } from './state/taint-tracker.ts'
import type { WorkspaceState } from './state/workspace-state.ts'

export interface ToolContextOptions
  extends Omit<
    CommandSessionOptions,
    'requireHostAllowed' | 'noteReceived' | 'noteCommit' | 'labelStart' | 'noteFlow' | 'received'
  > {
  /** Opens the shell of the workspace. `undefined` for a tool that runs no commands. */
  readonly openCommands: typeof openCommandSession | undefined
  readonly signal: AbortSignal | undefined
  readonly onProgress: CallOptions['onProgress']
  readonly media: CallOptions['media']
  readonly taint: TaintTracker
  /** Receives the files that the tool reads. */
  readonly reads: Set<Path>
}

/** Creates the context for the draft of one authorized call. */
export function createToolContext(
  workspace: WorkspaceState,
  run: RunState,
  call: AuthorizedCall,
  options: ToolContextOptions,
): BuiltinContext {
  const { audit, taint, signal, onProgress, media, reads } = options
  let session: BuiltinContext['commands']
  const isOwn = workspace.ownTools.has(call.tool)
  const requireHostAllowed = (host: string) => taint.requireHostAllowed(host)
  const facts = () => policyCall(run, call.tool.name, call.input, call.dialectCall)
  const addRead = (path: Path, bytes: number) => {
    reads.add(path)
    run.rates.countRead(bytes)
    audit.addRead(path)
    taint.addRead(path)
  }
  return {
    accesses: call.accesses,
    files: createGuardedFiles({
      backend: workspace.backend,
      accesses: call.accesses,
      documents: workspace.documents,
      ...{ describesFiles: !isOwn, notesVisits: isOwn, showsStats: isOwn },
      requireAllowed: (access) => requireAllowed(workspace.policy, facts(), access),
      visibility: (kind) => createVisibility(workspace.policy, facts(), kind, call.verdict),
      signal,
      onTarget: (path) => taint.addRead(path),
      onName: isOwn ? (path) => taint.addName(path) : undefined,
      onRead: addRead,
    }),
    limits: workspace.limits,
    media,
    signal,
    warnings: [],
    progress: (done, unit, total) =>
      void ignoreRejection(onProgress?.({ done, unit, ...(total === undefined ? {} : { total }) })),
    now: workspace.clock,
    hasReadWhole: run.readHistory.hasReadWhole,
    previousReads: run.readHistory,
    staleGuard: workspace.staleGuard,
    async workspaceDiff(request) {
      const diff = await diffForCall(workspace, facts(), call.verdict, request, signal)
      for (const { path, text } of diff.sections) addRead(path as Path, text.length)
      addCompared(taint, diff)
      const { withLabelledBase } = await import('./labelled-base.ts')
      return withLabelledBase(diff, request.base, workspace.diffs, taint)
    },
    workspaceDiffSha256: () => workspaceDiffSha256(workspace, run, call.dialectCall, taint, signal),
    async headCommit() {
      const commit = await workspace.diffs.headCommit()
      if (commit !== undefined) await taint.addCommit(workspace.diffs, commit)
      return commit
    },
    get commands() {
      session ??= openSession(workspace, run, call, options)
      return session
    },
    processes: run.shell.processes,
    keepArtifact(name, text) {
      try {
        return run.artifacts.put(name, text)
      } catch {
        return undefined
      }
    },
    ...labelFunctions(taint),
    memory: workspace.memory === undefined ? undefined : { ...workspace.memory, scopes: run.scopes },
    requireHostAllowed,
    async readArtifact(uri) {
      const text = await run.artifacts.read(uri)
      // An artifact contains nothing above the highest label that its run had seen.
      const { label, path } = run.taint.origin() ?? { label: 'public' }
      taint.addLabel(label, path ?? uri)
      return text
    },
  }
}

/** Returns the functions of a context that read and add labels. */
function labelFunctions(
  taint: TaintTracker,
): Pick<BuiltinContext, 'taint' | 'labelOf' | 'addLabel' | 'addSearched' | 'addCommit'> {
  return {
    async addCommit(history, commit, branch) {
      if (branch !== undefined) taint.addName(branch)
      await taint.addCommit(history, commit)
    },
    taint: () => taint.highestLabel(),
    labelOf: (path) => taint.labelOf(path),
    addLabel: (label, path) => taint.addLabel(label, path),
    addSearched: (path) => taint.addSearched(path),
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
    labelStart: (texts, isOfLine, flow) => taint.startCommand(texts, isOfLine, flow),
    received: () => taint.received(),
    noteFlow: (flow) => taint.addFlow(flow),
  }
}

/** Returns the differences of the workspace that policy shows to a call. */
function diffForCall(
  workspace: WorkspaceState,
  call: Omit<PolicyCall, 'accesses'>,
  verdict: Pick<Verdict, 'rules'>,
  request: Pick<DiffRequest, 'base' | 'wants'>,
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
    const verdict = workspace.policy.evaluate({
      ...call,
      accesses: await guardAccesses(workspace.backend, tool.plan(input, { cwd: run.shell.cwd })),
    })
    if (verdict.decision !== 'allow') return undefined
    const diff = await diffForCall(workspace, call, verdict, { wants: () => true }, signal)
    addCompared(taint, diff)
    return diff.sha256()
  } catch {
    return undefined
  }
}

const BINARY = Uint8Array.of(0)
