import { ToolError } from '../../errors.ts'
import type { CommandGit } from '../types.ts'
import { type CustomCommand, customCommand } from './custom-command.ts'
import { fetch, pull } from './git/fetch-commands.ts'
import { forms } from './git/forms.ts'
import { fatal, type GitSubcommand, type Head } from './git/git-subcommand.ts'
import { push } from './git/push-command.ts'
import { branches, diff, formatPatch, log, revParse, show } from './git/read-commands.ts'
import { sparseCheckout } from './git/sparse-command.ts'
import { stash } from './git/stash-command.ts'
import { status } from './git/status.ts'
import { add, branch, checkout, clone, commit, init, reset, restore, switchBranch } from './git/write-commands.ts'
import { resolvePath } from './virtual-paths.ts'

/**
 * `git`, over the repository of the workspace: it reads what policy shows and, if the workspace was opened with git, makes
 * the changes that a work session needs.
 */
export function gitCommand(open: () => CommandGit | undefined, root: string): CustomCommand {
  return customCommand('git', async (allArgs, { cwd: start, stdin }) => {
    const invocation = parseInvocation(allArgs, start)
    if (invocation === undefined) return fatal('an option before the command is not available in this shell')
    const { verb, args, cwd } = invocation
    const run = verbOf(verb, args)
    if (run === undefined) return fatal(unavailable(verb))
    try {
      const git = open()
      const head = await git?.head()
      if (git === undefined || (head === undefined && !creatingVerbs.has(verb))) return fatal('not a git repository')
      const knownHead = head ?? NO_HEAD
      const result = await run({ git, head: knownHead, args, at: { cwd, root }, stdin })
      return (
        result ??
        fatal(`git ${verb}: ${withForms(verb, `an option of it is not available in this shell: ${args.join(' ')}`)}`)
      )
    } catch (error) {
      if (!(error instanceof ToolError) || error.code === 'ABORTED') throw error
      const isOption = error.code === 'INVALID_INPUT' && error.message.startsWith('an option of it')
      return fatal(isOption ? `git ${verb}: ${withForms(verb, error.message)}` : error.message)
    }
  })
}

/** Adds to a refusal what there is instead. */
function withForms(verb: string, reason: string): string {
  return `${reason}\nhint: there is: ${forms[verb]}`
}

/** The head before there is a repository. */
const NO_HEAD: Head = { commit: undefined, branch: undefined }

const creatingVerbs: ReadonlySet<string> = new Set(['init', 'clone'])

const verbs: Readonly<Record<string, GitSubcommand>> = {
  add,
  checkout,
  clone,
  commit,
  diff,
  fetch,
  'format-patch': formatPatch,
  init,
  log,
  pull,
  push,
  reset,
  restore,
  'rev-parse': revParse,
  show,
  'sparse-checkout': sparseCheckout,
  stash,
  status,
  switch: switchBranch,
}

function verbOf(verb: string, args: readonly string[]): GitSubcommand | undefined {
  if (verb !== 'branch') return Object.hasOwn(verbs, verb) ? verbs[verb] : undefined
  const changes = args.some((arg) => !arg.startsWith('-') || /^(-d|-D|--delete)$/.test(arg))
  return changes ? branch : branches
}

/** Parses the options before the command. */
function parseInvocation(allArgs: readonly string[], start: string) {
  let cwd = start
  for (let i = 0; i < allArgs.length; i++) {
    const arg = allArgs[i] as string
    if (arg === '-C' && allArgs[i + 1] !== undefined) cwd = resolvePath(cwd, allArgs[++i] as string)
    else if (arg === '--no-pager' || arg === '-P') continue
    else if (arg.startsWith('-')) return undefined
    else return { verb: arg, args: allArgs.slice(i + 1), cwd }
  }
  return { verb: '', args: [], cwd }
}

/** Alternatives to commands that are not available. */
const instead: Readonly<Record<string, string>> = {
  config: 'who commits is set by the program that opened the workspace',
  merge: 'take single files with git checkout BRANCH -- FILE, and commit them',
  rebase: 'commit on top of what is there',
  'cherry-pick': 'git show COMMIT | patch -p1, and commit',
  revert: 'git show COMMIT | patch -p1 -R is not there either; edit the files, and commit',
  rm: 'rm FILE, and git add FILE',
  mv: 'mv OLD NEW, and git add both',
  tag: 'make a branch',
  worktree: 'there is one tree of files',
}

function unavailable(verb: string): string {
  const name = verb === '' ? 'git' : `git ${verb}`
  const hint = Object.hasOwn(instead, verb) ? `: ${instead[verb]}` : ''
  return `${name} is not available in this shell${hint}`
}
