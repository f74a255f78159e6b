import { classifyContent, classifyDirectory, classifyPath } from '../files/classify/index.ts'
import { coveringAccess } from '../guard/guard-accesses.ts'
import { isWithin, type Path, quote } from '../paths/logical-path.ts'
import type { GuardedAccess } from '../policy/access.ts'
import { planVerdict } from '../policy/plan.ts'
import { combineVerdicts, type Verdict } from '../policy/policy.ts'
import { type Risk, risksOf } from '../policy/risk/index.ts'
import { riskVerdict } from '../policy/risk-verdict.ts'
import { isAbove } from '../policy/taint.ts'
import type { Receipt, Version } from '../storage/backend.ts'
import { stateWithin } from '../storage/versions.ts'
import type { Draft } from '../tools/define-tool.ts'
import { diffOfChanges } from './change-diff.ts'
import type { AuthorizedCall, AuthorizedChanges, KnownChange } from './state/call.ts'
import { policyCall, type RunState } from './state/run-state.ts'
import type { WorkspaceState } from './state/workspace-state.ts'

/**
 * Judges each change by what only now is known: the names that a tree brought in, and what the present content is.
 * A change outside of what the plan was granted is refused.
 */
export async function authorizeChanges(
  workspace: WorkspaceState,
  run: RunState,
  call: AuthorizedCall,
  draft: Draft<unknown>,
): Promise<AuthorizedChanges> {
  const known: KnownChange[] = []
  const accesses = draft.accesses === undefined ? call.accesses : [...call.accesses, ...draft.accesses]
  const further: GuardedAccess[] = [...(draft.accesses ?? [])]
  const parents: GuardedAccess[] = []
  let bytes = 0
  for (const change of draft.changes ?? []) {
    const access = coveringAccess(accesses, change)
    const backend = draft.target ?? workspace.backend
    const { state: before, ...head } = await stateWithin(backend, change.path, workspace.limits.textFileBytes)
    known.push({ change, before, ...head })
    if (change.to?.type === 'file') bytes += change.to.bytes.length
    if (access === undefined) {
      if (change.to?.type === 'directory' && before === null) parents.push(parentAccess(accesses, change.path))
      continue
    }
    const byName = change.path === access.path ? access.classification : classifyPath(change.path)
    const classification = before?.type === 'file' ? classifyContent(byName, before.bytes) : byName
    if (change.path === access.path && classification === access.classification) continue
    further.push({
      permission: access.permission,
      asked: change.path,
      path: change.path,
      classification,
      recursive: false,
    })
  }
  // What is copied is judged too, or a protected file could be had under another name.
  for (const path of draft.copiedFrom ?? []) {
    const access = coveringAccess(accesses, { path, expect: 'any', to: null })
    if (access === undefined || access.path === path) continue
    const classification = classifyPath(path)
    further.push({ permission: access.permission, asked: path, path, classification, recursive: false })
  }
  const facts = policyCall(run, call.tool.name, call.input)
  let judged = call.verdict
  if (further.length > 0) judged = combineVerdicts(judged, workspace.policy.evaluate({ ...facts, accesses: further }))
  for (const parent of parents) {
    const verdict = ruledVerdict(workspace.policy.evaluate({ ...facts, accesses: [parent] }), parent)
    if (verdict === undefined) continue
    judged = combineVerdicts(judged, verdict)
    further.push(parent)
  }
  let found: readonly Risk[] | undefined
  const risks = () => {
    found ??= risksOf(known, (path) => isAbove(workspace.labels.ofPath(path), 'internal'))
    return found
  }
  const { requireApprovalIf = [] } = workspace.policy.data
  const asking = requireApprovalIf.length === 0 ? [] : risks().filter(({ flag }) => requireApprovalIf.includes(flag))
  const [first] = asking
  const withRisks = first === undefined ? judged : combineVerdicts(judged, riskVerdict(first, asking))
  const verdict = draft.plan === undefined ? withRisks : combineVerdicts(withRisks, planVerdict)
  const diff = () => draft.diff ?? diffOfChanges(known)
  return {
    changes: known,
    verdict,
    bytes,
    approvalRequest: () => ({
      tool: call.tool.name,
      input: call.input,
      accesses: [...call.accesses, ...further],
      verdict,
      diff: diff(),
      risks: risks(),
    }),
    storeDiff(artifacts, receipt, warnings) {
      if (known.length === 0) return undefined
      try {
        return artifacts.putLazy(keyOf(receipt), 'diff', diff, draft.diff?.length ?? weightOf(known))
      } catch {
        // The change is made and recorded: that there is no room for its diff must not make it look refused.
        warnings.push('The diff was not kept: the artifacts of this run take all the room they may')
        return undefined
      }
    },
  }
}

/** A directory that is made because something granted shall stand in it, which names the permission. */
function parentAccess(accesses: readonly GuardedAccess[], path: Path): GuardedAccess {
  const inside = accesses.find((access) => isWithin(access.path, path))
  /* v8 ignore next -- @preserve: a defence in depth: a directory in which nothing granted stands has been refused before */
  const permission = inside?.permission ?? 'file:write:create'
  return { permission, asked: path, path, classification: classifyDirectory(path), recursive: false }
}

/**
 * What the rules say against a directory that comes with what stands in it. Nothing need speak for it: whoever may write
 * `docs/new/a.md` may have `docs/new`. `undefined` where no rule speaks against it.
 */
function ruledVerdict(verdict: Verdict, { asked, permission }: GuardedAccess): Verdict | undefined {
  const against = verdict.rules.filter(({ source, action }) => source === 'rule' && action !== 'allow')
  if (against.length === 0) return undefined
  if (against.some(({ action }) => action === 'deny')) return verdict
  // The default may have denied, and then the verdict's own words tell of that.
  const names = against.map(({ name }) => `rule "${name}"`).join(', ')
  const reason = `Policy asks about ${permission} of ${quote(asked)}: ${names}`
  return { decision: 'ask', reason, path: asked, rules: against }
}

/** Bytes that a change set holds on to. */
function weightOf(known: readonly KnownChange[]): number {
  let sum = 0
  for (const { change, before } of known) {
    for (const state of [change.to, before]) sum += state?.type === 'file' ? state.bytes.length : 0
  }
  return sum
}

/** Says a change set by its versions: equal for equal changes, known without making the diff. */
function keyOf({ applied }: Receipt): string {
  return JSON.stringify(applied.map(({ path, before, after }) => [path, versionKey(before), versionKey(after)]))
}

function versionKey(version: Version): string | null {
  if (version === null) return null
  if (version.type === 'file') return version.sha256
  return version.type === 'link' ? `link ${version.target}` : version.type
}
