import { closeSync, constants, lstatSync, openSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { isMissing } from './errno.ts'

/**
 * Removes a temporary file or directory, with all its contents. Each directory is opened without following a link and
 * emptied through its descriptor, so that nothing outside is reached. A missing path is not an error.
 */
export function removeTree(path: string): void {
  try {
    if (!lstatSync(path).isDirectory()) {
      unlinkSync(path)
      return
    }
    emptyDirectory(path)
    rmdirSync(path)
  } catch (error) {
    // Another process has put something else there, such as a link: leave it.
    if (!isMissing(error)) throw error
  }
}

const FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW

function emptyDirectory(path: string): void {
  if (process.platform !== 'linux') {
    for (const name of readdirSync(path)) removeTree(join(path, name))
    return
  }
  const fd = openSync(path, FLAGS)
  try {
    const self = `/proc/self/fd/${fd}`
    for (const name of readdirSync(self)) removeTree(`${self}/${name}`)
  } finally {
    closeSync(fd)
  }
}
