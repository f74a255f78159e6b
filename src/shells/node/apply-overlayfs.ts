import { lstatSync, readdirSync, readFileSync, readlinkSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { ToolError } from '../../errors.ts'
import { childOf, type Path, quote, ROOT } from '../../paths/logical-path.ts'
import type { Backend, EntryState } from '../../storage/backend.ts'
import { sameState, stateAt } from '../../storage/versions.ts'
import { applyChanges, type CommandChange } from '../shared/apply-changes.ts'
import type { CommandFiles } from '../types.ts'
import type { Sandbox } from './sandbox.ts'

/** Maximum size of a file that is read back. */
const MAX_BYTES = 1024 * 1024 * 1024

export interface OverlayfsLayers {
  readonly root: string
  /** The directory of the command, with the upper layer in `upper`. */
  readonly commandDir: string
  readonly backend: Backend
  readonly listNames: NonNullable<Sandbox['overlayfs']>['listNames']
}

/** Applies the upper layer of an overlayfs through the policy gate. All processes of the command must have ended. */
export async function applyOverlayfs(layers: OverlayfsLayers, files: CommandFiles): Promise<void> {
  const { backend, listNames } = layers
  const upper = join(layers.commandDir, 'upper')
  const changes: CommandChange[] = []
  const tooLarge: Path[] = []
  /** Directories that exist in both layers. Deletions can only be in these. */
  const shared: Path[] = []
  const pending: Path[] = [ROOT]
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    if (directory === ROOT || (await backend.stat(directory))?.type === 'directory') shared.push(directory)
    for (const name of readdirSync(join(upper, directory))) {
      const path = childOf(directory, name)
      const stat = lstatSync(join(upper, path))
      // A whiteout: deletions are found by comparing names, below.
      if (stat.isCharacterDevice() && stat.rdev === 0) continue
      const after = stateIn(upper, path, stat)
      if (after instanceof ToolError) {
        files.refuse('file:write:create', path, after)
        if (after.code === 'LIMIT_EXCEEDED') tooLarge.push(path)
        continue
      }
      if (after?.type === 'directory') pending.push(path)
      const before = await lowerState(backend, path)
      if (!sameState(before, after, { modes: true })) changes.push(withContents(backend, { path, before, after }))
    }
  }
  const hasChanges = readdirSync(upper).length > 0
  for (const [directory, remaining] of hasChanges ? await listNames(layers, shared) : []) {
    for (const { name, type } of await backend.list(directory)) {
      if (remaining.has(name)) continue
      const path = childOf(directory, name)
      const before: EntryState = type === 'directory' ? { type } : await lowerState(backend, path)
      changes.push(withContents(backend, { path, before, after: null }))
    }
  }
  await applyChanges(files, changes, tooLarge)
}

/** Adds to the removal of a directory what is below it: overlayfs lists only the directory. */
function withContents(backend: Backend, change: CommandChange): CommandChange {
  const { path, before, after } = change
  if (before?.type !== 'directory' || after?.type === 'directory') return change
  return { ...change, contents: () => statesBelow(backend, path) }
}

/** Returns the states of all files and links below a directory. */
async function statesBelow(backend: Backend, root: Path): Promise<EntryState[]> {
  const states: EntryState[] = []
  const waiting = [root]
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    for (const { name, type } of await backend.list(directory)) {
      const path = childOf(directory, name)
      if (type === 'directory') waiting.push(path)
      else states.push(await stateAt(backend, path))
    }
  }
  return states
}

/** The state of a path in the lower layer. A name that no backend accepts is absent there; the gate refuses it later. */
async function lowerState(backend: Backend, path: Path): Promise<EntryState> {
  try {
    return await stateAt(backend, path)
  } catch (error) {
    if (error instanceof ToolError && error.code === 'PATH_REJECTED') return null
    throw error
  }
}

function stateIn(upper: string, path: Path, stat: Stats): EntryState | ToolError {
  if (stat.isDirectory()) return { type: 'directory' }
  if (stat.isSymbolicLink()) return { type: 'link', target: readlinkSync(join(upper, path)) }
  if (!stat.isFile()) {
    return new ToolError('PATH_REJECTED', `Cannot keep ${quote(path)}: it is not a file, directory or link`, { path })
  }
  if (stat.size > MAX_BYTES) {
    return new ToolError('LIMIT_EXCEEDED', `Cannot keep ${quote(path)}: it has ${stat.size} bytes`, { path })
  }
  return { type: 'file', bytes: readFileSync(join(upper, path)), mode: stat.mode & 0o777 }
}
