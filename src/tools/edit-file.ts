import * as z from 'zod'
import { display } from '../paths/logical-path.ts'
import { defineTool } from './define-tool.ts'
import { replaceExact } from './shared/exact-replace.ts'
import { checkExpected } from './shared/expected-version.ts'
import { filePath, reason, sha256Field } from './shared/fields.ts'
import { targetOf } from './shared/target.ts'
import { changeText, newSha256, noChangeError, refuseMarks } from './shared/text-change.ts'

const edit = z.strictObject({
  oldText: z.string().min(1).describe('Exact text that occurs once'),
  newText: z.string(),
  replaceAll: z.boolean().optional(),
})

const input = z
  .strictObject({
    path: filePath,
    oldText: edit.shape.oldText.optional(),
    newText: edit.shape.newText.optional(),
    replaceAll: edit.shape.replaceAll,
    edits: z.array(edit).min(1).max(500).optional().describe('Several edits, one after the other, all or none'),
    expectedSha256: sha256Field.nullable().optional(),
    dryRun: z.boolean().default(false),
    reason,
  })
  .refine(
    ({ oldText, newText, edits }) =>
      (edits === undefined) === (oldText !== undefined && newText !== undefined) &&
      (edits === undefined || (oldText === undefined && newText === undefined)),
    { message: 'give either oldText with newText, or edits', path: ['oldText'] },
  )

const output = z.object({
  path: z.string(),
  replacements: z.number(),
  insertions: z.number(),
  deletions: z.number(),
  oldSha256: z.string(),
  newSha256: z.string().nullable().describe('null after a dry run'),
  diff: z.string(),
  dryRun: z.boolean(),
})

/** Exact replacements that keep every byte which they do not name. */
export const editFile = defineTool({
  name: 'edit_file',
  title: 'Edit file',
  description:
    'Replace exact text in a file. oldText must occur exactly once (unless replaceAll) and is never matched fuzzily; line ends and encoding are kept.',
  input,
  output,
  permission: 'file:write:replace',
  mutates: true,
  idempotent: false,
  plan: ({ path }) => [{ permission: 'file:write:replace', path }],
  async draft(asked, context) {
    const target = targetOf(context)
    const { path } = target
    const document = await context.files.document(path, context.limits.textFileBytes)
    checkExpected(context, path, asked.expectedSha256, document.sha256, { mustKnow: false })
    const edits = asked.edits ?? [
      // Without edits, the input holds both texts.
      { oldText: asked.oldText as string, newText: asked.newText as string, replaceAll: asked.replaceAll },
    ]
    let text = document.text
    let replacements = 0
    for (const [index, { oldText, newText, replaceAll }] of edits.entries()) {
      refuseMarks(document, newText, path)
      const done = replaceExact(
        text,
        { oldText, newText, replaceAll: replaceAll === true, eol: document.eol, marks: document.redaction.marks },
        {
          path,
          ...(asked.edits === undefined ? {} : { edit: index }),
        },
      )
      text = done.text
      replacements += done.replacements
    }
    if (text === document.text) throw noChangeError(path)
    const made = changeText(context, path, document, text)
    return {
      summary: `${asked.dryRun ? 'Would edit' : 'Edited'} ${display(target.asked)} (+${made.insertions} -${made.deletions})`,
      changes: asked.dryRun ? [] : [made.change],
      diff: made.diff,
      shown: (receipt) => (asked.dryRun ? [] : made.shown(receipt)),
      result: (receipt) => ({
        path: display(target.asked),
        replacements,
        insertions: made.insertions,
        deletions: made.deletions,
        oldSha256: document.sha256,
        newSha256: asked.dryRun ? null : newSha256(receipt, path),
        diff: made.diff,
        dryRun: asked.dryRun,
      }),
    }
  },
})
