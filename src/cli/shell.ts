import { ToolError } from '../errors.ts'
import type { Shell } from '../shells/types.ts'
import { didYouMean } from '../util/check-options.ts'
import { joinSentences } from '../util/join-sentences.ts'
import { commandLineHint } from './refusals.ts'
import type { Root } from './roots.ts'

/** Other options that a shell depends on. */
export interface ShellEnvironment {
  readonly roots: readonly Root[]
  readonly overlay: boolean
  readonly readOnly: boolean
  /** The path at which commands of `bash()` see the workspace, if they can. Default: `/workspace` */
  readonly commandRoot?: string | undefined
}

/**
 * Opens the shell of a name. Default: none, so that the abilities of an agent never depend on which packages are installed.
 *
 * @throws TypeError if the shell is not available: with the other options, or on this system
 */
export async function shellOf(name: string | undefined, environment: ShellEnvironment): Promise<Shell | undefined> {
  requireShellName(name)
  if (name === undefined || name === 'none') return undefined
  if (name === 'bash') {
    const { bash } = await import('../shells/bash/index.ts')
    const { isVirtualRoot } = await import('../shells/bash/virtual-paths.ts')
    return isVirtualRoot(environment.commandRoot) ? bash({ root: environment.commandRoot }) : bash()
  }
  const [root, second] = environment.roots
  if (root === undefined || root.at !== '' || second !== undefined) {
    throw new TypeError('--shell node runs in one directory: pass one --root DIR, or use --shell bash')
  }
  if (environment.overlay) {
    throw new TypeError('--shell node runs in the directory itself, not in its overlay: use --shell bash')
  }
  if (environment.readOnly) {
    throw new TypeError('--shell node cannot be read-only: leave out --read-only, or use --shell bash')
  }
  const { nodeShell } = await import('../shells/node/index.ts')
  return asTypeError(async () => nodeShell({ root: root.directory }))
}

/** @throws TypeError for a name of no shell */
export function requireShellName(name: string | undefined): void {
  const names = ['bash', 'node', 'none']
  if (name === undefined || names.includes(name)) return
  const help = didYouMean(name, names) || '; the shells are bash, node and none'
  throw new TypeError(`There is no shell "${name}"${help}`)
}

/** Converts a ToolError, so that the command line prints it as wrong usage. */
export async function asTypeError<T>(open: () => Promise<T>): Promise<T> {
  try {
    return await open()
  } catch (error) {
    if (!(error instanceof ToolError)) throw error
    const hint = commandLineHint(error.details.hint ?? '')
    const isOfLibrary = error.details.hint !== undefined && hint === ''
    const help = isOfLibrary ? 'Use --shell bash, which needs none.' : hint
    throw new TypeError(help === '' ? error.message : joinSentences(error.message, help))
  }
}
