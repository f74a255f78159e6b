import { createPathMapping, type VirtualRoots } from '../define.ts'
import { formatNearestPassage } from '../runtime/nearest-passage.ts'
import type { Answer, Dialect, DialectError } from '../runtime/types.ts'
import { fileTools } from './files.ts'
import { shellTools } from './shell.ts'

/**
 * The eight file tools and the four shell tools of a Python agent harness: fields in snake_case, and every result an object
 * of `success`, `output` and `error`, of which one of the last two is `null`.
 *
 * @param roots where its paths lie. Default: they are relative to the root of the workspace
 * @example
 * const workspace = await createWorkspace({ backend: memory(), policy: 'autonomous', dialect: pythonHarness() })
 * await workspace.call('write_file', { path: 'a.txt', content: 'Hello\n' })
 */
export function pythonHarness(roots: VirtualRoots = {}): Dialect {
  return {
    name: 'python-harness',
    description: 'Eight file tools and four shell tools in snake_case, with {success, output, error}',
    pathMapping: createPathMapping(roots),
    tools: [...fileTools, ...shellTools],
    hints: {
      WRITE_CONFLICT: 'Read the whole file with read_file, and repeat the change on what it shows.',
      IS_DIRECTORY: 'Name a file; use list_directory for a directory.',
      EDIT_NO_MATCH: 'Copy old_text exactly from the file, with its white space.',
      EDIT_AMBIGUOUS: 'Add surrounding lines to old_text until it occurs once, or set replace_all.',
      FILE_TOO_LARGE: 'Read a part of it with start_line and end_line.',
      SHELL_UNAVAILABLE: 'Nothing here can run this; work without it.',
    },
    formatError,
  }
}

function formatError({ code, message, hint, failure }: DialectError): Answer {
  const told = message.replace(/\boldText\b/, 'old_text')
  return {
    output: { success: false, output: null, error: `${code}: ${told}. ${hint}${formatNearestPassage(failure)}` },
  }
}
