import { classifyDirectory, classifyPath, isOrdinaryFile } from '../files/classify/index.ts'
import type { Classification } from '../files/classify/types.ts'
import type { Path } from '../paths/logical-path.ts'
import type { Permission } from '../policy/permissions.ts'
import type { Policy, PolicyCall, Verdict } from '../policy/policy.ts'
import type { EntryType } from '../storage/backend.ts'

/**
 * What of a tree a call may see. A listing shows what could be opened, and that a protected file exists; a search shows
 * only what may be read. Where the call as a whole waits for an approval, the same rules' `ask` on a path is covered.
 */
export function createVisibility(
  policy: Policy,
  call: Omit<PolicyCall, 'accesses'>,
  kind: WalkKind,
  verdict: Pick<Verdict, 'rules'>,
): Visibility {
  const permission = kind === 'memory' ? 'memory:read' : (`file:${kind}` as const)
  // Notes are read by a permission of their own.
  const reading = kind === 'memory' ? permission : 'file:read'
  const asking = verdict.rules.filter(({ action }) => action === 'ask').map(({ name }) => name)
  const view = policy.forCall(call)

  function allows(path: Path, needed: Permission, classification: Classification): boolean {
    const decision = view.decide(needed, path, classification)
    if (decision !== 'ask') return decision === 'allow'
    const access = { permission: needed, asked: path, path, classification, recursive: false }
    const { rules } = policy.evaluate({ ...call, accesses: [access] })
    return rules.every(({ action, name }) => action !== 'ask' || asking.includes(name))
  }

  // Where only protections tell names apart, most files need no more than a look at theirs.
  const isUniform =
    view.isUniform(permission) &&
    view.isUniform(reading) &&
    allows(ORDINARY, permission, ordinary) &&
    allows(ORDINARY, reading, ordinary)

  return {
    revision: `${policy.revision}:${call.tool}:${view.key}:${kind}:${asking.join(',')}`,
    see(path, type) {
      if (isUniform && type === 'file' && isOrdinaryFile(path)) return true
      const classification = type === 'directory' ? classifyDirectory(path) : classifyPath(path)
      if (classification.protection === 'git') return false
      // A listing may show that a protected file exists: there, only the embedder's own rules hide.
      const shown = kind === 'list' && classification.protection === 'secret' ? ordinary : classification
      if (allows(path, permission, shown) && allows(path, reading, shown)) return true
      return type === 'directory' && view.mayContainAllowed(permission, path)
    },
    enter: (path) => classifyDirectory(path).protection !== 'git' && view.mayContainAllowed(permission, path),
  }
}

const ORDINARY = 'ordinary.txt' as Path
const ordinary = classifyPath(ORDINARY)

/** What of a tree a call may see: judged path by path while walking. */
export interface Visibility {
  /** Whether a walk shows this path. */
  see(path: Path, type: EntryType): boolean
  /** Whether a walk goes into this directory. */
  enter(path: Path): boolean
  readonly revision: string
}

/** What a walk is for: which permission hides what it does not cover. */
export type WalkKind = 'list' | 'search' | 'diff' | 'memory'
