import { childOf, type Path, ROOT } from '../../paths/logical-path.ts'
import type { EntryState } from '../../storage/backend.ts'
import { sameState } from '../../storage/versions.ts'
import type { CommandChange } from '../shared/apply-changes.ts'

/** What stands in a container, as far as it tells: no modes and no times. */
export type ContainerEntry = Exclude<EntryState, null>
export type ContainerTree = ReadonlyMap<Path, ContainerEntry>

/** The client's own form of a tree. */
export interface FileTree {
  [name: string]: { directory: FileTree } | { file: { contents: string | Uint8Array } } | { file: { symlink: string } }
}

/** Directories that belong to the container alone: what is in them is never brought back. */
const OWN: ReadonlySet<string> = new Set(['node_modules', '.git'])

/** Whether a path lies where a container does as it likes. */
export function isOwn(path: Path): boolean {
  return path.split('/').some((name) => OWN.has(name))
}

/** What an export leaves out: in every way in which a pattern may be read, for more than that is dropped anyway. */
export const EXCLUDED: readonly string[] = [...OWN].flatMap((name) => [name, `**/${name}`, `**/${name}/**`])

const encoder = new TextEncoder()

/** The entries of a tree that the container gave. */
export function holdingOf(tree: FileTree): Map<Path, ContainerEntry> {
  const holding = new Map<Path, ContainerEntry>()
  const waiting: { path: Path; tree: FileTree }[] = [{ path: ROOT, tree }]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const [name, node] of Object.entries(next.tree)) {
      const path = childOf(next.path, name)
      if (OWN.has(name)) continue
      if ('directory' in node) {
        holding.set(path, { type: 'directory' })
        waiting.push({ path, tree: node.directory })
      } else if ('symlink' in node.file) {
        holding.set(path, { type: 'link', target: node.file.symlink })
      } else {
        const { contents } = node.file
        holding.set(path, {
          type: 'file',
          bytes: typeof contents === 'string' ? encoder.encode(contents) : contents,
        })
      }
    }
  }
  return holding
}

/** A tree for the container to take. Every entry has its directory with it. */
export function treeOf(holding: ContainerTree): FileTree {
  const root: FileTree = Object.create(null)
  const directories = new Map<string, FileTree>([['', root]])
  for (const [path, held] of [...holding].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const at = path.lastIndexOf('/')
    const parent = directories.get(path.slice(0, Math.max(0, at)))
    if (parent === undefined) continue
    const name = path.slice(at + 1)
    if (held.type === 'directory') {
      const directory: FileTree = Object.create(null)
      directories.set(path, directory)
      parent[name] = { directory }
    } else {
      parent[name] = held.type === 'link' ? { file: { symlink: held.target } } : { file: { contents: held.bytes } }
    }
  }
  return root
}

/** How one holding differs from another. What a container has for itself does not count. */
export function differences(before: ContainerTree, after: ContainerTree): CommandChange[] {
  const made: CommandChange[] = []
  for (const [path, was] of before) {
    const is = after.get(path) ?? null
    if (!isOwn(path) && !sameContent(was, is)) made.push({ path, before: was, after: is })
  }
  for (const [path, is] of after) {
    if (!before.has(path) && !isOwn(path)) made.push({ path, before: null, after: is })
  }
  return made
}

/** Compares what a container can hold: no permission bits. */
export function sameContent(a: EntryState, b: EntryState): boolean {
  return sameState(a, b, { modes: false })
}
