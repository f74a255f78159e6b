import { ToolError } from '../errors.ts'
import type { Objects } from './objects.ts'
import type { LogEntry } from './provider.ts'
import { parseCommit } from './refs.ts'

/** A commit that is not listed yet. */
interface Tip {
  readonly entry: LogEntry
  /** Seconds since 1970, by which commits are ordered. */
  readonly committedAt: number
}

/**
 * Lists the commits that lead to a commit, newest first, each once.
 *
 * @param shallow commits whose parents the repository does not have
 * @throws ToolError `NOT_FOUND` for a commit that is missing
 */
export async function listCommits(
  objects: Objects,
  start: string,
  shallow: ReadonlySet<string>,
  depth = Number.POSITIVE_INFINITY,
  signal?: AbortSignal,
): Promise<readonly LogEntry[]> {
  const entries: LogEntry[] = []
  const seen = new Set([start])
  const tips = [await readTip(objects, start)]
  for (let tip = tips.pop(); tip !== undefined && entries.length < depth; tip = tips.pop()) {
    signal?.throwIfAborted()
    const { entry } = tip
    entries.push(entry)
    for (const parent of shallow.has(entry.commit) ? [] : entry.parents) {
      if (seen.has(parent)) continue
      seen.add(parent)
      tips.push(await readTip(objects, parent))
    }
    tips.sort((a, b) => a.committedAt - b.committedAt)
  }
  return entries
}

/** Returns a commit. @throws ToolError `NOT_FOUND` */
export async function readEntry(objects: Objects, commit: string): Promise<LogEntry> {
  return (await readTip(objects, commit)).entry
}

async function readTip(objects: Objects, commit: string): Promise<Tip> {
  const object = await objects.read(commit)
  if (object?.type !== 'commit') throw new ToolError('NOT_FOUND', `Cannot log: the commit ${commit} is missing`)
  const text = new TextDecoder().decode(object.bytes)
  const end = text.indexOf('\n\n')
  const head = end === -1 ? text : text.slice(0, end)
  const author = personOf(head, 'author')
  const body = text.slice(end).replaceAll('\r', '')
  const message = end === -1 ? '' : `${body.replace(/^\n+|(?<!\n)\n+$/g, '')}\n`
  const { name, email, seconds } = author
  return {
    entry: { commit, parents: parseCommit(object.bytes).parents, message, author: { name, email, at: seconds * 1000 } },
    committedAt: personOf(head, 'committer').seconds,
  }
}

function personOf(head: string, field: 'author' | 'committer') {
  const [, name = '', email = '', seconds = '0'] =
    new RegExp(`^${field} (.*) <(.*)> (\\d{1,15}) \\S+$`, 'm').exec(head) ?? []
  return { name, email, seconds: Number(seconds) }
}
