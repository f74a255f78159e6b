import { ToolError } from '../../../errors.ts'
import type { LogEntry } from '../../../git/provider.ts'
import type { CommandDiff } from '../../types.ts'
import { textOfBytes } from '../byte-encoding.ts'
import { parseFlags } from '../flags.ts'
import { HOME } from '../virtual-paths.ts'
import {
  changeSummary,
  detachedAt,
  type GitSubcommand,
  gitSuccess,
  matchesPathspec,
  short,
  splitAtDashes,
  subject,
  table,
  toWorkspacePath,
} from './git-subcommand.ts'

const MOST_COMMITS = 1000

const diffFlags = {
  '--stat': 'stat',
  '--shortstat': 'shortstat',
  '--name-only': 'names',
  '--name-status': 'statuses',
  '--no-color': 'ignored',
  '--no-ext-diff': 'ignored',
  '-p': 'ignored',
  '--patch': 'ignored',
}

export const diff: GitSubcommand = async ({ git, args, cwd }) => {
  const flags = parseFlags(
    args,
    table({ ...diffFlags, '--cached': 'index', '--staged': 'index', '--quiet': 'quiet', '--exit-code': 'code' }),
  )
  if (flags === undefined) return undefined
  const [refs, paths] = splitAtDashes(flags.operands, args)
  const [from, to, more] = refs.flatMap((ref) => ref.split('..'))
  const isThree = refs.some((ref) => ref.includes('...'))
  const isIndex = flags.count('index') > 0
  if (more !== undefined || isThree || (isIndex && to !== undefined)) return undefined
  const given = (ref: string | undefined) => (ref === '' ? 'HEAD' : ref)
  const all = await git.diff({ from: given(from), to: isIndex ? 'index' : given(to) })
  const wanted = paths.map((name) => toWorkspacePath(cwd, name))
  const found = wanted.length === 0 ? all : all.filter(({ path }) => matchesPathspec(path, wanted))
  const text = flags.count('quiet') > 0 ? '' : diffText(found, flags.count)
  return {
    stdout: text,
    stderr: '',
    exitCode: found.length > 0 && flags.count('quiet') + flags.count('code') > 0 ? 1 : 0,
  }
}

const letters: Readonly<Record<CommandDiff['status'], string>> = {
  added: 'A',
  deleted: 'D',
  modified: 'M',
  renamed: 'R',
}

function diffText(found: readonly CommandDiff[], count: (name: string) => number): string {
  if (count('names') > 0) return found.map(({ path }) => `${path}\n`).join('')
  if (count('statuses') > 0) return found.map(({ path, status }) => `${letters[status]}\t${path}\n`).join('')
  if (count('shortstat') > 0) return found.length === 0 ? '' : changeSummary(found)
  if (count('stat') === 0) return found.map(({ text }) => text).join('')
  if (found.length === 0) return ''
  const width = Math.max(...found.map(({ path }) => path.length))
  const rows = found.map(({ path, insertions, deletions }) => {
    const all = insertions + deletions
    const scale = Math.min(1, 50 / Math.max(1, all))
    const signs = '+'.repeat(Math.ceil(insertions * scale)) + '-'.repeat(Math.ceil(deletions * scale))
    return ` ${path.padEnd(width)} | ${all}${signs === '' ? '' : ` ${signs}`}\n`
  })
  return rows.join('') + changeSummary(found)
}

export const log: GitSubcommand = async ({ git, args, head }) => {
  const given = args.map((arg) => (/^-\d+$/.test(arg) ? `--max-count=${arg.slice(1)}` : arg))
  const flags = parseFlags(
    given,
    table(
      { '--oneline': 'short', '--no-decorate': 'ignored', '--no-color': 'ignored', '--reverse': 'reverse' },
      { '-n': 'most', '--max-count': 'most', '--format': 'format', '--pretty': 'format' },
    ),
  )
  if (flags === undefined || flags.operands.length > 1) return undefined
  const render = renderOf(flags.values('format').at(-1), flags.count('short') > 0)
  if (render === undefined) return undefined
  if (flags.operands.length === 0 && head.commit === undefined) {
    throw new ToolError('NOT_FOUND', `your current branch '${head.branch}' does not have any commits yet`)
  }
  const most = Number(flags.values('most').at(-1) ?? MOST_COMMITS)
  if (!Number.isSafeInteger(most)) return undefined
  const entries = await git.log(flags.operands[0] ?? 'HEAD', most < 0 ? MOST_COMMITS : Math.min(most, MOST_COMMITS))
  const shown = flags.count('reverse') > 0 ? [...entries].reverse() : entries
  return gitSuccess(shown.map(render.tell).join(render.isLong ? '\n' : ''))
}

export const show: GitSubcommand = async ({ git, args, cwd }) => {
  const flags = parseFlags(
    args,
    table(
      { ...diffFlags, '-s': 'silent', '--no-patch': 'silent', '--oneline': 'short' },
      { '--format': 'format', '--pretty': 'format' },
    ),
  )
  if (flags === undefined || args.includes('--')) return undefined
  const render = renderOf(flags.values('format').at(-1), flags.count('short') > 0)
  if (render === undefined) return undefined
  let text = ''
  for (const name of flags.operands.length === 0 ? ['HEAD'] : flags.operands) {
    const [, ref, path] = /^([^:]+):(.+)$/s.exec(name) ?? []
    if (ref !== undefined && path !== undefined) {
      // As git: from the root, unless it says otherwise.
      const bytes = await git.fileAt(ref, /^\.\.?\//.test(path) ? toWorkspacePath(cwd, path) : path)
      text += textOfBytes(bytes, 'utf8')
      continue
    }
    const { entry, diff: found } = await git.show(name)
    const changes = flags.count('silent') > 0 ? '' : diffText(found, flags.count)
    text += render.tell(entry) + (changes === '' || render === oneLine || render === oneLongLine ? '' : '\n') + changes
  }
  return gitSuccess(text)
}

export const branches: GitSubcommand = async ({ git, head, args }) => {
  const flags = parseFlags(
    args,
    table({ '--show-current': 'current', '-a': 'ignored', '--list': 'ignored', '-v': 'verbose' }),
  )
  if (flags === undefined || flags.operands.length > 0) return undefined
  if (flags.count('current') > 0) return gitSuccess(head.branch === undefined ? '' : `${head.branch}\n`)
  const named: { mark: string; name: string; ref: string }[] = []
  if (head.branch === undefined) named.push({ mark: '*', name: `(${detachedAt(head)})`, ref: 'HEAD' })
  for (const name of await git.branches()) {
    named.push({ mark: name === head.branch ? '*' : ' ', name, ref: `refs/heads/${name}` })
  }
  if (flags.count('verbose') === 0) return gitSuccess(named.map(({ mark, name }) => `${mark} ${name}\n`).join(''))
  const width = Math.max(0, ...named.map(({ name }) => name.length))
  let text = ''
  for (const { mark, name, ref } of named) {
    const { entry } = await git.show(ref)
    text += `${mark} ${name.padEnd(width)} ${short(entry.commit)} ${subject(entry.message)}\n`
  }
  return gitSuccess(text)
}

export const revParse: GitSubcommand = async ({ git, head, args, cwd }) => {
  const [first = '', second] = args
  if (first === '--show-toplevel') return gitSuccess(`${HOME}\n`)
  if (first === '--is-inside-work-tree') return gitSuccess('true\n')
  if (first === '--show-prefix')
    return gitSuccess(toWorkspacePath(cwd, '.') === '.' ? '\n' : `${toWorkspacePath(cwd, '.')}/\n`)
  if (first === '--abbrev-ref' && second === 'HEAD') return gitSuccess(`${head.branch ?? 'HEAD'}\n`)
  if (first === '--short' && second !== undefined) return gitSuccess(`${short(await git.resolve(second))}\n`)
  if (first === '--verify' && second !== undefined) return gitSuccess(`${await git.resolve(second)}\n`)
  if (first === '' || first.startsWith('-') || second !== undefined) return undefined
  return gitSuccess(`${await git.resolve(first)}\n`)
}

interface Render {
  tell(entry: LogEntry): string
  /** There is an empty line between two. */
  readonly isLong: boolean
}

const oneLine: Render = { tell: ({ commit, message }) => `${short(commit)} ${subject(message)}\n`, isLong: false }
const oneLongLine: Render = { tell: ({ commit, message }) => `${commit} ${subject(message)}\n`, isLong: false }

const whole: Render = {
  isLong: true,
  tell({ commit, message, author: { name, email, at } }) {
    const text = message.trimEnd().replace(/^/gm, '    ')
    return `commit ${commit}\nAuthor: ${name} <${email}>\nDate:   ${dateOf(at)}\n\n${text}\n`
  },
}

/** How a commit is told; `undefined` for a format that is not here. */
function renderOf(format: string | undefined, isShort: boolean): Render | undefined {
  if (isShort) return oneLine
  if (format === 'oneline') return oneLongLine
  if (format === undefined || format === 'medium') return whole
  const pattern = /^t?format:/.test(format) ? format.slice(format.indexOf(':') + 1) : format
  const parts = pattern.split(/(%(?:a.|.))/).map((part) => {
    return part.startsWith('%') ? fields.get(part.slice(1)) : () => part
  })
  const known = parts.filter((part) => part !== undefined)
  if (known.length === 1 || known.length < parts.length) return undefined
  return { isLong: false, tell: (entry) => `${known.map((part) => part(entry)).join('')}\n` }
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
