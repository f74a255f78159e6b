import type { Success } from '../../call/state/call.ts'
import { ToolError } from '../../errors.ts'
import { type LogicalPath, nameOf, type Path, parentOf, quote } from '../../paths/logical-path.ts'
import type { ToolOutput } from '../../tools/index.ts'
import { checkArgument, isFunction, requireText } from '../../util/check-options.ts'
import { call, callNarrowed, limitOr, narrowInput } from './steps.ts'
import type { Steps } from './types.ts'

/** One entry of a tree. A link has the type `file`, because it is not followed. */
export interface TreeNode {
  readonly name: string
  readonly type: 'file' | 'directory'
  /** Of a directory above the depth where the listing ends. */
  readonly children?: readonly TreeNode[]
}

/** Maximum number of entries of one tree. */
const MAX_NODES = 5000
/** Number of levels that one call lists. */
const LEVELS = 8

const all = { maxEntries: 500, includeHidden: true, includeIgnored: true }

/** Lists a directory with hidden and ignored names; the first 500 entries. */
export function* listAll(path: string): Steps<Success & ToolOutput<'list_directory'>> {
  requireText('listAll()', 'path', path)
  return yield* call('list_directory', {
    path,
    maxDepth: 1,
    ...all,
    maxEntries: yield* limitOr('listEntries', all.maxEntries),
  })
}

/** Returns the listed directory by its path without links, taken from the first entry. */
export function listedDirectory({ entries }: { readonly entries: readonly { readonly path: string }[] }): LogicalPath {
  return parentOf((entries[0]?.path ?? '') as LogicalPath)
}

/**
 * Lists the tree below a directory with hidden and ignored names, in several calls if needed. `isExcluded` gets paths
 * relative to the directory; an excluded directory is not entered.
 *
 * @throws ToolError `LIMIT_EXCEEDED` for more than 5,000 entries (or the caller's `maxEntries`), or 500 in one directory. A limit `listEntries`
 *   of the workspace takes the place of 5,000
 */
export function* listTree(directory: string, isExcluded: (relative: string) => boolean): Steps<readonly TreeNode[]> {
  checkArgument('listTree()', 'isExcluded', isExcluded, isFunction)
  requireText('listTree()', 'directory', directory)
  const { maxDepth, maxEntries, ...filters } = yield* narrowInput('list_directory', {
    ...all,
    maxDepth: MAX_NODES,
    maxEntries: yield* limitOr('listEntries', MAX_NODES),
  })
  let remaining = maxEntries

  function* list(path: string, levels: number) {
    return yield* callNarrowed('list_directory', { ...filters, path, maxDepth: levels, maxEntries: all.maxEntries })
  }

  function* childrenOf(directory: string, parent: string, levelsLeft: number): Steps<TreeNode[]> {
    let levels = Math.min(LEVELS, levelsLeft)
    let listing = yield* list(directory, levels)
    if (listing.truncated) {
      levels = 1
      listing = yield* list(directory, levels)
      if (listing.truncated) throw tooMany(directory, `${listing.totalEntries} entries`)
    }
    const base = listedDirectory(listing)
    const top: TreeNode[] = []
    const lists = new Map<string, TreeNode[]>([[base, top]])
    for (const { path, type } of listing.entries) {
      const siblings = lists.get(parentOf(path as Path))
      const relative = base === '' ? path : path.slice(base.length + 1)
      if (siblings === undefined || isExcluded(parent + relative)) continue
      remaining -= 1
      if (remaining < 0) throw tooMany(directory, `over ${maxEntries} entries`)
      const name = nameOf(path as Path)
      if (type !== 'directory') {
        siblings.push({ name, type: 'file' })
        continue
      }
      const isDeepest = relative.split('/').length === levels
      if (isDeepest && levels === levelsLeft) {
        siblings.push({ name, type })
        continue
      }
      const children = isDeepest ? yield* childrenOf(path, `${parent}${relative}/`, levelsLeft - levels) : []
      siblings.push({ name, type, children })
      lists.set(path, children)
    }
    return top
  }

  return yield* childrenOf(directory, '', Math.min(maxDepth, yield* limitOr('listDepthHard', MAX_NODES)))
}

function tooMany(directory: string, names: string): ToolError {
  return new ToolError('LIMIT_EXCEEDED', `${quote(directory)} contains ${names}, more than one listing can return`, {
    path: directory,
    hint: 'Exclude what is not needed, or list a smaller directory.',
  })
}
