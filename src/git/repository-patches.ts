import { redact } from '../files/secrets/index.ts'
import { commitsBetween, mergeBase } from './commit-range.ts'
import { compareTrees, sectionsOf } from './compare-commits.ts'
import { exactSections } from './exact-sections.ts'
import { formatMails, type PatchedCommit, partsOf } from './format-patch.ts'
import type { LogEntry, PullRequest, PullRequestOptions } from './provider.ts'
import { currentBranch } from './repository-branches.ts'
import type { RepositoryContext } from './repository-context.ts'
import { EMPTY_TREE } from './trees.ts'

/** Returns what a pull request from one branch into another consists of. */
export async function pullRequest(context: RepositoryContext, options: PullRequestOptions): Promise<PullRequest> {
  await context.requireRepository()
  const { reader } = context
  const [base, head] = await ends(context, options)
  const shallow = await reader.shallow()
  const start = await mergeBase(reader.objects, shallow, base, head)
  const commits = await commitsBetween(reader.objects, shallow, base, head)
  const before = start === undefined ? EMPTY_TREE : await reader.tree(start)
  let leftOut = 0
  const changed = compareTrees(reader.objects, before, await reader.tree(head), () => (leftOut += 1))
  const visible = changed.filter(({ path }) => context.host.mayRead(path))
  const sections = await sectionsOf(visible)
  const named = options.head === undefined ? await currentBranch(context) : options.head
  return {
    ...describe(commits, named),
    ...{ base: start, head, commits },
    diff: sections.map(({ text }) => text).join(''),
    files: sections.map(({ path, oldPath, status, insertions, deletions }) => ({
      ...{ path, status, insertions, deletions },
      ...(oldPath === undefined ? {} : { oldPath }),
    })),
    insertions: sections.reduce((sum, { insertions }) => sum + insertions, 0),
    deletions: sections.reduce((sum, { deletions }) => sum + deletions, 0),
    leftOut: leftOut + changed.length - visible.length,
  }
}

/** The message of a single commit; otherwise the name of the branch as a sentence, and a list of the commits. */
function describe(commits: readonly LogEntry[], head: string | undefined): { title: string; body: string } {
  const parts = commits.map(({ message }) => partsOf(redact(message).text))
  const [first] = parts
  if (first === undefined) return { title: '', body: '' }
  if (parts.length === 1) return { title: first.subject, body: first.body }
  const words = (head ?? '').replace(/^.*\//, '').replaceAll(/[-_]+/g, ' ').trim()
  const isId = head === undefined || words === '' || /^([0-9a-f]{7,40}|HEAD)$|[~^]/.test(head)
  const title = isId ? (parts.at(-1) as typeof first).subject : words.charAt(0).toUpperCase() + words.slice(1)
  return { title, body: parts.map(({ subject }) => `- ${subject}\n`).join('') }
}

/** Returns the commits of a branch as mails that `git am` takes. Merges are left out, as by `git format-patch`. */
export async function formatPatch(context: RepositoryContext, options: PullRequestOptions): Promise<string> {
  await context.requireRepository()
  const { reader, host } = context
  const [base, head] = await ends(context, options)
  const commits = await commitsBetween(reader.objects, await reader.shallow(), base, head)
  const patched: PatchedCommit[] = []
  for (const entry of commits.filter(({ parents }) => parents.length < 2)) {
    const [parent] = entry.parents
    const before = parent === undefined ? EMPTY_TREE : await reader.tree(parent)
    const diff = await exactSections(reader.objects, before, await reader.tree(entry.commit), host.mayRead)
    patched.push({ entry: withoutSecrets(entry), diff })
  }
  return formatMails(patched)
}

function withoutSecrets(entry: LogEntry): LogEntry {
  return { ...entry, message: redact(entry.message).text }
}

async function ends({ reader }: RepositoryContext, { base, head = 'HEAD' }: PullRequestOptions) {
  return [await reader.resolve(base), await reader.resolve(head)] as const
}
