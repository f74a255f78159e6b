import { ToolError } from '../../errors.ts'
import { display, type Path, quote } from '../../paths/logical-path.ts'
import type { CommandFiles } from '../../shells/types.ts'

/** Refuses a place where no command can start, as the command itself would see it. */
export async function requireDirectory(files: Pick<CommandFiles, 'stat'>, cwd: Path): Promise<void> {
  const stat = await files.stat(display(cwd))
  if (stat?.type === 'directory') return
  const code = stat === undefined ? 'NOT_FOUND' : 'NOT_A_DIRECTORY'
  const why = stat === undefined ? 'it does not exist' : 'it is no directory'
  throw new ToolError(code, `Cannot run a command in ${quote(display(cwd))}: ${why}`, { path: cwd })
}
