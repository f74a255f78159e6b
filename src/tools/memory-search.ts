import * as z from 'zod'
import { clamp } from '../limits.ts'
import type { Path } from '../paths/logical-path.ts'
import { defineTool } from './define-tool.ts'
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

const MOST = 100

const hit = z.object({
  id: z.string(),
  title: z.string().optional(),
  line: z.number().describe('Of the first line that has one of the words; 0: only the title does'),
  snippet: z.string(),
})

/** Notes that hold some words, those with the most of them first. */
export const memorySearch = defineTool({
  name: 'memory_search',
  title: 'Search notes',
  description: 'Find notes by words in their title or text, in any letter case; memory_get reads one.',
  input: z.strictObject({
    query: z.string().max(1000).regex(/\S/, 'must hold a word').describe('Words'),
    maxResults: z.int().min(1).default(20),
  }),
  output: z.object({ matches: z.array(hit), truncated: z.boolean() }),
  permission: 'memory:read',
  mutates: false,
  idempotent: true,
  plan: (_, state) => [{ permission: 'memory:read', path: memoryPath(state), recursive: true }],
  async draft({ query, maxResults }, context) {
    const most = clamp('maxResults', maxResults, MOST, context.warnings)
    const words = wordsOf(query)
    const found: { path: Path; note: ReadNote; count: number }[] = []
    await eachNote(context, (path, note) => {
      const count = occurrences(note, words)
      if (count > 0) found.push({ path, note, count })
    })
    found.sort((a, b) => b.count - a.count)
    const matches = found.slice(0, most).map(({ path, note }) => {
      toShownNote(context, path, note)
      const id = idOf(path, memoryOf(context))
      return {
        id,
        ...(note.title === undefined ? {} : { title: note.title }),
        ...firstLine(note, words, context.limits.searchSnippet),
      }
    })
    return {
      summary: `${matches.length} notes`,
      result: () => ({ matches, truncated: found.length > matches.length }),
    }
  },
})

function firstLine({ content }: ReadNote, words: readonly string[], most: number): { line: number; snippet: string } {
  const lines = content.split('\n')
  const index = lines.findIndex((line) => words.some((word) => line.toLowerCase().includes(word)))
  const line = (lines[index] ?? '').trim()
  return {
    line: index + 1,
    snippet: line.length > most ? `${line.slice(0, most).replace(/[\ud800-\udbff]$/, '')}…` : line,
  }
}
