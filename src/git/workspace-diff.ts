import { sha256Text } from '../files/hash/sha256.ts'
import { type IgnoreScope, isIgnored } from '../paths/ignore.ts'
import { ancestorsOf, childOf, isWithin, type LogicalPath, type Path, ROOT } from '../paths/logical-path.ts'
import type { Backend, Change, DirectoryNode } from '../storage/backend.ts'
import { createLruCache } from '../util/lru-cache.ts'
import { type BaseDirectory, baseOfNode, baseOfTree } from './base-tree.ts'
import { createBaseline } from './baseline.ts'
import type { Changed, Side } from './changed-path.ts'
import { diskComparer } from './compare-disk.ts'
import { treeComparer } from './compare-tree.ts'
import { createTextCache, type DiffSection, sectionOf } from './diff-section.ts'
import { type Facts, scopeWith } from './ignore-scope.ts'
import type { IndexEntry } from './index-file.ts'
import { openReader } from './reader.ts'
import { findRenames, type Paired } from './renames.ts'
import type { TreeDirectory } from './trees.ts'

/** What of a diff a caller may see, and wants to. */
export interface DiffRequest {
  /** A commit id, branch or tag; without one, HEAD, or where there is none, the workspace as it was opened. */
  readonly base?: string | undefined
  /** Whether a path was asked for. */
  wants(path: LogicalPath): boolean
  /** Whether a path may be shown. */
  sees(path: LogicalPath): boolean
  /** Whether it may at least be told that one which is not shown has changed: their number is. */
  knows(path: LogicalPath): boolean
  /** Whether binary contents of a path are shown as a binary patch; elsewhere they are only named. */
  withBinary(path: LogicalPath): boolean
  readonly signal?: AbortSignal | undefined
}

/** The diff of a workspace, whole or cut, and what it counts. */
export interface WorkspaceDiff {
  /** `null`: compared with the workspace as it was opened. */
  readonly baseCommit: string | null
  /** By path. */
  readonly sections: readonly DiffSection[]
  readonly insertions: number
  readonly deletions: number
  /** Changed files that may not be shown, but are known to be there. */
  readonly hidden: number
  /** Changed files whose old state was too large to be kept. */
  readonly unknown: number
  /** Of the text of all sections. */
  sha256(): string
}

/** How a workspace differs from its base. Reads `.git` of the root by a capability of its own, and the files as they are. */
export interface WorkspaceDiffs {
  diff(request: DiffRequest): Promise<WorkspaceDiff>
  /** The commit that HEAD names; `undefined` where there is none. */
  headCommit(): Promise<string | undefined>
  /** Everything that differs from a commit, whatever may be shown: for git's own use. */
  changed(commit: string, signal?: AbortSignal): Promise<readonly Changed[]>
  /** The same from a tree, such as the empty one before the first commit. */
  changedFrom(tree: TreeDirectory, signal?: AbortSignal): Promise<readonly Changed[]>
  /** Must be told of every change set before it is committed: without a repository, what is there is the base. */
  beforeCommit(changes: readonly Change[]): Promise<void> | undefined
}

/** How many bytes of finished sections stay at hand. */
const SECTION_BYTES = 16 * 1024 * 1024

export function createWorkspaceDiffs(backend: Backend): WorkspaceDiffs {
  const reader = openReader(backend)
  const compareTree = treeComparer(reader.objects)
  const compareDisk = diskComparer(backend, reader.objects)
  const opened: DirectoryNode | undefined = backend.tree?.()
  /** Of use where the storage keeps no tree of its own to compare with. */
  const baseline = createBaseline(backend)
  const sections = createSectionCache()
  let hasHead: boolean | undefined
  let facts:
    | (Facts & { base: BaseDirectory; entries: ReadonlyMap<string, IndexEntry>; excludeText: string })
    | undefined

  /** The same object as long as nothing of it changes. */
  async function factsFor(base: BaseDirectory, entries: ReadonlyMap<string, IndexEntry>): Promise<Facts> {
    const exclude = await reader.exclude()
    const excludeText = exclude === undefined ? '' : new TextDecoder().decode(exclude)
    if (facts?.base === base && facts.entries === entries && facts.excludeText === excludeText) return facts
    const caseInsensitive = !backend.capabilities.caseSensitive
    const added = new Set<string>()
    for (const path of entries.keys()) {
      if (holdsFile(base, path)) continue
      added.add(path)
      for (const above of ancestorsOf(path as Path)) added.add(above)
    }
    facts = {
      base,
      entries,
      excludeText,
      added,
      exclude: exclude === undefined ? undefined : scopeWith(undefined, ROOT, exclude, caseInsensitive),
      caseInsensitive,
    }
    return facts
  }

  async function changedSince(
    commit: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<readonly Changed[]> {
    const tree = backend.tree?.()
    if (commit === undefined) {
      if (opened === undefined || tree === undefined) return notIgnored(backend, await baseline.changed())
      const base = baseOfNode(opened)
      return compareTree(tree, base, await factsFor(base, NO_ENTRIES))
    }
    return changedFrom(await reader.tree(commit), signal)
  }

  async function changedFrom(root: TreeDirectory, signal?: AbortSignal): Promise<readonly Changed[]> {
    const tree = backend.tree?.()
    const base = baseOfTree(root)
    const index = await reader.index()
    const known = await factsFor(base, index.entries)
    return tree === undefined ? compareDisk(base, index, known, signal) : compareTree(tree, base, known)
  }

  return {
    headCommit: () => reader.headCommit(),
    changed: async (commit, signal) => changedFrom(await reader.tree(commit), signal),
    changedFrom,
    beforeCommit(changes) {
      if (opened !== undefined || hasHead === true) return undefined
      return (async () => {
        hasHead ??= (await reader.headCommit()) !== undefined
        if (!hasHead) await baseline.note(changes.filter(({ path }) => !isWithin(path, GIT)))
      })()
    },
    async diff(request) {
      const { base, signal } = request
      const commit = base === undefined ? await reader.headCommit() : await reader.resolve(base)
      const all = await changedSince(commit, signal)
      let hidden = 0
      const shown: Changed[] = []
      for (const one of all) {
        if (!request.wants(one.path)) continue
        if (request.sees(one.path)) shown.push(one)
        else if (request.knows(one.path)) hidden += 1
      }
      shown.sort((a, b) => (a.path < b.path ? -1 : 1))
      const made: DiffSection[] = []
      let insertions = 0
      let deletions = 0
      for (const change of await findRenames(shown)) {
        const section = await sections.of(change, request.withBinary)
        if (section.text === '' && !section.redacted) continue
        insertions += section.insertions
        deletions += section.deletions
        made.push(section)
      }
      let sha256: string | undefined
      return {
        baseCommit: commit ?? null,
        sections: made,
        insertions,
        deletions,
        hidden,
        unknown: commit === undefined ? baseline.dropped : 0,
        sha256() {
          sha256 ??= sha256Text(made.map(({ text }) => text).join(''))
          return sha256
        },
      }
    },
  }
}

const GIT = '.git' as Path
const NO_ENTRIES: ReadonlyMap<string, IndexEntry> = new Map()

function holdsFile(base: BaseDirectory, path: string): boolean {
  let at: BaseDirectory | undefined = base
  let start = 0
  for (let slash = path.indexOf('/'); slash !== -1 && at !== undefined; slash = path.indexOf('/', start)) {
    at = at.directories.get(path.slice(start, slash))
    start = slash + 1
  }
  return at?.files.has(path.slice(start)) === true
}

/** Without new files that the ignore files above them name. */
async function notIgnored(backend: Backend, changed: readonly Changed[]): Promise<readonly Changed[]> {
  const scopes = new Map<Path, IgnoreScope | undefined>()
  const kept: Changed[] = []
  for (const one of changed) {
    if (one.old !== null || !(await isHidden(backend, one.path, scopes))) kept.push(one)
  }
  return kept
}

async function isHidden(backend: Backend, path: Path, scopes: Map<Path, IgnoreScope | undefined>): Promise<boolean> {
  let scope: IgnoreScope | undefined
  let directory = ROOT
  for (const next of [...ancestorsOf(path).reverse(), path]) {
    if (!scopes.has(directory)) {
      const file = childOf(directory, '.gitignore')
      const stat = await backend.stat(file)
      const outer = scope
      scope =
        stat?.type === 'file'
          ? scopeWith(outer, directory, (await backend.read(file)).bytes, !backend.capabilities.caseSensitive)
          : outer
      scopes.set(directory, scope)
    } else scope = scopes.get(directory)
    if (isIgnored(scope, next, next !== path)) return true
    directory = next
  }
  return false
}

interface Made {
  readonly from: LogicalPath | undefined
  /** What it was made of. */
  readonly old: string
  readonly now: string
  readonly section: DiffSection
  readonly withBinary: boolean
}

/** The last section of each path, as long as it is made of the same; the latest used kept. */
function createSectionCache() {
  const known = createLruCache<LogicalPath, Made>(SECTION_BYTES, ({ section }) => 200 + section.text.length)
  const texts = createTextCache()
  const numbers = new WeakMap<object, number>()
  let nodes = 0

  /** What an immutable node holds needs no hash to be told from other content. */
  function nameOf(side: Side | null): string {
    if (side?.node === undefined) return `${side?.mode} ${side?.id}`
    let number = numbers.get(side.node)
    if (number === undefined) {
      number = nodes++
      numbers.set(side.node, number)
    }
    return `${side.mode} #${number}`
  }

  function hold(path: LogicalPath, made: Made): DiffSection {
    known.put(path, made)
    return made.section
  }

  return {
    async of(change: Paired, withBinary: (path: LogicalPath) => boolean): Promise<DiffSection> {
      const { path, from } = change
      // Of a file that is too large nothing is known by which it could be told from another.
      if (isUnknown(change.old) || isUnknown(change.now)) return sectionOf(change, withBinary, texts)
      const old = nameOf(change.old)
      const now = nameOf(change.now)
      const last = known.get(path)
      if (last?.old === old && last.now === now && last.from === from) {
        if (!last.section.binary || last.withBinary === withBinary(path)) return hold(path, last)
      }
      const section = await sectionOf(change, withBinary, texts)
      const made = { from, old, now, section, withBinary: section.binary && withBinary(path) }
      return hold(path, made)
    },
  }
}

function isUnknown(side: Side | null): boolean {
  return side !== null && side.node === undefined && side.id === ''
}
