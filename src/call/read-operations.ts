import type { Access } from '../policy/access.ts'
import type { Permission } from '../policy/permissions.ts'

/** The operation of a method that reads: the tool whose rules apply to it, and the accesses that it needs. */
export interface ReadOperation {
  readonly tool: string
  readonly permission: Permission
  plan(input: { readonly path: string; readonly noFollow?: boolean | undefined }): readonly Access[]
}

/** The operations that read, by the name of their method. */
export const readOperations = {
  readBytes: {
    tool: 'read_file',
    permission: 'file:read',
    plan: ({ path }) => [{ permission: 'file:read', path }],
  },
  stat: {
    tool: 'file_info',
    permission: 'file:info',
    plan: ({ path, noFollow = false }) => [{ permission: 'file:info', path, noFollow }],
  },
  readLink: {
    tool: 'file_info',
    permission: 'file:info',
    plan: ({ path }) => [{ permission: 'file:info', path, noFollow: true }],
  },
  realPath: {
    tool: 'file_info',
    permission: 'file:info',
    plan: ({ path }) => [{ permission: 'file:info', path }],
  },
  entries: {
    tool: 'list_directory',
    permission: 'file:list',
    plan: ({ path }) => [{ permission: 'file:list', path }],
  },
  walk: {
    tool: 'list_directory',
    permission: 'file:list',
    plan: ({ path }) => [{ permission: 'file:list', path, recursive: true }],
  },
} as const satisfies Readonly<Record<string, ReadOperation>>
