import * as z from 'zod/mini'
import { createDocument, type TextDocument } from '../files/text/document.ts'
import { adaptLineEnds, encodeText } from '../files/text/encoding.ts'
import { requireFile } from '../guard/guarded-files.ts'
import { checkLimit } from '../limits.ts'
import { display, quote } from '../paths/logical-path.ts'
import { concatBytes } from '../util/bytes.ts'
import { counted } from '../util/counted.ts'
import { defineBuiltinTool } from './builtin-tool.ts'
import { checkExpected } from './shared/expected-version.ts'
import { expectedSha256, filePath, reason, versions } from './shared/fields.ts'
import { refuseRoot, targetOf } from './shared/target.ts'
import { newSha256, refuseMarks, shownAfterEdit } from './shared/text-change.ts'

const input = z.strictObject({
  path: filePath,
  content: z.string().check(z.minLength(1)),
  createParents: z._default(z.boolean(), true),
  expectedSha256,
  reason,
})

const output = z.object({
  ...versions,
  newSha256: z.string(),
  bytesAppended: z.number(),
  sizeBytes: z.number(),
  created: z.boolean(),
})

/** Appends text to a file, in the file's encoding and with its line ends. */
export const appendFile = defineBuiltinTool({
  name: 'append_file',
  title: 'Append to file',
  description: 'Add text at the end of a file, or create it. No newline is added, before or after.',
  input,
  output,
  permission: 'file:append',
  mutates: true,
  idempotent: false,
  plan: ({ path }) => [{ permission: 'file:append', path, reveals: true }],
  async draft(input, context) {
    const { path, asked: requestedPath } = targetOf(context)
    refuseRoot(path, 'append to')
    const { limits, files, warnings } = context
    const stat = await files.stat(path)
    if (stat !== undefined) requireFile(path, stat)
    const document =
      stat === undefined
        ? createDocument(new Uint8Array(), path)
        : await files.document(path, Math.max(limits.textFileBytes, limits.appendTotalBytes))
    const created = stat === undefined
    const oldSha256 = created ? null : document.sha256
    checkExpected(context, path, input.expectedSha256, oldSha256, { mustKnow: false })
    refuseMarks(document, input.content, path)
    const addition = encodeText(adaptLineEnds(input.content, document.eol), { encoding: document.encoding, bom: false })
    const bytes = concatBytes([document.bytes, addition])
    checkLimit(
      'file size in bytes',
      bytes.length,
      limits.appendTotalBytes,
      path,
      'The file cannot grow further: write to another one.',
    )
    if (endsInsideLine(document)) {
      warnings.push(`${quote(display(requestedPath))} did not end in a newline: the new text continues its last line`)
    }
    const parents = created && input.createParents ? await files.missingParents(path) : []
    return {
      summary: `${created ? 'Created' : 'Appended to'} ${display(requestedPath)} (${counted(addition.length, 'byte')} added)`,
      changes: [
        ...parents,
        {
          path,
          expect: oldSha256 === null ? 'absent' : { sha256: oldSha256 },
          to: { type: 'file', bytes, sharedPrefix: document.bytes.length },
        },
      ],
      shown: shownAfterEdit(context, path, oldSha256),
      result: (receipt) => ({
        path: display(requestedPath),
        oldSha256,
        newSha256: newSha256(receipt, path),
        bytesAppended: addition.length,
        sizeBytes: bytes.length,
        created,
      }),
    }
  },
})

function endsInsideLine({ original }: TextDocument): boolean {
  return original !== '' && !/[\r\n]$/.test(original.slice(-1))
}
