import type { Backend } from '../storage/backend.ts'
import { type CommitHistory, visitHistory } from './commit-history.ts'
import { corrupt } from './corrupt-error.ts'
import { type IndexEntry, type ParsedIndex, parseIndexFile } from './index-file.ts'
import { type Objects, openObjects } from './objects.ts'
import { headCommit, listRefs, parseCommit, resolveCommit } from './refs.ts'
import { type GitFiles, gitFiles } from './repository-files.ts'
import { DIRECTORY_MODE, filesOf, MAX_ENTRIES, type TreeDirectory, treeLoader } from './trees.ts'

export interface RepositoryIndex {
  readonly entries: ReadonlyMap<string, IndexEntry>
  /** The entries whose files may be missing. */
  readonly skipped: ReadonlyMap<string, IndexEntry>
  /** Paths in conflict in an unfinished merge. */
  readonly unmerged: ReadonlySet<string>
  /** Milliseconds since 1970. */
  readonly writtenAt: number
}

/** Reads the repository of a workspace, without isomorphic-git. Reads only `.git` in the root. */
export interface RepositoryReader extends CommitHistory {
  readonly objects: Objects
  /** Returns the commit that HEAD names now, or `undefined` when there is no repository or no commit yet. */
  headCommit(): Promise<string | undefined>
  /** Returns the refs below a prefix, by their names without it. */
  refs(prefix: string): ReturnType<typeof listRefs>
  /** @throws ToolError `NOT_FOUND` */
  resolve(name: string): Promise<string>
  /** Returns the whole tree of a commit, without contents. */
  tree(commit: string): Promise<TreeDirectory>
  /** Returns the index and when it was written, in milliseconds since 1970. Parsed once per version of its file. */
  index(): Promise<RepositoryIndex>
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
  let indexed: (RepositoryIndex & { readonly tag: string }) | undefined
  const reader: RepositoryReader = {
    objects,
    headCommit: () => headCommit(files),
    refs: (prefix) => listRefs(files, prefix),
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
      const { unmerged, ...parsed } = bytes === undefined ? EMPTY : parseIndexFile(bytes)
      const entries = await withoutDirectories(parsed.entries, load)
      const skipped = new Map<string, IndexEntry>()
      for (const [path, entry] of entries) if (entry.skip) skipped.set(path, entry)
      indexed = { tag: stat?.tag ?? '', entries, skipped, unmerged, writtenAt: stat?.modifiedAt ?? 0 }
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

const EMPTY: ParsedIndex = { entries: new Map(), unmerged: new Set() }

/** Replaces the directories of a sparse index by their files. */
async function withoutDirectories(
  entries: Map<string, IndexEntry>,
  load: ReturnType<typeof treeLoader>,
): Promise<ReadonlyMap<string, IndexEntry>> {
  for (const [path, entry] of entries) {
    if (entry.mode !== DIRECTORY_MODE) continue
    entries.delete(path)
    const tree = await load(entry.id)
    if (entries.size + tree.count > MAX_ENTRIES) throw corrupt('its index has too many entries')
    for (const [name, { mode, id }] of filesOf(tree)) entries.set(path + name, { ...entry, mode, id })
  }
  return entries
}
