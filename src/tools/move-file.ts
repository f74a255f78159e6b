import * as z from 'zod'
import { display } from '../paths/logical-path.ts'
import { defineTool } from './define-tool.ts'
import { expectedSha256, filePath, pathField, reason } from './shared/fields.ts'
import { targetOf } from './shared/target.ts'
import { shownAfterMove } from './shared/text-change.ts'
import { transfer } from './shared/transfer.ts'

const input = z.strictObject({
  path: filePath,
  to: pathField.describe('New path, name included; nothing may exist there'),
  createParents: z.boolean().default(true),
  expectedSha256,
  reason,
})

const output = z.object({
  path: z.string(),
  to: z.string(),
  type: z.string(),
  entries: z.number().describe('Files, links and directories that moved'),
  sha256: z.string().nullable().describe('Version of the file; null for a link or a directory'),
})

/** A file, link or directory under another name. A link moves itself, not its target. */
export const moveFile = defineTool({
  name: 'move_file',
  title: 'Move or rename',
  description: 'Move or rename a file, link or directory. `to` is the whole new path; nothing is ever overwritten.',
  input,
  output,
  permission: 'file:move',
  mutates: true,
  idempotent: false,
  plan: ({ path, to }) => [
    { permission: 'file:move', path, noFollow: true, recursive: true },
    { permission: 'file:move', path: to, noFollow: true, recursive: true },
  ],
  async draft(asked, context) {
    const source = targetOf(context, 0)
    const target = targetOf(context, 1)
    const moved = await transfer(context, [source, target], {
      verb: 'move',
      expected: asked.expectedSha256,
      createParents: asked.createParents,
    })
    const [path, to] = [display(source.asked), display(target.asked)]
    return {
      summary: `Moved ${path} to ${to}${moved.entries > 1 ? ` (${moved.entries} entries)` : ''}`,
      changes: moved.changes,
      shown: shownAfterMove(context, source.path, target.path, moved.sha256),
      result: () => ({ path, to, type: moved.type, entries: moved.entries, sha256: moved.sha256 }),
    }
  },
})
