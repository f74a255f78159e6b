import { ToolError } from '../../../errors.ts'
import { changeSummary } from '../../../git/diff-stat.ts'
import { quoteName } from '../../../patch/quoted-name.ts'
import { quote } from '../../../paths/logical-path.ts'
import { counted } from '../../../util/counted.ts'
import type { Flags } from '../flags.ts'
import {
  failed,
  fatal,
  type GitInvocation,
  type GitSubcommand,
  gitFlags,
  gitSuccess,
  matchesPathspec,
  short,
  splitAtDashes,
  subject,
  table,
  toWorkspacePath,
} from './git-subcommand.ts'
import { keptWarning, outsideSparse } from './sparse-command.ts'
import { longStatus } from './status.ts'

export const init: GitSubcommand = async ({ git, args, at }) => {
  const flags = gitFlags(
    args,
    table({ '-q': 'quiet', '--quiet': 'quiet' }, { '-b': 'branch', '--initial-branch': 'branch' }),
  )
  if (flags.operands.length > 1) return undefined
  if (toWorkspacePath(at, flags.operands[0] ?? '.') !== '.')
    return fatal(`a repository here is that of the workspace: git init in ${at.root}`)
  const isNew = (await git.head()) === undefined
  const defaultBranch = flags.values('branch').at(-1)
  if (isNew) await (await git.change()).init(defaultBranch === undefined ? {} : { defaultBranch })
  const verb = isNew ? 'Initialized empty' : 'Reinitialized existing'
  return gitSuccess(flags.count('quiet') > 0 ? '' : `${verb} Git repository in ${at.root}/.git/\n`)
}

export const clone: GitSubcommand = async ({ git, args, at }) => {
  const flags = gitFlags(
    args,
    table(
      { '-q': 'quiet', '--quiet': 'quiet', '--single-branch': 'ignored', '--no-tags': 'ignored', '--sparse': 'sparse' },
      { '-b': 'branch', '--branch': 'branch', '--depth': 'depth' },
    ),
  )
  if (flags.operands.length > 2) return undefined
  const [address, directory] = flags.operands
  if (address === undefined) return fatal('You must specify a repository to clone.')
  if (directory === undefined || toWorkspacePath(at, directory) !== '.') {
    return fatal(
      `a repository here is that of the workspace itself: git clone ${address} ${at.cwd === at.root ? '.' : at.root}`,
    )
  }
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol))
    return fatal('only http and https addresses can be cloned here')
  if (url.username !== '' || url.password !== '') return fatal('an address must hold no name and no password')
  const depth = flags.values('depth').at(-1)
  if (depth !== undefined && !/^[1-9]\d{0,8}$/.test(depth)) return fatal(`depth ${depth} is not a positive number`)
  const ref = flags.values('branch').at(-1)
  const repository = await git.change()
  const { skipped, leftOut } = await repository.clone(url.href, {
    ...(ref === undefined ? {} : { ref }),
    ...(depth === undefined ? {} : { depth: Number(depth) }),
    ...(flags.count('sparse') === 0 ? {} : { sparse: [] }),
  })
  const message = flags.count('quiet') > 0 ? '' : "Cloning into '.'...\n"
  return gitSuccess('', `${message}${leftOutRefs(leftOut)}${skippedWarnings(skipped)}`)
}

export const add: GitSubcommand = async ({ git, args, at }) => {
  const flags = gitFlags(
    args,
    table({ '-A': 'all', '--all': 'all', '-u': 'tracked', '--update': 'tracked', '-v': 'ignored', '--': 'ignored' }),
  )
  const isWhole = flags.operands.length === 0 && flags.count('all') + flags.count('tracked') > 0
  if (flags.operands.length === 0 && !isWhole) {
    return gitSuccess('', 'Nothing specified, nothing added.\n')
  }
  const paths = isWhole ? ['.'] : flags.operands.map((name) => toWorkspacePath(at, name))
  const repository = await git.change()
  const { outside } = await repository.add(paths, { tracked: flags.count('tracked') > 0 })
  return outside.length === 0 ? gitSuccess('') : failed(1, '', outsideSparse(outside))
}

export const commit: GitSubcommand = async (invocation) => {
  const { git, head, args, stdin } = invocation
  const flags = gitFlags(
    args,
    table(
      {
        '-a': 'all',
        '--all': 'all',
        '-q': 'quiet',
        '--quiet': 'quiet',
        '--allow-empty': 'empty',
        '--amend': 'amend',
        '--no-edit': 'keep',
        // Hooks never run.
        '-n': 'ignored',
        '--no-verify': 'ignored',
        '--no-gpg-sign': 'ignored',
      },
      { '-m': 'message', '--message': 'message', '-F': 'file', '--file': 'file' },
    ),
  )
  if (flags.operands.length > 0) return undefined
  const isAmended = flags.count('amend') > 0
  const amended = isAmended ? head.commit : undefined
  if (isAmended && amended === undefined) return fatal('You have nothing to amend.')
  const rawMessage = messageOf(flags.values('message'), flags.values('file'), stdin)
  if (rawMessage === undefined && !(isAmended && flags.count('keep') > 0)) {
    return fatal('there is no editor here: give the message with -m, or with -F - on the input')
  }
  const message = rawMessage === undefined ? undefined : tidy(rawMessage)
  if (message === '') return failed(1, '', 'Aborting commit due to empty commit message.\n')
  const repository = await git.change()
  if (flags.count('all') > 0) await repository.add(['.'], { tracked: true })
  const rows = await git.status({ showsAll: false })
  if (amended !== undefined && flags.count('empty') === 0 && (await isEmptied(git, amended))) {
    return failed(1, '', 'error: amended, the commit would be empty\nhint: git commit --amend --allow-empty\n')
  }
  if (!isAmended && flags.count('empty') === 0 && !rows.some(({ index }) => index !== 'same')) {
    return failed(1, await longStatus(invocation, await git.status()))
  }
  const id = await repository.commit({ ...(message === undefined ? {} : { message }), amend: isAmended })
  if (flags.count('quiet') > 0) return gitSuccess('')
  const { entry, diff } = await git.show(id)
  const position = `${head.branch ?? 'detached HEAD'}${entry.parents.length === 0 ? ' (root-commit)' : ''}`
  return gitSuccess(
    `[${position} ${short(id)}] ${subject(entry.message)}\n${diff.length === 0 ? '' : changeSummary(diff)}`,
  )
}

export const branch: GitSubcommand = async ({ git, head, args, at }) => {
  const flags = gitFlags(
    args,
    table({ '-d': 'delete', '--delete': 'delete', '-D': 'force', '-q': 'quiet', '--quiet': 'quiet', '-f': 'x' }),
  )
  if (flags.count('x') > 0) return undefined
  const { operands } = flags
  if (flags.count('delete') + flags.count('force') > 0) {
    if (operands.length === 0) return fatal('branch name required')
    let output = ''
    for (const name of operands) {
      if (!(await git.branches({ showsAll: false })).includes(name))
        return failed(1, output, `error: branch '${name}' not found\n`)
      if (name === head.branch) {
        return failed(1, output, `error: cannot delete branch '${name}' used by worktree at '${at.root}'\n`)
      }
      const isQuiet = flags.count('quiet') > 0
      const tip = await git.resolve(`refs/heads/${name}`, { shows: !isQuiet })
      if (flags.count('force') === 0 && !(await historyContains(git, head.commit, tip))) {
        return failed(
          1,
          output,
          `error: the branch '${name}' is not fully merged\nhint: git branch -D ${name} deletes it all the same\n`,
        )
      }
      await (await git.change()).deleteBranch(name)
      if (!isQuiet) output += `Deleted branch ${name} (was ${short(tip)}).\n`
    }
    return gitSuccess(output)
  }
  const [name, start] = operands
  if (name === undefined || operands.length > 2) return undefined
  await create(git, name, start)
  return gitSuccess('')
}

export const checkout: GitSubcommand = async (invocation) => {
  const { git, args, at } = invocation
  const flags = gitFlags(
    args,
    table(
      { '-q': 'quiet', '--quiet': 'quiet', '-f': 'force', '--force': 'force', '--detach': 'detach' },
      { '-b': 'create' },
    ),
  )
  const [refs, paths] = splitAtDashes(flags.operands, args)
  const options = switchOptions(flags)
  const name = flags.values('create').at(-1)
  if (name !== undefined)
    return paths.length > 0 || refs.length > 1 ? undefined : switchToNew(invocation, name, refs[0], options)
  if (paths.length > 0) {
    if (refs.length > 1) return undefined
    return restorePaths(
      invocation,
      paths.map((path) => toWorkspacePath(at, path)),
      refs[0],
      options,
    )
  }
  const [ref = options.detach ? 'HEAD' : undefined, ...more] = refs
  if (ref === undefined) return undefined
  const isKnown =
    more.length === 0 &&
    (await git.resolve(ref).then(
      () => true,
      () => false,
    ))
  if (isKnown) return switchTo(invocation, ref, options)
  const files = refs.map((path) => toWorkspacePath(at, path))
  try {
    return await restorePaths(invocation, files, undefined, options)
  } catch (error) {
    if (!(error instanceof ToolError) || error.code !== 'NOT_FOUND') throw error
    return failed(1, '', `error: pathspec '${ref}' did not match any file(s) known to git\n`)
  }
}

export const switchBranch: GitSubcommand = async (invocation) => {
  const { git, args } = invocation
  const flags = gitFlags(
    args,
    table(
      {
        '-q': 'quiet',
        '--quiet': 'quiet',
        '-f': 'force',
        '--discard-changes': 'force',
        '--detach': 'detach',
        '-d': 'detach',
      },
      { '-c': 'create', '--create': 'create' },
    ),
  )
  const options = switchOptions(flags)
  const name = flags.values('create').at(-1)
  const [ref, more] = flags.operands
  if (more !== undefined) return undefined
  if (name !== undefined) return switchToNew(invocation, name, ref, options)
  if (ref === undefined && !options.detach) return fatal('missing branch or commit argument')
  if (ref !== undefined && !options.detach && !(await git.branches({ showsAll: false })).includes(ref)) {
    return fatal(`invalid reference: ${ref}`)
  }
  return switchTo(invocation, ref ?? 'HEAD', options)
}

export const restore: GitSubcommand = async (invocation) => {
  const flags = gitFlags(
    invocation.args,
    table(
      {
        '--staged': 'index',
        '-S': 'index',
        '--worktree': 'files',
        '-W': 'files',
        '-q': 'ignored',
        '--quiet': 'ignored',
      },
      { '-s': 'from', '--source': 'from' },
    ),
  )
  if (flags.operands.length === 0) return fatal('you must specify path(s) to restore')
  const paths = flags.operands.map((name) => toWorkspacePath(invocation.at, name))
  const isIndex = flags.count('index') > 0
  const from = flags.values('from').at(-1)
  if (!isIndex && from !== undefined) return undefined
  const repository = await invocation.git.change()
  const skipped = isIndex
    ? await repository.restore(paths, {
        from: from ?? 'HEAD',
        ...(flags.count('files') > 0 ? {} : { only: 'index' as const }),
      })
    : await repository.restore(paths)
  return gitSuccess('', skippedWarnings(skipped))
}

/** `git reset`: resets the index, or everything to HEAD. */
export const reset: GitSubcommand = async (invocation) => {
  const { git, head, args, at } = invocation
  const flags = gitFlags(args, table({ '-q': 'quiet', '--quiet': 'quiet', '--hard': 'hard', '--mixed': 'ignored' }))
  const [before, after] = splitAtDashes(flags.operands, args)
  const [first] = before
  const isHead = first === 'HEAD' || first === '@'
  const names = [...(isHead ? before.slice(1) : before), ...after]
  // A reset to another commit would move the branch.
  if (
    !isHead &&
    first !== undefined &&
    (await git.resolve(first).then(
      () => true,
      () => false,
    ))
  )
    return fatal(
      `git reset to another commit is not available in this shell; git checkout ${first} -- . restores its files`,
    )
  if (head.commit === undefined) return undefined
  const repository = await git.change()
  if (flags.count('hard') > 0) {
    if (names.length > 0) return fatal('Cannot do hard reset with paths.')
    const { skipped } = await repository.checkout(head.branch ?? head.commit, { force: true })
    return gitSuccess(flags.count('quiet') > 0 ? '' : await headMessage(git), skippedWarnings(skipped))
  }
  const paths = names.length === 0 ? ['.'] : names.map((name) => toWorkspacePath(at, name))
  await repository.restore(paths, { from: 'HEAD', only: 'index' })
  const rows = (await git.status()).filter(
    ({ files, path }) => files !== 'same' && files !== 'untracked' && matchesPathspec(path, paths),
  )
  const message = rows.map(({ files, path }) => `${files === 'deleted' ? 'D' : 'M'}\t${path}\n`).join('')
  return gitSuccess(flags.count('quiet') > 0 || message === '' ? '' : `Unstaged changes after reset:\n${message}`)
}

interface SwitchOptions {
  readonly force: boolean
  readonly quiet: boolean
  /** Checks out the commit, even if the name is a branch. */
  readonly detach: boolean
}

function switchOptions({ count }: Flags): SwitchOptions {
  return { force: count('force') > 0, quiet: count('quiet') > 0, detach: count('detach') > 0 }
}

async function switchTo({ git, head }: GitInvocation, ref: string, { force, quiet, detach }: SwitchOptions) {
  const isBranch = !detach && (await git.branches({ showsAll: false })).includes(ref)
  if (isBranch && ref === head.branch && !force) return gitSuccess('', quiet ? '' : `Already on '${ref}'\n`)
  const to = detach ? await git.resolve(ref) : ref
  const { skipped, kept } = await (await git.change()).checkout(to, { force })
  const message = quiet ? '' : isBranch ? `Switched to branch '${ref}'\n` : await headMessage(git)
  return gitSuccess('', `${keptWarning(kept)}${message}${skippedWarnings(skipped)}`)
}

async function headMessage(git: GitInvocation['git']): Promise<string> {
  const [entry] = await git.log('HEAD', 1)
  return `HEAD is now at ${short(String(entry?.commit))} ${subject(String(entry?.message))}\n`
}

async function switchToNew(
  { git, head }: GitInvocation,
  name: string,
  at: string | undefined,
  { force, quiet }: SwitchOptions,
) {
  if ((await git.branches({ showsAll: false })).includes(name)) return fatal(`a branch named '${name}' already exists`)
  const message = quiet ? '' : `Switched to a new branch '${name}'\n`
  const repository = await git.change()
  const commit = at === undefined ? head.commit : await git.resolve(at)
  if (commit === undefined) {
    await repository.moveTo(name)
    return gitSuccess('', message)
  }
  if (commit === head.commit && !force) {
    await repository.branch(name, { at: commit })
    await repository.moveTo(name)
    return gitSuccess('', message)
  }
  // The files first: if that is refused, no branch is created.
  const { skipped, kept } = await repository.checkout(commit, { force })
  await repository.branch(name, { at: commit })
  await repository.moveTo(name)
  return gitSuccess('', keptWarning(kept) + message + skippedWarnings(skipped))
}

async function restorePaths(
  { git }: GitInvocation,
  paths: readonly string[],
  from: string | undefined,
  { quiet }: SwitchOptions,
) {
  const skipped = await (await git.change()).restore(paths, from === undefined ? {} : { from, overlay: true })
  const message = `Updated ${counted(paths.length, 'path')}\n`
  return gitSuccess('', `${quiet ? '' : message}${skippedWarnings(skipped)}`)
}

/** Whether the index equals the parent of the last commit. */
async function isEmptied(git: GitInvocation['git'], commit: string): Promise<boolean> {
  const [parent] = (await git.show(commit)).entry.parents
  return parent !== undefined && (await git.diff({ from: parent, to: 'index' })).length === 0
}

async function create(git: GitInvocation['git'], name: string, at: string | undefined): Promise<void> {
  if ((await git.branches({ showsAll: false })).includes(name)) {
    throw new ToolError('ALREADY_EXISTS', `a branch named '${name}' already exists`)
  }
  await (await git.change()).branch(name, at === undefined ? {} : { at })
}

const MAX_HISTORY = 1_000_000

/** Whether the history of a commit contains another. */
async function historyContains(
  git: GitInvocation['git'],
  commit: string | undefined,
  ancestor: string,
): Promise<boolean> {
  if (commit === undefined) return false
  return (await git.log(commit, MAX_HISTORY)).some((entry) => entry.commit === ancestor)
}

function messageOf(texts: readonly string[], files: readonly string[], stdin: string): string | undefined {
  if (texts.length > 0) return texts.join('\n\n')
  if (files.length === 0) return undefined
  if (files.at(-1) !== '-') throw new ToolError('INVALID_INPUT', '-F takes the message from the input only: -F -')
  return stdin
}

/** Cleans a message as git does: no blanks at the ends of lines, no empty lines around it. */
function tidy(message: string): string {
  return message
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .replace(/^\n+|(?<!\n)\n+$/g, '')
    .replace(/\n{3,}/g, '\n\n')
}

const MAX_NAMED_REFS = 10

/** Says which refs of a server were left out, as git does. */
export function leftOutRefs(refs: readonly string[]): string {
  const lines = refs.slice(0, MAX_NAMED_REFS).map((ref) => `error: * Ignoring funny ref ${quote(ref)} locally\n`)
  if (refs.length > MAX_NAMED_REFS) lines.push(`error: and ${refs.length - MAX_NAMED_REFS} more\n`)
  return lines.join('')
}

export function skippedWarnings(skipped: readonly string[]): string {
  return skipped.map((path) => `warning: ${quoteName(path)} is left out: a workspace cannot hold it\n`).join('')
}
