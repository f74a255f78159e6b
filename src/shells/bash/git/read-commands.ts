import { ToolError } from '../../../errors.ts'
import { changeSummary, diffStat } from '../../../git/diff-stat.ts'
import { formatMails } from '../../../git/format-patch.ts'
import type { LogEntry } from '../../../git/provider.ts'
import type { CommandDiff } from '../../types.ts'
import { textOfBytes } from '../byte-encoding.ts'
import {
  detachedAt,
  type GitSubcommand,
  gitFlags,
  gitSuccess,
  short,
  splitAtDashes,
  subject,
  table,
  toWorkspacePath,
} from './git-subcommand.ts'

const MAX_COMMITS = 1000

export const diffFlags = {
  '--stat': 'stat',
  '--shortstat': 'shortstat',
  '--name-only': 'names',
  '--name-status': 'statuses',
  '--no-color': 'ignored',
  '--no-ext-diff': 'ignored',
  '-p': 'ignored',
  '--patch': 'ignored',
}

export const diff: GitSubcommand = async ({ git, args, at }) => {
  const flags = gitFlags(
    args,
    table({ ...diffFlags, '--cached': 'index', '--staged': 'index', '--quiet': 'quiet', '--exit-code': 'code' }),
  )
  const [refs, paths] = splitAtDashes(flags.operands, args)
  const [from, to, more] = refs.flatMap((ref) => ref.split('..'))
  const isThree = refs.some((ref) => ref.includes('...'))
  const isIndex = flags.count('index') > 0
  if (more !== undefined || isThree || (isIndex && to !== undefined)) return undefined
  const orHead = (ref: string | undefined) => (ref === '' ? 'HEAD' : ref)
  const chosen = paths.length === 0 ? undefined : paths.map((name) => toWorkspacePath(at, name))
  const changes = await git.diff({ from: orHead(from), to: isIndex ? 'index' : orHead(to), paths: chosen })
  const text = flags.count('quiet') > 0 ? '' : diffText(changes, flags.count)
  return {
    stdout: text,
    stderr: '',
    exitCode: changes.length > 0 && flags.count('quiet') + flags.count('code') > 0 ? 1 : 0,
  }
}

const letters: Readonly<Record<CommandDiff['status'], string>> = {
  added: 'A',
  deleted: 'D',
  modified: 'M',
  renamed: 'R',
}

/** Returns a line of `--name-status`. */
function statusLine({ path, oldPath, status, text }: CommandDiff): string {
  if (status !== 'renamed') return `${letters[status]}\t${path}\n`
  const [, percentage = '100'] = /^similarity index (\d+)%$/m.exec(text) ?? []
  return `${letters[status]}${percentage.padStart(3, '0')}\t${oldPath}\t${path}\n`
}

export function diffText(changes: readonly CommandDiff[], count: (name: string) => number): string {
  if (count('names') > 0) return changes.map(({ path }) => `${path}\n`).join('')
  if (count('statuses') > 0) return changes.map(statusLine).join('')
  if (count('shortstat') > 0) return changes.length === 0 ? '' : changeSummary(changes)
  if (count('stat') === 0) return changes.map(({ text }) => text).join('')
  return diffStat(changes)
}

export const log: GitSubcommand = async ({ git, args, head }) => {
  const longArgs = args.map((arg) => (/^-\d+$/.test(arg) ? `--max-count=${arg.slice(1)}` : arg))
  const flags = gitFlags(
    longArgs,
    table(
      { '--oneline': 'short', '--no-decorate': 'ignored', '--no-color': 'ignored', '--reverse': 'reverse' },
      { '-n': 'max', '--max-count': 'max', '--format': 'format', '--pretty': 'format' },
    ),
  )
  if (flags.operands.length > 1) return undefined
  const render = renderOf(flags.values('format').at(-1), flags.count('short') > 0)
  if (render === undefined) return undefined
  if (flags.operands.length === 0 && head.commit === undefined) {
    throw new ToolError('NOT_FOUND', `your current branch '${head.branch}' does not have any commits yet`)
  }
  const max = Number(flags.values('max').at(-1) ?? MAX_COMMITS)
  if (!Number.isSafeInteger(max)) return undefined
  const entries = await git.log(flags.operands[0] ?? 'HEAD', max < 0 ? MAX_COMMITS : Math.min(max, MAX_COMMITS))
  const ordered = flags.count('reverse') > 0 ? [...entries].reverse() : entries
  return gitSuccess(ordered.map(render.text).join(render.isLong ? '\n' : ''))
}

export const show: GitSubcommand = async ({ git, args, at }) => {
  const flags = gitFlags(
    args,
    table(
      { ...diffFlags, '-s': 'silent', '--no-patch': 'silent', '--oneline': 'short' },
      { '--format': 'format', '--pretty': 'format' },
    ),
  )
  if (args.includes('--')) return undefined
  const render = renderOf(flags.values('format').at(-1), flags.count('short') > 0)
  if (render === undefined) return undefined
  let text = ''
  for (const name of flags.operands.length === 0 ? ['HEAD'] : flags.operands) {
    const [, ref, path] = /^([^:]+):(.+)$/s.exec(name) ?? []
    if (ref !== undefined && path !== undefined) {
      // As in git: relative to the root, unless it begins with `./` or `../`.
      const bytes = await git.fileAt(ref, /^\.\.?\//.test(path) ? toWorkspacePath(at, path) : path)
      text += textOfBytes(bytes, 'utf8')
      continue
    }
    const { entry, diff: changed } = await git.show(name)
    const changes = flags.count('silent') > 0 ? '' : diffText(changed, flags.count)
    text += render.text(entry) + (changes === '' || render === oneLine || render === oneLongLine ? '' : '\n') + changes
  }
  return gitSuccess(text)
}

/** `git format-patch --stdout`: files are written by the redirection of the line. */
export const formatPatch: GitSubcommand = async ({ git, args }) => {
  const flags = gitFlags(
    args.map((arg) => (/^-\d+$/.test(arg) ? `--max-count=${arg.slice(1)}` : arg)),
    table({ '--stdout': 'stdout', '-k': 'ignored', '--no-signature': 'ignored' }, { '--max-count': 'max' }),
  )
  const [range = '', ...more] = flags.operands
  const max = flags.values('max').at(-1)
  if (flags.count('stdout') === 0) {
    throw new ToolError('INVALID_INPUT', 'write the patch where you want it: git format-patch --stdout BASE > FILE')
  }
  const [base = '', head = 'HEAD', rest] = range.includes('..') ? range.split('..') : [range, 'HEAD']
  if (more.length > 0 || rest !== undefined || (range === '') !== (max !== undefined)) return undefined
  const patches = await git.patches(max === undefined ? base || 'HEAD' : `HEAD~${max}`, head || 'HEAD')
  return gitSuccess(formatMails(patches))
}

export const branches: GitSubcommand = async ({ git, head, args }) => {
  const flags = gitFlags(
    args,
    table({ '--show-current': 'current', '-a': 'ignored', '--list': 'ignored', '-v': 'verbose' }),
  )
  if (flags.operands.length > 0) return undefined
  if (flags.count('current') > 0) return gitSuccess(head.branch === undefined ? '' : `${head.branch}\n`)
  const rows: { mark: string; name: string; ref: string }[] = []
  if (head.branch === undefined) rows.push({ mark: '*', name: `(${await detachedAt(git)})`, ref: 'HEAD' })
  for (const name of await git.branches()) {
    rows.push({ mark: name === head.branch ? '*' : ' ', name, ref: `refs/heads/${name}` })
  }
  if (flags.count('verbose') === 0) return gitSuccess(rows.map(({ mark, name }) => `${mark} ${name}\n`).join(''))
  const width = Math.max(0, ...rows.map(({ name }) => name.length))
  let text = ''
  for (const { mark, name, ref } of rows) {
    const { entry } = await git.show(ref)
    text += `${mark} ${name.padEnd(width)} ${short(entry.commit)} ${subject(entry.message)}\n`
  }
  return gitSuccess(text)
}

export const revParse: GitSubcommand = async ({ git, head, args, at }) => {
  const [first = '', second] = args
  const idOf = (name: string) => git.resolve(name, { shows: true })
  if (first === '--show-toplevel') return gitSuccess(`${at.root}\n`)
  if (first === '--is-inside-work-tree') return gitSuccess('true\n')
  if (first === '--show-prefix')
    return gitSuccess(toWorkspacePath(at, '.') === '.' ? '\n' : `${toWorkspacePath(at, '.')}/\n`)
  if (first === '--abbrev-ref' && second === 'HEAD') return gitSuccess(`${head.branch ?? 'HEAD'}\n`)
  if (first === '--short' && second !== undefined) return gitSuccess(`${short(await idOf(second))}\n`)
  if (first === '--verify' && second !== undefined) return gitSuccess(`${await idOf(second)}\n`)
  if (first === '' || first.startsWith('-') || second !== undefined) return undefined
  return gitSuccess(`${await idOf(first)}\n`)
}

interface Render {
  text(entry: LogEntry): string
  /** Whether an empty line separates two commits. */
  readonly isLong: boolean
}

const oneLine: Render = { text: ({ commit, message }) => `${short(commit)} ${subject(message)}\n`, isLong: false }
const oneLongLine: Render = { text: ({ commit, message }) => `${commit} ${subject(message)}\n`, isLong: false }

const whole: Render = {
  isLong: true,
  text({ commit, message, author: { name, email, at } }) {
    const body = message.trimEnd().replace(/^/gm, '    ')
    return `commit ${commit}\nAuthor: ${name} <${email}>\nDate:   ${dateOf(at)}\n\n${body}\n`
  },
}

/** Returns how to print a commit; `undefined` for an unknown format. */
function renderOf(format: string | undefined, isShort: boolean): Render | undefined {
  if (isShort) return oneLine
  if (format === 'oneline') return oneLongLine
  if (format === undefined || format === 'medium') return whole
  const pattern = /^t?format:/.test(format) ? format.slice(format.indexOf(':') + 1) : format
  const parts = pattern.split(/(%(?:a.|.))/).map((part) => {
    return part.startsWith('%') ? fields.get(part.slice(1)) : () => part
  })
  const renderers = parts.filter((part) => part !== undefined)
  if (renderers.length === 1 || renderers.length < parts.length) return undefined
  return { isLong: false, text: (entry) => `${renderers.map((part) => part(entry)).join('')}\n` }
}

const fields: ReadonlyMap<string, (entry: LogEntry) => string> = new Map([
  ['H', ({ commit }) => commit],
  ['h', ({ commit }) => short(commit)],
  ['s', ({ message }) => subject(message)],
  ['b', ({ message }) => message.split('\n').slice(2).join('\n')],
  ['B', ({ message }) => message],
  ['an', ({ author }) => author.name],
  ['ae', ({ author }) => author.email],
  ['ad', ({ author }) => dateOf(author.at)],
  ['n', () => '\n'],
  ['%', () => '%'],
] as const)

function dateOf(at: number): string {
  return new Date(at).toISOString()
}
