import { createWorkspace, type Path, type WorkspaceHistory } from 'wardspace'
import { callbackSink } from 'wardspace/audit'
import type { Change, EntryState } from 'wardspace/backend'
import { memory } from 'wardspace/backends/memory'
import { type Patch, patchOf } from '../projects/export-patch.ts'
import { firstStates } from './changes.ts'
import type { SessionProject } from './types.ts'

/**
 * Returns the patch from the project as it was first opened here to its current files, as Changes shows them. Contains no
 * secret and no ignored files.
 */
export async function projectPatch(
  { backend }: Pick<SessionProject, 'backend'>,
  history: WorkspaceHistory,
): Promise<Patch> {
  const first = firstStates(history)
  const now = async (path: Path): Promise<EntryState> => {
    const stat = await backend.stat(path).catch(() => undefined)
    if (stat?.type === 'link') return { type: 'link', target: await backend.readLink(path) }
    if (stat?.type !== 'file') return null
    const { bytes } = await backend.read(path)
    return { type: 'file', bytes, ...(stat.mode === undefined ? {} : { mode: stat.mode }) }
  }
  const original: Record<string, { bytes: Uint8Array; mode?: number } | { link: string }> = {}
  const changes: Change[] = []
  for (const [path, before] of first) {
    if (before?.type === 'link') original[path] = { link: before.target }
    else if (before?.type === 'file') {
      original[path] = { bytes: before.bytes, ...(before.mode === undefined ? {} : { mode: before.mode }) }
    }
    changes.push({ path, expect: 'any', to: await now(path) })
  }
  // They decide which files are ignored.
  for (const path of ignoreFilesAbove(first.keys())) {
    const state = first.has(path) ? null : await now(path)
    if (state?.type === 'file') original[path] = { bytes: state.bytes }
  }
  const copy = memory(original)
  const workspace = await createWorkspace({ backend: copy, policy: 'readOnly', audit: callbackSink(() => {}) })
  try {
    await copy.commit(changes.filter(differs(original)), { durability: 'relaxed' })
    const patch = await patchOf(workspace.call)
    const warnings =
      history.first === 0
        ? patch.warnings
        : [`The first ${history.first} changes are no longer kept and left out`, ...patch.warnings]
    return { ...patch, warnings }
  } finally {
    await workspace.close()
  }
}

/** The deletion of a file that did not exist is no change. */
function differs(original: Readonly<Record<string, unknown>>): (change: Change) => boolean {
  return ({ path, to }) => to !== null || Object.hasOwn(original, path)
}

function ignoreFilesAbove(paths: Iterable<Path>): ReadonlySet<Path> {
  const files = new Set<Path>()
  for (const path of paths) {
    const names = path.split('/')
    for (const at of names.keys()) files.add([...names.slice(0, at), '.gitignore'].join('/') as Path)
  }
  return files
}
