import * as z from 'zod/mini'
import { type Failure, ToolError } from '../../errors.ts'
import { quote } from '../../paths/logical-path.ts'
import type { ToolOutput } from '../../tools/index.ts'
import { withoutEndSlashes } from '../../util/slashes.ts'
import { call, defineDialectTool, fieldsOf, type PathMapping, refuseUnused } from '../define.ts'
import type { Answer, DialectError, Steps } from '../runtime/types.ts'
import { commonErrorText } from './editor.ts'
import {
  insertAfter,
  refuseOtherParameters,
  replaceOnce,
  requireParameter,
  snippet,
  viewFile,
} from './text-commands.ts'

/** Root of the memory, as the tool spells it. */
export const MEMORIES = '/memories'

const input = z.object({
  command: z.enum(['view', 'create', 'str_replace', 'insert', 'delete', 'rename']).check(z.describe('What to do')),
  path: z.optional(z.string().check(z.describe('File or directory below /memories; for all but rename'))),
  view_range: z.optional(
    z.array(z.int()).check(z.length(2), z.describe('view: first and last line, from 1; -1 is the end')),
  ),
  file_text: z.optional(z.string().check(z.describe('create: the content'))),
  old_str: z.optional(z.string().check(z.minLength(1), z.describe('str_replace: text that occurs exactly once'))),
  new_str: z.optional(z.string().check(z.describe('str_replace: the text in its place'))),
  insert_line: z.optional(
    z.int().check(z.minimum(0), z.describe('insert: the line after which to insert; 0 is the beginning')),
  ),
  insert_text: z.optional(z.string().check(z.describe('insert: the text'))),
  old_path: z.optional(z.string().check(z.describe('rename: what to rename'))),
  new_path: z.optional(z.string().check(z.describe('rename: its new path'))),
})

type Input = z.output<typeof input>

/** The memory tool, version 2025-08-18. */
export const memory = defineDialectTool({
  name: 'memory',
  title: 'Memory',
  description:
    'Keep notes in files below /memories, for later conversations: view, create, str_replace, insert, delete, rename.',
  input,
  native: { anthropic: { type: 'memory_20250818' } },
  uses: ['read_file', 'list_directory'],
  mayUse: ['write_file', 'edit_file', 'replace_range', 'delete_file', 'move_file'],
  *steps(request, pathMapping) {
    refuseOtherParameters(request)
    if (request.command === 'rename') return yield* rename(request, pathMapping)
    const memoryPath = requireParameter('path', request.path, request.command)
    const path = inwardMemoryPath(memoryPath, pathMapping)
    if (request.command === 'view') return yield* view(memoryPath, path, pathMapping, request.view_range)
    if (request.command === 'create') {
      const content = requireParameter('file_text', request.file_text, 'create')
      yield* call('write_file', { path, content, mode: 'CREATE_NEW' })
      return { output: `File created successfully at: ${memoryPath}` }
    }
    if (request.command === 'str_replace') {
      const lines = yield* replaceOnce(path, request.old_str, request.new_str)
      return {
        output: `The memory file has been edited. Here is the snippet showing the change (with line numbers):\n${snippet(lines)}`,
      }
    }
    if (request.command === 'insert') {
      yield* insertAfter(path, request.insert_line, request.insert_text)
      return { output: `The file ${memoryPath} has been edited.` }
    }
    refuseRoot('delete', memoryPath)
    yield* call('delete_file', { path })
    return { output: `Successfully deleted ${memoryPath}` }
  },
})

/** Translates a path of the memory. Paths outside of its root are rejected, even if the dialect has other roots. */
function inwardMemoryPath(path: string, pathMapping: PathMapping): string {
  if (path === MEMORIES || path.startsWith(`${MEMORIES}/`)) return pathMapping.inward(path)
  throw new ToolError('PATH_REJECTED', `Path must start with ${MEMORIES}, got: ${quote(path)}`)
}

function refuseRoot(verb: string, path: string): void {
  if (withoutEndSlashes(path) !== MEMORIES) return
  throw new ToolError('PATH_REJECTED', `Cannot ${verb} the ${MEMORIES} directory itself`)
}

function* rename({ old_path, new_path }: Input, pathMapping: PathMapping): Steps<Answer> {
  const from = requireParameter('old_path', old_path, 'rename')
  const to = requireParameter('new_path', new_path, 'rename')
  refuseRoot('rename', from)
  yield* call('move_file', { path: inwardMemoryPath(from, pathMapping), to: inwardMemoryPath(to, pathMapping) })
  return { output: `Successfully renamed ${from} to ${to}` }
}

function* view(
  memoryPath: string,
  path: string,
  pathMapping: PathMapping,
  range: readonly number[] | undefined,
): Steps<Answer | Failure> {
  const file = yield* viewFile(path, range)
  if (file.ok) return { output: `Here's the content of ${memoryPath} with line numbers:\n${file.text}` }
  const isEmptyMemory = file.code === 'NOT_FOUND' && memoryPath === MEMORIES
  if (file.code !== 'IS_DIRECTORY' && !isEmptyMemory) return file
  refuseUnused('a directory', { view_range: range })
  // A .gitignore of the workspace must not hide notes.
  const listing = isEmptyMemory ? undefined : yield* call('list_directory', { path, maxDepth: 2, includeIgnored: true })
  const { entries = [] } = listing ?? {}
  const lines = [`${sizeOf(entries, '')}\t${memoryPath}`]
  for (const { path: at, type } of entries) {
    lines.push(`${sizeOf(entries, at)}\t${pathMapping.outward(at)}${type === 'directory' ? '/' : ''}`)
  }
  return {
    output: `Here're the files and directories up to 2 levels deep in ${memoryPath}, excluding hidden items and node_modules:\n${lines.join('\n')}`,
  }
}

type Entries = ToolOutput<'list_directory'>['entries']

/** Returns the size of a file, or the sum of the listed files of a directory. */
function sizeOf(entries: Entries, at: string): string {
  let bytes = 0
  for (const { path, sizeBytes = 0 } of entries) {
    if (at === '' || path === at || path.startsWith(`${at}/`)) bytes += sizeBytes
  }
  return formatBytes(bytes)
}

/** Formats bytes as `du -h` does. */
function formatBytes(bytes: number): string {
  let size = bytes
  let unit = 0
  while (size >= 1024 && unit < 3) {
    size /= 1024
    unit += 1
  }
  return `${Number.isInteger(size) ? size : size.toFixed(1)}${'BKMG'[unit]}`
}

/** Returns the memory's own text for an error, or `undefined` if it has none. */
export function memoryErrorText({ code, input, failure }: DialectError): string | undefined {
  const { command, old_path, new_path, ...request } = fieldsOf<Input>(input)
  const memoryPath = request.path ?? (code === 'ALREADY_EXISTS' ? new_path : old_path)
  if (code === 'ALREADY_EXISTS') {
    return command === 'rename' ? `The destination ${memoryPath} already exists` : `File ${memoryPath} already exists`
  }
  if (code === 'NOT_FOUND' && (command === 'delete' || command === 'rename')) {
    return `The path ${memoryPath} does not exist`
  }
  return commonErrorText(code, { ...request, path: memoryPath }, failure, (lines) => `: ${lines}`)
}
