import { closeSync, constants, openSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { isAlive } from './lock.ts'
import { statePaths } from './state-directory.ts'

/**
 * Returns whether a dead process left something in a state directory. Creates nothing and takes no lock, so that readers
 * do not wait for writers.
 */
export async function hasLeftovers(statePath: string): Promise<boolean> {
  let directory = -1
  try {
    if (process.platform !== 'win32') directory = openSync(statePath, constants.O_RDONLY | constants.O_DIRECTORY)
    const names = readdirSync(statePath)
    const at = statePaths(statePath, directory)
    const ids = names.filter((name) => name.startsWith('claim-')).map((name) => name.slice('claim-'.length))
    for (const id of ids) if (!(await isAlive({ id: '', at }, id)) && isThere(at(`claim-${id}`))) return true
    const holder = names.includes('lock') ? readFileSync(at('lock'), 'latin1').slice(0, 32) : undefined
    // A live process is applying a set.
    if (holder !== undefined) return !(await isAlive({ id: '', at }, holder)) && isThere(at('lock'))
    return names.includes('journal') && statSync(at('journal')).size > 0
  } catch {
    // The directory does not exist, has just been removed, or is not readable.
    return false
  } finally {
    if (directory !== -1) closeSync(directory)
  }
}

/** An opening that is closing looks dead for a moment, but removes its claim. */
function isThere(path: string): boolean {
  try {
    return statSync(path).isFile()
  } catch {
    return false
  }
}
