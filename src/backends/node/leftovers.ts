import { closeSync, constants, openSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { isAlive } from './lock.ts'
import { statePaths } from './state-directory.ts'

/**
 * Whether a dead process left something in a state directory. Makes nothing and takes no lock, so that whoever only reads
 * does not wait for those who write.
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
    // Somebody alive is in the middle of a set.
    if (holder !== undefined) return !(await isAlive({ id: '', at }, holder)) && isThere(at('lock'))
    return names.includes('journal') && statSync(at('journal')).size > 0
  } catch {
    // Not there, or gone in the meantime, or not ours to read.
    return false
  } finally {
    if (directory !== -1) closeSync(directory)
  }
}

/** One that closes itself looks dead for a moment, but takes its claim away. */
function isThere(place: string): boolean {
  try {
    return statSync(place).isFile()
  } catch {
    return false
  }
}
