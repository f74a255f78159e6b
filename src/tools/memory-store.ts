import * as z from 'zod'
import { ToolError } from '../errors.ts'
import { noteText } from '../files/text/front-matter.ts'
import { utf8Length } from '../files/text/utf8-length.ts'
import { checkLimit } from '../limits.ts'
import type { Path } from '../paths/logical-path.ts'
import { isAbove } from '../policy/taint.ts'
import { defineTool, type MemoryContext, type ToolContext } from './define-tool.ts'
import { checkExpected } from './shared/expected-version.ts'
import { expectedSha256, reason } from './shared/fields.ts'
import { findNote, highestLabel, memoryOf, noteId, notePath, type ReadNote } from './shared/notes.ts'
import { targetOf } from './shared/target.ts'
import { newSha256, refuseMarks } from './shared/text-change.ts'

const name = z
  .string()
  .max(100)
  .regex(/^[A-Za-z0-9][\w.:@/-]*$/, 'must be a word of letters, digits and . : @ / _ -')

const input = z.strictObject({
  id: noteId,
  title: z
    .string()
    .max(200)
    .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'must be one line')
    .optional(),
  content: z.string().describe('The whole note, in Markdown'),
  labels: z
    .array(name)
    .max(20)
    .optional()
    .describe('public, internal, confidential, restricted, and words of your own'),
  scopes: z.array(name).max(20).optional().describe('Who may see it; default: as before, else your own scopes'),
  expectedSha256,
  reason,
})

/** A note, written whole: into a Markdown file of the workspace's memory. */
export const memoryStore = defineTool({
  name: 'memory_store',
  title: 'Store a note',
  description:
    'Keep a note in Markdown for later runs. Replacing one needs expectedSha256 of the version that memory_get showed.',
  input,
  output: z.object({
    id: z.string(),
    created: z.boolean(),
    labels: z.array(z.string()),
    scopes: z.array(z.string()),
    oldSha256: z.string().nullable(),
    newSha256: z.string(),
  }),
  permission: 'memory:write',
  mutates: true,
  idempotent: true,
  plan: ({ id }, state) => [{ permission: 'memory:write', path: notePath(id, state) }],
  async draft(asked, context) {
    const { path } = targetOf(context)
    const { files, limits } = context
    checkLimit('content size in bytes', utf8Length(asked.content), limits.writeBytes, path)
    const old = await oldNote(context, path, asked.id)
    if (old !== undefined) {
      context.files.noteRead(path, old.document.bytes.length)
      refuseMarks(old.document, asked.content, path)
    }
    const oldSha256 = old?.document.sha256 ?? null
    checkExpected(context, path, asked.expectedSha256, oldSha256, { mustKnow: true })
    const scopes = scopesFor(asked.scopes, old, memoryOf(context))
    const labels = labelsFor(asked.labels ?? old?.labels ?? [], context)
    const title = asked.title ?? old?.title
    const bytes = new TextEncoder().encode(noteText(asked.id, { title, labels, scopes, content: asked.content }))
    return {
      summary: `${old === undefined ? 'Stored' : 'Replaced'} the note ${asked.id}`,
      changes: [
        ...(old === undefined ? await files.missingParents(path) : []),
        { path, expect: oldSha256 === null ? 'absent' : { sha256: oldSha256 }, to: { type: 'file', bytes } },
      ],
      shown: (receipt) => [{ path, sha256: newSha256(receipt, path), lines: 'all' }],
      result: (receipt) => ({
        id: asked.id,
        created: old === undefined,
        labels,
        scopes: [...scopes],
        oldSha256,
        newSha256: newSha256(receipt, path),
      }),
    }
  },
})

/** What is replaced. Something else under that name, or a note that the caller may not see, is left alone. */
async function oldNote(context: ToolContext, path: Path, id: string): Promise<ReadNote | undefined> {
  const found = await findNote(context, path)
  if (found === undefined && (await context.files.stat(path)) !== undefined) {
    throw new ToolError('ALREADY_EXISTS', `The name ${JSON.stringify(id)} is taken`, { hint: 'Choose another id.' })
  }
  return found
}

/** Nobody gives a note to whom they do not belong to, or opens to all what was for some. */
function scopesFor(
  given: readonly string[] | undefined,
  old: ReadNote | undefined,
  { acl, scopes: own }: MemoryContext,
): readonly string[] {
  if (!acl) return given ?? old?.scopes ?? []
  const scopes = given ?? old?.scopes ?? own
  const isOpen = scopes.length === 0 && (own.length > 0 || (old?.scopes.length ?? 0) > 0)
  const wasOpen = old !== undefined && old.scopes.length === 0 && given === undefined
  const kept = old?.scopes ?? []
  const foreign = scopes.filter((scope) => !own.includes(scope) && !kept.includes(scope))
  if ((isOpen && !wasOpen) || foreign.length > 0) {
    throw new ToolError('POLICY_DENIED', 'A note can be stored only for scopes of your own', {
      scopes: [...own],
      hint: own.length === 0 ? 'Leave scopes out.' : `Use some of: ${own.join(', ')}.`,
    })
  }
  return scopes
}

/** A note carries what its writer had seen, also to other processes. */
function labelsFor(given: readonly string[], context: ToolContext): string[] {
  const taint = context.taint()
  return isAbove(taint, highestLabel(given)) ? [...new Set([...given, taint])] : [...new Set(given)]
}
