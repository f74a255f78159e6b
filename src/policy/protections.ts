import type { ErrorCode } from '../errors.ts'
import type { Classification, Protection } from '../files/classify/types.ts'
import { gitPermissions, isMutating, maskWhere, type Permission, permissionBit } from './permissions.ts'
import type { Decision, Override } from './types.ts'

/** The decision of a built-in protection, and how a rule can override it. */
export interface ProtectionRule {
  readonly name: Protection
  readonly decision: Exclude<Decision, 'allow'>
  readonly code: ErrorCode
  /** The permissions that the protection applies to, one bit each. */
  readonly mask: number
  /** The override that an allow rule must name. Without one, nothing lifts the protection. */
  readonly liftedBy?: Override
}

const everything = maskWhere((permission) => !gitPermissions.has(permission))
/** A listing may show that a protected file exists. */
const content = maskWhere((permission) => permission !== 'file:list' && permission !== 'file:info')
/** A command does not count as a change of its working directory: the files it writes are evaluated separately. */
const changes = maskWhere((permission) => isMutating(permission) && !permission.startsWith('command:'))
const patches = maskWhere((permission) => permission === 'file:patch:apply')

/** All built-in protections, the strictest first. */
const protections: Readonly<Record<Protection, ProtectionRule>> = {
  git: { name: 'git', decision: 'deny', code: 'POLICY_DENIED', mask: everything },
  secret: { name: 'secret', decision: 'deny', code: 'POLICY_DENIED_SECRET', mask: content, liftedBy: 'secret' },
  generated: { name: 'generated', decision: 'deny', code: 'POLICY_DENIED', mask: changes, liftedBy: 'generated' },
  vendored: { name: 'vendored', decision: 'deny', code: 'POLICY_DENIED', mask: changes, liftedBy: 'vendored' },
  lockfile: { name: 'lockfile', decision: 'ask', code: 'POLICY_DENIED', mask: changes, liftedBy: 'lockfile' },
  mode: { name: 'mode', decision: 'deny', code: 'POLICY_DENIED', mask: patches, liftedBy: 'mode' },
  binary: { name: 'binary', decision: 'deny', code: 'POLICY_DENIED', mask: patches, liftedBy: 'binary' },
}

/** Returns the protection that applies to an access, if any. */
export function protectionAgainst(classification: Classification, permission: Permission): ProtectionRule | undefined {
  const { kind } = classification
  const name = kind === 'GIT_INTERNAL' ? 'git' : kind === 'SECRET_LIKE' ? 'secret' : classification.protection
  if (name === undefined) return undefined
  const protection = protections[name]
  return (protection.mask & permissionBit(permission)) === 0 ? undefined : protection
}
