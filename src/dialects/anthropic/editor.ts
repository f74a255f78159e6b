import * as z from 'zod/mini'
import type { Failure } from '../../errors.ts'
import { call, defineDialectTool, fieldsOf, type PathMapping, refuseUnused, takingMedia } from '../define.ts'
import { shownMedia } from '../runtime/mcp-text.ts'
import { formatNearestPassage } from '../runtime/nearest-passage.ts'
import type { Answer, DialectError, Steps } from '../runtime/types.ts'
import {
  insertAfter,
  refuseOtherParameters,
  replaceOnce,
  requireParameter,
  snippet,
  viewFile,
} from './text-commands.ts'

const input = z.object({
  command: z.enum(['view', 'create', 'str_replace', 'insert']).check(z.describe('What to do')),
  path: z.string().check(z.describe('Path of the file or directory')),
  view_range: z.optional(
    z
      .array(z.int())
      .check(z.length(2), z.describe('view: first and last line, from 1; -1 as the last is the end of the file')),
  ),
  file_text: z.optional(z.string().check(z.describe('create: the content'))),
  old_str: z.optional(z.string().check(z.minLength(1), z.describe('str_replace: text that occurs exactly once'))),
  new_str: z.optional(z.string().check(z.describe('str_replace: the text in its place; left out, old_str is deleted'))),
  insert_line: z.optional(
    z.int().check(z.minimum(0), z.describe('insert: the line after which to insert; 0 is the beginning')),
  ),
  insert_text: z.optional(z.string().check(z.describe('insert: the text'))),
})

type Input = z.output<typeof input>

/** The text editor tool, version 2025-07-28. */
export const editor = defineDialectTool({
  name: 'str_replace_based_edit_tool',
  title: 'Text editor',
  description:
    'View, create and edit text files. view shows a file with line numbers, an image if you can see it, or a directory two levels deep; create makes a new file; str_replace replaces a text that occurs exactly once; insert puts lines after a line.',
  input,
  native: { anthropic: { type: 'text_editor_20250728' } },
  uses: ['read_file', 'list_directory'],
  mayUse: ['write_file', 'edit_file', 'replace_range'],
  *steps(request, pathMapping) {
    // Earlier versions of the tool insert `new_str`.
    refuseOtherParameters(request, request.command === 'insert' && request.insert_text === undefined ? ['new_str'] : [])
    const path = pathMapping.inward(request.path)
    if (request.command === 'view') return yield* view(request, path, pathMapping)
    if (request.command === 'create') return yield* create(request, path)
    const head = `The file ${request.path} has been edited. Here's the result of running \`cat -n\` on`
    if (request.command === 'str_replace') {
      const lines = yield* replaceOnce(path, request.old_str, request.new_str)
      return { output: `${head} a snippet of ${request.path}:\n${snippet(lines)}\n${review()}` }
    }
    const lines = yield* insertAfter(path, request.insert_line, request.insert_text ?? request.new_str)
    const check = ' (correct indentation, no duplicate lines, etc)'
    return { output: `${head} a snippet of the edited file:\n${snippet(lines)}\n${review(check)}` }
  },
})

function review(checks = ''): string {
  return `Review the changes and make sure they are as expected${checks}. Edit the file again if necessary.`
}

function* view(
  { path: requestedPath, view_range }: Input,
  path: string,
  pathMapping: PathMapping,
): Steps<Answer | Failure> {
  const file = yield* takingMedia(viewFile(path, view_range))
  if (file.ok && file.media !== undefined)
    return shownMedia(`Here's ${requestedPath}, ${file.media.mimeType}:`, requestedPath, file.media)
  if (file.ok) return { output: `Here's the result of running \`cat -n\` on ${requestedPath}:\n${file.text}\n` }
  if (file.code !== 'IS_DIRECTORY') return file
  refuseUnused('a directory', { view_range })
  const listing = yield* call('list_directory', { path, maxDepth: 2 })
  const lines = [requestedPath, ...listing.entries.map((entry) => pathMapping.outward(entry.path))]
  return {
    output: `Here're the files and directories up to 2 levels deep in ${requestedPath}, excluding hidden items:\n${lines.join('\n')}\n`,
  }
}

function* create({ path: requestedPath, file_text }: Input, path: string): Steps<Answer> {
  const content = requireParameter('file_text', file_text, 'create')
  yield* call('write_file', { path, content, mode: 'CREATE_NEW' })
  return { output: `File created successfully at: ${requestedPath}` }
}

/** Returns the editor's own text for an error, or `undefined` if it has none. */
export function editorErrorText({ code, input, failure }: DialectError): string | undefined {
  const request = fieldsOf<Input>(input)
  const { path } = request
  if (code === 'ALREADY_EXISTS')
    return `File already exists at: ${path}. Cannot overwrite files using command \`create\`.`
  if (code === 'IS_DIRECTORY')
    return `The path ${path} is a directory and only the \`view\` command can be used on directories`
  return commonErrorText(code, request, failure, (lines) => ` [${lines}]`)
}

/** Returns an error text that the editor and the memory share. */
export function commonErrorText(
  code: DialectError['code'],
  { path, old_str, insert_line }: { readonly [K in 'path' | 'old_str' | 'insert_line']?: Input[K] | undefined },
  failure: Failure,
  formatLines: (lines: string) => string,
): string | undefined {
  if (code === 'WRITE_CONFLICT') return `Cannot change ${path}: it was not viewed as it is now. View it, and try again.`
  if (code === 'NOT_FOUND') return `The path ${path} does not exist. Please provide a valid path.`
  if (code === 'EDIT_AMBIGUOUS') {
    return `No replacement was performed. Multiple occurrences of old_str \`${excerpt(old_str)}\` in lines${formatLines(lineNumbers(failure))}. Please ensure it is unique`
  }
  if (code === 'EDIT_NO_MATCH') {
    return `No replacement was performed, old_str \`${excerpt(old_str)}\` did not appear verbatim in ${path}.${formatNearestPassage(failure)}`
  }
  if (code === 'INVALID_INPUT' && insert_line !== undefined && failure.totalLines !== undefined) {
    return `Invalid \`insert_line\` parameter: ${insert_line}. It should be within the range of lines of the file: [0, ${failure.totalLines}]`
  }
  return undefined
}

/** Returns the lines in which an ambiguous text begins, without repetition. */
function lineNumbers({ lines }: Failure): string {
  return [...new Set(lines as readonly number[])].join(', ')
}

/** Shortens text of the model's own input. */
function excerpt(text: unknown): string {
  const content = String(text)
  return content.length > 200 ? `${content.slice(0, 200)}…` : content
}
