import * as z from 'zod/mini'
import { mediaTypes } from '../../files/media/types.ts'
import { pathField } from './fields.ts'

/** The input of `read_file`. */
export const readInput = z.strictObject({
  path: pathField.check(z.describe('File, or artifact://… of a stored result')),
  startLine: z._default(z.int().check(z.minimum(1)), 1),
  startColumn: z._default(z.int().check(z.minimum(1)), 1),
  maxLines: z.optional(z.int().check(z.minimum(1))),
  lineNumbers: z._default(z.boolean(), false),
  ifChanged: z._default(z.boolean().check(z.describe('No content if you have seen this version')), false),
  cells: z._default(z.boolean().check(z.describe('Notebook as cells, not JSON')), false),
})

const media = z.object({
  type: z.enum(['image', 'document']),
  mimeType: z.enum(mediaTypes),
  sizeBytes: z.number(),
  width: z.optional(z.number().check(z.describe('In pixels'))),
  height: z.optional(z.number()),
  data: z.string().check(z.describe('Base64')),
})

/** The result of `read_file`. */
export const readOutput = z.object({
  path: z.string(),
  content: z.string(),
  startLine: z.number(),
  endLine: z.number(),
  totalLines: z.number(),
  sha256: z.string(),
  truncated: z.boolean(),
  nextColumn: z.optional(z.number().check(z.describe('If endLine is cut: the startColumn that continues it'))),
  kind: z.string(),
  encoding: z.string(),
  eol: z.string(),
  bom: z.boolean(),
  unchangedSince: z.optional(
    z.string().check(z.describe('With ifChanged: the earlier call that showed these lines; content is then empty')),
  ),
  media: z.optional(media.check(z.describe('An image or PDF document, if the caller takes it; content is then empty'))),
})

export type ReadInput = z.output<typeof readInput>
export type ReadOutput = z.output<typeof readOutput>
