import type { Failure } from '../../errors.ts'
import { counted } from '../../util/counted.ts'
import { createPathMapping } from '../define.ts'
import { createDialectFactory, type DialectFactory } from '../runtime/dialect-factory.ts'
import { formatNearestPassage } from '../runtime/nearest-passage.ts'
import type { Answer, DialectError } from '../runtime/types.ts'
import { listDirectory, readFile, replace, saveMemory, writeFile } from './files.ts'
import { glob, grepSearch, readManyFiles } from './search.ts'
import { runShellCommand } from './shell.ts'

/**
 * The file and shell tools of Gemini CLI, with the names of its current versions. Former names of tools and fields
 * (`search_file_content`, `absolute_path`, `offset`, `limit`) are accepted. docs/dialects.md lists the differences.
 *
 * @param roots virtual roots of absolute paths. Default: the root of the workspace as `/workspace`
 * @example
 * const workspace = await createWorkspace({ backend: memory(), policy: 'autonomous', dialect: gemini() })
 * await workspace.call('write_file', { file_path: '/workspace/a.txt', content: 'Hello\n' })
 */
export const gemini: DialectFactory = createDialectFactory('gemini()', { '/workspace': '' }, (roots) => ({
  name: 'gemini',
  description: 'The file and shell tools of Gemini CLI',
  pathMapping: createPathMapping(roots),
  tools: [listDirectory, readFile, writeFile, glob, grepSearch, replace, readManyFiles, runShellCommand, saveMemory],
  fields: {
    maxMatches: 'total_max_matches',
    contextLines: 'context',
    filesOnly: 'names_only',
    caseSensitive: 'case_sensitive',
  },
  hints: {
    WRITE_CONFLICT: 'Read the whole file with read_file, and repeat the change on what it shows.',
    IS_DIRECTORY: 'Name a file; use list_directory for a directory.',
    EDIT_NO_MATCH: 'Look at the lines with read_file, and copy old_string exactly from them.',
    EDIT_AMBIGUOUS: 'Add surrounding lines to old_string, or set allow_multiple to true to replace all.',
    FILE_TOO_LARGE: 'Read a part of it with start_line and end_line.',
  },
  formatError,
}))

function formatError({ code, message, hint, path, failure }: DialectError): Answer {
  const sentence = sentences[code]?.(path, failure) ?? message
  return { output: `${sentence} (${code}). ${hint}${formatNearestPassage(failure)}` }
}

/** Error messages of the original, for the codes that it has one for. */
const sentences: Readonly<Partial<Record<DialectError['code'], Sentence>>> = {
  NOT_FOUND: (path) => `File not found: ${path}`,
  ALREADY_EXISTS: (path) => `File already exists, cannot create: ${path}`,
  EDIT_NO_MATCH: (path) => `Could not find an exact match for 'old_string' in '${path}'`,
  EDIT_AMBIGUOUS: (path, { expected = 1, occurrences }) =>
    `Failed to edit, Expected ${counted(Number(expected), 'occurrence')} but found ${occurrences} for old_string in file: ${path}`,
}

type Sentence = (path: string | undefined, failure: Failure) => string
