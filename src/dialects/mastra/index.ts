import { createPathMapping } from '../define.ts'
import { createDialectFactory, type DialectFactory } from '../runtime/dialect-factory.ts'
import { formatNearestPassage } from '../runtime/nearest-passage.ts'
import type { Answer, DialectError } from '../runtime/types.ts'
import { fileTools } from './files.ts'
import { shellTools } from './shell.ts'

/**
 * The workspace tools of Mastra, with names that start with `mastra_workspace_`.
 *
 * @param roots virtual roots of its paths. Default: none, paths are relative to the root of the workspace
 * @example
 * const workspace = await createWorkspace({ backend: memory(), policy: 'autonomous', dialect: mastra() })
 * await workspace.call('mastra_workspace_write_file', { path: 'a.txt', content: 'Hello\n' })
 */
export const mastra: DialectFactory = createDialectFactory('mastra()', {}, (roots) => ({
  name: 'mastra',
  description: 'The workspace tools of Mastra',
  pathMapping: createPathMapping(roots),
  tools: [...fileTools, ...shellTools],
  fields: { startLine: 'offset', maxLines: 'limit', includeHidden: 'showHidden' },
  hints: {
    WRITE_CONFLICT: 'Read the whole file with mastra_workspace_read_file, and repeat the change on what it shows.',
    IS_DIRECTORY: 'Name a file; use mastra_workspace_list_files for a directory.',
    EDIT_NO_MATCH: 'Copy old_string exactly from the file, with its white space and without numbers of lines.',
    EDIT_AMBIGUOUS: 'Add surrounding lines to old_string until it occurs once, or set replace_all.',
    FILE_TOO_LARGE: 'Read a part of it with offset and limit.',
  },
  formatError,
}))

function formatError({ code, message, hint, failure }: DialectError): Answer {
  const renamedMessage = message.replace(/\boldText\b/, '"old_string"')
  return { output: `Error: ${renamedMessage} (${code}). ${hint}${formatNearestPassage(failure)}` }
}
