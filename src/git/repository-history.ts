import { ToolError } from '../errors.ts'
import { listCommits } from './commit-log.ts'
import { gitPath } from './isomorphic-fs.ts'
import type { CommitRequest, LogEntry } from './provider.ts'
import type { RepositoryContext } from './repository-context.ts'
import { writeIndexTrees } from './repository-index.ts'

/** Commits the index. Returns the id of the commit. */
export async function commit(
  context: RepositoryContext,
  { message: requested, author: person = context.author, amend = false }: CommitRequest,
): Promise<string> {
  await context.requireRepository()
  if ((await context.backend.stat(gitPath('MERGE_HEAD'))) !== undefined) {
    throw new ToolError('BACKEND_ERROR', 'Cannot commit: a merge is in progress, and only git itself can finish it')
  }
  const message = requested ?? (amend ? await headMessage(context) : undefined)
  if (!message?.trim()) throw new ToolError('INVALID_INPUT', 'Cannot commit without a message')
  if (message.includes('\0'))
    throw new ToolError('INVALID_INPUT', 'Cannot commit: the message contains a NUL character')
  const author = { ...person, timestamp: Math.floor(context.host.now() / 1000), timezoneOffset: 0 }
  // isomorphic-git's own function for the tree recurses over its depth.
  const tree = await writeIndexTrees(context)
  return context.runGit('commit', (isomorphic) =>
    isomorphic.commit({ ...context.location, message, author, committer: author, amend, tree }),
  )
}

/** Returns the commits that lead to a ref, newest first. */
export async function log(
  context: RepositoryContext,
  { ref = 'HEAD', depth }: { readonly ref?: string; readonly depth?: number } = {},
): Promise<readonly LogEntry[]> {
  await context.requireRepository()
  const id = await context.reader.resolve(ref)
  return listCommits(context.reader.objects, id, await context.reader.shallow(), depth)
}

async function headMessage({ reader }: RepositoryContext): Promise<string | undefined> {
  const head = await reader.headCommit()
  if (head === undefined) return undefined
  const text = new TextDecoder().decode(await reader.objects.need(head, 'commit'))
  return text.slice(text.indexOf('\n\n') + 2)
}
