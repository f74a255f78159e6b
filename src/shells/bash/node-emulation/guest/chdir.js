import { fs } from './fs.js'
import { systemError } from './host.js'
import { path } from './path.js'
import { setWorkingDirectory } from './process.js'

/**
 * `process.chdir`, apart from `process`, which paths and files need.
 *
 * @param {string} directory
 */
export function chdir(directory) {
  const target = path.resolve(directory)
  if (!fs.statSync(target)?.isDirectory()) {
    throw systemError({ code: 'ENOTDIR', message: `ENOTDIR: not a directory, chdir '${directory}'` })
  }
  setWorkingDirectory(target)
}
