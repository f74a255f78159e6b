import type { Classification, Protection } from '../files/classify/types.ts'
import type { LogicalPath, Path } from '../paths/logical-path.ts'
import type { Permission } from './permissions.ts'

/** One effect that a call plans, as its caller wrote the path: nothing is resolved yet. */
export interface Access {
  /** `file:write` becomes `file:write:create` or `file:write:replace`, by what the guard finds there. */
  readonly permission: Permission | 'file:write'
  readonly path: string
  /** The whole tree below the path is meant; what policy hides in it stays hidden, instead of refusing the call. */
  readonly recursive?: boolean
  /** The effect is on the name itself, so that a link there is not followed (deleting, moving). */
  readonly noFollow?: boolean
  /** Built-in protections that the effect touches beside those of the path, such as a patch that changes a mode. */
  readonly protections?: readonly ContentProtection[]
  /** A file above the path that the same call takes away, so that it is no hindrance. */
  readonly removedAncestor?: string
}

/** A protection that lies in what is done, not in where. */
export type ContentProtection = Extract<Protection, 'binary' | 'mode'>

/** An access whose path passed the guard, in both of its names, with what each of them is. */
export interface GuardedAccess {
  readonly permission: Permission
  /** The name that was asked for. Rules hold for this one, */
  readonly asked: LogicalPath
  /** and for what it resolves to. */
  readonly path: Path
  readonly classification: Classification
  readonly recursive: boolean
}
