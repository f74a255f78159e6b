import * as z from 'zod'
import { display } from '../paths/logical-path.ts'
import { defineTool } from './define-tool.ts'
import { expectedSha256, filePath, pathField, reason } from './shared/fields.ts'
import { targetOf } from './shared/target.ts'
import { shownAfterMove } from './shared/text-change.ts'
import { transfer } from './shared/transfer.ts'

const input = z.strictObject({
  path: filePath,
  to: pathField.describe('Path of the copy, name included; nothing may exist there'),
  createParents: z.boolean().default(true),
  expectedSha256,
  reason,
})

const output = z.object({
  path: z.string(),
  to: z.string(),
  type: z.string(),
  entries: z.number().describe('Files, links and directories that were copied'),
  sizeBytes: z.number(),
  sha256: z.string().nullable().describe('Version of the file; null for a link or a directory'),
})

/** A copy of a file, link or directory. A link is copied as a link. */
export const copyFile = defineTool({
  name: 'copy_file',
  title: 'Copy',
  description: 'Copy a file, link or directory. `to` is the whole path of the copy; nothing is ever overwritten.',
  input,
  output,
  permission: 'file:copy',
  mutates: true,
  idempotent: false,
  plan: ({ path, to }) => [
    { permission: 'file:copy', path, noFollow: true, recursive: true },
    { permission: 'file:copy', path: to, noFollow: true, recursive: true },
  ],
  async draft(asked, context) {
    const source = targetOf(context, 0)
    const target = targetOf(context, 1)
    const copied = await transfer(context, [source, target], {
      verb: 'copy',
      expected: asked.expectedSha256,
      createParents: asked.createParents,
    })
    const [path, to] = [display(source.asked), display(target.asked)]
    return {
      summary: `Copied ${path} to ${to}${copied.entries > 1 ? ` (${copied.entries} entries)` : ''}`,
      changes: copied.changes,
      copiedFrom: copied.sources,
      shown: shownAfterMove(context, source.path, target.path, copied.sha256),
      result: () => ({
        path,
        to,
        type: copied.type,
        entries: copied.entries,
        sizeBytes: copied.sizeBytes,
        sha256: copied.sha256,
      }),
    }
  },
})
