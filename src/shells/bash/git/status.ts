import type { CommandStatus, GitState } from '../../types.ts'
import {
  detachedAt,
  type GitInvocation,
  type GitSubcommand,
  gitFlags,
  gitSuccess,
  table,
  toOperand,
} from './git-subcommand.ts'

export const status: GitSubcommand = async ({ git, head, args, at }) => {
  const flags = gitFlags(
    args.map((arg) => (/^(-u|--untracked-files$)/.test(arg) ? `--untracked-files=${arg.slice(2)}` : arg)),
    table(
      { '-s': 'short', '--short': 'short', '--porcelain': 'porcelain', '-b': 'branch', '--branch': 'branch' },
      { '--untracked-files': 'untracked' },
    ),
  )
  if (flags.operands.length > 0) return undefined
  const untracked = untrackedOf(flags.values('untracked').at(-1))
  if (untracked === undefined) return undefined
  const all = await git.status({ untracked: untracked === 'files' ? 'files' : 'directories' })
  const rows = untracked === 'none' ? all.filter(({ files }) => files !== 'untracked') : all
  const isPorcelain = flags.count('porcelain') > 0
  if (isPorcelain || flags.count('short') > 0) {
    const position =
      head.commit === undefined ? `No commits yet on ${head.branch}` : (head.branch ?? 'HEAD (no branch)')
    const first = flags.count('branch') > 0 ? `## ${position}\n` : ''
    // For programs, paths do not depend on the directory.
    const displayed = (path: string) => (isPorcelain ? path : toOperand(at, path))
    return gitSuccess(first + rows.map((row) => `${lettersOf(row)} ${pathsOf(row, displayed)}\n`).join(''))
  }
  return gitSuccess(await longStatus({ git, head, at }, rows))
}

/** Parses `--untracked-files`; `undefined` for an unknown mode. */
function untrackedOf(mode = 'normal'): 'files' | 'directories' | 'none' | undefined {
  const modes = { '': 'files', all: 'files', normal: 'directories', no: 'none' } as const
  return Object.hasOwn(modes, mode) ? modes[mode as keyof typeof modes] : undefined
}

/** The status as git prints it for people, with paths relative to a directory. */
export async function longStatus(
  { git, head, at }: Pick<GitInvocation, 'git' | 'head' | 'at'>,
  rows: readonly CommandStatus[],
): Promise<string> {
  const { branch, commit } = head
  const lines = [branch === undefined ? await detachedAt(git) : `On branch ${branch}`]
  const { isEnabled, percentage } = await git.sparse()
  if (isEnabled) lines.push(`You are in a sparse checkout with ${percentage}% of tracked files present.`)
  if (commit === undefined) lines.push('', 'No commits yet')
  const list = (title: string, of: readonly string[]) => {
    if (of.length > 0) lines.push('', title, ...of.map((text) => `\t${text}`))
  }
  const labelOf = (state: GitState) => `${words[state]}:`.padEnd(12)
  const staged = rows.filter(({ index }) => index !== 'same')
  const changed = rows.filter(({ files }) => files !== 'same' && files !== 'untracked')
  const untracked = rows.filter(({ files }) => files === 'untracked')
  list(
    'Changes to be committed:',
    staged.map((row) => `${labelOf(row.index)}${pathsOf(row, (path) => toOperand(at, path))}`),
  )
  list(
    'Changes not staged for commit:',
    changed.map(({ files, path }) => `${labelOf(files)}${toOperand(at, path)}`),
  )
  list(
    'Untracked files:',
    untracked.map(({ path }) => toOperand(at, path)),
  )
  // As git prints it.
  if (isEnabled && rows.length === 0) lines.push('')
  if (rows.length === 0) lines.push('nothing to commit, working tree clean')
  else if (staged.length === 0) {
    lines.push(
      '',
      changed.length === 0 ? NOTHING_ADDED : 'no changes added to commit (use "git add" and/or "git commit -a")',
    )
  }
  return `${lines.join('\n')}\n`
}

const NOTHING_ADDED = 'nothing added to commit but untracked files present (use "git add" to track)'

const words: Readonly<Record<GitState, string>> = {
  same: '',
  added: 'new file',
  modified: 'modified',
  deleted: 'deleted',
  renamed: 'renamed',
  untracked: '',
}

const letters: Readonly<Record<GitState, string>> = {
  same: ' ',
  added: 'A',
  modified: 'M',
  deleted: 'D',
  renamed: 'R',
  untracked: '?',
}

/** Returns the path of a row, behind its path in HEAD if it is renamed. */
function pathsOf({ from, path }: CommandStatus, displayed: (path: string) => string): string {
  return from === undefined ? displayed(path) : `${displayed(from)} -> ${displayed(path)}`
}

function lettersOf({ index, files }: CommandStatus): string {
  return files === 'untracked' && index === 'same' ? '??' : letters[index] + letters[files]
}
