import type { StashEntry } from './provider.ts'
import type { GitFiles } from './repository-files.ts'

/** A stash with its line of the log, which says who made it and when. */
export interface StashLine extends StashEntry {
  readonly text: string
}

/** The id in the first line of a log. */
export const NO_COMMIT = '0'.repeat(40)

/** One line: the commit before, the commit, who and when, and the message. */
const LINE = /^[0-9a-f]{40} ([0-9a-f]{40}) [^\t]*\t(.*)$/

/** Returns what is stashed, newest first. */
export async function readStashes(files: GitFiles): Promise<readonly StashLine[]> {
  const bytes = await files.read('logs/refs/stash')
  const lines = bytes === undefined ? [] : new TextDecoder().decode(bytes).split('\n')
  return lines.reverse().flatMap((text) => {
    const [, commit, message] = LINE.exec(text) ?? []
    return commit === undefined || message === undefined ? [] : [{ commit, message, text }]
  })
}
