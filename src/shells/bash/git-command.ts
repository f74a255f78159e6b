import { ToolError } from '../../errors.ts'
import type { CommandGit } from '../types.ts'
import { type CustomCommand, ownCommand } from './custom-command.ts'
import { fatal, type GitSubcommand, type Head } from './git/git-subcommand.ts'
import { branches, diff, log, revParse, show } from './git/read-commands.ts'
import { status } from './git/status.ts'
import { add, branch, checkout, clone, commit, init, reset, restore, switchBranch } from './git/write-commands.ts'
import { resolvePath } from './virtual-paths.ts'

/**
 * `git`, over the repository of the workspace: what policy shows of it, and, where the workspace was opened with git, the
 * changes that a session of work needs.
 */
export function gitCommand(open: () => CommandGit | undefined): CustomCommand {
  return ownCommand('git', async (given, { cwd: start, stdin }) => {
    const called = callOf(given, start)
    if (called === undefined) return fatal('an option before the command is not available in this shell')
    const { verb, args, cwd } = called
    const run = verbOf(verb, args)
    if (run === undefined) return fatal(missing(verb))
    try {
      const git = open()
      const head = await git?.head()
      if (git === undefined || (head === undefined && !founders.has(verb))) return fatal('not a git repository')
      const here = head ?? NOWHERE
      const result = await run({ git, head: here, args, cwd, stdin })
      return result ?? fatal(`git ${verb}: an option of it is not available in this shell`)
    } catch (error) {
      if (!(error instanceof ToolError) || error.code === 'ABORTED') throw error
      return fatal(error.message)
    }
  })
}

/** There is no repository yet. */
const NOWHERE: Head = { commit: undefined, branch: undefined }

const founders: ReadonlySet<string> = new Set(['init', 'clone'])

const verbs: Readonly<Record<string, GitSubcommand>> = {
  add,
  checkout,
  clone,
  commit,
  diff,
  init,
  log,
  reset,
  restore,
  'rev-parse': revParse,
  show,
  status,
  switch: switchBranch,
}

function verbOf(verb: string, args: readonly string[]): GitSubcommand | undefined {
  if (verb !== 'branch') return Object.hasOwn(verbs, verb) ? verbs[verb] : undefined
  const changes = args.some((arg) => !arg.startsWith('-') || /^(-d|-D|--delete)$/.test(arg))
  return changes ? branch : branches
}

/** The command and its arguments, and where it works. */
function callOf(given: readonly string[], start: string) {
  let cwd = start
  for (let i = 0; i < given.length; i++) {
    const arg = given[i] as string
    if (arg === '-C' && given[i + 1] !== undefined) cwd = resolvePath(cwd, given[++i] as string)
    else if (arg === '--no-pager' || arg === '-P') continue
    else if (arg.startsWith('-')) return undefined
    else return { verb: arg, args: given.slice(i + 1), cwd }
  }
  return { verb: '', args: [], cwd }
}

/** What there is instead. */
const instead: Readonly<Record<string, string>> = {
  config: 'who commits is set by the program that opened the workspace',
  fetch: 'there is only git clone',
  pull: 'there is only git clone',
  push: 'hand the work over to whoever opened the workspace',
  stash: 'commit the work on a branch of its own',
  merge: 'take single files with git checkout BRANCH -- FILE, and commit them',
  rebase: 'commit on top of what is there',
  'cherry-pick': 'git show COMMIT | patch -p1, and commit',
  revert: 'git show COMMIT | patch -p1 -R is not there either; edit the files, and commit',
  rm: 'rm FILE, and git add FILE',
  mv: 'mv OLD NEW, and git add both',
  tag: 'make a branch',
  worktree: 'there is one tree of files',
}

function missing(verb: string): string {
  const name = verb === '' ? 'git' : `git ${verb}`
  const hint = Object.hasOwn(instead, verb) ? `: ${instead[verb]}` : ''
  return `${name} is not available in this shell${hint}`
}
