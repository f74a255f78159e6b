import * as z from 'zod/mini'
import { ToolError } from '../../errors.ts'
import { compileGlob } from '../../paths/glob.ts'
import { quote } from '../../paths/logical-path.ts'
import {
  call,
  defineDialectTool,
  limitOr,
  readPart,
  refuseUnused,
  renamedFields,
  takingMedia,
  tryCall,
} from '../define.ts'
import { noteSpelling } from '../runtime/find-files.ts'
import { shownMedia } from '../runtime/mcp-text.ts'
import { newLinesOf } from '../runtime/numbered-lines.ts'
import { namedTwice } from '../runtime/steps.ts'

export const filePath = z.string().check(z.describe('Path of the file'))
export const directory = z.string().check(z.describe('Path of the directory'))

export const listDirectory = defineDialectTool({
  name: 'list_directory',
  description: 'List the files and directories directly in a directory.',
  input: z.object({
    dir_path: directory,
    ignore: z.optional(z.array(z.string()).check(z.describe('Globs of names to leave out'))),
    file_filtering_options: z.optional(
      z.object({
        respect_git_ignore: z.optional(z.boolean().check(z.describe('Leave out what .gitignore names; default true'))),
      }),
    ),
  }),
  normalizeInput: (input) => renamedFields(input, { path: 'dir_path' }),
  uses: ['list_directory'],
  *steps({ dir_path, ignore = [], file_filtering_options }, pathMapping) {
    const includeIgnored = file_filtering_options?.respect_git_ignore === false
    const { path, entries } = yield* call('list_directory', {
      path: pathMapping.inward(dir_path),
      maxEntries: yield* limitOr('listEntries', 500),
      includeHidden: true,
      includeIgnored,
    })
    yield* noteSpelling(...ignore)
    const globs = ignore.map((pattern) => compileGlob(pattern))
    const visible = entries
      .map((entry) => ({ ...entry, name: entry.path.slice(entry.path.lastIndexOf('/') + 1) }))
      .filter(({ name }) => !globs.some((glob) => glob.matches(name)))
    const shownPath = pathMapping.outward(path)
    if (visible.length === 0) return { output: `Directory ${shownPath} is empty.` }
    const directories = visible.filter(({ type }) => type === 'directory').map(({ name }) => `[DIR] ${name}`)
    const files = visible
      .filter(({ type }) => type !== 'directory')
      .map(({ name, sizeBytes, readable }) =>
        readable === false ? `${name} (protected)` : sizeBytes === undefined ? name : `${name} (${sizeBytes} bytes)`,
      )
    return { output: `Directory listing for ${shownPath}:\n${[...directories, ...files].join('\n')}` }
  },
})

export const readFile = defineDialectTool({
  name: 'read_file',
  description:
    'Read a text file, or with start_line and end_line a part of it. A note says what is cut off. Images and PDF are shown if you can see them.',
  input: z.object({
    file_path: filePath,
    start_line: z.optional(z.int().check(z.minimum(1), z.describe('First line, from 1'))),
    end_line: z.optional(z.int().check(z.minimum(1), z.describe('Last line'))),
  }),
  normalizeInput: adaptRead,
  uses: ['read_file'],
  *steps({ file_path, start_line = 1, end_line = Number.POSITIVE_INFINITY }, pathMapping) {
    if (end_line < start_line) {
      throw new ToolError('INVALID_INPUT', 'start_line cannot be greater than end_line', { field: 'end_line' })
    }
    const range = { startLine: start_line, maxLines: end_line - start_line + 1 }
    const read = yield* takingMedia(readPart(pathMapping.inward(file_path), range))
    if (read.media !== undefined) return shownMedia(`Read ${read.media.mimeType}: ${file_path}`, file_path, read.media)
    const { content, startLine, endLine, totalLines, isCut } = read
    if (startLine === 1 && endLine >= totalLines && !isCut) return { output: content }
    const next =
      endLine < totalLines
        ? `\nAction: To read more, call read_file with start_line and end_line; the next part starts at start_line: ${endLine + 1}.`
        : ''
    return {
      output: `\nIMPORTANT: The file content has been truncated.\nStatus: Showing lines ${startLine}-${endLine} of ${totalLines} total lines.${next}\n\n--- FILE CONTENT (truncated) ---\n${content}`,
    }
  },
})

/** Converts former fields: an absolute path, an offset from 0 and a number of lines. */
function adaptRead(input: unknown): unknown {
  const fields = renamedFields(input, { absolute_path: 'file_path', path: 'file_path' })
  const { offset, limit, ...others } = fields
  const isRange = (value: unknown) => value === undefined || typeof value === 'number'
  if (offset === undefined && limit === undefined) return others
  const present = ['start_line', 'end_line'].find((field) => others[field] !== undefined)
  if (present !== undefined) throw namedTwice(offset === undefined ? 'limit' : 'offset', present)
  // The schema refuses values that are not a valid former range.
  if (!isRange(offset) || !isRange(limit)) return fields
  requireAtLeast('offset', offset, 0)
  requireAtLeast('limit', limit, 1)
  const first = typeof offset === 'number' ? offset + 1 : 1
  return {
    ...others,
    ...(offset === undefined ? {} : { start_line: first }),
    ...(typeof limit === 'number' ? { end_line: first + limit - 1 } : {}),
  }
}

function requireAtLeast(field: string, value: unknown, least: number): void {
  if (typeof value !== 'number' || (Number.isSafeInteger(value) && value >= least)) return
  throw new ToolError('INVALID_INPUT', `Invalid input for read_file: ${field} must be a whole number from ${least}`, {
    field,
  })
}

export const writeFile = defineDialectTool({
  name: 'write_file',
  description: 'Create a file, or replace the whole content of one that was read before.',
  input: z.object({ file_path: filePath, content: z.string().check(z.describe('The whole content')) }),
  uses: ['write_file'],
  *steps({ file_path, content }, pathMapping) {
    const path = pathMapping.inward(file_path)
    const result = yield* call('write_file', { path, content })
    const shownPath = pathMapping.outward(result.path)
    return {
      output: result.created
        ? `Successfully created and wrote to new file: ${shownPath}.`
        : `Successfully overwrote file: ${shownPath}.`,
    }
  },
})

export const replace = defineDialectTool({
  name: 'replace',
  description:
    'Replace exact text in a file. old_string must occur exactly once, unless allow_multiple is true; an empty old_string creates the file. Nothing is matched approximately.',
  input: z.object({
    file_path: filePath,
    instruction: z.optional(z.string().check(z.describe('What the change is for'))),
    old_string: z.string().check(z.describe('The exact text to replace, with its white space')),
    new_string: z.string().check(z.describe('The exact text in its place')),
    allow_multiple: z.optional(z.boolean().check(z.describe('Replace every occurrence'))),
    expected_replacements: z.optional(
      z.int().check(z.minimum(1), z.describe('Replace so many occurrences, if there are exactly so many')),
    ),
  }),
  uses: ['edit_file'],
  mayUse: ['write_file'],
  *steps({ file_path, instruction, old_string, new_string, allow_multiple, expected_replacements }, pathMapping) {
    const path = pathMapping.inward(file_path)
    const reason = instruction === undefined ? {} : { reason: instruction.slice(0, 2000) }
    if (old_string === '') {
      const isMany = expected_replacements !== undefined && expected_replacements > 1
      refuseUnused('a new file', {
        allow_multiple: allow_multiple || undefined,
        expected_replacements: isMany ? expected_replacements : undefined,
      })
      const { path: createdPath } = yield* call('write_file', {
        path,
        content: new_string,
        mode: 'CREATE_NEW',
        ...reason,
      })
      return { output: `Created new file: ${pathMapping.outward(createdPath)} with provided content.` }
    }
    const expected = expected_replacements ?? (allow_multiple === true ? undefined : 1)
    const replaceAll = expected !== 1
    const edit = { path, oldText: old_string, newText: new_string, replaceAll, ...reason }
    if (replaceAll && expected !== undefined) {
      const { replacements } = yield* call('edit_file', { ...edit, dryRun: true })
      if (replacements !== expected) throw otherCount(path, expected, replacements)
    }
    const { path: edited, replacements, diff } = yield* call('edit_file', edit)
    const code = newLinesOf(diff).map(({ lines }) => lines.join('\n'))
    return {
      output: `Successfully modified file: ${pathMapping.outward(edited)} (${replacements} replacements). Here is the updated code:\n${code.join('\n...\n')}`,
    }
  },
})

function otherCount(path: string, expected: number, count: number): ToolError {
  const message = `Cannot edit ${quote(path)}: the text occurs ${count} times`
  return new ToolError('EDIT_AMBIGUOUS', message, { path, occurrences: count, expected })
}

export const saveMemory = defineDialectTool({
  name: 'save_memory',
  description: 'Note a fact for later conversations, at the end of GEMINI.md.',
  input: z.object({
    fact: z.string().check(
      z.refine((fact) => fact.trim() !== '', 'must not be empty'),
      z.describe('One clear sentence'),
    ),
  }),
  uses: ['append_file', 'search_text'],
  narrows: ['append_file'],
  *steps({ fact }) {
    const line = fact.replace(/\s+/g, ' ').trim()
    // A search, not a read, because a read would count as seen, and the model could then replace the file.
    const search = yield* tryCall('search_text', { query: HEADING, path: NOTES, includeIgnored: true })
    if (!search.ok && search.code !== 'NOT_FOUND') return search
    const heading = search.ok && search.matches.length > 0 ? '' : `${HEADING}\n\n`
    const content = `${search.ok ? '\n' : ''}${heading}- ${line}\n`
    yield* call('append_file', { path: NOTES, content })
    return { output: JSON.stringify({ success: true, message: `Okay, I've remembered that: "${line}"` }) }
  },
})

const NOTES = 'GEMINI.md'
const HEADING = '## Gemini Added Memories'
