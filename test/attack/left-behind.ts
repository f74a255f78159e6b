import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { straysIn } from '../backends/node/tree.ts'

/** Returns which traces of an unfinished commit a killed process left in the root and the state directory. */
export function leftBehind(
  root: string,
  stateDir: string,
): { temporaries: boolean; journal: boolean; logged: boolean } {
  const temporaries = straysIn(root).length > 0
  // The process may be killed before it has opened the root.
  const [own] = existsSync(stateDir) ? readdirSync(stateDir) : []
  if (own === undefined) return { temporaries, journal: false, logged: false }
  const state = join(stateDir, own)
  const logs = readdirSync(state).filter((name) => name.startsWith('log-'))
  return {
    temporaries,
    journal: statSync(join(state, 'journal')).size > 0,
    logged: logs.some((name) => /^\[/.test(readFileSync(join(state, name), 'utf8'))),
  }
}
