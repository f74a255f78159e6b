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
  sha256: z.nullable(z.string()),
})

/** Moves or renames a file, link or directory. Moves a link itself, not its target. */
export const moveFile = defineBuiltinTool({
  name: 'move_file',
  title: 'Move or rename',
  description: 'Move or rename a file, link or directory. `to` is the whole new path; nothing is ever overwritten.',
  input,
  output,
  permission: 'file:move',
  mutates: true,
  idempotent: false,
  plan: ({ path, to }) => [
    { permission: 'file:move', path, noFollow: true, recursive: true, reveals: true },
    { permission: 'file:move', path: to, noFollow: true, recursive: true },
  ],
  async draft(input, context) {
    const source = targetOf(context, 0)
    const target = targetOf(context, 1)
    const move = await transfer(context, [source, target], {
      verb: 'move',
      expected: input.expectedSha256,
      createParents: input.createParents,
    })
    const [path, to] = [display(source.asked), display(target.asked)]
    return {
      summary: `Moved ${path} to ${to}${move.entries > 1 ? ` (${move.entries} entries)` : ''}`,
      changes: move.changes,
      shown: shownAfterMove(context, source.path, target.path, move.sha256),
      result: () => ({ path, to, type: move.type, entries: move.entries, sha256: move.sha256 }),
    }
  },
})
