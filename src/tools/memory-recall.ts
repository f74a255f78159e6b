import * as z from 'zod'
import { clamp } from '../limits.ts'
import type { Path } from '../paths/logical-path.ts'
import { defineTool } from './define-tool.ts'
import { boundContent } from './shared/bound-content.ts'
import {
  eachNote,
  idOf,
  memoryOf,
  memoryPath,
  occurrences,
  type ReadNote,
  toShownNote,
  wordsOf,
} from './shared/notes.ts'

const MOST = 20
/** Bytes of one note that are shown. */
const NOTE_BYTES = 8 * 1024

/** The notes that fit a task best, whole: for the beginning of a run. It knows no scopes, and is not there with the ACL. */
export const memoryRecall = defineTool({
  name: 'memory_recall',
  title: 'Recall notes',
  description: 'The notes that fit some words best, with their text; without words, the first ones.',
  input: z.strictObject({
    query: z.string().max(1000).optional().describe('What the work is about'),
    maxNotes: z.int().min(1).default(5),
  }),
  output: z.object({
    notes: z.array(
      z.object({ id: z.string(), title: z.string().optional(), content: z.string(), truncated: z.boolean() }),
    ),
    truncated: z.boolean(),
  }),
  permission: 'memory:read',
  mutates: false,
  idempotent: true,
  plan: (_, state) => [{ permission: 'memory:read', path: memoryPath(state), recursive: true }],
  async draft({ query = '', maxNotes }, context) {
    const most = clamp('maxNotes', maxNotes, MOST, context.warnings)
    const words = wordsOf(query)
    const found: { path: Path; note: ReadNote; count: number }[] = []
    await eachNote(context, (path, note) => {
      const count = occurrences(note, words)
      if (count > 0 || words.length === 0) found.push({ path, note, count })
    })
    found.sort((a, b) => b.count - a.count)
    const notes = found.slice(0, most).map(({ path, note }) => {
      toShownNote(context, path, note)
      const content = boundContent(note.content, NOTE_BYTES)
      return {
        id: idOf(path, memoryOf(context)),
        ...(note.title === undefined ? {} : { title: note.title }),
        content,
        truncated: content.length < note.content.length,
      }
    })
    return {
      summary: `Recalled ${notes.length} notes`,
      result: () => ({ notes, truncated: found.length > notes.length }),
    }
  },
})
