import * as z from 'zod/mini'
import { display } from '../paths/logical-path.ts'
import { defineBuiltinTool } from './builtin-tool.ts'
import { filePath, reason } from './shared/fields.ts'
import { alreadyThere, targetOf } from './shared/target.ts'

const input = z.strictObject({
  path: filePath,
  expectedSha256: z.optional(z.null()),
  reason,
})

const output = z.object({ path: z.string(), created: z.boolean() })

/** Creates a directory and its missing parents. */
export const createDirectory = defineBuiltinTool({
  name: 'create_directory',
  title: 'Create directory',
  description: 'Create a directory and its missing parents. An existing one is fine.',
  input,
  output,
  permission: 'file:write:create',
  mutates: true,
  idempotent: true,
  plan: ({ path }) => [{ permission: 'file:write:create', path }],
  async draft(_input, context) {
    const { path, asked: requestedPath } = targetOf(context)
    const stat = path === '' ? ({ type: 'directory' } as const) : await context.files.stat(path)
    if (stat !== undefined && stat.type !== 'directory') throw alreadyThere(path, stat.type)
    const created = stat === undefined
    const parents = created ? await context.files.missingParents(path) : []
    return {
      summary: `${created ? 'Created directory' : 'Directory exists already:'} ${display(requestedPath)}`,
      changes: created ? [...parents, { path, expect: 'any', to: { type: 'directory' } }] : [],
      result: () => ({ path: display(requestedPath), created }),
    }
  },
})
