import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { straysIn } from '../backends/node/tree.ts'

/** Returns which traces of an unfinished commit a killed process left in the root and the state directory. */
export function leftBehind(
  root: string,
  stateDir: string,
): { temporaries: boolean; journal: boolean; logged: boolean } {
  const state = stateIn(stateDir)
  const logs = state === undefined ? [] : readdirSync(state).filter((name) => name.startsWith('log-'))
  return {
    temporaries: straysIn(root).length > 0,
    journal: hasJournal(stateDir),
    logged: logs.some((name) => /^\[/.test(readFileSync(join(state as string, name), 'utf8'))),
  }
}

/** Whether a commit is in the journal. The process may be working. */
export function hasJournal(stateDir: string): boolean {
  const state = stateIn(stateDir)
  return state !== undefined && (statSync(join(state, 'journal'), { throwIfNoEntry: false })?.size ?? 0) > 0
}

/** The state of the only root, unless the process was killed before it has opened the root. */
function stateIn(stateDir: string): string | undefined {
  const [own] = existsSync(stateDir) ? readdirSync(stateDir) : []
  return own === undefined ? undefined : join(stateDir, own)
}
