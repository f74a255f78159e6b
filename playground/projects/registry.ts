import { isMissing, privateDirectory, workspaceNames } from './private-storage.ts'
import { rememberedProjects, rememberProject } from './remembered.ts'
import type { LostProject, ProjectInfo } from './types.ts'

/** The list of stored projects. Each has a file of its own, so that tabs that change different projects do not conflict. */
export interface Registry {
  list(): Promise<readonly ProjectInfo[]>
  get(id: string): Promise<ProjectInfo | undefined>
  put(info: ProjectInfo): Promise<void>
  /** Notes a project that is not complete: while it is filled or removed. It is not listed. */
  putUnfinished(id: string): Promise<void>
  unfinished(): Promise<readonly string[]>
  /** The projects that were stored here and are not stored any more, though nobody has removed them. */
  lost(): Promise<readonly LostProject[]>
  remove(id: string): Promise<void>
}

type Entry = ProjectInfo | { readonly id: string; readonly isUnfinished: true }

export function createRegistry(): Registry {
  const home = (): Promise<FileSystemDirectoryHandle> => privateDirectory('projects')

  /** Throws for an entry that is there but cannot be read: it must not count as absent. */
  async function read(name: string): Promise<Entry | undefined> {
    try {
      const text = await (await (await (await home()).getFileHandle(name)).getFile()).text()
      // A tab that is closed before it writes leaves an empty file.
      return text === '' ? undefined : (JSON.parse(text) as Entry)
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
  }

  async function entries(): Promise<readonly Entry[]> {
    const names: string[] = []
    for await (const name of (await home()).keys()) names.push(name)
    return (await Promise.all(names.map(read))).filter((entry) => entry !== undefined)
  }

  async function write(entry: Entry): Promise<void> {
    const handle = await (await home()).getFileHandle(`${entry.id}.json`, { create: true })
    const stream = await handle.createWritable()
    await stream.write(JSON.stringify(entry))
    await stream.close()
  }

  /** The complete projects of these entries whose files are there. */
  async function present(all: readonly Entry[]): Promise<readonly ProjectInfo[]> {
    const stored = await workspaceNames()
    return all.filter(isFinished).filter(({ id, storage }) => storage !== 'opfs' || stored.includes(id))
  }

  const list = async () => present(await entries())

  return {
    list,
    async get(id) {
      const entry = await read(`${id}.json`)
      return (await present(entry === undefined ? [] : [entry]))[0]
    },
    async put(info) {
      await write(info)
      rememberProject(info)
    },
    putUnfinished: (id) => write({ id, isUnfinished: true }),
    async unfinished() {
      return (await entries()).filter((entry) => !isFinished(entry)).map(({ id }) => id)
    },
    async lost() {
      const before = rememberedProjects()
      const stored = new Set((await list()).map(({ id }) => id))
      // Another tab may have removed a project meanwhile.
      const after = new Set(rememberedProjects().map(({ id }) => id))
      return before.filter(({ id }) => !stored.has(id) && after.has(id))
    },
    async remove(id) {
      await (await home()).removeEntry(`${id}.json`).catch(() => {})
    },
  }
}

function isFinished(entry: Entry): entry is ProjectInfo {
  return !('isUnfinished' in entry)
}
