import type { SuccessOf } from '../../call/state/call.ts'
import type { ToolInput, ToolOutput } from '../../tools/index.ts'
import { listedDirectory } from './list-tree.ts'
import { call, limitOr } from './steps.ts'
import type { Steps } from './types.ts'

type Listing = SuccessOf<ToolOutput<'list_directory'>> & {
  /** Says at which level the listing ends, if the limit of the workspace leaves out directories below it. */
  readonly note?: string
}

/** Levels of a recursive listing. */
const MAX_DEPTH = 32

/** Lists a directory, or with `isRecursive` everything below it, as deep as the workspace allows. */
export function* listDirectory(
  path: string,
  isRecursive: boolean,
  options: Omit<ToolInput<'list_directory'>, 'path' | 'maxDepth'> = {},
): Steps<Listing> {
  if (!isRecursive) return yield* call('list_directory', { path, ...options })
  const maxDepth = Math.min(MAX_DEPTH, yield* limitOr('listDepthHard', MAX_DEPTH))
  const listing = yield* call('list_directory', { path, maxDepth, ...options })
  const { entries } = listing
  const base = listedDirectory(listing)
  const depthOf = (entry: string) => entry.slice(base === '' ? 0 : base.length + 1).split('/').length
  const isCut = entries.some((entry) => entry.type === 'directory' && depthOf(entry.path) === maxDepth)
  return isCut ? { ...listing, note: `Directories below level ${maxDepth} are not listed` } : listing
}
