/** The permissions of planned effects. Rules name them, with `*` for a part between colons. */
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
  // Files internal to git, written by the git operations of the workspace. No tool has this permission.
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

/** Returns whether a permission covers changes. */
export function isMutating(permission: Permission): boolean {
  return !readingPermissions.has(permission)
}
