import type { Failure } from '../../errors.ts'
import { createPathMapping, type VirtualRoots } from '../define.ts'
import { formatNearestPassage } from '../runtime/nearest-passage.ts'
import type { Answer, Dialect, DialectError } from '../runtime/types.ts'
import { listDirectory, readFile, replace, saveMemory, writeFile } from './files.ts'
import { glob, grepSearch, readManyFiles } from './search.ts'
import { runShellCommand } from './shell.ts'

/**
 * The file and shell tools of Gemini CLI, by the names of its present versions; the earlier names of tools and fields
 * (`search_file_content`, `absolute_path`, `offset`, `limit`) are taken, too. What differs is listed in docs/dialects.md.
 *
 * @param roots where absolute paths lie. Default: the root of the workspace as `/workspace`
 * @example
 * const workspace = await createWorkspace({ backend: memory(), policy: 'autonomous', dialect: gemini() })
 * await workspace.call('write_file', { file_path: '/workspace/a.txt', content: 'Hello\n' })
 */
export function gemini(roots: VirtualRoots = { '/workspace': '' }): Dialect {
  return {
    name: 'gemini',
    description: 'The file and shell tools of Gemini CLI',
    pathMapping: createPathMapping(roots),
    tools: [listDirectory, readFile, writeFile, glob, grepSearch, replace, readManyFiles, runShellCommand, saveMemory],
    hints: {
      WRITE_CONFLICT: 'Read the whole file with read_file, and repeat the change on what it shows.',
      IS_DIRECTORY: 'Name a file; use list_directory for a directory.',
      EDIT_NO_MATCH: 'Look at the lines with read_file, and copy old_string exactly from them.',
      EDIT_AMBIGUOUS: 'Add surrounding lines to old_string, or set allow_multiple to true to replace all.',
      FILE_TOO_LARGE: 'Read a part of it with start_line and end_line.',
    },
    formatError,
  }
}

function formatError({ code, message, hint, path, failure }: DialectError): Answer {
  const told = sentences[code]?.(path, failure) ?? message
  return { output: `${told} (${code}). ${hint}${formatNearestPassage(failure)}` }
}

/** The sentences of the original, where it has one for a refusal. */
const sentences: Readonly<Partial<Record<DialectError['code'], Sentence>>> = {
  NOT_FOUND: (path) => `File not found: ${path}`,
  ALREADY_EXISTS: (path) => `File already exists, cannot create: ${path}`,
  EDIT_NO_MATCH: (path) => `Could not find an exact match for 'old_string' in '${path}'`,
  EDIT_AMBIGUOUS: (path, { expected = 1, occurrences }) =>
    `Failed to edit, Expected ${expected} ${expected === 1 ? 'occurrence' : 'occurrences'} but found ${occurrences} for old_string in file: ${path}`,
}

type Sentence = (path: string | undefined, failure: Failure) => string
