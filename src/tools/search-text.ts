import { defineBuiltinTool } from './builtin-tool.ts'
import { searchInput, searchOutput } from './shared/search-fields.ts'

/** Finds matching lines, in the order of the tree. Takes time linear in the text for every pattern. */
export const searchText = defineBuiltinTool({
  name: 'search_text',
  title: 'Search text',
  description: 'Search the lines of files for a text or a regular expression.',
  input: searchInput,
  output: searchOutput,
  permission: 'file:search',
  mutates: false,
  idempotent: true,
  plan: ({ path }) => [{ permission: 'file:search', path, recursive: true }],
  // The search engine is loaded with the first search.
  draft: async (input, context) => (await import('./shared/search-draft.ts')).draftSearch(input, context),
})
