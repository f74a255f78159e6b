import { ToolError } from '../../../errors.ts'
import { forms } from './forms.ts'
import { failed, fatal, type GitInvocation, type GitSubcommand, gitFlags, gitSuccess, table } from './git-subcommand.ts'
import { diffFlags, diffText } from './read-commands.ts'
import { longStatus } from './status.ts'

const quietly = table({ '-q': 'quiet', '--quiet': 'quiet' })

/** `git stash`: changes that are put aside, and brought back. */
export const stash: GitSubcommand = async (invocation) => {
  const [first, ...rest] = invocation.args
  const isNamed = first !== undefined && !first.startsWith('-')
  if (!isNamed) return push({ ...invocation })
  const run = Object.hasOwn(actions, first) ? actions[first] : undefined
  if (run === undefined) {
    return fatal(`git stash ${first} is not available in this shell\nhint: there is: ${forms.stash}`)
  }
  return run({ ...invocation, args: rest })
}

const push: GitSubcommand = async ({ git, head, args }) => {
  const flags = gitFlags(
    args,
    table(
      { '-q': 'quiet', '--quiet': 'quiet', '-u': 'untracked', '--include-untracked': 'untracked' },
      { '-m': 'message', '--message': 'message' },
    ),
  )
  if (flags.operands.length > 0) return undefined
  if (head.commit === undefined) return failed(1, '', 'You do not have the initial commit yet\n')
  const message = flags.values('message').at(-1)
  const repository = await git.change()
  const commit = await repository.stash({
    ...(message === undefined ? {} : { message }),
    untracked: flags.count('untracked') > 0,
  })
  if (commit === undefined) return gitSuccess('No local changes to save\n')
  if (flags.count('quiet') > 0) return gitSuccess('')
  const [saved] = await git.stashes()
  return gitSuccess(`Saved working directory and index state ${saved?.message}\n`)
}

const list: GitSubcommand = async ({ git, args }) => {
  if (args.length > 0) return undefined
  const stashes = await git.stashes()
  return gitSuccess(stashes.map(({ message }, position) => `stash@{${position}}: ${message}\n`).join(''))
}

const show: GitSubcommand = async ({ git, args }) => {
  const flags = gitFlags(args, table({ ...diffFlags, '-p': 'patch', '--patch': 'patch' }))
  const { commit } = await stashAt(git, positionOf(flags.operands))
  const diff = await git.diff({ from: `${commit}^`, to: commit })
  const isText = args.some((arg) => arg.startsWith('-'))
  return gitSuccess(diffText(diff, isText ? flags.count : (name) => Number(name === 'stat')))
}

const apply: GitSubcommand = async (invocation) => bringBack(invocation, false)
const pop: GitSubcommand = async (invocation) => bringBack(invocation, true)

async function bringBack(invocation: GitInvocation, drops: boolean) {
  const { git, args } = invocation
  const flags = gitFlags(args, quietly)
  const position = positionOf(flags.operands)
  await stashAt(git, position)
  const isQuiet = flags.count('quiet') > 0
  const repository = await git.change()
  try {
    await repository.applyStash(position)
  } catch (error) {
    if (!(error instanceof ToolError) || !['WRITE_CONFLICT', 'PATH_REJECTED'].includes(error.code)) throw error
    const kept = drops ? 'The stash entry is kept in case you need it again.\n' : ''
    return failed(1, kept, `error: ${error.message}\n`)
  }
  const status = isQuiet ? '' : await longStatus(invocation, await git.status())
  if (!drops) return gitSuccess(status)
  const commit = await repository.dropStash(position)
  return gitSuccess(isQuiet ? '' : status + dropped(flags.operands, position, commit))
}

const drop: GitSubcommand = async ({ git, args }) => {
  const flags = gitFlags(args, quietly)
  const position = positionOf(flags.operands)
  await stashAt(git, position)
  const commit = await (await git.change()).dropStash(position)
  return gitSuccess(flags.count('quiet') > 0 ? '' : dropped(flags.operands, position, commit))
}

const clear: GitSubcommand = async ({ git, args }) => {
  if (args.length > 0) return undefined
  const stashes = await git.stashes()
  if (stashes.length === 0) return gitSuccess('')
  const repository = await git.change()
  for (const _ of stashes) await repository.dropStash()
  return gitSuccess('')
}

const actions: Readonly<Record<string, GitSubcommand>> = { push, list, show, apply, pop, drop, clear }

function dropped([name]: readonly string[], position: number, commit: string): string {
  return `Dropped ${name ?? `refs/stash@{${position}}`} (${commit})\n`
}

async function stashAt(git: GitInvocation['git'], position: number) {
  const stashes = await git.stashes()
  if (stashes.length === 0) throw new ToolError('NOT_FOUND', 'No stash entries found.')
  const entry = stashes[position]
  if (entry === undefined) throw new ToolError('NOT_FOUND', `stash@{${position}} is not a valid reference`)
  return entry
}

/** The position that `stash@{1}` or `1` names. */
function positionOf([name = '0', ...more]: readonly string[]): number {
  const [, position] = /^(?:stash@\{(\d{1,6})\}|\d{1,6})$/.exec(name) ?? []
  if (more.length === 0 && (position !== undefined || /^\d{1,6}$/.test(name))) return Number(position ?? name)
  throw new ToolError('NOT_FOUND', `'${more[0] ?? name}' is not a stash-like commit`)
}
