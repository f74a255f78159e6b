import type { ExecResult } from 'just-bash'
import { quoteName } from '../../../patch/quoted-name.ts'
import { forms } from './forms.ts'
import {
  failed,
  fatal,
  type GitInvocation,
  type GitSubcommand,
  gitFlags,
  gitSuccess,
  table,
  toWorkspacePath,
} from './git-subcommand.ts'

/** `git sparse-checkout`: which directories are checked out, in cone mode. */
export const sparseCheckout: GitSubcommand = async (invocation) => {
  const [action, ...args] = invocation.args
  const run = action !== undefined && Object.hasOwn(actions, action) ? actions[action] : undefined
  if (run !== undefined) return run({ ...invocation, args })
  if (action?.startsWith('-')) return undefined
  const problem =
    action === undefined ? 'need a subcommand' : `git sparse-checkout ${action} is not available in this shell`
  return failed(129, '', `error: ${problem}\nhint: there is: ${forms['sparse-checkout']}\n`)
}

const NOT_CONE = 'the sparse checkout has patterns that are not those of cone mode, which this shell does not have'

const list: GitSubcommand = async ({ git, args }) => {
  if (args.length > 0) return undefined
  const { isEnabled, directories } = await git.sparse()
  if (!isEnabled) return fatal('this worktree is not sparse')
  if (directories === undefined) return fatal(NOT_CONE)
  return gitSuccess(directories.map((path) => `${quoteName(path)}\n`).join(''))
}

const set: GitSubcommand = async (invocation) => {
  const directories = directoriesOf(invocation)
  return typeof directories === 'string' ? fatal(directories) : apply(invocation, directories)
}

const add: GitSubcommand = async (invocation) => {
  const { isEnabled } = await invocation.git.sparse()
  if (!isEnabled) return fatal('no sparse-checkout to add to')
  const directories = directoriesOf(invocation)
  if (typeof directories === 'string') return fatal(directories)
  const present = await (await invocation.git.change()).sparseDirectories()
  return apply(invocation, [...(present ?? []), ...directories])
}

const reapply: GitSubcommand = async (invocation) => {
  if (invocation.args.length > 0) return undefined
  if (!(await invocation.git.sparse()).isEnabled) {
    return fatal('must be in a sparse-checkout to reapply sparsity patterns')
  }
  return apply(invocation, (await (await invocation.git.change()).sparseDirectories()) ?? [])
}

/** Git has had \`set\` do this since 2.35; many instructions still begin with it. */
const init: GitSubcommand = async (invocation) => {
  if (gitFlags(invocation.args, table({ '--cone': 'ignored' })).operands.length > 0) return undefined
  return apply(invocation, (await invocation.git.sparse()).directories ?? [])
}

const disable: GitSubcommand = async (invocation) => {
  if (invocation.args.length > 0) return undefined
  return apply(invocation, null)
}

const actions: Readonly<Record<string, GitSubcommand>> = { list, set, add, reapply, init, disable }

/** Returns the directories of an invocation, or the reason why they are refused. */
function directoriesOf({ args, at }: GitInvocation): readonly string[] | string {
  const flags = gitFlags(args, table({ '--cone': 'ignored', '--skip-checks': 'unchecked' }))
  for (const name of flags.operands) {
    if (name.startsWith('/')) return 'specify directories rather than patterns (no leading slash)'
    if (flags.count('unchecked') > 0) continue
    if (name.startsWith('!'))
      return "specify directories rather than patterns.  If your directory starts with a '!', pass --skip-checks"
    if (/[*?[\]\\]/.test(name)) {
      return "specify directories rather than patterns.  If your directory really has any of '*?[]\\' in it, pass --skip-checks"
    }
  }
  return flags.operands.map((name) => toWorkspacePath(at, name))
}

async function apply({ git }: GitInvocation, directories: readonly string[] | null): Promise<ExecResult> {
  const { kept } = await (await git.change()).setSparseDirectories(directories)
  return gitSuccess('', keptWarning(kept))
}

/** The warning about changed files outside of the sparse checkout, as git prints it. */
export function keptWarning(kept: readonly string[]): string {
  if (kept.length === 0) return ''
  const paths = kept.map((path) => `\t${quoteName(path)}\n`).join('')
  return `warning: The following paths are not up to date and were left despite sparse patterns:\n${paths}\nAfter fixing the above paths, you may want to run \`git sparse-checkout reapply\`.\n`
}

/** The refusal of files to add, as git prints it. */
export function outsideSparse(paths: readonly string[]): string {
  return `The following paths and/or pathspecs matched paths that exist\noutside of your sparse-checkout definition, so will not be\nupdated in the index:\n${paths.join('\n')}\nhint: Add their directories: git sparse-checkout add DIRECTORY\n`
}
