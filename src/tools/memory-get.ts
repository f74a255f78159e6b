import * as z from 'zod/mini'
import { defineBuiltinTool } from './builtin-tool.ts'
import { boundContent } from './shared/bound-content.ts'
import { findNote, markAsShown, memoryOf, noteId, noteNotFound, notePath } from './shared/notes.ts'
import { targetOf } from './shared/target.ts'

/** Reads a note by its id. */
export const memoryGet = defineBuiltinTool({
  name: 'memory_get',
  title: 'Get a note',
  description: 'Read a note by its id.',
  input: z.strictObject({ id: noteId }),
  output: z.object({
    id: z.string(),
    title: z.optional(z.string()),
    labels: z.array(z.string()),
    scopes: z.array(z.string()),
    content: z.string(),
    sha256: z.string(),
    truncated: z.boolean(),
  }),
  permission: 'memory:read',
  mutates: false,
  idempotent: true,
  plan: ({ id }, state) => [{ permission: 'memory:read', path: notePath(id, state) }],
  async draft({ id }, context) {
    const { path } = targetOf(context)
    const note = await findNote(context, path)
    if (note === undefined) {
      // A file may be there that is no note. With the ACL, it may also be a hidden note.
      if (!memoryOf(context).acl && (await context.files.stat(path))) context.addSearched(path)
      throw noteNotFound(id)
    }
    markAsShown(context, path, note)
    const { title, labels, scopes, document } = note
    const content = boundContent(note.content, context.limits.readBytes)
    const truncated = content.length < note.content.length
    const { sha256 } = document
    return {
      summary: `Read the note ${id}`,
      shown: () => (truncated ? [] : [{ path, sha256, lines: 'all' }]),
      result: () => ({
        id,
        ...(title === undefined ? {} : { title }),
        labels: [...labels],
        scopes: [...scopes],
        content,
        sha256,
        truncated,
      }),
    }
  },
})
