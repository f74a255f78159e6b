import { type Dirent, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ToolError } from '../../errors.ts'
import type { Visibility } from '../../guard/visibility.ts'
import { childOf, type LogicalPath, type Path, parsePath, ROOT } from '../../paths/logical-path.ts'
import { yieldToEventLoop } from '../../util/timers.ts'
import type { Mask } from './sandbox.ts'

/** Beyond these limits, the system rejects the arguments of the sandbox. */
const MAX_MASKS = 4000
const MAX_LENGTH = 500_000
/** Directories to read before other work may run. */
const DIRECTORIES_PER_TURN = 200

/**
 * Finds everything below a root that a command may not read: paths that are not visible to the call, and names on the
 * disk that are not logical paths, so that no tool could ask for them.
 *
 * @param list reads a directory
 * @throws ToolError `SHELL_UNAVAILABLE` if there are too many masks, or a directory cannot be read
 */
export async function findMasks(
  root: string,
  visibility: Pick<Visibility, 'see'>,
  list = listEntries,
): Promise<readonly Mask[]> {
  const masks: Mask[] = []
  let length = 0
  function add(path: string, kind: Mask['kind']): void {
    masks.push({ kind, path })
    length += Buffer.byteLength(path) + 4
    if (masks.length <= MAX_MASKS && length <= MAX_LENGTH) return
    throw new ToolError('SHELL_UNAVAILABLE', `More than ${MAX_MASKS} files must be hidden from the command`)
  }

  const pending: Path[] = [ROOT]
  let count = 0
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    count += 1
    if (count % DIRECTORIES_PER_TURN === 0) await yieldToEventLoop()
    const entries = entriesOf(join(root, directory), list)
    if (entries === undefined) {
      // The command runs as the owner of the directory, and could make it readable.
      if (directory === ROOT) throw cannotHide()
      add(directory, 'd')
      continue
    }
    for (const entry of entries) {
      const { name } = entry
      const kind = entry.isDirectory() ? 'd' : 'f'
      // A mask on a link would cover its target, which has its own mask if it needs one.
      if (entry.isSymbolicLink()) continue
      const path = childOf(directory, name)
      // A name that is not valid UTF-8 cannot be passed to the sandbox.
      if (name.includes('\ufffd')) throw cannotHide()
      if (toLogicalPath(path) === undefined) add(path, kind)
      else if (!visibility.see(path, kind === 'd' ? 'directory' : 'file')) add(path, kind)
      else if (kind === 'd') pending.push(path)
    }
  }
  return masks
}

/** Returns the path if it is a logical path in its canonical spelling. */
export function toLogicalPath(path: string): LogicalPath | undefined {
  try {
    const parsed = parsePath(path)
    return parsed === path ? parsed : undefined
  } catch {
    return undefined
  }
}

type Entry = Pick<Dirent, 'name' | 'isDirectory' | 'isSymbolicLink'>

function listEntries(directory: string): readonly Entry[] {
  return readdirSync(directory, { withFileTypes: true })
}

/** Returns `undefined` for a directory without read permission. */
function entriesOf(directory: string, list: typeof listEntries): readonly Entry[] | undefined {
  try {
    return list(directory)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return []
    if (code === 'EACCES') return undefined
    throw cannotHide()
  }
}

function cannotHide(): ToolError {
  return new ToolError('SHELL_UNAVAILABLE', 'The workspace contains a name that cannot be hidden from the command')
}
