import { privateDirectory } from './private-storage.ts'
import type { ProjectInfo } from './types.ts'

/** The list of stored projects. Each has a file of its own, so that tabs that change different projects do not conflict. */
export interface Registry {
  list(): Promise<readonly ProjectInfo[]>
  get(id: string): Promise<ProjectInfo | undefined>
  put(info: ProjectInfo): Promise<void>
  remove(id: string): Promise<void>
}

export function createRegistry(): Registry {
  const home = (): Promise<FileSystemDirectoryHandle> => privateDirectory('projects')

  async function read(handle: FileSystemFileHandle): Promise<ProjectInfo | undefined> {
    try {
      return JSON.parse(await (await handle.getFile()).text()) as ProjectInfo
    } catch {
      // Removed since, or created by a tab that was closed before writing to it.
      return undefined
    }
  }

  return {
    async list() {
      const all: Promise<ProjectInfo | undefined>[] = []
      for await (const handle of (await home()).values()) {
        if (handle.kind === 'file') all.push(read(handle as FileSystemFileHandle))
      }
      return (await Promise.all(all)).filter((info) => info !== undefined)
    },
    async get(id) {
      const handle = await (await home()).getFileHandle(`${id}.json`).catch(() => undefined)
      return handle && read(handle)
    },
    async put(info) {
      const handle = await (await home()).getFileHandle(`${info.id}.json`, { create: true })
      const stream = await handle.createWritable()
      await stream.write(JSON.stringify(info))
      await stream.close()
    },
    async remove(id) {
      await (await home()).removeEntry(`${id}.json`).catch(() => {})
    },
  }
}
