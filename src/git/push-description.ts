import { redact } from '../files/secrets/index.ts'
import { counted, leftOutNames } from '../util/counted.ts'
import { listCommits } from './commit-log.ts'
import { compareTrees, sectionsOf } from './compare-commits.ts'
import type { MissingCommits } from './push-pack.ts'
import type { RepositoryContext } from './repository-context.ts'
import type { RefUpdate } from './send-pack.ts'
import { EMPTY_TREE } from './trees.ts'

/** Characters of the changes that a description shows. */
const MAX_DIFF_CHARACTERS = 120_000
const MAX_COMMITS = 100

/** Describes a push for the person who decides about it: remote, branch, commits, and the changes as a diff. */
export async function describePush(
  { reader, host }: RepositoryContext,
  { url, ref, from, to, isForced }: RefUpdate & { readonly url: URL; readonly isForced: boolean },
  { commits, boundary }: MissingCommits,
): Promise<string> {
  const short = (id: string | null) => id?.slice(0, 12) ?? 'nothing'
  const head = `push ${url.href}\n${ref} ${short(from)} -> ${short(to)}${isForced ? ' (replaces commits)' : ''}\n`
  if (to === null) return head
  const sent = new Set(commits)
  const entries = await listCommits(reader.objects, to, await reader.shallow(), commits.length)
  const lines = entries
    .filter(({ commit }) => sent.has(commit))
    .slice(0, MAX_COMMITS)
    .map(({ commit, message }) => `${commit.slice(0, 12)} ${redact(message.split('\n', 1)[0] as string).text}\n`)
  const more = commits.length > lines.length ? `and ${counted(commits.length - lines.length, 'more commit')}\n` : ''
  const start = from !== null && (await reader.objects.read(from)) !== undefined ? from : boundary[0]
  const before = start === undefined ? EMPTY_TREE : await reader.tree(start)
  let leftOut = 0
  const changed = compareTrees(reader.objects, before, await reader.tree(to), () => (leftOut += 1))
  const diff = (await sectionsOf(changed.filter(({ path }) => host.mayRead(path)))).map(({ text }) => text).join('')
  const shown = diff.length <= MAX_DIFF_CHARACTERS ? diff : `${diff.slice(0, MAX_DIFF_CHARACTERS)}\n(cut)\n`
  const names = leftOutNames(leftOut, 'changed file').map((line) => `${line}\n`)
  return `${head}${lines.join('')}${more}${names.join('')}\n${shown}`
}
