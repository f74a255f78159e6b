import { ToolError } from '../../errors.ts'
import { display, type Path, quote } from '../../paths/logical-path.ts'
import type { CommandFiles } from '../../shells/types.ts'

/**
 * Checks that a command can start in a directory, as the command itself would see it.
 *
 * @throws ToolError `NOT_FOUND`, `NOT_A_DIRECTORY`
 */
export async function requireDirectory(files: Pick<CommandFiles, 'stat'>, cwd: Path): Promise<void> {
  const stat = await files.stat(display(cwd))
  if (stat?.type === 'directory') return
  const code = stat === undefined ? 'NOT_FOUND' : 'NOT_A_DIRECTORY'
  const problem = stat === undefined ? 'it does not exist' : 'it is not a directory'
  throw new ToolError(code, `Cannot run a command in ${quote(display(cwd))}: ${problem}`, { path: cwd })
}
