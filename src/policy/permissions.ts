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
  // Sending commits to a server, by the same operations.
  'git:push',
] as const

/** One of {@link permissions}. */
export type Permission = (typeof permissions)[number]

/**
 * What a rule can write in `permissions`: a permission, a group (`file:change`, `file:view`), or a pattern, in which `*` is one
 * part, or at the end all following parts.
 */
export type PermissionPattern = 'file:change' | 'file:view' | PermissionGlob<Permission>

/** A permission, with `*` for some of its parts. */
export type PermissionGlob<P extends string> =
  | '*'
  | P
  | (P extends `${infer Part}:${infer Rest}` ? `${Part | '*'}:${PermissionGlob<Rest>}` : never)

/**
 * Words in the `permissions` of rules for groups of permissions. `file:change` covers every way to change a path: also what a
 * command, git, an undo or the commit of an overlay changes asks for one of these. Of a copy it covers the target.
 * `file:view` covers every way to show a path. Of a copy it covers the source, whose content the copy shows. Notes are
 * files too, so the groups cover the memory tools on their paths.
 */
export const permissionGroups = {
  'file:change': [
    'file:write:create',
    'file:write:replace',
    'file:append',
    'file:delete',
    'file:move',
    'file:copy',
    'file:patch:apply',
    'memory:write',
  ],
  'file:view': ['file:list', 'file:read', 'file:search', 'file:info', 'file:diff', 'memory:read'],
} as const satisfies Readonly<Record<'file:change' | 'file:view', readonly Permission[]>>

const readingPermissions: ReadonlySet<Permission> = new Set([
  'file:list',
  'file:read',
  'file:search',
  'file:info',
  'file:diff',
  'memory:read',
  'plan:submit',
])

/**
 * Changes that depend on the present content of their path, so that they show it. Creating and deleting do not depend on it.
 */
export const revealingPermissions: ReadonlySet<Permission> = new Set([
  'file:write:replace',
  'file:append',
  'file:move',
  'file:copy',
  'file:patch:apply',
  'memory:write',
  'git:write',
])

/** Returns the permission to read what a change with the given permission shows. */
export function readingPermission(permission: Permission): Permission {
  return permission === 'memory:write' ? 'memory:read' : 'file:read'
}

/** Returns whether a permission covers changes. */
export function isMutating(permission: Permission): boolean {
  return !readingPermissions.has(permission)
}

/** Permissions that only the git operations of the workspace request. The protection of git's own files does not apply to them. */
export const gitPermissions: ReadonlySet<Permission> = new Set(['git:write', 'git:push'])

const bits = Object.fromEntries(permissions.map((permission, index) => [permission, 1 << index])) as Readonly<
  Record<Permission, number>
>

/** The source of a copy has a bit of its own: `file:change` covers the target alone, and `file:view` the source alone. */
const COPY_SOURCE = 1 << permissions.length

/** Returns the bit of a permission in a mask. */
export function permissionBit(permission: Permission, isSource = false): number {
  return isSource && permission === 'file:copy' ? COPY_SOURCE : bits[permission]
}

/** Returns the bits of the permissions that pass a test. */
export function maskWhere(test: (permission: Permission) => boolean): number {
  const mask = permissions.reduce((sum, permission) => (test(permission) ? sum | bits[permission] : sum), 0)
  return test('file:copy') ? mask | COPY_SOURCE : mask
}
