import { ToolError } from '../errors.ts'
import type { Shell } from '../shells/types.ts'
import type { Root } from './roots.ts'

/** What else is asked for beside the shell. */
export interface ShellPlace {
  readonly roots: readonly Root[]
  readonly overlay: boolean
  readonly readOnly: boolean
}

/**
 * The shell of a name; none where none is asked for, so that what an agent may do never depends on which packages happen to be there.
 *
 * @throws TypeError for a shell that cannot be had: with what else is asked for, on this system, or without its package
 */
export async function shellOf(name: string | undefined, place: ShellPlace): Promise<Shell | undefined> {
  if (name === undefined || name === 'none') return undefined
  if (name === 'bash') {
    await explained(async () => (await import('../shells/bash/just-bash.ts')).loadInterpreter())
    return (await import('../shells/bash/index.ts')).bash()
  }
  if (name !== 'node') throw new TypeError(`There is no shell "${name}"; the shells are bash, node and none`)
  const [root, second] = place.roots
  if (root === undefined || root.at !== '' || second !== undefined) {
    throw new TypeError('--shell node runs in one directory: give one --root DIR, or take --shell bash')
  }
  if (place.overlay) {
    throw new TypeError('--shell node runs in the directory itself, not in its overlay: take --shell bash')
  }
  if (place.readOnly) {
    throw new TypeError('--shell node cannot be kept from changing files: without --read-only, or take --shell bash')
  }
  const { nodeShell } = await import('../shells/node/index.ts')
  return explained(async () => nodeShell({ root: root.directory }))
}

/** A refusal to the person at the terminal. */
export async function explained<T>(open: () => Promise<T>): Promise<T> {
  try {
    return await open()
  } catch (error) {
    if (!(error instanceof ToolError)) throw error
    throw new TypeError(`${error.message}${error.details.hint === undefined ? '' : `. ${error.details.hint}`}`)
  }
}
