import * as z from 'zod/mini'
import { call, defineDialectTool } from '../define.ts'
import { success } from './answer.ts'

const id = z.string().check(z.describe('Name of the note, such as decisions/storage'))
const looks = { readOnlyHint: true, openWorldHint: false }

/** The tools of the notes. `memory_recall` ignores scopes, so it is absent if the ACL is on. */
export const memoryTools = [
  defineDialectTool({
    name: 'memory_store',
    title: 'Store a note',
    description: 'Store a note in Markdown, or replace one that memory_get has shown.',
    input: z.object({
      id,
      content: z.string().check(z.describe('The whole note')),
      title: z.optional(z.string()),
      labels: z.optional(
        z.array(z.string()).check(z.describe('public, internal, confidential, restricted, or any other words')),
      ),
      scopes: z.optional(z.array(z.string()).check(z.describe('Who may see it. Default: your own scopes'))),
    }),
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    uses: ['memory_store'],
    *steps(note) {
      const { created } = yield* call('memory_store', note)
      return success(`${created ? 'Stored' : 'Replaced'} the note ${note.id}`)
    },
  }),
  defineDialectTool({
    name: 'memory_get',
    title: 'Get a note',
    description: 'Read a note by its id.',
    input: z.object({ id }),
    annotations: looks,
    uses: ['memory_get'],
    *steps({ id }) {
      const { content, truncated } = yield* call('memory_get', { id })
      return success(truncated ? `${content}\n[cut: the note is longer]\n` : content)
    },
  }),
  defineDialectTool({
    name: 'memory_search',
    title: 'Search notes',
    description: 'Find notes by words in their title or text. Each line is the id, the line and its text.',
    input: z.object({ query: z.string(), limit: z.optional(z.int().check(z.minimum(1), z.describe('Maximum notes'))) }),
    annotations: looks,
    uses: ['memory_search'],
    *steps({ query, limit }) {
      const options = limit === undefined ? {} : { maxResults: limit }
      const { matches, truncated } = yield* call('memory_search', { query, ...options })
      const lines = matches.map(({ id, line, snippet, title = '' }) => `${id}:${line}: ${line === 0 ? title : snippet}`)
      return success([...lines, ...(truncated ? ['[more notes match]'] : [])].join('\n'))
    },
  }),
  defineDialectTool({
    name: 'memory_recall',
    title: 'Recall notes',
    description: 'The notes that match some words best, with their text; without words, the first notes.',
    input: z.object({
      query: z.optional(z.string()),
      limit: z.optional(z.int().check(z.minimum(1), z.describe('Maximum notes'))),
    }),
    annotations: looks,
    uses: ['memory_recall'],
    *steps({ query, limit }) {
      const options = { ...(query === undefined ? {} : { query }), ...(limit === undefined ? {} : { maxNotes: limit }) }
      const { notes, truncated } = yield* call('memory_recall', options)
      const texts = notes.map(({ id, content, truncated }) => `## ${id}\n${content}${truncated ? '\n[cut]' : ''}`)
      return success([...texts, ...(truncated ? ['[more notes match]'] : [])].join('\n'))
    },
  }),
]
