/** The directory of the playground's own data in the browser's private storage, beside the library's workspaces. */
const HOME = 'wardspace-playground'

/** Whether this browser has private storage. */
export function hasPrivateStorage(): boolean {
  return typeof navigator.storage?.getDirectory === 'function'
}

export async function privateDirectory(...path: readonly string[]): Promise<FileSystemDirectoryHandle> {
  let directory = await navigator.storage.getDirectory()
  for (const name of [HOME, ...path]) directory = await directory.getDirectoryHandle(name, { create: true })
  return directory
}

/** Lists the directories of the playground's own data, or the library's workspaces. */
export async function namesOfPrivate(kind: 'playground' | 'workspace'): Promise<readonly string[]> {
  const names: string[] = []
  const root = await navigator.storage.getDirectory()
  const home = await root.getDirectoryHandle(kind === 'playground' ? HOME : 'wardspace').catch(() => undefined)
  if (home !== undefined) for await (const name of home.keys()) names.push(name)
  return names
}

/** Removes a directory of the playground's own data, or a workspace of the library, with its content. */
export async function removePrivate(kind: 'playground' | 'workspace', name: string): Promise<void> {
  try {
    const root = await navigator.storage.getDirectory()
    const home = await root.getDirectoryHandle(kind === 'playground' ? HOME : 'wardspace')
    await home.removeEntry(name, { recursive: true })
  } catch (error) {
    if ((error as Error).name !== 'NotFoundError') throw error
  }
}
