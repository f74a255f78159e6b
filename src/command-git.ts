import { redact } from './files/secrets.ts'
import { gitFiles } from './git/files.ts'
import type { LogEntry } from './git/provider.ts'
import { openReader } from './git/reader.ts'
import { createWorkspaceDiffs } from './git/workspace-diff.ts'
import type { Path } from './paths/logical-path.ts'
import type { CommandGit } from './shells/shell.ts'
import type { Backend } from './vfs/backend.ts'

export interface CommandGitOptions {
  readonly backend: Backend
  /** Whether a file may be shown, with its content. */
  readonly sees: (path: Path) => boolean
  /** Told of each file whose content is shown. */
  readonly onRead: (path: Path, bytes: number) => void
  readonly signal: AbortSignal
}

const decoder = new TextDecoder()
const MOST_BRANCHES = 10_000

/** The repository below `.git` of the root, for looking only. */
export function commandGit({ backend, sees, onRead, signal }: CommandGitOptions): CommandGit {
  const files = gitFiles(backend)
  const reader = openReader(backend)
  const diffs = createWorkspaceDiffs(backend)

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
    async status() {
      const { entries } = await reader.index()
      const changed = await diffs.changed(undefined, signal)
      return changed.flatMap(({ path, old, now }) => {
        if (!sees(path)) return []
        const known = entries.get(path)
        const status = old === null ? 'added' : now === null ? 'deleted' : 'modified'
        const staged = now === null ? known === undefined : known?.id === now.id && known.mode === now.mode
        return [{ path, status, staged } as const]
      })
    },
    async diff(base) {
      const found = await diffs.diff({
        base,
        wants: () => true,
        sees: (path) => sees(path as Path),
        knows: () => false,
        withBinary: () => false,
        signal,
      })
      for (const { path, oldPath, text } of found.sections) {
        onRead(path as Path, text.length)
        if (oldPath !== undefined) onRead(oldPath as Path, 0)
      }
      return found.sections.map(({ path, text, insertions, deletions }) => ({ path, text, insertions, deletions }))
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
  }
}
