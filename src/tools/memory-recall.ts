import * as z from 'zod/mini'
import { clamp } from '../limits.ts'
import type { Path } from '../paths/logical-path.ts'
import { counted } from '../util/counted.ts'
import { defineBuiltinTool } from './builtin-tool.ts'
import { boundContent } from './shared/bound-content.ts'
import {
  eachNote,
  idOf,
  markAsShown,
  memoryOf,
  memoryPath,
  occurrences,
  type ReadNote,
  wordsOf,
} from './shared/notes.ts'

const MAX_NOTES = 20
/** Maximum bytes shown of one note. */
const NOTE_BYTES = 8 * 1024

/**
 * Returns the notes that fit a task best, with their text, for the start of a run. Ignores scopes, so it is not available
 * with the ACL.
 */
export const memoryRecall = defineBuiltinTool({
  name: 'memory_recall',
  title: 'Recall notes',
  description: 'The notes that match some words best, with their text; without words, the first notes.',
  input: z.strictObject({
    query: z.optional(z.string().check(z.maxLength(1000), z.describe('Topic of the work'))),
    maxNotes: z._default(z.int().check(z.minimum(1)), 5),
  }),
  output: z.object({
    notes: z.array(
      z.object({ id: z.string(), title: z.optional(z.string()), content: z.string(), truncated: z.boolean() }),
    ),
    truncated: z.boolean(),
  }),
  permission: 'memory:read',
  mutates: false,
  idempotent: true,
  plan: (_, state) => [{ permission: 'memory:read', path: memoryPath(state), recursive: true }],
  async draft({ query = '', maxNotes }, context) {
    const limit = clamp('maxNotes', maxNotes, MAX_NOTES, context.warnings)
    const words = wordsOf(query)
    const hits: { path: Path; note: ReadNote; count: number }[] = []
    await eachNote(context, (path, note) => {
      const count = occurrences(note, words)
      if (count > 0 || words.length === 0) hits.push({ path, note, count })
    })
    hits.sort((a, b) => b.count - a.count)
    const notes = hits.slice(0, limit).map(({ path, note }) => {
      markAsShown(context, path, note)
      const content = boundContent(note.content, NOTE_BYTES)
      return {
        id: idOf(path, memoryOf(context)),
        ...(note.title === undefined ? {} : { title: note.title }),
        content,
        truncated: content.length < note.content.length,
      }
    })
    return {
      summary: `Recalled ${counted(notes.length, 'note')}`,
      result: () => ({ notes, truncated: hits.length > notes.length }),
    }
  },
})
