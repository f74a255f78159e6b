import { createPathMapping } from '../define.ts'
import { createDialectFactory, type DialectFactory } from '../runtime/dialect-factory.ts'
import type { Answer, DialectError } from '../runtime/types.ts'
import { bash } from './bash.ts'
import { editor, editorErrorText } from './editor.ts'
import { MEMORIES, memory, memoryErrorText } from './memory.ts'

/**
 * Anthropic's text editor, bash and memory tools, with their commands, fields and results. `nativeTools` of
 * `wardspace/json-schema` returns their typed definitions. docs/dialects.md lists the differences from the originals.
 *
 * @param roots virtual roots of its paths; the memory tool needs `/memories` among them. Default: the root of the workspace
 *   as `/workspace`, and its directory `memories` as `/memories`
 * @example
 * const workspace = await createWorkspace({ backend: memory(), policy: 'autonomous', dialect: anthropic() })
 * await workspace.call('memory', { command: 'create', path: '/memories/plan.md', file_text: 'Begin small.\n' })
 */
export const anthropic: DialectFactory = createDialectFactory(
  'anthropic()',
  { '/workspace': '', [MEMORIES]: 'memories' },
  (roots) => {
    return {
      name: 'anthropic',
      description: "Anthropic's text editor, bash and memory tools",
      pathMapping: createPathMapping(roots),
      tools: MEMORIES in roots ? [editor, bash, memory] : [editor, bash],
      hints: {
        WRITE_CONFLICT: 'View the file, and repeat the change on what it shows.',
        FILE_TOO_LARGE: 'View a part of it with view_range.',
        IS_DIRECTORY: 'Use view for a directory; the files in it are changed one by one.',
      },
      formatError,
    }
  },
)

function formatError(error: DialectError): Answer {
  const { code, message, hint, tool } = error
  const sentence =
    tool === memory.name ? memoryErrorText(error) : tool === editor.name ? editorErrorText(error) : undefined
  return { output: `Error: ${sentence ?? `${message} (${code}). ${hintOf(error) ?? hint}`}` }
}

/** Returns the hint for an error of a command, if another one than the dialect's fits. */
function hintOf({ code, tool }: DialectError): string | undefined {
  if (code === 'PATH_REJECTED' && tool === memory.name)
    return `Use a path below ${MEMORIES}; the same path will not work.`
  const isOwn = [editor, bash, memory].some(({ name }) => name === tool)
  return code === 'UNKNOWN_TOOL' && isOwn ? 'Use another command, or another tool.' : undefined
}
