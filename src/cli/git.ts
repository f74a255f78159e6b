import type { WorkspaceOptions } from '../workspace/create-workspace.ts'
import type { WorkspaceValues } from './parse-words.ts'

/**
 * Returns the option `git` of a workspace, with which the git commands of `--shell bash` write the repository.
 *
 * @throws TypeError with options that cannot hold for a repository
 */
export async function gitOf(options: WorkspaceValues): Promise<Pick<WorkspaceOptions, 'git'>> {
  if (options.git !== true) return {}
  if (options.shell !== 'bash') throw new TypeError('--git needs --shell bash')
  for (const name of ['overlay', 'read-only', 'record'] as const) {
    if (options[name] !== undefined) throw new TypeError(`--git writes the repository itself: leave out --${name}`)
  }
  const { git } = await import('../git/index.ts')
  return { git: git() }
}
