import type { StashEntry } from './provider.ts'
import type { GitFiles } from './repository-files.ts'

/** A stash with its line of the log, which says who made it and when. */
export interface StashLine extends StashEntry {
  readonly line: Uint8Array
}

/** A line of the log, as bytes: its text need not be UTF-8. Git skips those that name no stash. */
export type LogLine = StashLine | { readonly commit?: undefined; readonly line: Uint8Array }

/** The id in the first line of a log. */
export const NO_COMMIT = '0'.repeat(40)

/** One line: the commit before, the commit, who and when, and the message. */
const LINE = /^[0-9a-f]{40} ([0-9a-f]{40}) [^\t]*(?:\t([^\n]*))?$/

/** Returns all lines of the log, oldest first. */
export async function readStashLog(files: GitFiles): Promise<readonly LogLine[]> {
  const bytes = (await files.read('logs/refs/stash')) ?? new Uint8Array()
  const lines: LogLine[] = []
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(10, start)
    const line = bytes.subarray(start, newline === -1 ? bytes.length : newline)
    start += line.length + 1
    const [, commit, message = ''] = LINE.exec(decoder.decode(line)) ?? []
    lines.push(commit === undefined ? { line } : { commit, message, line })
  }
  return lines
}

/** Returns what is stashed, newest first. */
export async function readStashes(files: GitFiles): Promise<readonly StashLine[]> {
  return stashesOf(await readStashLog(files))
}

/** Returns the stashes of a log, newest first. */
export function stashesOf(log: readonly LogLine[]): readonly StashLine[] {
  return log.filter((line) => line.commit !== undefined).reverse()
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
