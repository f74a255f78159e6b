import { ToolError } from '../errors.ts'
import { type Path, parsePath } from '../paths/logical-path.ts'
import type { Backend, Stat } from '../storage/backend.ts'
import { TooLargeError } from './corrupt-error.ts'

/**
 * Reads git's own files, which no tool can read. Limited to `.git` in the root, and never through a link.
 */
export interface GitFiles {
  /** Returns `undefined` if there is no such file. */
  read(name: string, range?: { readonly start: number; readonly end: number }): Promise<Uint8Array | undefined>
  stat(name: string): Promise<Stat | undefined>
  list(name: string): Promise<readonly string[]>
}

export function gitFiles(backend: Backend): GitFiles {
  async function locate(name: string): Promise<{ path: Path; stat: Stat } | undefined> {
    try {
      const requested = parsePath(`.git/${name}`)
      // A ref read from a file may contain `..`: it must not lead outside.
      if (requested !== `.git/${name}`) return undefined
      const path = await backend.canonical(requested)
      if (path !== requested) return undefined
      const stat = await backend.stat(path)
      return stat === undefined ? undefined : { path, stat }
    } catch (error) {
      if (error instanceof ToolError && missing.has(error.code)) return undefined
      throw error
    }
  }
  return {
    async read(name, range) {
      const file = await locate(name)
      if (file?.stat.type !== 'file') return undefined
      if (range === undefined) requireReadable(file.path, file.stat.size)
      try {
        return (await backend.read(file.path, range)).bytes
      } catch (error) {
        if (error instanceof ToolError && missing.has(error.code)) return undefined
        throw error
      }
    },
    stat: async (name) => (await locate(name))?.stat,
    async list(name) {
      const directory = await locate(name)
      if (directory?.stat.type !== 'directory') return []
      return (await backend.list(directory.path)).map((entry) => entry.name)
    },
  }
}

const MIB = 1024 * 1024

/** The largest files of git that are read whole, by their names in `.git`; the first that matches. */
const maxBytes: readonly (readonly [name: RegExp, bytes: number])[] = [
  [/^objects\/pack\/[^/]+\.(idx|pack)$/, 1024 * MIB],
  [/^(objects\/|index$|packed-refs$)/, 256 * MIB],
  [/^/, 4 * MIB],
]

/** @throws ToolError `BACKEND_ERROR` for a file of git that is too large to read whole */
export function requireReadable(path: Path, size: number): void {
  const name = path.slice('.git/'.length)
  const [, max = 0] = maxBytes.find(([pattern]) => pattern.test(name)) ?? []
  if (size > max) throw new TooLargeError(`.git/${name}`)
}

const missing: ReadonlySet<string> = new Set(['NOT_FOUND', 'NOT_A_DIRECTORY', 'PATH_REJECTED', 'IS_DIRECTORY'])
