import * as z from 'zod/mini'
import { display } from '../paths/logical-path.ts'
import { defineBuiltinTool } from './builtin-tool.ts'
import { expectedSha256, filePath, pathField, reason } from './shared/fields.ts'
import { targetOf } from './shared/target.ts'
import { shownAfterMove } from './shared/text-change.ts'
import { transfer } from './shared/transfer.ts'

const input = z.strictObject({
  path: filePath,
  to: pathField,
  createParents: z._default(z.boolean(), true),
  expectedSha256,
  reason,
})

const output = z.object({
  path: z.string(),
  to: z.string(),
  type: z.string(),
  entries: z.number(),
  sizeBytes: z.number(),
  sha256: z.nullable(z.string()),
})

/** Copies a file, link or directory. A link is copied as a link. */
export const copyFile = defineBuiltinTool({
  name: 'copy_file',
  title: 'Copy',
  description: 'Copy a file, link or directory. `to` is the whole path of the copy; nothing is ever overwritten.',
  input,
  output,
  permission: 'file:copy',
  mutates: true,
  idempotent: false,
  plan: ({ path, to }) => [
    { permission: 'file:copy', path, isSource: true, reveals: true, noFollow: true, recursive: true },
    { permission: 'file:copy', path: to, noFollow: true, recursive: true },
  ],
  async draft(input, context) {
    const source = targetOf(context, 0)
    const target = targetOf(context, 1)
    const copy = await transfer(context, [source, target], {
      verb: 'copy',
      expected: input.expectedSha256,
      createParents: input.createParents,
    })
    const [path, to] = [display(source.asked), display(target.asked)]
    return {
      summary: `Copied ${path} to ${to}${copy.entries > 1 ? ` (${copy.entries} entries)` : ''}`,
      changes: copy.changes,
      copiedFrom: copy.sources,
      shown: shownAfterMove(context, source.path, target.path, copy.sha256),
      result: () => ({
        path,
        to,
        type: copy.type,
        entries: copy.entries,
        sizeBytes: copy.sizeBytes,
        sha256: copy.sha256,
      }),
    }
  },
})
