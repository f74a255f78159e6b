import { type Dirent, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ToolError } from '../../errors.ts'
import type { Visibility } from '../../guard/visibility.ts'
import { childOf, type Path, parsePath, ROOT } from '../../paths/logical-path.ts'
import { yieldToEventLoop } from '../../util/timers.ts'
import type { Mask } from './sandbox.ts'

/** More than this, and the system does not take the arguments. */
const MOST_MASKS = 4000
const MOST_LENGTH = 500_000
/** Directories to look at before others may go on. */
const TURN = 200

/**
 * Everything below a root that may not be read, as it stands on the disk: what the sight of the call does not show, and
 * what has a name that no tool could ask for.
 *
 * @param list reads a directory, as the system does
 * @throws ToolError `SHELL_UNAVAILABLE` where it is too much, or cannot be looked at
 */
export async function findMasks(
  root: string,
  sight: Pick<Visibility, 'see'>,
  list = entriesAt,
): Promise<readonly Mask[]> {
  const masks: Mask[] = []
  let length = 0
  function add(path: string, kind: Mask['kind']): void {
    masks.push({ kind, path })
    length += Buffer.byteLength(path) + 4
    if (masks.length <= MOST_MASKS && length <= MOST_LENGTH) return
    throw new ToolError('SHELL_UNAVAILABLE', `More than ${MOST_MASKS} files would have to be kept from the command`)
  }

  const waiting: Path[] = [ROOT]
  let count = 0
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    count += 1
    if (count % TURN === 0) await yieldToEventLoop()
    const entries = entriesOf(join(root, directory), list)
    if (entries === undefined) {
      // Its owner could open it to others, and the command is its owner.
      if (directory === ROOT) throw notLookedAt()
      add(directory, 'd')
      continue
    }
    for (const entry of entries) {
      const { name } = entry
      const kind = entry.isDirectory() ? 'd' : 'f'
      // A mask would fall on what a link leads to, which is masked where it may not be read itself.
      if (entry.isSymbolicLink()) continue
      const path = childOf(directory, name)
      // What is no UTF-8 could not be named to be masked.
      if (name.includes('\ufffd')) throw notLookedAt()
      if (!isNameable(path)) add(path, kind)
      else if (!sight.see(path, kind === 'd' ? 'directory' : 'file')) add(path, kind)
      else if (kind === 'd') waiting.push(path)
    }
  }
  return masks
}

type Entry = Pick<Dirent, 'name' | 'isDirectory' | 'isSymbolicLink'>

function entriesAt(directory: string): readonly Entry[] {
  return readdirSync(directory, { withFileTypes: true })
}

/** `undefined` where nobody may look. */
function entriesOf(directory: string, list: typeof entriesAt): readonly Entry[] | undefined {
  try {
    return list(directory)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return []
    if (code === 'EACCES') return undefined
    throw notLookedAt()
  }
}

function isNameable(path: Path): boolean {
  try {
    return parsePath(path) === path
  } catch {
    return false
  }
}

function notLookedAt(): ToolError {
  return new ToolError('SHELL_UNAVAILABLE', 'The workspace holds a name that could not be kept from the command')
}
