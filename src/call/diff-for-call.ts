import { classifyContent, classifyPath } from '../files/classify/index.ts'
import type { CommitHistory } from '../git/commit-history.ts'
import type { DiffRequest, WorkspaceDiff } from '../git/workspace-diff.ts'
import { isWrittenAsId } from '../git/written-as-id.ts'
import { guardAccesses } from '../guard/guard-accesses.ts'
import { createVisibility } from '../guard/visibility.ts'
import type { Path } from '../paths/logical-path.ts'
import { type PolicyCall, type Verdict, withAccesses } from '../policy/evaluation.ts'
import { isAbove } from '../policy/taint.ts'
import type { Tool } from '../tools/define-tool.ts'
import { readInput } from './read-input.ts'
import type { AuthorizedCall } from './state/call.ts'
import { policyCall, type RunState } from './state/run-state.ts'
import type { TaintTracker } from './state/taint-tracker.ts'
import type { WorkspaceState } from './state/workspace-state.ts'

/**
 * Returns a diff that names its base commit instead of showing its id, if the label of the id is above what the call and its
 * run have received. A caller who writes the id receives its label: the result confirms that the commit exists.
 */
export async function withLabelledBase(
  diff: WorkspaceDiff,
  base: string | undefined,
  history: CommitHistory,
  taint: TaintTracker,
): Promise<WorkspaceDiff> {
  const { baseCommit } = diff
  if (baseCommit === null) return diff
  if (isWrittenAsId(base)) {
    await taint.addCommit(history, baseCommit)
    return diff
  }
  const label = await taint.labelOfCommit(history, baseCommit)
  return isAbove(label, taint.highestLabel()) ? { ...diff, baseCommit: base ?? 'HEAD' } : diff
}

/** Returns the differences of the workspace that policy shows to a call. */
export function diffForCall(
  workspace: WorkspaceState,
  call: Omit<PolicyCall, 'accesses'>,
  verdict: Pick<Verdict, 'rules'>,
  request: Pick<DiffRequest, 'base' | 'wants' | 'maxText' | 'patched'>,
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
export function addCompared(taint: TaintTracker, { sections, equal }: WorkspaceDiff): void {
  for (const { path, oldPath = path } of sections) {
    taint.addRead(path as Path)
    taint.addRead(oldPath as Path)
  }
  for (const path of equal) taint.addRead(path as Path)
}

/** What the cache of sections can hold. To hash more, each call would read all changed files again. */
const MAX_HASHED_TEXT = 12 * 1024 * 1024

/** Evaluated like a call of `diff_workspace`, so that the hash reveals nothing that such a call would not. */
export async function workspaceDiffSha256(
  workspace: WorkspaceState,
  run: RunState,
  { dialectCall }: Pick<AuthorizedCall, 'dialectCall'>,
  taint: TaintTracker,
  { patched, signal }: Pick<DiffRequest, 'patched' | 'signal'>,
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
    const request = { wants: () => true, maxText: MAX_HASHED_TEXT, patched }
    const diff = await diffForCall(workspace, call, verdict, request, signal)
    addCompared(taint, diff)
    return diff.isCut ? undefined : diff.sha256()
  } catch {
    return undefined
  }
}

const BINARY = Uint8Array.of(0)
