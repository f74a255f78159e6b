import { sha256Text } from '../files/hash/sha256.ts'
import type { PatchedFile } from '../patch/line-diff.ts'
import type { LogicalPath } from '../paths/logical-path.ts'
import type { Backend, Change, DirectoryNode } from '../storage/backend.ts'
import type { Changed } from './changed-path.ts'
import type { CommitHistory } from './commit-history.ts'
import { unholdableFiles } from './compare-commits.ts'
import type { DiffSection } from './diff-section.ts'
import { findRenames } from './renames.ts'
import { createSectionCache } from './section-cache.ts'
import type { TreeDirectory } from './trees.ts'
import { judgedPath } from './valid-path.ts'
import { WorkspaceChanges } from './workspace-changes.ts'

/** Which parts of a diff a caller requests and may see. */
export interface DiffRequest {
  /** A commit id, branch or tag. Default: HEAD; without a commit, the workspace as it was opened. */
  readonly base?: string | undefined
  /** Whether the caller requests a path. */
  wants(path: LogicalPath): boolean
  /** Whether a path may be shown. */
  sees(path: LogicalPath): boolean
  /** Whether a change of a path that may not be shown counts in {@link WorkspaceDiff.hidden}. */
  knows(path: LogicalPath): boolean
  /** Whether the binary content of a path is shown as a binary patch. Otherwise the section only states that it differs. */
  withBinary(path: LogicalPath): boolean
  /** Paths to look for in {@link WorkspaceDiff.equal}. */
  readonly chosen?: Iterable<LogicalPath>
  /** Units of text after which the diff ends: see {@link WorkspaceDiff.isCut}. Default: unlimited. */
  readonly maxText?: number
  /** Files that a patch has made of others, by path: their sections may need no comparison. */
  readonly patched?: ReadonlyMap<string, PatchedFile> | undefined
  readonly signal?: AbortSignal | undefined
}

/** The diff of a workspace, and its numbers of lines and files. */
export interface WorkspaceDiff {
  /** An id or a name. `null` if compared with the workspace as it was opened. */
  readonly baseCommit: string | null
  /** Sorted by path. */
  readonly sections: readonly DiffSection[]
  /** Whether sections are missing, because their text is too long for the request. */
  readonly isCut: boolean
  /** The chosen paths that the caller requests and may see, and that have the content of the base. */
  readonly equal: readonly LogicalPath[]
  readonly insertions: number
  readonly deletions: number
  /** Number of changed files that may not be shown. */
  readonly hidden: number
  /** Number of files of the base whose names a workspace cannot hold: whether they are changed is not known. */
  readonly leftOut: number
  /** Number of changed files whose old state was too large to keep. */
  readonly unknown: number
  /** Returns the SHA-256 of the text of all sections. */
  sha256(): string
}

/** Compares a workspace with a commit. Reads the files, and `.git` in the root, without a policy. */
export interface WorkspaceDiffs extends CommitHistory {
  diff(request: DiffRequest): Promise<WorkspaceDiff>
  /** Returns the commit that HEAD names; `undefined` before the first commit. */
  headCommit(): Promise<string | undefined>
  /** Returns all changes since a commit, also those that may not be shown. For git's own use. */
  changed(commit: string, signal?: AbortSignal): Promise<readonly Changed[]>
  /** Returns all changes since a tree, such as the empty one before the first commit. */
  changedFrom(tree: TreeDirectory, signal?: AbortSignal): Promise<readonly Changed[]>
  /** Must be called before every commit of a change set: without a repository, the prior states are the base. */
  beforeCommit(changes: readonly Change[]): Promise<void> | undefined
}

/** @param opened the tree when the workspace was opened, if the backend keeps one */
export function createWorkspaceDiffs(
  backend: Backend,
  opened: DirectoryNode | undefined = backend.tree?.(),
): WorkspaceDiffs {
  const changes = new WorkspaceChanges(backend, opened)
  const sections = createSectionCache()
  return {
    headCommit: () => changes.reader.headCommit(),
    history: (commits, options) => changes.reader.history(commits, options),
    changed: (commit, signal) => changes.since(commit, signal),
    changedFrom: (tree, signal) => changes.from(tree, signal),
    beforeCommit: (changeSet) => changes.beforeCommit(changeSet),
    diff: (request) => createDiff(changes, sections, request),
  }
}

async function createDiff(
  changes: WorkspaceChanges,
  cache: ReturnType<typeof createSectionCache>,
  request: DiffRequest,
): Promise<WorkspaceDiff> {
  const { base, signal, maxText = Number.POSITIVE_INFINITY } = request
  const commit = base === undefined ? await changes.reader.headCommit() : await changes.reader.resolve(base)
  let hidden = 0
  const visible: Changed[] = []
  const changed = await changes.since(commit, signal)
  const equal = await equalPaths(changes, commit, changed, request)
  for (const change of changed) {
    if (!request.wants(change.path)) continue
    if (request.sees(change.path)) visible.push(change)
    else if (request.knows(change.path)) hidden += 1
  }
  visible.sort((a, b) => (a.path < b.path ? -1 : 1))
  const sections: DiffSection[] = []
  let insertions = 0
  let deletions = 0
  let length = 0
  for (const change of await findRenames(visible)) {
    const made = cache.sectionFor(change, request.withBinary, request.patched?.get(change.path))
    const section = made instanceof Promise ? await made : made
    if (section.text === '' && !section.redacted) continue
    insertions += section.insertions
    deletions += section.deletions
    sections.push(section)
    length += section.text.length
    if (length > maxText) break
  }
  let sha256: string | undefined
  return {
    baseCommit: commit ?? null,
    sections,
    isCut: length > maxText,
    equal,
    insertions,
    deletions,
    hidden,
    leftOut: await countLeftOut(changes, commit, request),
    unknown: commit === undefined ? changes.dropped : 0,
    sha256() {
      sha256 ??= sha256Text(sections.map(({ text }) => text).join(''))
      return sha256
    },
  }
}

/** Counts the files of the base that a workspace cannot hold, of those that the caller requests and may see. */
async function countLeftOut(
  { reader }: WorkspaceChanges,
  commit: string | undefined,
  { wants, sees }: DiffRequest,
): Promise<number> {
  const files = commit === undefined ? [] : unholdableFiles(await reader.tree(commit))
  return files.map(judgedPath).filter((path) => wants(path) && sees(path)).length
}

/** Returns the chosen paths of a request that are in the base and have not changed. */
async function equalPaths(
  changes: WorkspaceChanges,
  commit: string | undefined,
  changed: readonly Changed[],
  { chosen = [], wants, sees }: DiffRequest,
): Promise<readonly LogicalPath[]> {
  const equal = new Set([...chosen].filter((path) => wants(path) && sees(path)))
  if (equal.size === 0) return []
  for (const { path } of changed) equal.delete(path)
  const isInBase = await changes.baseHolds(commit)
  return [...equal].filter(isInBase)
}
