import { classifyDirectory, classifyPath } from './files/classify.ts'
import type { Path } from './paths/logical-path.ts'
import type { Policy, PolicyCall, Verdict } from './policy/policy.ts'
import type { EntryType } from './vfs/backend.ts'
import type { Sight, WalkKind } from './vfs/guarded.ts'

/**
 * What of a tree a call may see. A listing shows what could be opened, and that a protected file exists; a search shows
 * only what may be read. Where the call as a whole waits for an approval, the same rules' `ask` on a path is covered.
 */
export function sightFor(
  policy: Policy,
  call: Omit<PolicyCall, 'accesses'>,
  kind: WalkKind,
  verdict: Pick<Verdict, 'rules'>,
): Sight {
  const permission = kind === 'list' ? 'file:list' : 'file:search'
  const asking = verdict.rules.filter(({ action }) => action === 'ask').map(({ name }) => name)
  const view = policy.forCall(call)

  function allows(path: Path, needed: 'file:list' | 'file:search' | 'file:read', type: EntryType): boolean {
    const classification = type === 'directory' ? classifyDirectory(path) : classifyPath(path)
    if (classification.protection === 'git') return false
    // A listing may show that a protected file exists: there, only the embedder's own rules hide.
    const shown = kind === 'list' && classification.protection === 'secret' ? ordinary : classification
    const decision = view.decide(needed, path, shown)
    if (decision !== 'ask') return decision === 'allow'
    const access = { permission: needed, asked: path, path, classification: shown, recursive: false }
    const { rules } = policy.evaluate({ ...call, accesses: [access] })
    return rules.every(({ action, name }) => action !== 'ask' || asking.includes(name))
  }

  return {
    revision: `${policy.revision}:${call.tool}:${view.key}:${kind}:${asking.join(',')}`,
    see: (path, type) =>
      (allows(path, permission, type) && allows(path, 'file:read', type)) ||
      (type === 'directory' && view.mayLead(permission, path) && !isGit(path)),
    enter: (path) => !isGit(path) && view.mayLead(permission, path),
  }
}

const ordinary = classifyPath('ordinary.txt' as Path)

function isGit(path: Path): boolean {
  return classifyDirectory(path).protection === 'git'
}
