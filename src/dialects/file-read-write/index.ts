import * as z from 'zod/mini'
import { counted } from '../../util/counted.ts'
import { call, createPathMapping, defineDialectTool, joinSentences, readBetween } from '../define.ts'
import { createDialectFactory, type DialectFactory } from '../runtime/dialect-factory.ts'
import { useNullDevice } from '../runtime/steps.ts'
import { success } from './answer.ts'
import { memoryTools } from './memory.ts'

/**
 * `file_read` and `file_write`, which return `{ success, output, error }`, and `memory_store`, `memory_get`, `memory_search`
 * and `memory_recall` if the policy has a memory. `/dev/null` can be read and written.
 *
 * @param roots virtual roots of its paths. Default: none, paths are relative to the root of the workspace
 * @example
 * const workspace = await createWorkspace({ backend: memory(), policy: 'autonomous', dialect: fileReadWrite() })
 * await workspace.call('file_write', { path: 'a.txt', content: 'Hello\n' })
 */
export const fileReadWrite: DialectFactory = createDialectFactory('fileReadWrite()', {}, (roots) => ({
  name: 'file-read-write',
  description: 'file_read and file_write, and the memory tools, which return { success, output, error }',
  pathMapping: createPathMapping(roots),
  tools,
  hints: {
    WRITE_CONFLICT: 'Read all of it with file_read, or a note with memory_get, and repeat the change on what it shows.',
    FILE_TOO_LARGE: 'Read a part of it with start_line and end_line, or a long line with start_column.',
    IS_DIRECTORY: 'Name a file.',
    NOT_FOUND: 'Check the path, or the id of the note.',
  },
  fields: { startLine: 'start_line' },
  formatError: ({ code, message, hint }) => ({
    output: { success: false, output: '', error: `${code}: ${joinSentences(message, hint)}` },
  }),
}))

/** Always empty, and never a file of the workspace. */
const NULL_DEVICE = '/dev/null'

const line = z.optional(z.int().check(z.minimum(1)))

const tools = [
  defineDialectTool({
    name: 'file_read',
    title: 'Read file',
    description: 'Read a text file, or its lines from start_line to end_line.',
    input: z.object({
      path: z.string().check(z.describe('File to read')),
      start_line: line.check(z.describe('First line, from 1')),
      end_line: line.check(z.describe('Last line, included')),
    }),
    annotations: { readOnlyHint: true, openWorldHint: false },
    uses: ['read_file'],
    *steps({ path, start_line, end_line }, pathMapping) {
      if (path === NULL_DEVICE) {
        yield* useNullDevice('read')
        return success('')
      }
      const read = yield* readBetween(pathMapping.inward(path), start_line, end_line, true)
      const { content, endLine, nextColumn, isCut } = read
      if (!isCut) return success(content)
      const next =
        nextColumn === undefined ? `start_line ${endLine + 1}` : `start_line ${endLine} and start_column ${nextColumn}`
      return success(`${content.replace(/\n$/, '')}\n[cut: continue with ${next}]\n`)
    },
  }),
  defineDialectTool({
    name: 'file_write',
    title: 'Write file',
    description:
      'Write a text file: create it, replace the whole of one that was read before, or with append add at its end.',
    input: z.object({
      path: z.string().check(z.describe('File to write; missing directories are made')),
      content: z.string(),
      append: z._default(z.boolean().check(z.describe('Add at the end, without a line end in between')), false),
    }),
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    uses: ['write_file', 'append_file'],
    *steps({ path, content, append }, pathMapping) {
      const file = pathMapping.inward(path)
      if (path === NULL_DEVICE) {
        yield* useNullDevice('write')
        return success(`Discarded ${counted(new TextEncoder().encode(content).length, 'byte')}: ${path} keeps nothing`)
      }
      if (append) {
        const { bytesAppended } = yield* call('append_file', { path: file, content })
        return success(`Appended ${counted(bytesAppended, 'byte')} to ${path}`)
      }
      const { bytesWritten, created } = yield* call('write_file', { path: file, content })
      return success(`${created ? 'Created' : 'Replaced'} ${path} (${counted(bytesWritten, 'byte')})`)
    },
  }),
  ...memoryTools,
]
