import * as z from 'zod/mini'
import { directoryPath, filters } from './fields.ts'

/** The input of `search_text`. */
export const searchInput = z.strictObject({
  query: z.string().check(z.minLength(1)),
  mode: z._default(z.enum(['literal', 'regex']), 'literal'),
  path: directoryPath.check(z.describe('Directory or file')),
  includeGlob: z.optional(z.string().check(z.describe('Such as **/*.ts, relative to path'))),
  excludeGlob: z.optional(z.string()),
  caseSensitive: z._default(z.boolean(), true),
  contextLines: z._default(z.int().check(z.minimum(0)), 0),
  maxMatches: z.optional(z.int().check(z.minimum(1))),
  maxFileBytes: z.optional(z.int().check(z.minimum(1))),
  timeoutMs: z.optional(z.int().check(z.minimum(1))),
  hashes: z._default(z.boolean(), false),
  filesOnly: z._default(z.boolean().check(z.describe('Count the matching lines of each file')), false),
  ...filters,
})

const match = z.object({
  path: z.string(),
  kind: z.string(),
  sha256: z.optional(z.string()),
  line: z.number(),
  column: z.number().check(z.describe('Of the first match in the line, in UTF-16 units')),
  snippet: z.string(),
  before: z.array(z.string()),
  after: z.array(z.string()),
})

const fileCount = z.object({
  path: z.string(),
  kind: z.string(),
  sha256: z.optional(z.string()),
  count: z.number(),
})

/** The result of `search_text`. */
export const searchOutput = z.object({
  path: z.string(),
  matches: z.array(match),
  files: z.optional(z.array(fileCount)),
  truncated: z.boolean(),
  truncatedReason: z.optional(z.enum(['maxMatches', 'bytes', 'timeout'])),
  filesSearched: z.number(),
  filesSkipped: z.number(),
})

export type SearchInput = z.output<typeof searchInput>
export type SearchOutput = z.input<typeof searchOutput>
export type Match = z.output<typeof match>
export type FileCount = z.output<typeof fileCount>
export type TruncatedReason = NonNullable<z.output<typeof searchOutput>['truncatedReason']>
