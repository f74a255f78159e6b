import type { Changed } from '../../git/changed-path.ts'
import type { IndexEntry } from '../../git/index-file.ts'
import { filesOf, type TreeDirectory } from '../../git/trees.ts'
import { holdableTest } from '../../git/valid-path.ts'
import { addAncestors, nearestFinder, type Path, parentOf } from '../../paths/logical-path.ts'
import type { CommandStatus, GitState } from '../../shells/types.ts'

export interface StatusInput {
  /** The tree of HEAD. */
  readonly head: TreeDirectory
  /** The entries of the index, by path. */
  readonly index: ReadonlyMap<string, IndexEntry>
  /** The paths whose files differ from HEAD. */
  readonly changed: Iterable<Changed>
  /** Whether a file may be shown. */
  readonly sees: (path: Path) => boolean
}

/** Returns the entries of `git status`: first the tracked files, then the untracked ones, each sorted by path. */
export function statusOf(input: StatusInput, untracked: 'files' | 'directories'): readonly CommandStatus[] {
  const { rows, untrackedFiles } = compareWithIndex(input)
  rows.sort((a, b) => (a.path < b.path ? -1 : 1))
  const paths = untracked === 'files' ? untrackedFiles : joinDirectories(untrackedFiles, input.index.keys())
  for (const path of [...paths].sort()) rows.push({ path, index: 'same', files: 'untracked' })
  return rows
}

/** Compares HEAD with the index, and the index with the files, path by path. */
function compareWithIndex({ head, index, changed, sees }: StatusInput): {
  readonly rows: CommandStatus[]
  readonly untrackedFiles: ReadonlySet<string>
} {
  const rows: CommandStatus[] = []
  const untrackedFiles = new Set<string>()
  const compared = new Set<string>()
  const isHoldable = holdableTest()
  const isShown = (path: string) => isHoldable(path as Path) && sees(path as Path)
  const addRow = (path: string, inIndex: GitState, inFiles: GitState) => {
    if ((inIndex !== 'same' || inFiles !== 'same') && isShown(path)) {
      rows.push({ path, index: inIndex, files: inFiles })
    }
  }
  const compare = (path: string, old: Entry, now: Entry) => {
    compared.add(path)
    const entry = index.get(path) ?? null
    addRow(path, stateOf(old, entry), entry === null ? 'same' : stateOf(entry, now))
    if (entry === null && now !== null && isShown(path)) untrackedFiles.add(path)
  }
  for (const { path, old, now } of changed) compare(path, old, now)
  for (const [path, file] of filesOf(head)) if (!compared.has(path)) compare(path, file, file)
  // The remaining entries are in the index only: they were added, and their files were deleted.
  for (const path of index.keys()) if (!compared.has(path)) addRow(path, 'added', 'deleted')
  return { rows, untrackedFiles }
}

type Entry = { readonly id: string; readonly mode: number } | null

/** Replaces untracked files by the topmost directory that contains no tracked file, with a slash at the end. */
function joinDirectories(untracked: Iterable<string>, tracked: Iterable<string>): Set<string> {
  const trackedDirectories = new Set<Path>()
  for (const path of tracked) addAncestors(trackedDirectories, path as Path)
  const trackedAbove = nearestFinder<Path>((path) => trackedDirectories.has(path))
  const rows = new Set<string>()
  for (const path of untracked) {
    const tracked = trackedAbove(parentOf(path as Path))
    const slash = path.indexOf('/', tracked === undefined ? 0 : tracked.length + 1)
    rows.add(slash === -1 ? path : path.slice(0, slash + 1))
  }
  return rows
}

function stateOf(before: Entry, after: Entry): GitState {
  if (before?.id === after?.id && before?.mode === after?.mode) return 'same'
  return before === null ? 'added' : after === null ? 'deleted' : 'modified'
}
