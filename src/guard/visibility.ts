import { classifyDirectory, classifyPath, isOrdinaryFile } from '../files/classify/index.ts'
import type { Classification } from '../files/classify/types.ts'
import type { Path } from '../paths/logical-path.ts'
import type { GuardedAccess } from '../policy/access.ts'
import type { Policy, PolicyCall, Verdict } from '../policy/evaluation.ts'
import type { Permission } from '../policy/permissions.ts'
import type { EntryType } from '../storage/backend.ts'
import type { IsHidden } from './guard-accesses.ts'

/**
 * Decides which paths of a tree a call may list or enter. This is the one place where policy decides whether a listing, a
 * search or a diff shows a given file; the result also restricts what the shells see. A walk leaves out further files by the
 * filters of the call: dot names, `node_modules` and ignored ones.
 *
 * - A path appears if policy allows both the permission of the walk (`file:list`, `file:search`, `file:diff`,
 *   `memory:read`) and reading (`file:read`, or `memory:read` for notes).
 * - A listing shows that a protected file, such as `.env`, exists, unless the rules of the policy hide it. A search and a
 *   diff omit it.
 * - A directory appears, and is entered, if something below it may be visible. `.git` never appears.
 * - `read` decides on the content of a file in a tree that the call may read.
 * - `ask` counts as allowed if the verdict on the call, which is approved as a whole, already contains the same question.
 */
export function createVisibility(
  policy: Policy,
  call: Omit<PolicyCall, 'accesses'>,
  kind: WalkKind | 'read',
  verdict: Pick<Verdict, 'rules'>,
): Visibility {
  const permission = kind === 'memory' ? 'memory:read' : (`file:${kind}` as const)
  // Notes have a permission of their own for reading.
  const reading = kind === 'memory' ? permission : 'file:read'
  const askingRules = verdict.rules.filter(({ action }) => action === 'ask').map(({ name }) => name)
  const view = policy.forCall(call)

  function allows(path: Path, needed: Permission, classification: Classification): boolean {
    const decision = view.decide(needed, path, classification)
    if (decision !== 'ask') return decision === 'allow'
    const access = { permission: needed, asked: path, path, classification, recursive: false }
    const { rules } = policy.evaluate({ ...call, accesses: [access] })
    return rules.every(({ action, name }) => action !== 'ask' || askingRules.includes(name))
  }

  // If only protections depend on the name, an ordinary name is visible without an evaluation.
  const isUniform =
    view.isUniform(permission) &&
    view.isUniform(reading) &&
    allows(ORDINARY, permission, ordinary) &&
    allows(ORDINARY, reading, ordinary)

  return {
    revision: `${policy.revision}:${call.tool}:${view.key}:${kind}:${askingRules.join(',')}`,
    see(path, type) {
      if (isUniform && type === 'file' && isOrdinaryFile(path)) return true
      const classification = type === 'directory' ? classifyDirectory(path) : classifyPath(path)
      if (classification.protection === 'git') return false
      // In a listing, a secret file is evaluated as an ordinary one: only the rules of the policy hide it.
      const evaluated = kind === 'list' && classification.protection === 'secret' ? ordinary : classification
      if (allows(path, permission, evaluated) && allows(path, reading, evaluated)) return true
      return type === 'directory' && view.mayContainAllowed(permission, path)
    },
    enter: (path) => classifyDirectory(path).protection !== 'git' && view.mayContainAllowed(permission, path),
  }
}

/** Returns a function that decides whether a path is hidden from a call. A command starts where it sees something. */
export function hiddenBy(policy: Policy, call: Omit<PolicyCall, 'accesses'>): IsHidden {
  const isHidden = (access: GuardedAccess): boolean => {
    if (!access.permission.startsWith('command:'))
      return policy.evaluate({ ...call, accesses: [access] }).decision === 'deny'
    const { see } = createVisibility(policy, call, 'list', { rules: [] })
    return !see(access.path, 'file') || !see(access.asked as string as Path, 'file')
  }
  return (accesses) => accesses.some(isHidden)
}

const ORDINARY = 'ordinary.txt' as Path
const ordinary = classifyPath(ORDINARY)

/** The paths that a call may list or enter. `createVisibility` decides. */
export interface Visibility {
  /** Returns whether a walk shows the path. */
  see(path: Path, type: EntryType): boolean
  /** Returns whether a walk enters the directory. */
  enter(path: Path): boolean
  /** Equal for equal decisions, for caches. */
  readonly revision: string
}

/** The purpose of a walk, which determines the permission that a path needs to appear. */
export type WalkKind = 'list' | 'search' | 'diff' | 'memory'
