import type { Backend } from '../storage/backend.ts'
import { type CommitHistory, visitHistory } from './commit-history.ts'
import { corrupt } from './corrupt-error.ts'
import { type IndexEntry, parseIndexFile } from './index-file.ts'
import { type Objects, openObjects } from './objects.ts'
import { headCommit, parseCommit, resolveCommit } from './refs.ts'
import { type GitFiles, gitFiles } from './repository-files.ts'
import { type TreeDirectory, treeLoader } from './trees.ts'

/** Reads the repository of a workspace, without isomorphic-git. Reads only `.git` in the root. */
export interface RepositoryReader extends CommitHistory {
  readonly objects: Objects
  /** Returns the commit that HEAD names now, or `undefined` when there is no repository or no commit yet. */
  headCommit(): Promise<string | undefined>
  /** @throws ToolError `NOT_FOUND` */
  resolve(name: string): Promise<string>
  /** Returns the whole tree of a commit, without contents. */
  tree(commit: string): Promise<TreeDirectory>
  /** Returns the index and when it was written, in milliseconds since 1970. Parsed once per version of its file. */
  index(): Promise<{ readonly entries: ReadonlyMap<string, IndexEntry>; readonly writtenAt: number }>
  /** Returns the bytes of `.git/info/exclude`, if it exists. */
  exclude(): Promise<Uint8Array | undefined>
  /** Returns the commits whose parents a shallow repository does not have. */
  shallow(): Promise<ReadonlySet<string>>
}

export function openReader(backend: Backend): RepositoryReader {
  const files: GitFiles = gitFiles(backend)
  const objects = openObjects(files)
  const load = treeLoader(objects)
  const trees = new Map<string, TreeDirectory>()
  let indexed: { tag: string; entries: ReadonlyMap<string, IndexEntry>; writtenAt: number } | undefined
  const reader: RepositoryReader = {
    objects,
    headCommit: () => headCommit(files),
    resolve: (name) => resolveCommit(files, objects, name),
    async tree(commit) {
      const cached = trees.get(commit)
      if (cached !== undefined) return cached
      const { tree } = parseCommit(await objects.need(commit, 'commit'))
      if (tree === '') throw corrupt('a commit is damaged')
      const loaded = await load(tree)
      if (trees.size >= 16) trees.clear()
      trees.set(commit, loaded)
      return loaded
    },
    async index() {
      const stat = await files.stat('index')
      if (indexed !== undefined && indexed.tag === stat?.tag) return indexed
      const bytes = stat === undefined ? undefined : await files.read('index')
      const entries = bytes === undefined ? new Map<string, IndexEntry>() : parseIndexFile(bytes)
      indexed = { tag: stat?.tag ?? '', entries, writtenAt: stat?.modifiedAt ?? 0 }
      return indexed
    },
    exclude: () => files.read('info/exclude'),
    async shallow() {
      const bytes = await files.read('shallow')
      return new Set(bytes === undefined ? [] : new TextDecoder().decode(bytes).split('\n'))
    },
    history: (commits, options) => visitHistory(reader, commits, options),
  }
  return reader
}
