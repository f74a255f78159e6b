import type { Classification, Protection } from '../files/classify/types.ts'
import type { LogicalPath, Path } from '../paths/logical-path.ts'
import type { Permission } from './permissions.ts'

/** One planned effect of a call. The path is as the caller wrote it, not resolved. */
export interface Access {
  /** The guard turns `file:write` into `file:write:create` or `file:write:replace`, depending on whether the path exists. */
  readonly permission: Permission | 'file:write'
  readonly path: string
  /** Includes the whole tree below the path. Hidden entries stay hidden and do not refuse the call. */
  readonly recursive?: boolean
  /** The path is the source of a copy: it is read and not changed. */
  readonly isSource?: boolean
  /**
   * The effect shows content of the path: in a result, under another name, or by a comparison with an expected version.
   * Policy decides about reading it as well: `memory:read` for `memory:write`, `file:read` for any other permission.
   */
  readonly reveals?: boolean
  /** The effect is on the name itself, so a link is not followed (delete, move). */
  readonly noFollow?: boolean
  /**
   * With `noFollow`: the path is a link that an earlier call has created, and policy evaluates the link alone. Its removal does not
   * touch the target, as its creation did not.
   */
  readonly revertsLink?: boolean
  /** Built-in protections that concern the effect in addition to those of the path, such as a patch that changes a mode. */
  readonly protections?: readonly ContentProtection[]
  /** An ancestor file that the same call deletes, so it does not block the path. */
  readonly removedAncestor?: string
}

/** Returns the permission as a refusal names it: `create` or `replace` would reveal whether the file exists. */
export function refusedPermission(permission: Permission): Access['permission'] {
  return permission.startsWith('file:write:') ? 'file:write' : permission
}

/** A protection that depends on the effect and not on the path. */
export type ContentProtection = Extract<Protection, 'binary' | 'mode'>

/** An access whose path passed the guard. */
export interface GuardedAccess {
  readonly permission: Permission
  /** The path as requested. Rules apply to it, */
  readonly asked: LogicalPath
  /** and to the canonical path that it resolves to. */
  readonly path: Path
  readonly classification: Classification
  readonly recursive: boolean
  /** The path is the source of a copy: it is read and not changed. */
  readonly isSource?: true
  /** The effect shows content of the path. */
  readonly reveals?: true
}
