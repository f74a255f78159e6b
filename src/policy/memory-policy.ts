import * as z from 'zod'
import { type LogicalPath, parsePath } from '../paths/logical-path.ts'

/** Where an agent's notes live, and whether file tools may reach them. */
export interface MemoryPolicy {
  /** The directory of the notes. Default: `memory`. */
  readonly path?: string
  /**
   * Only the memory tools reach the notes then, each caller those of its own scopes, and there is no `memory_recall`.
   * Default: false.
   */
  readonly acl?: boolean
}

export const memorySchema = z.strictObject({
  path: z
    .string()
    .refine((path) => guarded(path) !== undefined, { error: 'must be the path of a directory below the root' })
    .optional(),
  acl: z.boolean().optional(),
})

/** The fields of the part of a policy, for error messages. */
export const memoryFields = ['path', 'acl'] as const satisfies readonly (keyof MemoryPolicy)[]

/** The directory of the notes, as every part of the workspace names it. */
export function memoryPath({ path = 'memory' }: MemoryPolicy): LogicalPath {
  return guarded(path) as LogicalPath
}

function guarded(path: string): LogicalPath | undefined {
  try {
    return parsePath(path) || undefined
  } catch {
    return undefined
  }
}

/** What takes back, or accepts, calls that were judged before: no agent can call it. */
const ownOperations: ReadonlySet<string> = new Set(['undo', 'rollback', 'commit', 'git_checkout'])

/** Whether the ACL closes the notes to a tool's access to files. */
export function isClosedByAcl(tool: string): boolean {
  return !ownOperations.has(tool)
}
