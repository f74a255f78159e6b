import { lstatSync, readdirSync, readFileSync, readlinkSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { ToolError } from '../../errors.ts'
import { childOf, type Path, ROOT } from '../../paths/logical-path.ts'
import type { Backend, EntryState } from '../../storage/backend.ts'
import { sameState, stateAt } from '../../storage/versions.ts'
import { applyChanges, type CommandChange } from '../shared/apply-changes.ts'
import type { CommandFiles } from '../types.ts'
import type { Sandbox } from './sandbox.ts'

/** A larger file is not taken over. */
const MOST_BYTES = 1024 * 1024 * 1024

export interface Apart {
  readonly root: string
  readonly own: string
  readonly backend: Backend
  readonly names: NonNullable<Sandbox['apart']>['names']
}

/** Does through the gate what a command did in the upper layer of an overlayfs. All its processes have ended. */
export async function applyOverlayfs(apart: Apart, files: CommandFiles): Promise<void> {
  const { backend, names } = apart
  const upper = join(apart.own, 'upper')
  const made: CommandChange[] = []
  /** Directories that both layers have: what is gone from them. */
  const shared: Path[] = []
  const waiting: Path[] = [ROOT]
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    if (directory === ROOT || (await backend.stat(directory))?.type === 'directory') shared.push(directory)
    for (const name of readdirSync(join(upper, directory))) {
      const path = childOf(directory, name)
      const stat = lstatSync(join(upper, path))
      // What is gone is found by the names.
      if (stat.isCharacterDevice() && stat.rdev === 0) continue
      const after = stateIn(upper, path, stat)
      if (after instanceof ToolError) {
        files.refuse('file:write:create', path, after)
        continue
      }
      if (after?.type === 'directory') waiting.push(path)
      const before = await present(backend, path)
      if (!sameState(before, after, { modes: true })) made.push({ path, before, after })
    }
  }
  const isTouched = readdirSync(upper).length > 0
  for (const [directory, shown] of isTouched ? await names(apart, shared) : []) {
    for (const { name, type } of await backend.list(directory)) {
      if (shown.has(name)) continue
      const path = childOf(directory, name)
      const before: EntryState = type === 'directory' ? { type } : await present(backend, path)
      made.push({ path, before, after: null })
    }
  }
  await applyChanges(files, made)
}

/** What stands at a path; a name that no backend takes holds nothing, and the gate refuses it. */
async function present(backend: Backend, path: Path): Promise<EntryState> {
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
  const name = JSON.stringify(path)
  if (!stat.isFile()) {
    return new ToolError('PATH_REJECTED', `Cannot keep ${name}: it is no file, directory or link`, { path })
  }
  if (stat.size > MOST_BYTES) {
    return new ToolError('LIMIT_EXCEEDED', `Cannot keep ${name}: it has ${stat.size} bytes`, { path })
  }
  return { type: 'file', bytes: readFileSync(join(upper, path)), mode: stat.mode & 0o777 }
}
