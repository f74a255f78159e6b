import * as z from 'zod/mini'
import { type ErrorCode, ToolError } from '../errors.ts'
import type { TextDocument } from '../files/text/document.ts'
import { detectLineEnd, encodeText, type TextFormat } from '../files/text/encoding.ts'
import { utf8Length } from '../files/text/utf8-length.ts'
import { requireFile } from '../guard/guarded-files.ts'
import { checkLimit } from '../limits.ts'
import { display, notFound, type Path, quote } from '../paths/logical-path.ts'
import type { Stat } from '../storage/backend.ts'
import { lostContentOf } from '../storage/lost-content.ts'
import { counted } from '../util/counted.ts'
import { type BuiltinContext, defineBuiltinTool } from './builtin-tool.ts'
import { checkExpected, comparing } from './shared/expected-version.ts'
import { expectedSha256, filePath, reason, versions } from './shared/fields.ts'
import { hashFile } from './shared/file-version.ts'
import { alreadyThere, refuseRoot, targetOf } from './shared/target.ts'
import { newSha256, refuseMarks } from './shared/text-change.ts'

const input = z.strictObject({
  path: filePath,
  content: z.string(),
  mode: z._default(z.enum(['CREATE_NEW', 'REPLACE_EXISTING', 'CREATE_OR_REPLACE']), 'CREATE_OR_REPLACE'),
  createParents: z._default(z.boolean(), true),
  expectedSha256,
  reason,
})

const output = z.object({ ...versions, newSha256: z.string(), bytesWritten: z.number(), created: z.boolean() })

/** Creates a file or replaces its whole content atomically. */
export const writeFile = defineBuiltinTool({
  name: 'write_file',
  title: 'Write file',
  description:
    'Create a file, or replace its whole content, which needs expectedSha256. For small changes, prefer edit_file.',
  input,
  output,
  permission: 'file:write:replace',
  mutates: true,
  idempotent: true,
  plan: ({ path, mode, expectedSha256 }) => [
    { permission: mode === 'CREATE_NEW' ? 'file:write:create' : 'file:write', path, ...comparing(expectedSha256) },
  ],
  async draft(input, context) {
    const { path, asked: requestedPath } = targetOf(context)
    refuseRoot(path, 'write')
    const { files, limits } = context
    const stat = await files.stat(path)
    if (stat !== undefined && input.mode === 'CREATE_NEW') throw alreadyThere(path, stat.type)
    if (stat === undefined && input.mode === 'REPLACE_EXISTING') throw notFound(path)
    checkLimit('content size in bytes', utf8Length(input.content), limits.writeBytes, path)
    const old = stat === undefined ? undefined : await currentOf(context, path, stat)
    const oldSha256 = old?.sha256 ?? null
    checkExpected(context, path, input.expectedSha256, oldSha256, { mustKnow: true })
    const format = old?.document === undefined ? utf8 : keepFormat(context, path, old.document, input.content)
    const bytes = encodeText(withoutBom(input.content, format), format)
    const created = old === undefined
    const parents = created && input.createParents ? await files.missingParents(path) : []
    return {
      summary: `${created ? 'Created' : 'Replaced'} ${display(requestedPath)} (${counted(bytes.length, 'byte')})`,
      changes: [
        ...parents,
        { path, expect: oldSha256 === null ? 'absent' : { sha256: oldSha256 }, to: { type: 'file', bytes } },
      ],
      shown: (receipt) => [{ path, sha256: newSha256(receipt, path), lines: 'all' }],
      result: (receipt) => ({
        path: display(requestedPath),
        bytesWritten: bytes.length,
        created,
        oldSha256,
        newSha256: newSha256(receipt, path),
      }),
    }
  },
})

/** Returns the current version of a file, and its document if it is text. */
async function currentOf(
  context: BuiltinContext,
  path: Path,
  stat: Stat,
): Promise<{ sha256: string; document: TextDocument | undefined }> {
  const { files, limits } = context
  requireFile(path, stat)
  try {
    const document = await files.document(path, limits.textFileBytes)
    return { sha256: document.sha256, document }
  } catch (error) {
    const isReplaceable = error instanceof ToolError && (notText.has(error.code) || lostContentOf(error) !== undefined)
    if (!isReplaceable) throw error
    return { sha256: await hashFile(context, path, stat), document: undefined }
  }
}

/** Errors for content without a format to keep. Such content is replaced by UTF-8. */
const notText: ReadonlySet<ErrorCode> = new Set(['UNSUPPORTED_BINARY', 'UNSUPPORTED_ENCODING', 'FILE_TOO_LARGE'])

/** Returns the format of the replaced text. Refuses marks, and warns if the new content has other line ends. */
function keepFormat(context: BuiltinContext, path: Path, document: TextDocument, content: string): TextFormat {
  refuseMarks(document, content, path)
  const eol = detectLineEnd(content)
  if (eol !== document.eol && eol !== 'none' && (document.eol === 'crlf' || document.eol === 'cr')) {
    context.warnings.push(`${quote(display(path))} had ${document.eol} line ends; the new content has ${eol}`)
  }
  return document
}

const utf8: TextFormat = { encoding: 'utf-8', bom: false }

function withoutBom(content: string, format: TextFormat): string {
  return format.bom && content.charCodeAt(0) === 0xfeff ? content.slice(1) : content
}
