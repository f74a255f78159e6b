import type { CommandRepository } from '../../types.ts'
import {
  failed,
  fatal,
  type GitInvocation,
  type GitSubcommand,
  gitFlags,
  gitSuccess,
  short,
  table,
} from './git-subcommand.ts'
import { diffText } from './read-commands.ts'
import { leftOutRefs, skippedWarnings } from './write-commands.ts'

const plain = { '-q': 'quiet', '--quiet': 'quiet', '--no-tags': 'ignored', '-n': 'ignored', '--progress': 'ignored' }

interface FetchRequest {
  readonly isQuiet: boolean
  readonly options: { readonly ref?: string; readonly depth?: number }
}

/** Parses what both commands take, or returns the reason why they do not. */
function parseRequest(flags: ReturnType<typeof gitFlags>): FetchRequest | string {
  const [remote = 'origin', ref, ...more] = flags.operands
  if (remote !== 'origin') return `'${remote}' is not available in this shell: only the remote origin is`
  if (more.length > 0 || ref?.includes(':')) return 'one branch can be fetched at a time, under its own name'
  const depth = flags.values('depth').at(-1)
  if (depth !== undefined && !/^[1-9]\d{0,8}$/.test(depth)) return `depth ${depth} is not a positive number`
  return {
    isQuiet: flags.count('quiet') > 0,
    options: { ...(ref === undefined ? {} : { ref }), ...(depth === undefined ? {} : { depth: Number(depth) }) },
  }
}

/** `git fetch [origin [BRANCH]]`: into `refs/remotes/origin`. */
export const fetch: GitSubcommand = async ({ git, args }) => {
  const request = parseRequest(gitFlags(args, table(plain, { '--depth': 'depth' })))
  if (typeof request === 'string') return fatal(request)
  const repository = await git.change()
  const before = await repository.remoteBranches()
  const { leftOut } = await repository.fetch(request.options)
  const rows = request.isQuiet ? '' : await fetchedRows(git, repository, before)
  return gitSuccess('', `${leftOutRefs(leftOut)}${rows}`)
}

/** The branches that a fetch moved, as git prints them. */
async function fetchedRows(
  git: GitInvocation['git'],
  repository: CommandRepository,
  before: ReadonlyMap<string, string>,
): Promise<string> {
  let text = ''
  for (const [name, commit] of await repository.remoteBranches()) {
    const old = before.get(name)
    if (old === commit) continue
    const to = short(await git.resolve(`refs/remotes/origin/${name}`, { shows: true }))
    const moved = old === undefined ? '* [new branch]     ' : `  ${`${short(old)}..${to}`.padEnd(17)}`
    text += ` ${moved} ${name.padEnd(10)} -> origin/${name}\n`
  }
  return text === '' ? '' : `From origin\n${text}`
}

/** `git pull [origin [BRANCH]]`, as with `--ff-only`: fetches, and moves the branch forward. */
export const pull: GitSubcommand = async ({ git, head, args }) => {
  const flags = gitFlags(args, table({ ...plain, '--ff-only': 'ignored', '--ff': 'ignored' }, { '--depth': 'depth' }))
  const request = parseRequest(flags)
  if (typeof request === 'string') return fatal(request)
  if (head.branch === undefined) return failed(1, '', 'You are not currently on a branch.\n')
  const repository = await git.change()
  const before = await repository.remoteBranches()
  const { from, to, status, skipped, leftOut } = await repository.pull(request.options)
  const rows = request.isQuiet ? '' : await fetchedRows(git, repository, before)
  const stderr = `${leftOutRefs(leftOut)}${rows}${skippedWarnings(skipped)}`
  if (request.isQuiet) return gitSuccess('', stderr)
  if (status === 'upToDate') return gitSuccess('Already up to date.\n', stderr)
  if (from === undefined) return gitSuccess('', stderr)
  const changes = await git.diff({ from, to })
  const stat = diffText(changes, (name) => Number(name === 'stat'))
  return gitSuccess(`Updating ${short(from)}..${short(to)}\nFast-forward\n${stat}`, stderr)
}
