import type { Success } from '../../call/state/call.ts'
import { ToolError } from '../../errors.ts'
import { type LogicalPath, nameOf, type Path, parentOf, quote } from '../../paths/logical-path.ts'
import type { ToolOutput } from '../../tools/index.ts'
import { call } from './steps.ts'
import type { Steps } from './types.ts'

/** One name in a tree. A link is a file, as nothing is looked for behind it. */
export interface TreeNode {
  readonly name: string
  readonly type: 'file' | 'directory'
  readonly children?: readonly TreeNode[]
}

/** Names in one answer. */
const MOST_NODES = 5000
/** Levels that one call lists. */
const LEVELS = 8

/** What is directly in a directory, hidden and ignored names too; the first 500 of them. */
export function* listAll(path: string, maxDepth: number = 1): Steps<Success & ToolOutput<'list_directory'>> {
  return yield* call('list_directory', {
    path,
    maxDepth,
    maxEntries: 500,
    includeHidden: true,
    includeIgnored: true,
  })
}

/** What is listed, as it is named without links: the first entry lies directly in it. */
export function placeOf({ entries }: { readonly entries: readonly { readonly path: string }[] }): LogicalPath {
  return parentOf((entries[0]?.path ?? '') as LogicalPath)
}

/**
 * The tree below a directory, hidden and ignored names too, in as many calls as it takes. What is left out, by its path from
 * there, is not entered.
 *
 * @throws ToolError `LIMIT_EXCEEDED` over 5,000 names, or 500 in one directory
 */
export function* treeBelow(directory: string, leavesOut: (relative: string) => boolean): Steps<readonly TreeNode[]> {
  let room = MOST_NODES

  function* childrenOf(directory: string, above: string): Steps<TreeNode[]> {
    let levels = LEVELS
    let listing = yield* listAll(directory, levels)
    if (listing.truncated) {
      levels = 1
      listing = yield* listAll(directory)
      if (listing.truncated) throw tooMany(directory, listing.totalEntries)
    }
    const base = placeOf(listing)
    const top: TreeNode[] = []
    const lists = new Map<string, TreeNode[]>([[base, top]])
    for (const { path, type } of listing.entries) {
      const siblings = lists.get(parentOf(path as Path))
      const within = base === '' ? path : path.slice(base.length + 1)
      if (siblings === undefined || leavesOut(above + within)) continue
      room -= 1
      if (room < 0) throw tooMany(directory, MOST_NODES)
      const name = nameOf(path as Path)
      if (type !== 'directory') {
        siblings.push({ name, type: 'file' })
        continue
      }
      const isDeepest = within.split('/').length === levels
      const children = isDeepest ? yield* childrenOf(path, `${above}${within}/`) : []
      siblings.push({ name, type, children })
      lists.set(path, children)
    }
    return top
  }

  return yield* childrenOf(directory, '')
}

function tooMany(directory: string, names: number): ToolError {
  return new ToolError('LIMIT_EXCEEDED', `${quote(directory)} holds more than can be shown at once: ${names} names`, {
    path: directory,
    hint: 'Exclude what is not needed, or ask for a smaller directory.',
  })
}
