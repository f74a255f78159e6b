import { closeSync, constants, lstatSync, openSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { childOf, type LogicalPath, type Path, parentOf } from '../../paths/logical-path.ts'
import { movedOutsideError, type PinnedDirectory, rootMovedError, type TreeAccess } from './tree-access.ts'

/** macOS: an open that follows no link anywhere in the path. */
/* v8 ignore next -- @preserve: asked once, when the module is loaded; the flag means nothing on other platforms */
const O_NOFOLLOW_ANY = process.platform === 'darwin' ? 0x20000000 : 0

/**
 * The ground where `/proc/self/fd` is not to be had: the real path is checked before and after. On macOS files are opened
 * with O_NOFOLLOW_ANY, which closes the race for their content. Elsewhere (Windows), and for renames and removals, a link
 * swapped in between the check and the call can still win: the threat model says so.
 */
export function createRecheckingAccess(physical: string): TreeAccess {
  const root = lstatSync(physical)
  const place = (path: LogicalPath) => (path === '' ? physical : join(physical, ...path.split('/')))
  // Windows has neither flag; what is not there counts as none.
  const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | O_NOFOLLOW_ANY

  function verify(directory: LogicalPath): void {
    if (realpathSync.native(place(directory)) !== place(directory)) throw movedOutsideError(directory)
  }

  function verifyRoot(): void {
    const now = lstatSync(physical)
    if (now.ino !== root.ino || now.dev !== root.dev) throw rootMovedError()
  }

  return {
    physical,

    look(path) {
      verifyRoot()
      verify(parentOf(path))
      const stat = lstatSync(place(path))
      return {
        stat,
        isExact: false,
        open() {
          const fd = openSync(place(path), readFlags)
          try {
            verify(parentOf(path))
            return fd
          } catch (error) {
            closeSync(fd)
            throw error
          }
        },
        close() {},
      }
    },

    isStraight: (path) => realpathSync.native(place(path)) === place(path),

    pin,

    close() {},
  }

  function pin(directory: Path, how?: 'listing'): PinnedDirectory {
    verifyRoot()
    verify(directory)
    // A directory cannot be opened on Windows; there is nothing to sync either.
    const fd =
      how === 'listing' && process.platform !== 'win32'
        ? openSync(place(directory), constants.O_RDONLY | constants.O_DIRECTORY | O_NOFOLLOW_ANY)
        : -1
    return {
      fd,
      self: place(directory),
      at: (name) => join(place(directory), name),
      child: (name) => pin(childOf(directory, name)),
      holds() {
        try {
          return realpathSync.native(place(directory)) === place(directory)
        } catch {
          return false
        }
      },
      close() {
        if (fd !== -1) closeSync(fd)
      },
    }
  }
}
