/** What a planned effect needs to be allowed. Rules name these, with `*` for a part of them. */
export const permissions = [
  'file:list',
  'file:read',
  'file:search',
  'file:info',
  'file:write:create',
  'file:write:replace',
  'file:append',
  'file:delete',
  'file:move',
  'file:copy',
  'file:patch:apply',
  'file:diff',
  'command:run',
  'command:background',
  'memory:read',
  'memory:write',
  'plan:submit',
  // Git's own files, by git's own operations: no tool has it, and nothing else opens them.
  'git:write',
] as const

/** One of {@link permissions}. */
export type Permission = (typeof permissions)[number]

const readingPermissions: ReadonlySet<Permission> = new Set([
  'file:list',
  'file:read',
  'file:search',
  'file:info',
  'file:diff',
  'memory:read',
  'plan:submit',
])

/** Whether a permission changes something. */
export function isMutating(permission: Permission): boolean {
  return !readingPermissions.has(permission)
}
