import * as z from 'zod/mini'
import { clamp } from '../limits.ts'
import type { Path } from '../paths/logical-path.ts'
import { counted } from '../util/counted.ts'
import { defineBuiltinTool } from './builtin-tool.ts'
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

const MAX_RESULTS = 100

const hit = z.object({
  id: z.string(),
  title: z.optional(z.string()),
  line: z.number().check(z.describe('First line that contains one of the words; 0: only the title does')),
  snippet: z.string(),
})

/** Finds notes that contain some words, sorted by the number of occurrences. */
export const memorySearch = defineBuiltinTool({
  name: 'memory_search',
  title: 'Search notes',
  description: 'Find notes by words in their title or text, in any letter case; memory_get reads one.',
  input: z.strictObject({
    query: z.string().check(z.maxLength(1000), z.regex(/\S/, 'must contain a word')),
    maxResults: z._default(z.int().check(z.minimum(1)), 20),
  }),
  output: z.object({ matches: z.array(hit), truncated: z.boolean() }),
  permission: 'memory:read',
  mutates: false,
  idempotent: true,
  plan: (_, state) => [{ permission: 'memory:read', path: memoryPath(state), recursive: true }],
  async draft({ query, maxResults }, context) {
    const limit = clamp('maxResults', maxResults, MAX_RESULTS, context.warnings)
    const words = wordsOf(query)
    const hits: { path: Path; note: ReadNote; count: number }[] = []
    await eachNote(context, (path, note) => {
      const count = occurrences(note, words)
      if (count > 0) hits.push({ path, note, count })
    })
    hits.sort((a, b) => b.count - a.count)
    const matches = hits.slice(0, limit).map(({ path, note }) => {
      markAsShown(context, path, note)
      const id = idOf(path, memoryOf(context))
      return {
        id,
        ...(note.title === undefined ? {} : { title: note.title }),
        ...firstLine(note, words, context.limits.searchSnippet),
      }
    })
    return {
      summary: counted(matches.length, 'note'),
      result: () => ({ matches, truncated: hits.length > matches.length }),
    }
  },
})

function firstLine(
  { content }: ReadNote,
  words: readonly string[],
  maxUnits: number,
): { line: number; snippet: string } {
  const lines = content.split('\n')
  const index = lines.findIndex((line) => words.some((word) => line.toLowerCase().includes(word)))
  const line = (lines[index] ?? '').trim()
  return {
    line: index + 1,
    snippet: line.length > maxUnits ? `${line.slice(0, maxUnits).replace(/[\ud800-\udbff]$/, '')}…` : line,
  }
}
