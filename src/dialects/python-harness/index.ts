import { createPathMapping, joinSentences } from '../define.ts'
import { createDialectFactory, type DialectFactory } from '../runtime/dialect-factory.ts'
import { formatNearestPassage } from '../runtime/nearest-passage.ts'
import type { Answer, DialectError } from '../runtime/types.ts'
import { fileTools } from './files.ts'
import { shellTools } from './shell.ts'

/**
 * The eight file tools and the four shell tools of a Python agent harness. Fields are in snake_case, and every result is an
 * object `{ success, output, error }`, in which `error` of a success and `output` of a refused call are `null`.
 *
 * @param roots virtual roots of its paths. Default: none, paths are relative to the root of the workspace
 * @example
 * const workspace = await createWorkspace({ backend: memory(), policy: 'autonomous', dialect: pythonHarness() })
 * await workspace.call('write_file', { path: 'a.txt', content: 'Hello\n' })
 */
export const pythonHarness: DialectFactory = createDialectFactory('pythonHarness()', {}, (roots) => ({
  name: 'python-harness',
  description: 'Eight file tools and four shell tools in snake_case, with {success, output, error}',
  pathMapping: createPathMapping(roots),
  tools: [...fileTools, ...shellTools],
  versions: true,
  fields: {
    startColumn: 'start_column',
    maxLines: 'limit',
    maxMatches: 'max_results',
    maxResults: 'max_results',
  },
  hints: {
    WRITE_CONFLICT: 'Read the whole file with read_file, and repeat the change on what it shows.',
    IS_DIRECTORY: 'Name a file; use list_directory for a directory.',
    EDIT_NO_MATCH: 'Copy old_text exactly from the file, with its white space.',
    EDIT_AMBIGUOUS: 'Add surrounding lines to old_text until it occurs once, or set replace_all.',
    FILE_TOO_LARGE: 'Read a part of it with offset and limit.',
    SHELL_UNAVAILABLE: 'Nothing here can run this; work without it.',
  },
  formatError,
}))

function formatError({ code, message, hint, failure }: DialectError): Answer {
  const renamedMessage = message.replace(/\boldText\b/, '"old_text"')
  return {
    output: {
      success: false,
      output: null,
      error: `${code}: ${joinSentences(renamedMessage, hint)}${formatNearestPassage(failure)}`,
    },
  }
}
