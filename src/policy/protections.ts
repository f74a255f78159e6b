import type { ErrorCode } from '../errors.ts'
import type { Classification, Protection } from '../files/classify/types.ts'
import { maskWhere } from './match.ts'
import { isMutating, type Permission, permissions } from './permissions.ts'
import type { Decision, Override } from './types.ts'

/** What a built-in protection decides, and how a rule may lift it. */
export interface ProtectionRule {
  readonly name: Protection
  readonly decision: Exclude<Decision, 'allow'>
  readonly code: ErrorCode
  /** The permissions that it concerns, one bit each. */
  readonly mask: number
  /** The override that an allow rule must name; without one, nothing lifts it. */
  readonly liftedBy?: Override
}

const everything = maskWhere((permission) => permission !== 'git:write')
/** That a protected file exists may be shown. */
const content = maskWhere((permission) => permission !== 'file:list' && permission !== 'file:info')
/** A command is not a change of the directory it runs in: what it writes is judged by itself. */
const changes = maskWhere((permission) => isMutating(permission) && !permission.startsWith('command:'))
const patches = maskWhere((permission) => permission === 'file:patch:apply')

/** Every built-in protection, the strictest first. */
const protections: Readonly<Record<Protection, ProtectionRule>> = {
  git: { name: 'git', decision: 'deny', code: 'POLICY_DENIED', mask: everything },
  secret: { name: 'secret', decision: 'deny', code: 'POLICY_DENIED_SECRET', mask: content, liftedBy: 'secret' },
  generated: { name: 'generated', decision: 'deny', code: 'POLICY_DENIED', mask: changes, liftedBy: 'generated' },
  vendored: { name: 'vendored', decision: 'deny', code: 'POLICY_DENIED', mask: changes, liftedBy: 'vendored' },
  lockfile: { name: 'lockfile', decision: 'ask', code: 'POLICY_DENIED', mask: changes, liftedBy: 'lockfile' },
  mode: { name: 'mode', decision: 'deny', code: 'POLICY_DENIED', mask: patches, liftedBy: 'mode' },
  binary: { name: 'binary', decision: 'deny', code: 'POLICY_DENIED', mask: patches, liftedBy: 'binary' },
}

/** The protection that stands before an access, if any. */
export function protectionAgainst(classification: Classification, permission: Permission): ProtectionRule | undefined {
  const { kind } = classification
  const name = kind === 'GIT_INTERNAL' ? 'git' : kind === 'SECRET_LIKE' ? 'secret' : classification.protection
  if (name === undefined) return undefined
  const protection = protections[name]
  return (protection.mask & permissionBit(permission)) === 0 ? undefined : protection
}

const bits = Object.fromEntries(permissions.map((permission, index) => [permission, 1 << index])) as Readonly<
  Record<Permission, number>
>

/** The bit of a permission in a mask. */
export function permissionBit(permission: Permission): number {
  return bits[permission]
}
