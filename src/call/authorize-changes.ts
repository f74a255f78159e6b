import { ToolError } from '../errors.ts'
import { classifyContent, classifyDirectory, classifyPath } from '../files/classify/index.ts'
import { AccessIndex, coveringAccess } from '../guard/access-index.ts'
import { guardedAccess, notGranted } from '../guard/guard-accesses.ts'
import { display, isWithin, type Path, quote } from '../paths/logical-path.ts'
import type { GuardedAccess } from '../policy/access.ts'
import { combineVerdicts, type Verdict, withAccesses } from '../policy/evaluation.ts'
import { type Permission, revealingPermissions } from '../policy/permissions.ts'
import { planVerdict } from '../policy/plan.ts'
import type { Risk } from '../policy/risk/index.ts'
import { riskVerdict } from '../policy/risk-verdict.ts'
import { isAbove } from '../policy/taint.ts'
import { priorStateWithin, sizeOf } from '../storage/versions.ts'
import type { BuiltinDraft } from '../tools/builtin-tool.ts'
import { memoizeAsync } from '../util/memoize-async.ts'
import { createPacer } from '../util/pacer.ts'
import type { AuthorizedCall, AuthorizedChanges, KnownChange } from './state/call.ts'
import { policyCall, type RunState } from './state/run-state.ts'
import type { WorkspaceState } from './state/workspace-state.ts'
import { contentVisibility } from './visible-content.ts'

const loadReview = memoizeAsync(() => import('./review-changes.ts'))

/**
 * Evaluates every change of a draft. Only now are the paths inside a tree and the current content known.
 *
 * @throws ToolError `POLICY_DENIED` for a change outside of the planned accesses
 */
export async function authorizeChanges(
  workspace: WorkspaceState,
  run: RunState,
  call: AuthorizedCall,
  draft: BuiltinDraft<unknown>,
): Promise<AuthorizedChanges> {
  const collected = await collectAccesses(workspace, call, draft)
  const { changes, further } = collected
  const facts = policyCall(run, call.tool.name, call.input, call.dialectCall)
  let evaluated = draft.verdict === undefined ? call.verdict : combineVerdicts(call.verdict, draft.verdict)
  if (further.length > 0)
    evaluated = combineVerdicts(evaluated, workspace.policy.evaluate(withAccesses(facts, further)))
  for (const parent of collected.parents) {
    const verdict = ruledVerdict(workspace.policy.evaluate(withAccesses(facts, [parent])), parent)
    if (verdict === undefined) continue
    evaluated = combineVerdicts(evaluated, verdict)
    further.push(parent)
  }
  const review = changes.length === 0 ? undefined : await loadReview()
  let cachedRisks: readonly Risk[] | undefined
  const risks = () => {
    cachedRisks ??=
      review === undefined ? [] : review.risksOf(changes, (path) => isAbove(workspace.labels.ofPath(path), 'internal'))
    return cachedRisks
  }
  const { requireApprovalIf = [] } = workspace.policy.data
  const asking = requireApprovalIf.length === 0 ? [] : risks().filter(({ flag }) => requireApprovalIf.includes(flag))
  const [first] = asking
  const withRisks = first === undefined ? evaluated : combineVerdicts(evaluated, riskVerdict(first, asking))
  const verdict = draft.plan === undefined ? withRisks : combineVerdicts(withRisks, planVerdict)
  // The diff of a tool is empty where only marked secrets differ.
  const diff = (maySee?: (path: Path) => boolean) => draft.diff || review?.diffOfChanges(changes, maySee) || ''
  const maySee = contentVisibility(workspace, facts)
  const { tool, input } = call
  return {
    changes,
    verdict,
    bytes: collected.bytes,
    approvalRequest: () => ({
      ...{ tool: tool.name, input, verdict, diff: diff(), risks: risks() },
      ...review?.attributesOf(changes),
      accesses: [...call.accesses, ...further],
    }),
    changedLines: () => review?.changedLines(changes, draft.lines),
    storeDiff(artifacts, receipt, warnings) {
      if (review === undefined) return undefined
      // A tool with a diff of its own has read what it shows.
      const key = review.diffKey(receipt, draft.diff === undefined ? maySee : undefined)
      try {
        return artifacts.putLazy(key, 'diff', () => diff(maySee), draft.diff?.length ?? weightOf(changes))
      } catch {
        // The change is committed and recorded, so the missing diff is a warning and not a refusal.
        warnings.push('The diff was not kept: the artifacts of this run are full')
        return undefined
      }
    },
  }
}

/** The changes of a draft, and the accesses that the plan did not name exactly. */
interface CollectedAccesses {
  readonly changes: readonly KnownChange[]
  readonly further: GuardedAccess[]
  /** Directories that are created for paths inside them. */
  readonly parents: readonly GuardedAccess[]
  /** Bytes that would be written. */
  readonly bytes: number
}

async function collectAccesses(
  { backend, limits, ownTools }: WorkspaceState,
  call: AuthorizedCall,
  draft: BuiltinDraft<unknown>,
): Promise<CollectedAccesses> {
  const changes: KnownChange[] = []
  const accesses = draft.accesses === undefined ? call.accesses : [...call.accesses, ...draft.accesses]
  const further: GuardedAccess[] = [...(draft.accesses ?? [])]
  const parents: GuardedAccess[] = []
  let bytes = 0
  const removal = new AccessIndex(accesses.filter(grantsRemoval))
  const content = new AccessIndex(accesses.filter(grantsContent))
  const pause = createPacer()
  for (const change of draft.changes ?? []) {
    await pause()
    const { state: before, headOf } = await priorStateWithin(draft.target ?? backend, change.path, limits.textFileBytes)
    const access = coveringAccess(change.to === null ? removal : content, change, before)
    // A command that deletes a path and creates it again has one access for each of the two.
    const replaces = before !== null && before.type !== 'directory'
    if (access?.permission === 'file:write:create' && replaces && removal.find(change.path) === undefined) {
      // A built-in tool plans to create only what does not exist.
      throw ownTools.has(call.tool) ? notGranted(change.path) : createdMeanwhile(change.path)
    }
    changes.push(headOf === undefined ? { change, before } : { change, before, headOf })
    if (change.to?.type === 'file') bytes += sizeOf(change.to)
    if (access === undefined) {
      if (change.to?.type === 'directory' && before === null) parents.push(parentAccess(accesses, change.path))
      continue
    }
    const { path } = change
    const { permission, reveals } = access
    const byName = path === access.path ? access.classification : classifyPath(path)
    const classification = before?.type === 'file' ? classifyContent(byName, before.bytes) : byName
    if (path === access.path && classification === access.classification) continue
    further.push(guardedAccess(permission, path, path, classification, { reveals }))
  }
  // The sources of a copy are evaluated too: a protected file must not become readable under another name.
  const sources = draft.copiedFrom === undefined ? undefined : new AccessIndex(accesses)
  for (const path of draft.copiedFrom ?? []) {
    const access = sources?.find(path)
    if (access === undefined) throw notGranted(path)
    if (access.path === path) continue
    further.push({ ...access, asked: path, path, classification: classifyPath(path), recursive: false })
  }
  return { changes, further, parents, bytes }
}

/** Returns the error for a file that did not exist when policy was asked: nobody has asked whether it may be replaced. */
function createdMeanwhile(path: Path): ToolError {
  return new ToolError('WRITE_CONFLICT', `Cannot write ${quote(display(path))}: it was created meanwhile`, {
    path: display(path),
    hint: 'Read it, then decide whether to replace it.',
  })
}

/** Whether an access grants the removal of its path. The source of a copy may be read, not changed. */
function grantsRemoval({ permission, isSource }: GuardedAccess): boolean {
  return isSource !== true && removingPermissions.has(permission)
}

/** Whether an access grants new content at its path. */
function grantsContent({ permission, isSource }: GuardedAccess): boolean {
  return isSource !== true && writingPermissions.has(permission)
}

const removingPermissions: ReadonlySet<Permission> = new Set([
  'file:delete',
  'file:move',
  'file:patch:apply',
  'git:write',
])

/** A change with a revealing permission keeps or replaces content, so it grants new content as well. */
const writingPermissions: ReadonlySet<Permission> = new Set(['file:write:create', ...revealingPermissions])

/** The access for a directory that is created for a granted path inside it, with the permission of that path. */
function parentAccess(accesses: readonly GuardedAccess[], path: Path): GuardedAccess {
  const inside = accesses.find((access) => isWithin(access.path, path))
  /* v8 ignore next -- @preserve: a defence in depth: a directory without a granted path inside has been refused before */
  const permission = inside?.permission ?? 'file:write:create'
  return { permission, asked: path, path, classification: classifyDirectory(path), recursive: false }
}

/**
 * The verdict of rules against a directory that is created with its content. No rule has to allow it: a call that may
 * write `docs/new/a.md` may create `docs/new`. `undefined` if no rule asks or denies.
 */
function ruledVerdict(verdict: Verdict, { asked, permission }: GuardedAccess): Verdict | undefined {
  const against = verdict.rules.filter(({ source, action }) => source === 'rule' && action !== 'allow')
  if (against.length === 0) return undefined
  if (against.some(({ action }) => action === 'deny')) return verdict
  // The verdict may be the default deny, whose reason does not fit here.
  const names = against.map(({ name }) => `rule "${name}"`).join(', ')
  const reason = `Policy asks about ${permission} of ${quote(asked)}: ${names}`
  return { decision: 'ask', reason, path: asked, rules: against }
}

/** Bytes that a change set keeps in memory. */
function weightOf(changes: readonly KnownChange[]): number {
  let sum = 0
  for (const { change, before } of changes) {
    for (const state of [change.to, before]) sum += state?.type === 'file' ? state.bytes.length : 0
  }
  return sum
}
