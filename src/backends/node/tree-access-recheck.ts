import { closeSync, constants, lstatSync, openSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { childOf, type LogicalPath, type Path, parentOf } from '../../paths/logical-path.ts'
import { MovedOutsideError, type PinnedDirectory, rootMovedError, type TreeAccess } from './tree-access.ts'

/** macOS flag: open follows no link anywhere in the path. */
/* v8 ignore next -- @preserve: asked once, when the module is loaded; the flag means nothing on other platforms */
const O_NOFOLLOW_ANY = process.platform === 'darwin' ? 0x20000000 : 0

/**
 * Creates the access for platforms without `/proc/self/fd`: checks the real path before and after. On macOS, files are
 * opened with O_NOFOLLOW_ANY, which closes the race for their content. Elsewhere (Windows), and for renames and removals,
 * a link swapped in between check and call can still win; see the threat model.
 */
export function createRecheckingAccess(physical: string): TreeAccess {
  const root = lstatSync(physical)
  const physicalPath = (path: LogicalPath) => (path === '' ? physical : join(physical, ...path.split('/')))
  // Windows has neither flag; undefined counts as 0.
  const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | O_NOFOLLOW_ANY

  function verify(directory: LogicalPath): void {
    if (realpathSync.native(physicalPath(directory)) !== physicalPath(directory)) throw new MovedOutsideError(directory)
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
      const stat = lstatSync(physicalPath(path))
      return {
        stat,
        isExact: false,
        open() {
          const fd = openSync(physicalPath(path), readFlags)
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

    isStraight: (path) => realpathSync.native(physicalPath(path)) === physicalPath(path),

    pin,

    close() {},
  }

  function pin(directory: Path, purpose?: 'listing'): PinnedDirectory {
    verifyRoot()
    verify(directory)
    // Windows cannot open directories, and has nothing to sync.
    const fd =
      purpose === 'listing' && process.platform !== 'win32'
        ? openSync(physicalPath(directory), constants.O_RDONLY | constants.O_DIRECTORY | O_NOFOLLOW_ANY)
        : -1
    return {
      fd,
      self: physicalPath(directory),
      at: (name) => join(physicalPath(directory), name),
      child: (name) => pin(childOf(directory, name)),
      holds() {
        try {
          return realpathSync.native(physicalPath(directory)) === physicalPath(directory)
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
