import { checkLimit } from '../limits.ts'
import { childOf, isWithin, type Path, ROOT } from '../paths/logical-path.ts'
import { linkTarget } from '../storage/link-target.ts'
import type { WorkspaceState } from './state/workspace-state.ts'

/** A link in a directory that may contain a sink, and the path that it shows. */
export interface SinkLink {
  readonly path: Path
  readonly target: Path
}

/**
 * Finds the links where a sink may be: content that is written to their targets shows in the sink.
 *
 * @throws ToolError `LIMIT_EXCEEDED` for more than `treeEntries` entries
 */
export async function findSinkLinks({ backend, labels, limits }: WorkspaceState): Promise<readonly SinkLink[]> {
  const links: SinkLink[] = []
  const pending: Path[] = [ROOT]
  let entries = 0
  for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
    if (!labels.maySinkBelow(directory)) continue
    for (const { name, type } of await backend.list(directory)) {
      const path = childOf(directory, name)
      entries += 1
      checkLimit('entries', entries, limits.treeEntries, directory)
      if (type === 'directory') pending.push(path)
      if (type !== 'link') continue
      // A dangling link shows what is written to its target later.
      const target = await backend
        .canonical(path)
        .catch(async () => linkTarget(path, await backend.readLink(path)) as Path)
        .catch(() => undefined)
      if (target !== undefined) links.push({ path, target })
    }
  }
  return links
}

/** Returns the names by which links show a path. */
export function namesByLinks(path: Path, links: readonly SinkLink[]): string[] {
  return links
    .filter(({ target }) => isWithin(path, target))
    .map((link) => link.path + (link.target === ROOT ? `/${path}` : path.slice(link.target.length)))
}
