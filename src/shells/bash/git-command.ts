import type { ExecResult } from 'just-bash'
import { ToolError } from '../../errors.ts'
import type { LogEntry, StatusEntry } from '../../git/provider.ts'
import type { CommandGit } from '../shell.ts'
import { type FlagTable, parseFlags } from './flags.ts'
import { type OwnCommand, ownCommand } from './own-command.ts'
import { HOME, resolvePath } from './places.ts'

/** `git`, for looking: what policy shows of the repository of the workspace. */
export function gitCommand(open: () => CommandGit | undefined): OwnCommand {
  return ownCommand('git', async ([verb = '', ...args], { cwd }) => {
    const run = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined
    if (run === undefined) return fatal(`${verb === '' ? 'git' : `git ${verb}`} is not available in this shell`)
    try {
      const git = open()
      const head = await git?.head()
      if (git === undefined || head === undefined) return fatal('not a git repository')
      return (
        (await run({ git, head, args, cwd })) ?? fatal(`git ${verb}: an option of it is not available in this shell`)
      )
    } catch (error) {
      if (!(error instanceof ToolError) || error.code === 'ABORTED') throw error
      return fatal(error.message)
    }
  })
}

interface Asked {
  readonly git: CommandGit
  readonly head: NonNullable<Awaited<ReturnType<CommandGit['head']>>>
  readonly args: readonly string[]
  readonly cwd: string
}

/** `undefined` for an option that it does not know. */
type Verb = (asked: Asked) => Promise<ExecResult | undefined>

const verbs: Readonly<Record<string, Verb>> = {
  async status({ git, head, args }) {
    const flags = parseFlags(
      args,
      table({ '-s': 'short', '--short': 'short', '--porcelain': 'short', '-b': 'x', '-sb': 'short' }),
    )
    if (flags === undefined || flags.operands.length > 0) return undefined
    const entries = await git.status()
    if (flags.count('short') > 0) return said(entries.map((one) => `${letters(one)} ${one.path}\n`).join(''))
    const lines = [`On branch ${head.branch ?? '(detached)'}`]
    const list = (title: string, of: readonly StatusEntry[]) => {
      if (of.length > 0)
        lines.push('', title, ...of.map(({ path, status }) => `\t${status === 'added' ? '' : `${status}: `}${path}`))
    }
    list(
      'Changes to be committed:',
      entries.filter(({ staged }) => staged),
    )
    list(
      'Changes not staged for commit:',
      entries.filter(({ staged, status }) => !staged && status !== 'added'),
    )
    list(
      'Untracked files:',
      entries.filter(({ staged, status }) => !staged && status === 'added'),
    )
    if (entries.length === 0) lines.push('nothing to commit, working tree clean')
    return said(`${lines.join('\n')}\n`)
  },
  async diff({ git, args, cwd }) {
    const flags = parseFlags(
      args,
      table({
        '--stat': 'stat',
        '--name-only': 'names',
        '--name-status': 'x',
        '--no-color': 'ignored',
        '-p': 'ignored',
      }),
    )
    if (flags === undefined || flags.count('x') > 0) return undefined
    const dashes = args.indexOf('--')
    const after = dashes === -1 ? [] : args.slice(dashes + 1)
    const before = flags.operands.slice(0, flags.operands.length - after.length)
    if (before.length > 1) return undefined
    const wanted = after.map((name) => resolvePath(cwd, name))
    const sections = (await git.diff(before[0])).filter(({ path }) => isWanted(`${HOME}/${path}`, wanted))
    if (flags.count('names') > 0) return said(sections.map(({ path }) => `${path}\n`).join(''))
    if (flags.count('stat') === 0) return said(sections.map(({ text }) => text).join(''))
    const rows = sections.map(({ path, insertions, deletions }) => ` ${path} | +${insertions} -${deletions}\n`)
    return said(`${rows.join('')} ${sections.length} files changed\n`)
  },
  async log({ git, args }) {
    const given = args.map((arg) => (/^-\d+$/.test(arg) ? `--max-count=${arg.slice(1)}` : arg))
    const flags = parseFlags(given, {
      ...table({ '--oneline': 'short', '--no-decorate': 'ignored', '--no-color': 'ignored' }),
      valued: { '-n': 'most', '--max-count': 'most' },
    })
    if (flags === undefined || flags.operands.length > 1) return undefined
    const most = Number(flags.values('most').at(-1) ?? MOST_COMMITS)
    const entries = await git.log(
      flags.operands[0] ?? 'HEAD',
      Number.isSafeInteger(most) ? Math.min(most, MOST_COMMITS) : 0,
    )
    return said(entries.map(flags.count('short') > 0 ? oneLine : whole).join(''))
  },
  async branch({ git, head, args }) {
    const flags = parseFlags(args, table({ '--show-current': 'current', '-a': 'ignored', '--list': 'ignored' }))
    if (flags === undefined || flags.operands.length > 0) return undefined
    if (flags.count('current') > 0) return said(head.branch === undefined ? '' : `${head.branch}\n`)
    return said((await git.branches()).map((name) => `${name === head.branch ? '*' : ' '} ${name}\n`).join(''))
  },
  async 'rev-parse'({ git, head, args }) {
    const [first = '', second] = args
    if (first === '--show-toplevel') return said(`${HOME}\n`)
    if (first === '--is-inside-work-tree') return said('true\n')
    if (first === '--abbrev-ref' && second === 'HEAD') return said(`${head.branch ?? 'HEAD'}\n`)
    if (first === '' || first.startsWith('-')) return undefined
    return said(`${await git.resolve(first)}\n`)
  },
}

const MOST_COMMITS = 1000

function table(plain: Readonly<Record<string, string>>): FlagTable {
  return { plain, valued: {} }
}

function isWanted(path: string, wanted: readonly string[]): boolean {
  return wanted.length === 0 || wanted.some((one) => path === one || path.startsWith(`${one}/`))
}

function letters({ status, staged }: StatusEntry): string {
  const letter = status === 'added' ? 'A' : status === 'deleted' ? 'D' : 'M'
  if (staged) return `${letter} `
  return status === 'added' ? '??' : ` ${letter}`
}

function oneLine({ commit, message }: LogEntry): string {
  return `${commit.slice(0, 7)} ${message.split('\n')[0]}\n`
}

function whole({ commit, message, author: { name, email, at } }: LogEntry): string {
  const text = message.trimEnd().replace(/^/gm, '    ')
  return `commit ${commit}\nAuthor: ${name} <${email}>\nDate:   ${new Date(at).toISOString()}\n\n${text}\n\n`
}

function said(stdout: string): ExecResult {
  return { stdout, stderr: '', exitCode: 0 }
}

function fatal(why: string): ExecResult {
  return { stdout: '', stderr: `fatal: ${why}\n`, exitCode: 128 }
}
