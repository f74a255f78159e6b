import { ToolError } from '../../errors.ts'
import { redact } from '../../files/secrets/index.ts'
import type { Changed } from '../../git/changed-path.ts'
import { fileAt, filesOf } from '../../git/checkout.ts'
import { compareTrees, sectionsOf, treeOfIndex } from '../../git/compare-commits.ts'
import type { LogEntry } from '../../git/provider.ts'
import { openReader } from '../../git/reader.ts'
import { gitFiles } from '../../git/repository-files.ts'
import { EMPTY_TREE, type TreeDirectory } from '../../git/trees.ts'
import { createWorkspaceDiffs } from '../../git/workspace-diff.ts'
import { ancestorsOf, type Path, parsePath, quote } from '../../paths/logical-path.ts'
import type { TrackedCommandFiles } from '../../shells/shared/command-files.ts'
import type { CommandDiff, CommandGit, CommandRepository, CommandStatus, GitState } from '../../shells/types.ts'
import type { Backend } from '../../storage/backend.ts'
import type { RepositoryView } from './git-write.ts'

export interface CommandGitOptions {
  readonly backend: Backend
  readonly files: Pick<TrackedCommandFiles, 'reach' | 'show'>
  /** Whether a file may be shown, with its content. */
  readonly sees: (path: Path) => boolean
  /** Told of each file whose content is shown. */
  readonly onRead: (path: Path, bytes: number) => void
  readonly signal: AbortSignal
  /** Opens what changes the repository. */
  readonly change: (view: RepositoryView) => Promise<CommandRepository>
}

const decoder = new TextDecoder()
const MOST_BRANCHES = 10_000

/** The repository below `.git` of the root, as one command sees it. */
export function commandGit({ backend, files: gate, sees, onRead, signal, change }: CommandGitOptions): CommandGit {
  const files = gitFiles(backend)
  let reader = openReader(backend)
  let diffs = createWorkspaceDiffs(backend)

  async function head(): ReturnType<CommandGit['head']> {
    const bytes = await files.read('HEAD')
    if (bytes === undefined) return undefined
    const branch = /^ref: refs\/heads\/(\S+)/.exec(decoder.decode(bytes))?.[1]
    return { commit: await reader.headCommit(), branch }
  }

  async function entryOf(commit: string): Promise<LogEntry> {
    const text = decoder.decode(await reader.objects.need(commit, 'commit'))
    const end = text.indexOf('\n\n')
    const [fields, message] = end === -1 ? [text, ''] : [text.slice(0, end), text.slice(end + 2)]
    const [, name = '', email = '', at = '0'] = /^author (.*) <(.*)> (\d+) [+-]\d{4}$/m.exec(fields) ?? []
    const parents = [...fields.matchAll(/^parent ([0-9a-f]{40})$/gm)].map(([, id]) => id as string)
    return { commit, parents, message: redact(message).text, author: { name, email, at: Number(at) * 1000 } }
  }

  async function treeOf(ref: string | undefined): Promise<TreeDirectory> {
    const commit = ref === undefined ? await reader.headCommit() : await reader.resolve(ref)
    return commit === undefined ? EMPTY_TREE : reader.tree(commit)
  }

  async function shown(changed: readonly Changed[]): Promise<readonly CommandDiff[]> {
    const sections = await sectionsOf(changed.filter(({ path }) => sees(path)))
    for (const { path, oldPath, text } of sections) {
      onRead(path as Path, text.length)
      if (oldPath !== undefined) onRead(oldPath as Path, 0)
    }
    return sections
  }

  return {
    head,
    async branches() {
      const names = new Set<string>()
      const waiting = ['']
      for (let next = waiting.pop(); next !== undefined && names.size < MOST_BRANCHES; next = waiting.pop()) {
        for (const name of await files.list(`refs/heads${next === '' ? '' : `/${next}`}`)) {
          const path = next === '' ? name : `${next}/${name}`
          if ((await files.stat(`refs/heads/${path}`))?.type === 'directory') waiting.push(path)
          else names.add(path)
        }
      }
      const packed = await files.read('packed-refs')
      const lines = packed === undefined ? [] : decoder.decode(packed).matchAll(/^[0-9a-f]{40} refs\/heads\/(\S+)$/gm)
      for (const [, name] of lines) names.add(name as string)
      return [...names].sort()
    },
    resolve: (name) => reader.resolve(name),

    async status({ untracked = 'directories' } = {}) {
      const { entries } = await reader.index()
      const tree = await treeOf(undefined)
      const found: CommandStatus[] = []
      const note = (path: string, index: GitState, now: GitState) => {
        if ((index !== 'same' || now !== 'same') && sees(path as Path)) found.push({ path, index, files: now })
      }
      const looked = new Set<string>()
      const loose = new Set<string>()
      for (const { path, old, now } of await diffs.changedFrom(tree, signal)) {
        looked.add(path)
        const entry = entries.get(path) ?? null
        note(path, stateOf(old, entry), entry === null ? 'same' : stateOf(entry, now))
        if (entry === null && now !== null && sees(path)) loose.add(path)
      }
      const added = new Set<string>(entries.keys())
      for (const [path, file] of filesOf(tree)) {
        added.delete(path)
        if (looked.has(path)) continue
        const entry = entries.get(path) ?? null
        note(path, stateOf(file, entry), entry === null ? 'same' : stateOf(entry, file))
        if (entry === null && sees(path as Path)) loose.add(path)
      }
      // In the index alone, and in no file any more.
      for (const path of added) if (!looked.has(path)) note(path, 'added', 'deleted')
      const rows = untracked === 'files' ? loose : wholeDirectories(loose, entries.keys())
      for (const path of [...rows].sort()) found.push({ path, index: 'same', files: 'untracked' })
      // As git: what it knows first.
      const rank = ({ files: now }: CommandStatus) => (now === 'untracked' ? 1 : 0)
      return found.sort((a, b) => rank(a) - rank(b) || (a.path < b.path ? -1 : 1))
    },

    async diff({ from, to }) {
      const { entries } = await reader.index()
      const index = treeOfIndex(entries)
      const base = from === undefined && to === undefined ? index : await treeOf(from)
      if (to === 'index') return shown(compareTrees(reader.objects, base, index))
      if (to !== undefined) return shown(compareTrees(reader.objects, base, await treeOf(to)))
      const changed = await diffs.changedFrom(base, signal)
      return shown(changed.filter(({ path, old }) => old !== null || entries.has(path)))
    },

    async log(ref, most) {
      const waiting = [await entryOf(await reader.resolve(ref))]
      const seen = new Set(waiting.map(({ commit }) => commit))
      const found: LogEntry[] = []
      while (found.length < most && waiting.length > 0) {
        signal.throwIfAborted()
        waiting.sort((a, b) => b.author.at - a.author.at)
        const next = waiting.shift() as LogEntry
        found.push(next)
        for (const parent of next.parents) {
          if (seen.has(parent)) continue
          seen.add(parent)
          waiting.push(await entryOf(parent))
        }
      }
      return found
    },

    async show(ref) {
      const entry = await entryOf(await reader.resolve(ref))
      const [parent] = entry.parents
      const before = parent === undefined ? EMPTY_TREE : await treeOf(parent)
      // As git, a merge is shown by its message alone.
      const changed = entry.parents.length > 1 ? [] : compareTrees(reader.objects, before, await treeOf(entry.commit))
      return { entry, diff: await shown(changed) }
    },

    async fileAt(ref, path) {
      // Judged before it is looked for: that a hidden file was there once must not be told.
      await gate.reach({ permission: 'file:read', path })
      const file = fileAt(await treeOf(ref), parsePath(path))
      if (file === undefined || (file.mode & 0o170000) === 0o160000) {
        throw new ToolError('NOT_FOUND', `${quote(path)} is no file in ${quote(ref)}`, { path })
      }
      return gate.show(path, await reader.objects.need(file.id, 'blob'))
    },

    change: () =>
      change({
        async changed() {
          const { entries } = await reader.index()
          const changed = await diffs.changedFrom(await treeOf(undefined), signal)
          return changed.map(({ path }) => ({ path, tracked: entries.has(path) }))
        },
        tracked: async () => (await reader.index()).entries.keys(),
        forget() {
          reader = openReader(backend)
          diffs = createWorkspaceDiffs(backend)
        },
      }),
  }
}

type Entry = { readonly id: string; readonly mode: number } | null

/** Paths of which git knows nothing, those of a directory of which it knows nothing as one. */
function wholeDirectories(loose: Iterable<string>, tracked: Iterable<string>): Set<string> {
  const known = new Set<string>()
  for (const path of tracked) for (const above of ancestorsOf(path as Path)) known.add(above)
  const rows = new Set<string>()
  for (const path of loose) {
    const whole = ancestorsOf(path as Path)
      .reverse()
      .find((above) => !known.has(above))
    rows.add(whole === undefined ? path : `${whole}/`)
  }
  return rows
}

function sameEntry(a: Entry, b: Entry): boolean {
  return a?.id === b?.id && a?.mode === b?.mode
}

function stateOf(before: Entry, after: Entry): GitState {
  if (sameEntry(before, after)) return 'same'
  return before === null ? 'added' : after === null ? 'deleted' : 'modified'
}
