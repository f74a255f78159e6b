import * as z from 'zod/mini'
import { ToolError } from '../errors.ts'
import { noteText } from '../files/text/front-matter.ts'
import { utf8Length } from '../files/text/utf8-length.ts'
import { checkLimit } from '../limits.ts'
import type { Path } from '../paths/logical-path.ts'
import { isAbove } from '../policy/taint.ts'
import { type BuiltinContext, defineBuiltinTool, type MemoryContext } from './builtin-tool.ts'
import { checkExpected, comparing } from './shared/expected-version.ts'
import { expectedSha256, reason } from './shared/fields.ts'
import { findNote, highestLabel, memoryOf, noteId, notePath, type ReadNote } from './shared/notes.ts'
import { targetOf } from './shared/target.ts'
import { newSha256, refuseMarks } from './shared/text-change.ts'

const name = z
  .string()
  .check(z.maxLength(100), z.regex(/^[A-Za-z0-9][\w.:@/-]*$/, 'must be a word of A-Z, a-z, 0-9 and . : @ / _ -'))

const input = z.strictObject({
  id: noteId,
  title: z.optional(z.string().check(z.maxLength(200), z.regex(/^[^\p{Cc}\p{Cs}]*$/u, 'must be one line'))),
  content: z.string(),
  labels: z.optional(
    z.array(name).check(z.maxLength(20), z.describe('public, internal, confidential, restricted, or any other words')),
  ),
  scopes: z.optional(
    z
      .array(name)
      .check(z.maxLength(20), z.describe('Who may see it; default: the scopes of the replaced note, else yours')),
  ),
  expectedSha256,
  reason,
})

/** Writes a whole note into a Markdown file of the workspace's memory. */
export const memoryStore = defineBuiltinTool({
  name: 'memory_store',
  title: 'Store a note',
  description:
    'Store a whole note in Markdown for later runs. Replacing one needs expectedSha256, as memory_get shows it.',
  input,
  output: z.object({
    id: z.string(),
    created: z.boolean(),
    labels: z.array(z.string()),
    scopes: z.array(z.string()),
    oldSha256: z.nullable(z.string()),
    newSha256: z.string(),
  }),
  permission: 'memory:write',
  mutates: true,
  idempotent: true,
  plan: ({ id, expectedSha256 }, state) => [
    { permission: 'memory:write', path: notePath(id, state), ...comparing(expectedSha256) },
  ],
  async draft(input, context) {
    const { path } = targetOf(context)
    const { files, limits } = context
    checkLimit('content size in bytes', utf8Length(input.content), limits.writeBytes, path)
    const old = await oldNote(context, path, input.id)
    if (old !== undefined) {
      context.files.noteRead(path, old.document.bytes.length)
      refuseMarks(old.document, input.content, path)
    }
    const oldSha256 = old?.document.sha256 ?? null
    checkExpected(context, path, input.expectedSha256, oldSha256, { mustKnow: true })
    const scopes = scopesFor(input.scopes, old, memoryOf(context))
    const labels = labelsFor(input.labels ?? old?.labels ?? [], context)
    const title = input.title ?? old?.title
    const bytes = new TextEncoder().encode(noteText(input.id, { title, labels, scopes, content: input.content }))
    return {
      summary: `${old === undefined ? 'Stored' : 'Replaced'} the note ${input.id}`,
      changes: [
        ...(old === undefined ? await files.missingParents(path) : []),
        { path, expect: oldSha256 === null ? 'absent' : { sha256: oldSha256 }, to: { type: 'file', bytes } },
      ],
      contentLabel: highestLabel(labels),
      shown: (receipt) => [{ path, sha256: newSha256(receipt, path), lines: 'all' }],
      result: (receipt) => ({
        id: input.id,
        created: old === undefined,
        labels,
        scopes: [...scopes],
        oldSha256,
        newSha256: newSha256(receipt, path),
      }),
    }
  },
})

/**
 * Returns the note to replace, if any.
 *
 * @throws ToolError `ALREADY_EXISTS` for another file of that name, or a note that the caller may not see
 */
async function oldNote(context: BuiltinContext, path: Path, id: string): Promise<ReadNote | undefined> {
  const note = await findNote(context, path)
  if (note === undefined && (await context.files.stat(path)) !== undefined) {
    throw new ToolError('ALREADY_EXISTS', `The name ${JSON.stringify(id)} is taken`, { hint: 'Choose another id.' })
  }
  return note
}

/**
 * Returns the scopes of the new note. A caller can neither add scopes that it does not have, nor make a restricted note
 * visible to everybody.
 *
 * @throws ToolError `POLICY_DENIED`
 */
function scopesFor(
  newScopes: readonly string[] | undefined,
  old: ReadNote | undefined,
  { acl, scopes: callerScopes }: MemoryContext,
): readonly string[] {
  if (!acl) return newScopes ?? old?.scopes ?? []
  const scopes = newScopes ?? old?.scopes ?? callerScopes
  const isOpen = scopes.length === 0 && (callerScopes.length > 0 || (old?.scopes.length ?? 0) > 0)
  const wasOpen = old !== undefined && old.scopes.length === 0 && newScopes === undefined
  const oldScopes = old?.scopes ?? []
  const foreign = scopes.filter((scope) => !callerScopes.includes(scope) && !oldScopes.includes(scope))
  if ((isOpen && !wasOpen) || foreign.length > 0) {
    throw new ToolError('POLICY_DENIED', 'A note can be stored only for your own scopes', {
      scopes: [...callerScopes],
      hint: callerScopes.length === 0 ? 'Leave scopes out.' : `Use some of: ${callerScopes.join(', ')}.`,
    })
  }
  return scopes
}

/** Adds the run's taint to the labels, so that it also reaches other processes. */
function labelsFor(labels: readonly string[], context: BuiltinContext): string[] {
  const taint = context.taint()
  return isAbove(taint, highestLabel(labels)) ? [...new Set([...labels, taint])] : [...new Set(labels)]
}
