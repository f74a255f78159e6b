import { ToolError } from '../errors.ts'
import { type Path, parsePath } from '../paths/logical-path.ts'
import type { Backend, Stat } from '../storage/backend.ts'

/**
 * Git's own files of a workspace: the capability that no tool has. Reads below `.git` of the root only, and never
 * through a link.
 */
export interface GitFiles {
  /** `undefined` where no file is. */
  read(name: string, range?: { readonly start: number; readonly end: number }): Promise<Uint8Array | undefined>
  stat(name: string): Promise<Stat | undefined>
  list(name: string): Promise<readonly string[]>
}

export function gitFiles(backend: Backend): GitFiles {
  async function present(name: string): Promise<{ path: Path; stat: Stat } | undefined> {
    try {
      const asked = parsePath(`.git/${name}`)
      // A ref named in a file may hold dots: it must not lead out of here.
      if (asked !== `.git/${name}`) return undefined
      const path = await backend.canonical(asked)
      if (path !== asked) return undefined
      const stat = await backend.stat(path)
      return stat === undefined ? undefined : { path, stat }
    } catch (error) {
      if (error instanceof ToolError && missing.has(error.code)) return undefined
      throw error
    }
  }
  return {
    async read(name, range) {
      const found = await present(name)
      if (found?.stat.type !== 'file') return undefined
      try {
        return (await backend.read(found.path, range)).bytes
      } catch (error) {
        if (error instanceof ToolError && missing.has(error.code)) return undefined
        throw error
      }
    },
    stat: async (name) => (await present(name))?.stat,
    async list(name) {
      const found = await present(name)
      if (found?.stat.type !== 'directory') return []
      return (await backend.list(found.path)).map((entry) => entry.name)
    },
  }
}

const missing: ReadonlySet<string> = new Set(['NOT_FOUND', 'NOT_A_DIRECTORY', 'PATH_REJECTED', 'IS_DIRECTORY'])
