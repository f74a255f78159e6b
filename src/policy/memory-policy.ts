import * as z from 'zod/mini'
import { type LogicalPath, parsePath } from '../paths/logical-path.ts'

/** The directory of an agent's notes, and whether file tools may access it. */
export interface MemoryPolicy {
  /** The directory of the notes. Default: `memory`. */
  readonly path?: string
  /**
   * If true, only the memory tools access the notes, each caller those of its own scopes, and there is no `memory_recall`.
   * Default: false.
   */
  readonly acl?: boolean
}

export const memorySchema = z.strictObject({
  path: z.optional(
    z.string().check(
      z.refine((path) => path === path.trim() && !/^~|[*?]/.test(path), {
        error: 'must be a path relative to the root, with no space at its ends, no ~ and no * or ?',
        abort: true,
      }),
      z.refine((path) => parsedPath(path) !== undefined, { error: 'must be the path of a directory below the root' }),
      z.refine((path) => !/^(?:\.\/)*\.git(?:\/|$)/i.test(path), { error: 'must not be inside .git' }),
    ),
  ),
  acl: z.optional(z.boolean()),
})

/** Field names, for error messages. */
export const memoryFields = ['path', 'acl'] as const satisfies readonly (keyof MemoryPolicy)[]

/** Returns the directory of the notes as a logical path. */
export function memoryPath({ path = 'memory' }: MemoryPolicy): LogicalPath {
  return parsedPath(path) as LogicalPath
}

function parsedPath(path: string): LogicalPath | undefined {
  try {
    return parsePath(path) || undefined
  } catch {
    return undefined
  }
}

/** Operations that undo or accept earlier calls. No agent can call them. */
const workspaceOperations: ReadonlySet<string> = new Set(['undo', 'rollback', 'commit', 'git_checkout'])

/** Returns whether `memory.acl` denies the file accesses of a tool to the notes. */
export function isSubjectToAcl(tool: string): boolean {
  return !workspaceOperations.has(tool)
}
