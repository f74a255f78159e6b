import type { Failure } from '../../errors.ts'
import { createPathMapping, fieldsOf } from '../define.ts'
import { createDialectFactory, type DialectFactory } from '../runtime/dialect-factory.ts'
import { formatNearestPassage } from '../runtime/nearest-passage.ts'
import type { Answer, DialectError } from '../runtime/types.ts'
import { deepagentsTools } from './tools.ts'

/**
 * The filesystem tools of deepagents, with absolute paths below `/`.
 *
 * @param roots virtual roots of its paths. Default: the root of the workspace as `/`
 * @example
 * const workspace = await createWorkspace({ backend: memory(), policy: 'autonomous', dialect: deepagents() })
 * await workspace.call('write_file', { file_path: '/a.txt', content: 'Hello\n' })
 */
export const deepagents: DialectFactory = createDialectFactory('deepagents()', { '/': '' }, (roots) => ({
  name: 'deepagents',
  description: 'The filesystem tools of deepagents',
  pathMapping: createPathMapping(roots),
  tools: deepagentsTools,
  fields: { maxLines: 'limit', maxMatches: 'max_count' },
  hints: {
    WRITE_CONFLICT: 'Read the whole file with read_file, and repeat the change on what it shows.',
    IS_DIRECTORY: 'Name a file; use ls for a directory.',
    EDIT_NO_MATCH: 'Copy old_string exactly from the file, with its white space.',
    FILE_TOO_LARGE: 'Read a part of it with offset and limit.',
  },
  formatError,
}))

function formatError({ code, message, hint, path, input, failure }: DialectError): Answer {
  const sentence = sentences[code]?.(path, failure, fieldsOf<{ old_string: unknown }>(input).old_string)
  return { output: `Error: ${sentence ?? `${message} (${code}). ${hint}`}${formatNearestPassage(failure)}` }
}

type Sentence = (path: string | undefined, failure: Failure, oldString: unknown) => string

/** Error messages of the original, for the codes that it has one for. */
const sentences: Readonly<Partial<Record<DialectError['code'], Sentence>>> = {
  NOT_FOUND: (path) => `File '${path}' not found`,
  EDIT_NO_MATCH: (_path, _failure, oldString) => `String not found in file: '${String(oldString).slice(0, 200)}'`,
  EDIT_AMBIGUOUS: (_path, { occurrences }, oldString) =>
    `String '${String(oldString).slice(0, 200)}' has multiple occurrences (appears ${occurrences} times) in file. Use replace_all=True to replace all instances, or provide a more specific string with surrounding context.`,
}
