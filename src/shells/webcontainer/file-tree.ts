import { childOf, type Path, ROOT } from '../../paths/logical-path.ts'
import type { EntryState } from '../../storage/backend.ts'
import { sameState } from '../../storage/versions.ts'
import type { CommandChange } from '../shared/apply-changes.ts'

/** An entry as the container reports it: without modes and times. */
export type ContainerEntry = Exclude<EntryState, null>
/** All entries of a container by path. */
export type ContainerTree = ReadonlyMap<Path, ContainerEntry>

/** A tree in the format of the client. */
export interface FileTree {
  [name: string]: { directory: FileTree } | { file: { contents: string | Uint8Array } } | { file: { symlink: string } }
}

/** Directories that exist only in the container. Their content is never copied back. */
const CONTAINER_OWNED: ReadonlySet<string> = new Set(['node_modules', '.git'])

/** Whether a path is in a directory that exists only in the container. */
export function isContainerOwned(path: Path): boolean {
  return path.split('/').some((name) => CONTAINER_OWNED.has(name))
}

/** Patterns that an export leaves out, in several spellings because their syntax is undocumented. */
export const EXPORT_EXCLUDES: readonly string[] = [...CONTAINER_OWNED].flatMap((name) => [
  name,
  `**/${name}`,
  `**/${name}/**`,
])

const encoder = new TextEncoder()

/** Returns the entries of an exported tree, without those that exist only in the container. */
export function parseFileTree(root: FileTree): Map<Path, ContainerEntry> {
  const entries = new Map<Path, ContainerEntry>()
  const pending: { path: Path; tree: FileTree }[] = [{ path: ROOT, tree: root }]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    for (const [name, node] of Object.entries(next.tree)) {
      const path = childOf(next.path, name)
      if (CONTAINER_OWNED.has(name)) continue
      if ('directory' in node) {
        entries.set(path, { type: 'directory' })
        pending.push({ path, tree: node.directory })
      } else if ('symlink' in node.file) {
        entries.set(path, { type: 'link', target: node.file.symlink })
      } else {
        const { contents } = node.file
        entries.set(path, {
          type: 'file',
          bytes: typeof contents === 'string' ? encoder.encode(contents) : contents,
        })
      }
    }
  }
  return entries
}

/** Returns a tree to mount. An entry whose directory is not among the entries is left out. */
export function buildFileTree(entries: ContainerTree): FileTree {
  const root: FileTree = Object.create(null)
  const directories = new Map<string, FileTree>([['', root]])
  for (const [path, entry] of [...entries].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const slash = path.lastIndexOf('/')
    const parent = directories.get(path.slice(0, Math.max(0, slash)))
    if (parent === undefined) continue
    const name = path.slice(slash + 1)
    if (entry.type === 'directory') {
      const directory: FileTree = Object.create(null)
      directories.set(path, directory)
      parent[name] = { directory }
    } else {
      parent[name] = entry.type === 'link' ? { file: { symlink: entry.target } } : { file: { contents: entry.bytes } }
    }
  }
  return root
}

/** Compares two trees. Directories that exist only in the container do not count. */
export function diffTrees(before: ContainerTree, after: ContainerTree): CommandChange[] {
  const changes: CommandChange[] = []
  for (const [path, entry] of before) {
    const current = after.get(path) ?? null
    if (!isContainerOwned(path) && !sameContent(entry, current)) changes.push({ path, before: entry, after: current })
  }
  for (const [path, entry] of after) {
    if (!before.has(path) && !isContainerOwned(path)) changes.push({ path, before: null, after: entry })
  }
  return changes
}

/** Compares two entries without permission bits, which a container does not report. */
export function sameContent(a: EntryState, b: EntryState): boolean {
  return sameState(a, b, { modes: false })
}
