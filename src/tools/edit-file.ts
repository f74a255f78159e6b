import * as z from 'zod/mini'
import { display } from '../paths/logical-path.ts'
import { createPacer } from '../util/pacer.ts'
import { defineBuiltinTool } from './builtin-tool.ts'
import { replaceExact } from './shared/exact-replace.ts'
import { checkExpected } from './shared/expected-version.ts'
import { filePath, reason, sha256Field } from './shared/fields.ts'
import { targetOf } from './shared/target.ts'
import { changeText, newSha256, noChangeError, refuseMarks, refusePlaceholder } from './shared/text-change.ts'

const edit = z.strictObject({
  oldText: z.string().check(z.minLength(1)),
  newText: z.string(),
  replaceAll: z.optional(z.boolean()),
})

const input = z
  .strictObject({
    path: filePath,
    oldText: z.optional(edit.shape.oldText),
    newText: z.optional(edit.shape.newText),
    replaceAll: edit.shape.replaceAll,
    edits: z.optional(
      z.array(edit).check(z.minLength(1), z.maxLength(500), z.describe('Instead: several, in order, all or none')),
    ),
    expectedSha256: z.optional(z.nullable(sha256Field)),
    dryRun: z._default(z.boolean(), false),
    reason,
  })
  .check(
    z.refine(
      ({ oldText, newText, edits }) =>
        (edits === undefined) === (oldText !== undefined && newText !== undefined) &&
        (edits === undefined || (oldText === undefined && newText === undefined)),
      { message: 'give either oldText with newText, or edits', path: ['oldText'] },
    ),
  )

const output = z.object({
  path: z.string(),
  replacements: z.number(),
  insertions: z.number(),
  deletions: z.number(),
  oldSha256: z.string(),
  newSha256: z.nullable(z.string()),
  diff: z.string(),
  dryRun: z.boolean(),
})

/** Replaces exact text. All other bytes of the file stay the same. */
export const editFile = defineBuiltinTool({
  name: 'edit_file',
  title: 'Edit file',
  description: 'Replace text in a file. oldText must match exactly, and once unless replaceAll.',
  input,
  output,
  permission: 'file:write:replace',
  mutates: true,
  idempotent: false,
  plan: ({ path }) => [{ permission: 'file:write:replace', path, reveals: true }],
  async draft(input, context) {
    const target = targetOf(context)
    const { path } = target
    const document = await context.files.document(path, context.limits.textFileBytes)
    checkExpected(context, path, input.expectedSha256, document.sha256, { mustKnow: false })
    const edits = input.edits ?? [
      // Without edits, the schema requires both texts.
      { oldText: input.oldText as string, newText: input.newText as string, replaceAll: input.replaceAll },
    ]
    let text = document.text
    let replacements = 0
    const pause = edits.length === 1 ? undefined : createPacer()
    for (const [index, { oldText, newText, replaceAll }] of edits.entries()) {
      if (pause !== undefined) await pause()
      refuseMarks(document, newText, path)
      refusePlaceholder(oldText, newText, path)
      const edited = replaceExact(
        text,
        { oldText, newText, replaceAll: replaceAll === true, eol: document.eol, marks: document.redaction.marks },
        {
          path,
          ...(input.edits === undefined ? {} : { edit: index }),
        },
      )
      text = edited.text
      replacements += edited.replacements
    }
    if (text === document.text) throw noChangeError(path)
    const change = await changeText(context, path, document, text)
    return {
      summary: `${input.dryRun ? 'Would edit' : 'Edited'} ${display(target.asked)} (+${change.insertions} -${change.deletions})`,
      changes: [change.change],
      dryRun: input.dryRun,
      diff: change.diff,
      lines: change.lines,
      shown: (receipt) => (input.dryRun ? [] : change.shown(receipt)),
      result: (receipt) => ({
        path: display(target.asked),
        replacements,
        insertions: change.insertions,
        deletions: change.deletions,
        oldSha256: document.sha256,
        newSha256: input.dryRun ? null : newSha256(receipt, path),
        diff: change.diff,
        dryRun: input.dryRun,
      }),
    }
  },
})
