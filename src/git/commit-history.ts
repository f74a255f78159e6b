import { childOf, GIT_DIRECTORY, type Path, ROOT } from '../paths/logical-path.ts'
import type { Objects } from './objects.ts'
import { parseCommit, peel } from './refs.ts'
import type { GitFiles } from './repository-files.ts'
import { DIRECTORY_MODE, parseTree } from './trees.ts'

/** Which parts of a history {@link CommitHistory.history} visits. */
export interface HistoryOptions {
  /** Whether to leave out a commit, with all that leads to it. */
  readonly knows: (commit: string) => boolean
  /** Whether to visit the entries of a directory. */
  readonly enters: (directory: Path) => boolean
}

/** Everything that the ids of commits depend on. */
export interface CommitHistory {
  /** Yields the path of each commit's object and the paths in its tree, then those of its ancestors. A path may come twice. */
  history(commits: readonly string[], options: HistoryOptions): AsyncIterable<Path>
}

/** Where a history is read from. */
interface HistorySource {
  readonly objects: Objects
  readonly shallow: () => Promise<ReadonlySet<string>>
}

/** Implements {@link CommitHistory.history}. A directory that several commits share is visited once. */
export async function* visitHistory(
  { objects, shallow }: HistorySource,
  starts: readonly string[],
  { knows, enters }: HistoryOptions,
): AsyncIterable<Path> {
  const withoutParents = await shallow()
  const pending = [...starts]
  const queued = new Set(pending)
  const visited = new Set<string>()
  for (let commit = pending.shift(); commit !== undefined; commit = pending.shift()) {
    if (knows(commit)) continue
    yield objectPath(commit)
    const { tree, parents } = parseCommit(await objects.need(commit, 'commit'))
    yield* visitTree(objects, tree, enters, visited)
    for (const parent of withoutParents.has(commit) ? [] : parents) {
      if (queued.has(parent)) continue
      queued.add(parent)
      pending.push(parent)
    }
  }
}

async function* visitTree(
  objects: Objects,
  root: string,
  enters: HistoryOptions['enters'],
  visited: Set<string>,
): AsyncIterable<Path> {
  const waiting = [{ tree: root, directory: ROOT }]
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const key = `${at.tree} ${at.directory}`
    if (visited.has(key)) continue
    visited.add(key)
    for (const { name, mode, id } of parseTree(await objects.need(at.tree, 'tree'))) {
      const path = childOf(at.directory, name)
      yield path
      if (mode === DIRECTORY_MODE && enters(path)) waiting.push({ tree: id, directory: path })
    }
  }
}

/** Returns the path of an object that is stored alone. */
export function objectPath(id: string): Path {
  return `${GIT_DIRECTORY}/objects/${id.slice(0, 2)}/${id.slice(2)}` as Path
}

const MAX_REF_FILES = 100_000

/** Returns every commit that a ref or a log of refs names. */
export async function namedCommits(files: GitFiles, objects: Objects): Promise<ReadonlySet<string>> {
  const commits = new Set<string>()
  const pending = ['HEAD', 'ORIG_HEAD', 'FETCH_HEAD', 'packed-refs', 'refs', 'logs']
  for (
    let name = pending.pop(), count = 0;
    name !== undefined && count < MAX_REF_FILES;
    name = pending.pop(), count++
  ) {
    if ((await files.stat(name))?.type === 'directory') {
      for (const child of await files.list(name)) pending.push(`${name}/${child}`)
      continue
    }
    const text = new TextDecoder().decode(await files.read(name))
    for (const [id] of text.matchAll(/\b[0-9a-f]{40}\b/g)) {
      const commit = commits.has(id) ? undefined : await peel(objects, id)
      if (commit !== undefined) commits.add(commit)
    }
  }
  return commits
}
