import * as z from 'zod'
import { type Failure, ToolError } from '../../errors.ts'
import { quote } from '../../paths/logical-path.ts'
import type { ToolOutput } from '../../tools/index.ts'
import { call, defineDialectTool, fieldsOf, type PathMapping } from '../define.ts'
import type { Answer, DialectError, Steps } from '../runtime/types.ts'
import { commonErrorText } from './editor.ts'
import { insertAfter, replaceOnce, requireParameter, snippet, viewFile } from './text-commands.ts'

/** Where the memory lies, in its own paths. */
export const MEMORIES = '/memories'

const input = z.object({
  command: z.enum(['view', 'create', 'str_replace', 'insert', 'delete', 'rename']).describe('What to do'),
  path: z.string().optional().describe('File or directory below /memories; for all but rename'),
  view_range: z.array(z.int()).length(2).optional().describe('view: first and last line, from 1; -1 is the end'),
  file_text: z.string().optional().describe('create: the content'),
  old_str: z.string().min(1).optional().describe('str_replace: text that occurs exactly once'),
  new_str: z.string().optional().describe('str_replace: the text in its place'),
  insert_line: z.int().min(0).optional().describe('insert: the line after which to insert; 0 is the beginning'),
  insert_text: z.string().optional().describe('insert: the text'),
  old_path: z.string().optional().describe('rename: what to rename'),
  new_path: z.string().optional().describe('rename: its new path'),
})

type Input = z.output<typeof input>

/** The memory tool in its version of 2025-08-18. */
export const memory = defineDialectTool({
  name: 'memory',
  title: 'Memory',
  description:
    'Keep notes in files below /memories, for later conversations: view, create, str_replace, insert, delete, rename.',
  input,
  native: { anthropic: { type: 'memory_20250818' } },
  uses: ['read_file', 'list_directory'],
  mayUse: ['write_file', 'edit_file', 'replace_range', 'delete_file', 'move_file'],
  *steps(asked, pathMapping) {
    if (asked.command === 'rename') return yield* rename(asked, pathMapping)
    const named = requireParameter('path', asked.path, asked.command)
    const path = inside(named, pathMapping)
    if (asked.command === 'view') return yield* view(named, path, pathMapping, asked.view_range)
    if (asked.command === 'create') {
      const content = requireParameter('file_text', asked.file_text, 'create')
      yield* call('write_file', { path, content, mode: 'CREATE_NEW' })
      return { output: `File created successfully at: ${named}` }
    }
    if (asked.command === 'str_replace') {
      const lines = yield* replaceOnce(path, asked.old_str, asked.new_str)
      return {
        output: `The memory file has been edited. Here is the snippet showing the change (with line numbers):\n${snippet(lines)}`,
      }
    }
    if (asked.command === 'insert') {
      yield* insertAfter(path, asked.insert_line, asked.insert_text)
      return { output: `The file ${named} has been edited.` }
    }
    refuseRoot('delete', named)
    yield* call('delete_file', { path })
    return { output: `Successfully deleted ${named}` }
  },
})

/** The memory's paths lie below its own root, wherever else this dialect's paths may lie. */
function inside(path: string, pathMapping: PathMapping): string {
  if (path === MEMORIES || path.startsWith(`${MEMORIES}/`)) return pathMapping.inward(path)
  throw new ToolError('PATH_REJECTED', `Path must start with ${MEMORIES}, got: ${quote(path)}`)
}

function refuseRoot(verb: string, path: string): void {
  if (path.replace(/\/+$/, '') !== MEMORIES) return
  throw new ToolError('PATH_REJECTED', `Cannot ${verb} the ${MEMORIES} directory itself`)
}

function* rename({ old_path, new_path }: Input, pathMapping: PathMapping): Steps<Answer> {
  const from = requireParameter('old_path', old_path, 'rename')
  const to = requireParameter('new_path', new_path, 'rename')
  refuseRoot('rename', from)
  yield* call('move_file', { path: inside(from, pathMapping), to: inside(to, pathMapping) })
  return { output: `Successfully renamed ${from} to ${to}` }
}

function* view(
  named: string,
  path: string,
  pathMapping: PathMapping,
  range: readonly number[] | undefined,
): Steps<Answer | Failure> {
  const seen = yield* viewFile(path, range)
  if (seen.ok) return { output: `Here's the content of ${named} with line numbers:\n${seen.text}` }
  const isEmptyMemory = seen.code === 'NOT_FOUND' && named === MEMORIES
  if (seen.code !== 'IS_DIRECTORY' && !isEmptyMemory) return seen
  // Notes are shown whatever a .gitignore of the workspace says of them.
  const entries = isEmptyMemory
    ? []
    : (yield* call('list_directory', { path, maxDepth: 2, includeIgnored: true })).entries
  const lines = [`${sizeOf(entries, '')}\t${named}`]
  for (const { path: at, type } of entries) {
    lines.push(`${sizeOf(entries, at)}\t${pathMapping.outward(at)}${type === 'directory' ? '/' : ''}`)
  }
  return {
    output: `Here're the files and directories up to 2 levels deep in ${named}, excluding hidden items and node_modules:\n${lines.join('\n')}`,
  }
}

type Entries = ToolOutput<'list_directory'>['entries']

/** Of a file, or of the files of a directory that are listed. */
function sizeOf(entries: Entries, at: string): string {
  let bytes = 0
  for (const { path, sizeBytes = 0 } of entries) {
    if (at === '' || path === at || path.startsWith(`${at}/`)) bytes += sizeBytes
  }
  return readable(bytes)
}

/** Bytes as `du -h` gives them. */
function readable(bytes: number): string {
  let size = bytes
  let unit = 0
  while (size >= 1024 && unit < 3) {
    size /= 1024
    unit += 1
  }
  return `${Number.isInteger(size) ? size : size.toFixed(1)}${'BKMG'[unit]}`
}

/** What the memory says to a refusal; `undefined` where it has no sentence of its own. */
export function memoryErrorText({ code, input, failure }: DialectError): string | undefined {
  const { command, old_path, new_path, ...asked } = fieldsOf<Input>(input)
  const named = asked.path ?? (code === 'ALREADY_EXISTS' ? new_path : old_path)
  if (code === 'ALREADY_EXISTS') {
    return command === 'rename' ? `The destination ${named} already exists` : `File ${named} already exists`
  }
  if (code === 'NOT_FOUND' && (command === 'delete' || command === 'rename')) {
    return `The path ${named} does not exist`
  }
  return commonErrorText(code, { ...asked, path: named }, failure, (lines) => `: ${lines}`)
}
