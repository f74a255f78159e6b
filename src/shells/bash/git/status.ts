import type { CommandStatus, GitState } from '../../shell.ts'
import { parseFlags } from '../flags.ts'
import { type Asked, said, table, type Verb } from './verb.ts'

export const status: Verb = async ({ git, head, args }) => {
  const flags = parseFlags(
    args,
    table(
      {
        '-s': 'short',
        '--short': 'short',
        '--porcelain': 'short',
        '-b': 'branch',
        '--branch': 'branch',
        '-u': 'all',
        '-uall': 'all',
      },
      { '--untracked-files': 'untracked' },
    ),
  )
  if (flags === undefined || flags.operands.length > 0) return undefined
  const showsAll = flags.count('all') > 0 || flags.values('untracked').at(-1) === 'all'
  const rows = await git.status({ untracked: showsAll ? 'files' : 'directories' })
  if (flags.count('short') > 0) {
    const first = flags.count('branch') > 0 ? `## ${head.branch ?? 'HEAD (no branch)'}\n` : ''
    return said(first + rows.map((row) => `${lettersOf(row)} ${row.path}\n`).join(''))
  }
  return said(longStatus(head, rows))
}

/** The status as git tells it to people. */
export function longStatus(head: Asked['head'], rows: readonly CommandStatus[]): string {
  const { branch, commit } = head
  const lines = [branch === undefined ? `HEAD detached at ${(commit ?? '').slice(0, 7)}` : `On branch ${branch}`]
  if (commit === undefined) lines.push('', 'No commits yet')
  const list = (title: string, of: readonly string[]) => {
    if (of.length > 0) lines.push('', title, ...of.map((text) => `\t${text}`))
  }
  const named = (state: GitState, path: string) => `${`${words[state]}:`.padEnd(12)}${path}`
  const staged = rows.filter(({ index }) => index !== 'same')
  const changed = rows.filter(({ files }) => files !== 'same' && files !== 'untracked')
  const untracked = rows.filter(({ files }) => files === 'untracked')
  list(
    'Changes to be committed:',
    staged.map(({ index, path }) => named(index, path)),
  )
  list(
    'Changes not staged for commit:',
    changed.map(({ files, path }) => named(files, path)),
  )
  list(
    'Untracked files:',
    untracked.map(({ path }) => path),
  )
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
  untracked: '',
}

const letters: Readonly<Record<GitState, string>> = {
  same: ' ',
  added: 'A',
  modified: 'M',
  deleted: 'D',
  untracked: '?',
}

function lettersOf({ index, files }: CommandStatus): string {
  return files === 'untracked' && index === 'same' ? '??' : letters[index] + letters[files]
}
