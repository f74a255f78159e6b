import type { ExecResult } from 'just-bash'
import { ToolError } from '../../../errors.ts'
import type { PushOptions, PushResult } from '../../../git/provider.ts'
import type { CommandRepository } from '../../types.ts'
import type { Flags } from '../flags.ts'
import { failed, fatal, type GitSubcommand, gitFlags, gitSuccess, short, table } from './git-subcommand.ts'

/** One branch to push, with its names as git prints them. */
interface Refspec {
  readonly options: PushOptions
  /** Absent for a deletion. */
  readonly from?: string
  readonly to: string
}

/** What one push prints. */
interface Printed {
  readonly url: string
  readonly row?: string
  readonly remote?: string
  readonly notes?: string
  readonly output?: string
  readonly isRefused?: boolean
}

const flagTable = table(
  {
    ...{ '-u': 'upstream', '--set-upstream': 'upstream', '-d': 'delete', '--delete': 'delete' },
    ...{ '-f': 'force', '--force': 'force', '--force-with-lease': 'lease', '-q': 'quiet', '--quiet': 'quiet' },
    // Hooks of the repository never run, and there is no terminal.
    ...{ '--no-verify': 'ignored', '--progress': 'ignored', '--no-progress': 'ignored', '-v': 'ignored' },
  },
  { '--lease-of': 'leaseOf' },
)

const NO_FORCE =
  'a push without a condition is not available in this shell: --force-with-lease replaces only what was fetched last'

export const push: GitSubcommand = async ({ git, head, args }) => {
  const flags = gitFlags(
    args.map((arg) => arg.replace(/^--force-with-lease=/, '--lease-of=')),
    flagTable,
  )
  const [named, ...specs] = flags.operands
  if (flags.count('force') > 0 || specs.some((spec) => spec.startsWith('+'))) return fatal(NO_FORCE)
  const repository = await git.change()
  const upstream = head.branch === undefined ? undefined : await repository.upstream(head.branch)
  const remote = named ?? upstream?.remote ?? 'origin'
  const target = /^[a-z][a-z0-9+.-]*:\/\//i.test(remote) ? { url: remote } : { remote }
  const isSimple = specs.length === 0
  if (isSimple) {
    const problem = defaultProblem(head.branch, remote, upstream)
    if (problem !== undefined) return fatal(problem)
    specs.push(head.branch as string)
  }
  const refspecs = specs.map((spec) => parseRefspec(spec, head.branch, flags))
  const rows: Printed[] = []
  for (const { options, ...names } of refspecs) {
    // As with git, a deleted branch sets none.
    const setUpstream = flags.count('upstream') > 0 && options.delete !== true
    rows.push(await pushOne(repository, { ...target, ...options, setUpstream }, names))
  }
  return printed(rows, flags.count('quiet') > 0)
}

/** Why a push without a branch is not possible, as with git's `push.default=simple`. */
function defaultProblem(
  branch: string | undefined,
  remote: string,
  upstream: Awaited<ReturnType<CommandRepository['upstream']>>,
): string | undefined {
  if (branch === undefined) {
    return `You are not currently on a branch.\nTo push the history leading to the current (detached HEAD)\nstate now, use\n\n    git push ${remote} HEAD:<name-of-remote-branch>\n`
  }
  if (upstream === undefined) {
    return `The current branch ${branch} has no upstream branch.\nTo push the current branch and set the remote as upstream, use\n\n    git push --set-upstream ${remote} ${branch}\n`
  }
  if (upstream.remote === remote && upstream.branch !== branch) {
    return `The upstream branch of your current branch does not match\nthe name of your current branch.  To push to the upstream branch\non the remote, use\n\n    git push ${remote} HEAD:${upstream.branch}\n\nTo push to the branch of the same name on the remote, use\n\n    git push ${remote} HEAD\n`
  }
  return undefined
}

/** @throws ToolError `INVALID_INPUT` for a form that git does not have, or that this shell does not have */
function parseRefspec(spec: string, current: string | undefined, flags: Flags): Refspec {
  const [source = '', destination, ...more] = spec.split(':')
  if (more.length > 0 || /[*^~@{]/.test(destination ?? '') || source.includes('*')) throw invalid(spec)
  const isDeletion = flags.count('delete') > 0 || source === ''
  if (flags.count('delete') > 0 && destination !== undefined) {
    throw new ToolError('INVALID_INPUT', '--delete only accepts plain target ref names')
  }
  const name = destination ?? (source === 'HEAD' ? current : source)
  if (name === undefined || name === '') throw invalid(spec)
  const to = withoutHeads(name)
  const force = forceOf(to, flags)
  if (isDeletion) return { options: { delete: true, remoteRef: to, ...force }, to }
  const from = withoutHeads(source)
  return { options: { ref: from, remoteRef: to, ...force }, from, to }
}

function withoutHeads(name: string): string {
  return name.replace(/^refs\/heads\//, '')
}

/** The expectation of `--force-with-lease[=BRANCH[:COMMIT]]` about a branch. */
function forceOf(branch: string, flags: Flags): Pick<PushOptions, 'force'> {
  for (const value of flags.values('leaseOf')) {
    const [name = '', expect] = value.split(':')
    if (withoutHeads(name) !== branch) continue
    if (expect === undefined) return { force: 'lease' }
    if (expect !== '' && !/^[0-9a-f]{40}$/.test(expect)) throw invalid(`--force-with-lease=${value}`)
    return { force: { expect: expect === '' ? null : expect } }
  }
  return flags.count('lease') > 0 ? { force: 'lease' } : {}
}

function invalid(spec: string): ToolError {
  return new ToolError('INVALID_INPUT', `invalid refspec '${spec}'`)
}

async function pushOne(
  repository: CommandRepository,
  options: PushOptions,
  names: Omit<Refspec, 'options'>,
): Promise<Printed> {
  try {
    const result = await repository.push(options)
    const { url, message } = result
    const branch = options.setUpstream === true && options.remote !== undefined ? names.from : undefined
    const output = branch === undefined ? '' : `branch '${branch}' set up to track '${options.remote}/${names.to}'.\n`
    if (result.status === 'upToDate') return { url, output }
    return { url, row: rowOf(result, names), remote: message, output }
  } catch (error) {
    if (!(error instanceof ToolError) || error.code === 'ABORTED') throw error
    return refusedPush(error, options, names)
  }
}

/** @throws the error itself, if it is not about the branch */
function refusedPush(error: ToolError, options: PushOptions, { from, to }: Omit<Refspec, 'options'>): Printed {
  const { push: refused, hint } = error.details
  if (refused === undefined) throw error
  const { url, reason, why, text = '' } = refused
  const names = from === undefined ? to : `${from} -> ${to}`
  const row = (mark: string, cause: string | undefined) => ` ! ${mark.padEnd(SUMMARY_WIDTH)} ${names} (${cause})\n`
  if (reason === 'remote') return { url, row: row('[remote rejected]', why), remote: text, isRefused: true }
  if (reason !== 'missing') {
    return { url, row: row('[rejected]', reasons[reason]), notes: `hint: ${hint}\n`, isRefused: true }
  }
  const notes = options.delete
    ? `error: unable to delete '${to}': remote ref does not exist\n`
    : `error: src refspec ${from} does not match any\n`
  return { url, notes, isRefused: true }
}

const reasons = {
  fetchFirst: 'fetch first',
  nonFastForward: 'non-fast-forward',
  stale: 'stale info',
  shallow: 'shallow update not allowed',
} as const

/** As git computes it for ids of 7 digits. */
const SUMMARY_WIDTH = 17

function rowOf({ status, from, to }: PushResult, names: Omit<Refspec, 'options'>): string {
  const row = (mark: string, text: string, rest: string) => ` ${mark} ${text.padEnd(SUMMARY_WIDTH)} ${rest}\n`
  const both = `${names.from} -> ${names.to}`
  if (status === 'deleted') return row('-', '[deleted]', names.to)
  if (status === 'created') return row('*', '[new branch]', both)
  const dots = status === 'forced' ? '...' : '..'
  const commits = `${short(from as string)}${dots}${short(to as string)}`
  return status === 'forced' ? row('+', commits, `${both} (forced update)`) : row(' ', commits, both)
}

/** Prints as git does: what the remote says, the branches, and what failed. */
function printed(rows: readonly Printed[], isQuiet: boolean): ExecResult {
  const url = rows.find((row) => row.row !== undefined)?.url
  const isRefused = rows.some((row) => row.isRefused === true)
  const remote = rows.flatMap((row) => (row.remote ? row.remote.split('\n') : [])).map((line) => `remote: ${line}\n`)
  const shown = rows.filter((row) => row.row !== undefined && (!isQuiet || row.isRefused === true))
  const table = shown.length === 0 ? '' : `To ${url}\n${shown.map((row) => row.row).join('')}`
  const hints = rows.filter((row) => row.row !== undefined).map((row) => row.notes ?? '')
  const errors = rows.filter((row) => row.row === undefined).map((row) => row.notes ?? '')
  const failure = isRefused ? `error: failed to push some refs to '${rows.find((row) => row.isRefused)?.url}'\n` : ''
  const nothing = url === undefined && !isRefused && !isQuiet ? 'Everything up-to-date\n' : ''
  const stderr = `${remote.join('')}${table}${errors.join('')}${failure}${[...new Set(hints)].join('')}${nothing}`
  const stdout = isQuiet ? '' : rows.map((row) => row.output ?? '').join('')
  return isRefused ? failed(1, stdout, stderr) : gitSuccess(stdout, stderr)
}
