import { closeSync, constants, lstatSync, openSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { errnoOf } from '../../storage/storage-error.ts'
import { isMissing } from './errno.ts'

/**
 * Removes a temporary, a directory with everything in it too. Each directory is opened without following a link and emptied
 * through its descriptor, so that nothing outside can be reached. What is gone already is no error.
 */
export function removeTree(place: string): void {
  try {
    if (!lstatSync(place).isDirectory()) {
      unlinkSync(place)
      return
    }
    emptyDirectory(place)
    rmdirSync(place)
  } catch (error) {
    // Something else stands there now, such as a link: that is not ours.
    if (!isMissing(error) && errnoOf(error) !== 'ELOOP') throw error
  }
}

const FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW

function emptyDirectory(place: string): void {
  if (process.platform !== 'linux') {
    for (const name of readdirSync(place)) removeTree(join(place, name))
    return
  }
  const fd = openSync(place, FLAGS)
  try {
    const self = `/proc/self/fd/${fd}`
    for (const name of readdirSync(self)) removeTree(`${self}/${name}`)
  } finally {
    closeSync(fd)
  }
}
