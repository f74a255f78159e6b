import * as z from 'zod'
import { display } from '../paths/logical-path.ts'
import { defineTool } from './define-tool.ts'
import { filePath, reason } from './shared/fields.ts'
import { alreadyThere, targetOf } from './shared/target.ts'

const input = z.strictObject({
  path: filePath,
  expectedSha256: z.null().optional().describe('A directory has no version: only null'),
  reason,
})

const output = z.object({ path: z.string(), created: z.boolean() })

/** A directory with its parents. */
export const createDirectory = defineTool({
  name: 'create_directory',
  title: 'Create directory',
  description:
    'Create a directory and its missing parents; an existing directory is fine. write_file makes parents itself.',
  input,
  output,
  permission: 'file:write:create',
  mutates: true,
  idempotent: true,
  plan: ({ path }) => [{ permission: 'file:write:create', path }],
  async draft(_asked, context) {
    const { path, asked: named } = targetOf(context)
    const stat = path === '' ? ({ type: 'directory' } as const) : await context.files.stat(path)
    if (stat !== undefined && stat.type !== 'directory') throw alreadyThere(path, stat.type)
    const created = stat === undefined
    const parents = created ? await context.files.missingParents(path) : []
    return {
      summary: `${created ? 'Created directory' : 'There already is a directory'} ${display(named)}`,
      changes: created ? [...parents, { path, expect: 'any', to: { type: 'directory' } }] : [],
      result: () => ({ path: display(named), created }),
    }
  },
})
